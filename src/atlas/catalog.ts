import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Fault } from "../errors.ts";
import type { Grid } from "../kernel/grid.ts";

/** The catalog's file name. All else in an atlas is named by it. */
export const CATALOG_NAME = "atlas.json";
export const FORMAT_VERSION = 1;

const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const closed = { additionalProperties: false } as const;

const FileEntry = Type.Object(
  { name: Type.String({ pattern: "^[a-z0-9_.-]+$" }), size_bytes: Type.Integer({ minimum: 0 }), sha256: Sha256 },
  closed,
);

const LayerEntry = Type.Object(
  {
    metric: Type.String({ minLength: 1 }),
    /** value = steps / steps_per_unit + offset */
    steps_per_unit: Type.Number({ exclusiveMinimum: 0 }),
    offset: Type.Number(),
    unit: Type.String(),
  },
  closed,
);

const GroupEntry = Type.Object(
  {
    scenario: Type.String({ minLength: 1 }),
    year: Type.Integer(),
    layers: Type.Array(LayerEntry, { minItems: 1, maxItems: 8 }),
    /** Where the numbers come from and what was done to them: model, files, licence, factors, choices. */
    provenance: Type.Record(Type.String(), Type.Unknown()),
    /** Another pack answers for this scenario and year now; the entry keeps its place, which the files count on. */
    superseded: Type.Optional(Type.Boolean()),
  },
  closed,
);

const PackEntry = Type.Object(
  {
    id: Type.String({ pattern: "^[a-z0-9_.-]+$" }),
    files: Type.Object({ root: FileEntry, pyramid: FileEntry, tiles: FileEntry }, closed),
    groups: Type.Array(GroupEntry, { minItems: 1 }),
  },
  closed,
);

const GridEntry = Type.Object(
  {
    north_deg: Type.Number(),
    west_deg: Type.Number(),
    cell_size_lat_deg: Type.Number({ exclusiveMinimum: 0 }),
    cell_size_lon_deg: Type.Number({ exclusiveMinimum: 0 }),
    row_count: Type.Integer({ minimum: 1 }),
    column_count: Type.Integer({ minimum: 1 }),
  },
  closed,
);

const HazardEntry = Type.Object(
  {
    hazard: Type.String({ minLength: 1 }),
    grid: GridEntry,
    rules: Type.Record(Type.String(), Type.Unknown()),
    packs: Type.Array(PackEntry, { minItems: 1 }),
  },
  closed,
);

const Catalog = Type.Object(
  {
    format: Type.Literal("isotherm-atlas"),
    format_version: Type.Literal(FORMAT_VERSION),
    release: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$" }),
    created_at: Type.String(),
    synthetic: Type.Boolean(),
    hazards: Type.Array(HazardEntry),
    sha256: Sha256,
  },
  closed,
);

export type FileEntry = Static<typeof FileEntry>;
export type LayerEntry = Static<typeof LayerEntry>;
export type GroupEntry = Static<typeof GroupEntry>;
export type PackEntry = Static<typeof PackEntry>;
export type GridEntry = Static<typeof GridEntry>;
export type HazardEntry = Static<typeof HazardEntry>;
export type Catalog = Static<typeof Catalog>;

const checker = Compile(Catalog);
const UNSET = "0".repeat(64);
const SEAL = /"sha256": "([0-9a-f]{64})"\n}\n$/;

/** The bytes of `atlas.json`: indented JSON whose last member is the SHA-256 of the file with that member zeroed. */
export async function encodeCatalog(catalog: Omit<Catalog, "sha256">): Promise<Uint8Array> {
  const unsealed = `${JSON.stringify({ ...catalog, sha256: UNSET }, undefined, 2)}\n`;
  const sealed = unsealed.replace(SEAL, `"sha256": "${await sha256Hex(encoded(unsealed))}"\n}\n`);
  return encoded(sealed);
}

/**
 * Reads and checks `atlas.json`.
 * @param place the atlas that it lies in, for messages
 * @throws Fault `atlas_unavailable` when it is damaged, of another format, or contradicts itself
 */
