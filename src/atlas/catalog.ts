import { type Static, Type } from "typebox";
import { compileOnUse } from "../validation/compiledSchema.ts";
import { CatalogGridSchema } from "../contract/hazardCatalog.ts";
import type { CatalogGrid } from "../contract/wireTypes.ts";
import { Fault } from "../errors.ts";
import type { Grid } from "../kernel/grid.ts";

/** File name of the catalog, which names all other files of an atlas. */
export const CATALOG_NAME = "atlas.json";
export const FORMAT_VERSION = 1;

const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const CLOSED = { additionalProperties: false } as const;

const FileEntry = Type.Object(
  { name: Type.String({ pattern: "^[a-z0-9_.-]+$" }), size_bytes: Type.Integer({ minimum: 0 }), sha256: Sha256 },
  CLOSED,
);

const LayerEntry = Type.Object(
  {
    metric: Type.String({ minLength: 1 }),
    /** value = steps / steps_per_unit + offset */
    steps_per_unit: Type.Number({ exclusiveMinimum: 0 }),
    offset: Type.Number(),
    unit: Type.String(),
  },
  CLOSED,
);

const GroupEntry = Type.Object(
  {
    scenario: Type.String({ minLength: 1 }),
    year: Type.Integer(),
    layers: Type.Array(LayerEntry, { minItems: 1, maxItems: 8 }),
    /** Source and processing of the values: model, files, license, factors, choices. */
    provenance: Type.Record(Type.String(), Type.Unknown()),
    /** True if another pack replaced the group. The entry remains because positions in the files depend on the order of groups. */
    superseded: Type.Optional(Type.Boolean()),
  },
  CLOSED,
);

const PackEntry = Type.Object(
  {
    id: Type.String({ pattern: "^[a-z0-9_.-]+$" }),
    files: Type.Object({ root: FileEntry, pyramid: FileEntry, tiles: FileEntry }, CLOSED),
    groups: Type.Array(GroupEntry, { minItems: 1 }),
  },
  CLOSED,
);

const HazardEntry = Type.Object(
  {
    hazard: Type.String({ minLength: 1 }),
    grid: Type.Object(CatalogGridSchema.properties, CLOSED),
    rules: Type.Record(Type.String(), Type.Unknown()),
    packs: Type.Array(PackEntry, { minItems: 1 }),
  },
  CLOSED,
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
  CLOSED,
);

export type FileEntry = Static<typeof FileEntry>;
export type LayerEntry = Static<typeof LayerEntry>;
export type GroupEntry = Static<typeof GroupEntry>;
export type PackEntry = Static<typeof PackEntry>;
export type HazardEntry = Static<typeof HazardEntry>;
export type Catalog = Static<typeof Catalog>;

const catalogChecker = compileOnUse(() => Catalog);
const ZERO_HASH = "0".repeat(64);
const HASH_MEMBER = /"sha256": "([0-9a-f]{64})"\n}\n$/;

/**
 * Encodes `atlas.json`. It is indented JSON whose last member is the SHA-256 of the file with that member set to zeros.
 */
export async function encodeCatalog(catalog: Omit<Catalog, "sha256">): Promise<Uint8Array> {
  const unhashedText = `${JSON.stringify({ ...catalog, sha256: ZERO_HASH }, undefined, 2)}\n`;
  const hashedText = unhashedText.replace(HASH_MEMBER, `"sha256": "${await sha256Hex(encodeUtf8(unhashedText))}"\n}\n`);
  return encodeUtf8(hashedText);
}

/**
 * Parses and validates `atlas.json`.
 * @param address the address of the atlas, for messages
 * @throws Fault `atlas_unavailable` if it is damaged, of another format, or inconsistent
 */
export async function decodeCatalog(bytes: Uint8Array, address?: string): Promise<Catalog> {
  const name = address === undefined ? CATALOG_NAME : `${address.replace(/\/$/, "")}/${CATALOG_NAME}`;
  const catalogFault = (problem: string, cause?: unknown): Fault =>
    new Fault("atlas_unavailable", `${name}: ${problem}`, {
      details: { file: CATALOG_NAME, ...(address === undefined ? {} : { address }) },
      cause,
    });
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw catalogFault("it must be JSON in UTF-8; it is damaged or not an atlas catalog.", error);
  }
  const version = (value as { format_version?: unknown } | null)?.format_version;
  if (typeof version === "number" && version > FORMAT_VERSION) {
    throw catalogFault(
      `it has format version ${version}; this release of Isotherm reads versions up to ${FORMAT_VERSION}.`,
    );
  }
  const storedHash = HASH_MEMBER.exec(text)?.[1];
  if (
    storedHash === undefined ||
    storedHash !== (await sha256Hex(encodeUtf8(text.replace(HASH_MEMBER, `"sha256": "${ZERO_HASH}"\n}\n`))))
  ) {
    throw catalogFault("its SHA-256 does not match its content: it is damaged or was edited by hand.");
  }
  const checker = catalogChecker();
  if (!checker.Check(value)) {
    const [first] = checker.Errors(value);
    throw catalogFault(
      `at ${first?.instancePath || "/"}: ${first?.message ?? "does not match the schema of a catalog"}.`,
    );
  }
  for (const { hazard, grid } of value.hazards) {
    const problem = gridFault(gridOf(grid));
    if (problem !== undefined) throw catalogFault(`hazard ${hazard}: ${problem}`);
  }
  return value;
}

