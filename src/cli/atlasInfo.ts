/** `isotherm atlas info`: the hazards, grids, layers, rules and sources of an atlas as text. */
import type { Catalog, GroupEntry } from "../atlas/catalog.ts";
import {
  returnPeriodsOf,
  supplementedHazard,
  type SupplementKind,
  supplementKindOf,
  supplementName,
} from "../atlas/supplement.ts";
import { formatTable } from "./textTable.ts";

type Provenance = GroupEntry["provenance"];

/** A product as a provenance states it. STAC items repeat it, so `licence` keeps the spelling of provenances. */
export interface StatedProduct {
  readonly product: string | undefined;
  readonly version: string | undefined;
  readonly licence: string | undefined;
  readonly credit: string | undefined;
  readonly url: string | undefined;
  readonly recipe: string | undefined;
  readonly program: string | undefined;
  readonly ingestedOn: string | undefined;
}

export function productOf(provenance: Provenance): StatedProduct {
  const text = (name: string): string | undefined => {
    const value = provenance[name];
    return typeof value === "string" ? value : undefined;
  };
  return {
    product: text("product"),
    version: text("version"),
    licence: text("licence"),
    credit: text("credit"),
    url: text("url"),
    recipe: text("recipe"),
    program: text("program"),
    ingestedOn: text("ingested_on"),
  };
}

/** Members of a provenance that state how a layer was made, or which of several variants of the maps was used. */
const METHOD_MEMBERS = [
  "proxy_of",
  "interpolated",
  "interpolated_from_baseline",
  "baseline_window",
  "sea_level_percentile",
  "subsidence",
  "definition",
  "missing_as_dry",
  "absent_days",
  "hold_flat",
] as const;

/** Returns how a layer was made, as its provenance states it. */
export function methodOf(provenance: Provenance): Readonly<Partial<Record<(typeof METHOD_MEMBERS)[number], unknown>>> {
  return Object.fromEntries(
    METHOD_MEMBERS.flatMap((name) => (provenance[name] === undefined ? [] : [[name, provenance[name]]])),
  );
}

/** Returns how a layer was made, one line for each statement. */
function methodLines(provenance: Provenance): readonly string[] {
  return Object.entries(methodOf(provenance)).map(([name, value]) =>
    value === true ? name : `${name} ${[value].flat().map(String).join(", ")}`,
  );
}

/** A group that is part of the release. */
export function liveGroups({ packs }: Catalog["hazards"][number]): readonly GroupEntry[] {
  return packs.flatMap(({ groups }) => groups.filter(({ superseded }) => superseded !== true));
}

/** A source file with its version. */
interface StatedFile {
  readonly file: string;
  /** SHA-256, or what identifies a file at an address. */
  readonly version: string;
}

/** Returns the source files of a provenance, each once. */
export function filesOf(provenance: Provenance): readonly StatedFile[] {
  const files = new Map<string, StatedFile>();
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { file, sha256, etag, last_modified: lastModified } = node as Readonly<Record<string, unknown>>;
    if (typeof file === "string") {
      const stated = { sha256, etag, last_modified: lastModified };
      const known = Object.entries(stated).find(([, value]) => typeof value === "string");
      const version = known === undefined ? "version unknown" : `${known[0]} ${String(known[1])}`;
      files.set(`${file} ${version}`, { file, version });
    }
    for (const value of Object.values(node)) visit(value);
  };
  visit(provenance);
  return [...files.values()].toSorted((a, b) => (a.file < b.file ? -1 : 1));
}