export async function decodeCatalog(bytes: Uint8Array, place?: string): Promise<Catalog> {
  const name = place === undefined ? CATALOG_NAME : `${place.replace(/\/$/, "")}/${CATALOG_NAME}`;
  const refuse = (why: string, cause?: unknown): Fault =>
    new Fault("atlas_unavailable", `${name}: ${why}`, {
      details: { file: CATALOG_NAME, ...(place === undefined ? {} : { address: place }) },
      cause,
    });
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw refuse("is not JSON in UTF-8: it is damaged, or no atlas catalog.", error);
  }
  const version = (value as { format_version?: unknown } | null)?.format_version;
  if (typeof version === "number" && version > FORMAT_VERSION) {
    throw refuse(`is of format version ${version}; this release of Isotherm reads up to ${FORMAT_VERSION}.`);
  }
  const seal = SEAL.exec(text)?.[1];
  if (seal === undefined || seal !== (await sha256Hex(encoded(text.replace(SEAL, `"sha256": "${UNSET}"\n}\n`))))) {
    throw refuse("does not carry its own SHA-256: it was damaged or changed by hand.");
  }
  if (!checker.Check(value)) {
    const [first] = checker.Errors(value);
    throw refuse(`at ${first?.instancePath || "/"}: ${first?.message ?? "is not a catalog"}.`);
  }
  for (const { hazard, grid } of value.hazards) {
    const why = gridFault(gridOf(grid));
    if (why !== undefined) throw refuse(`hazard ${hazard}: ${why}`);
  }
  return value;
}

/** What of a catalog answers can show, beside the release name. */
export interface CatalogContent {
  readonly synthetic: boolean;
  readonly hazards: readonly HazardEntry[];
}

/**
 * Returns everything of a catalog that an answer can show, as one text: the hash of it names the content. Which cells each
 * live (scenario, year) has, on which grid, how their steps are read, by which rules they were made and from which sources.
 * Neither the time of writing nor superseded groups nor the order in which packs were added change it.
 */
export function contentText({ synthetic, hazards }: CatalogContent): string {
  const shown = hazards.map(({ hazard, grid, rules, packs }) => {
    const live = packs.flatMap(({ files, groups }) =>
      groups.flatMap(({ superseded, ...group }, index) => {
        const hashes = [files.root.sha256, files.pyramid.sha256, files.tiles.sha256];
        return superseded === true
          ? []
          : [JSON.stringify([group.scenario, group.year, group.layers, group.provenance, hashes, index])];
      }),
    );
    return [hazard, grid, rules, live.toSorted()];
  });
  return JSON.stringify([synthetic, shown]);
}

/** Returns the SHA-256, in hexadecimal digits, of the release name and all content: where it is equal, so is every answer. */
export function contentHashOf(catalog: CatalogContent & Pick<Catalog, "release">): Promise<string> {
  return sha256Hex(encoded(JSON.stringify([catalog.release, contentText(catalog)])));
}

export function gridOf(entry: GridEntry): Grid {
  return {
    northDeg: entry.north_deg,
    westDeg: entry.west_deg,
    cellSizeLatDeg: entry.cell_size_lat_deg,
    cellSizeLonDeg: entry.cell_size_lon_deg,
    rowCount: entry.row_count,
    columnCount: entry.column_count,
  };
}

export function gridEntryOf(grid: Grid): GridEntry {
  return {
    north_deg: grid.northDeg,
    west_deg: grid.westDeg,
    cell_size_lat_deg: grid.cellSizeLatDeg,
    cell_size_lon_deg: grid.cellSizeLonDeg,
    row_count: grid.rowCount,
    column_count: grid.columnCount,
  };
}

/**
 * Rounding in a file's georeference, as a share of a cell: 1801 rows of 0.1 degrees whose centers run from pole to pole
 * end at -90.00000000000001, and where the cell size is stored in 32 bits at -90.000003. Such a center is on the pole.
 */
const GRID_TOLERANCE_CELLS = 1e-3;

/** Returns why this cannot be a grid on Earth, if so. Row centers stay between the poles, columns within one turn. */
export function gridFault(grid: Grid): string | undefined {
  const first = grid.northDeg - 0.5 * grid.cellSizeLatDeg;
  const last = grid.northDeg - (grid.rowCount - 0.5) * grid.cellSizeLatDeg;
  const poleDeg = 90 + GRID_TOLERANCE_CELLS * grid.cellSizeLatDeg;
  if (!(first <= poleDeg && last >= -poleDeg)) {
    return `rows from ${first} to ${last} degrees: the center of every row must lie between the poles.`;
  }
  const widthDeg = grid.columnCount * grid.cellSizeLonDeg;
  if (!(widthDeg <= 360 + GRID_TOLERANCE_CELLS * grid.cellSizeLonDeg)) {
    return `${grid.columnCount} columns of ${grid.cellSizeLonDeg} degrees are more than one turn.`;
  }
  if (!(grid.westDeg >= -360 && grid.westDeg <= 360)) return `a west edge of ${grid.westDeg} degrees.`;
  return undefined;
}

/** SHA-256 in hexadecimal digits, by the platform's own cryptography: Node and browsers alike. */
export async function sha256Hex(bytes: Uint8Array): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