/** The parts of a catalog that responses depend on, apart from the release name. */
export interface CatalogContent {
  readonly synthetic: boolean;
  readonly hazards: readonly HazardEntry[];
}

/**
 * Returns everything in a catalog that responses depend on, as text whose hash identifies the content: the cells of each
 * live (scenario, year), their grid, encoding, rules and sources. The text does not depend on the creation time, on
 * superseded groups or on the order in which packs were added.
 */
export function contentText({ synthetic, hazards }: CatalogContent): string {
  const visibleHazards = hazards.map(({ hazard, grid, rules, packs }) => {
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
  return JSON.stringify([synthetic, visibleHazards]);
}

/** Returns the SHA-256 of release name and content, in hexadecimal. Catalogs with equal hashes give equal responses. */
export function contentHashOf(catalog: CatalogContent & Pick<Catalog, "release">): Promise<string> {
  return sha256Hex(encodeUtf8(JSON.stringify([catalog.release, contentText(catalog)])));
}

/** Returns the grid of a catalog entry. */
export function gridOf(entry: CatalogGrid): Grid {
  return {
    northDeg: entry.north_deg,
    westDeg: entry.west_deg,
    cellSizeLatDeg: entry.cell_size_lat_deg,
    cellSizeLonDeg: entry.cell_size_lon_deg,
    rowCount: entry.row_count,
    columnCount: entry.column_count,
  };
}

/** Returns the catalog entry of a grid. */
export function catalogGridOf(grid: Grid): CatalogGrid {
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
 * Tolerance for rounding in the georeference of a source, as a fraction of a cell: 1801 rows of 0.1 degrees whose
 * centers run from pole to pole end at -90.00000000000001, or at -90.000003 if the cell size is stored as f32. Such
 * grids are accepted.
 */
const GRID_TOLERANCE_CELLS = 1e-3;

/**
 * Returns why a grid is invalid, or undefined if it is valid. A valid grid has cells of a positive size, row centers
 * between the poles, columns that span at most 360 degrees, and a west edge between -360 and 360 degrees.
 */
export function gridFault(grid: Grid): string | undefined {
  if (!(grid.cellSizeLatDeg > 0 && grid.cellSizeLonDeg > 0)) {
    return `cells must be larger than 0 degrees (got ${grid.cellSizeLatDeg} x ${grid.cellSizeLonDeg}).`;
  }
  if (!(grid.rowCount >= 1 && grid.columnCount >= 1)) {
    return `there must be at least one row and one column (got ${grid.rowCount} and ${grid.columnCount}).`;
  }
  const first = grid.northDeg - 0.5 * grid.cellSizeLatDeg;
  const last = grid.northDeg - (grid.rowCount - 0.5) * grid.cellSizeLatDeg;
  const poleDeg = 90 + GRID_TOLERANCE_CELLS * grid.cellSizeLatDeg;
  if (!(first <= poleDeg && last >= -poleDeg)) {
    return `the centers of all rows must be between the poles (got ${first} to ${last} degrees).`;
  }
  const widthDeg = grid.columnCount * grid.cellSizeLonDeg;
  if (!(widthDeg <= 360 + GRID_TOLERANCE_CELLS * grid.cellSizeLonDeg)) {
    return `the width must be at most 360 degrees (got ${grid.columnCount} columns of ${grid.cellSizeLonDeg} degrees).`;
  }
  if (!(grid.westDeg >= -360 && grid.westDeg <= 360))
    return `the west edge must be between -360 and 360 degrees (got ${grid.westDeg}).`;
  return undefined;
}

/**
 * Returns the SHA-256 in hexadecimal, using Web Crypto, which Node and browsers provide.
 * @throws Fault `configuration_invalid` in a page that is neither on https nor on localhost, where browsers have no Web Crypto
 */
export async function sha256Hex(bytes: Uint8Array): Promise<string> {
  const { subtle } = globalThis.crypto as { readonly subtle?: SubtleCrypto };
  if (subtle === undefined) {
    throw new Fault(
      "configuration_invalid",
      "the page must be opened over https or on localhost, because browsers offer SHA-256, which verifies the atlas, only there.",
    );
  }
  const digest = await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function encodeUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