/** @param options `hasFiles`: whether source files are listed with their hashes */
export function formatInfo(catalog: Catalog, { hasFiles = false }: { readonly hasFiles?: boolean } = {}): string {
  const lines = [
    `release ${catalog.release}${catalog.synthetic ? " (SYNTHETIC: not real data)" : ""}, created ${catalog.created_at}`,
  ];
  for (const entry of catalog.hazards) {
    const { hazard, grid, rules, packs } = entry;
    // A supplement is described with its hazard.
    if (supplementedHazard(hazard) !== undefined) continue;
    const { north_deg, west_deg, cell_size_lat_deg, cell_size_lon_deg, row_count, column_count } = grid;
    const south = north_deg - row_count * cell_size_lat_deg;
    const east = west_deg + column_count * cell_size_lon_deg;
    lines.push(
      "",
      hazard,
      `  grid      ${row_count} rows x ${column_count} columns of ${cell_size_lat_deg} x ${cell_size_lon_deg} degrees (latitude x longitude)`,
      `  covers    ${south} to ${north_deg} north, ${west_deg} to ${east} east`,
      `  rules     ${Object.entries(rules)
        .map(([name, value]) => `${name} ${String(value)}`)
        .join(", ")}`,
    );
    const rows = packs.flatMap(({ id, groups }) =>
      groups
        .filter(({ superseded }) => superseded !== true)
        .map(({ scenario, year, layers, provenance }) => {
          const { product, recipe } = productOf(provenance);
          const source = [product, recipe].filter((part) => part !== undefined).join(", ");
          const metrics = layers.map(({ metric }) => metric).join("\n");
          return [scenario, String(year), metrics, source, methodLines(provenance).join("\n"), id];
        }),
    );
    const table = formatTable({ head: ["scenario", "year", "metrics", "source", "note", "pack"], rows });
    lines.push(table, ...supplementLines(catalog, hazard), ...sourceLines(entry, hasFiles));
  }
  return `${lines.join("\n")}\n`;
}

/** Returns a paragraph for each product of a hazard: its name, its license, and how it came into the atlas. */
function sourceLines(entry: Catalog["hazards"][number], hasFiles: boolean): readonly string[] {
  const sources = new Map<string, { readonly product: StatedProduct; readonly files: Set<string> }>();
  for (const { provenance } of liveGroups(entry)) {
    const product = productOf(provenance);
    const key = JSON.stringify(product);
    const source = sources.get(key) ?? { product, files: new Set<string>() };
    sources.set(key, source);
    for (const { file, version } of filesOf(provenance)) source.files.add(`${file}  ${version}`);
  }
  return [...sources.values()].flatMap(({ product: stated, files }) => {
    const {
      product = "not stated",
      version,
      licence: license = "not stated",
      credit,
      url,
      program,
      ingestedOn,
    } = stated;
    const made = [ingestedOn, program === undefined ? undefined : `by ${program}`].filter((part) => part !== undefined);
    return [
      `  source    ${product}${version === undefined ? "" : `, version ${version}`}`,
      `  license   ${license}`,
      ...(credit === undefined ? [] : [`  credit    ${credit}`]),
      ...(url === undefined ? [] : [`  address   ${url}`]),
      ...(made.length === 0 ? [] : [`  ingested  ${made.join(" ")}`]),
      ...(files.size === 0 ? [] : [`  files     ${files.size}${hasFiles ? "" : " (--files lists them)"}`]),
      ...(hasFiles ? [...files].map((file) => `            ${file}`) : []),
    ];
  });
}

const SUPPLEMENT_TEXTS: Readonly<Record<SupplementKind, string>> = {
  curve: "curve",
  curve_min: "smallest curve over climate models",
  curve_max: "largest curve over climate models",
  metrics_min: "smallest metrics over climate models",
  metrics_max: "largest metrics over climate models",
};

/** Returns the lines that describe the curves and ranges of a hazard; none if the atlas has none. */
function supplementLines({ hazards }: Catalog, hazard: string): readonly string[] {
  const packs = hazards.find((entry) => entry.hazard === supplementName(hazard))?.packs ?? [];
  const groups = packs.flatMap((pack) => pack.groups).filter(({ superseded }) => superseded !== true);
  const periodCounts = new Map<string, number>();
  for (const group of groups) {
    const kind = supplementKindOf(group);
    if (kind === undefined) continue;
    const name = `${SUPPLEMENT_TEXTS[kind]} of ${group.scenario} ${group.year}`;
    periodCounts.set(name, (periodCounts.get(name) ?? 0) + (returnPeriodsOf(group)?.length ?? 0));
  }
  return [...periodCounts].map(
    ([name, count]) => `  keeps     ${name}${count === 0 ? "" : `, ${count} return periods`}`,
  );
}
