/** Reads what the provenance of layers states about their products, for people and for STAC. */
import type { Catalog, GroupEntry } from "../atlas/catalog.ts";

type Provenance = GroupEntry["provenance"];

/** A product as a provenance states it. */
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
export function methodLines(provenance: Provenance): readonly string[] {
  return Object.entries(methodOf(provenance)).map(([name, value]) =>
    value === true ? name : `${name} ${[value].flat().map(String).join(", ")}`,
  );
}

/** A group that is part of the release. */
export function liveGroups({ packs }: Catalog["hazards"][number]): readonly GroupEntry[] {
  return packs.flatMap(({ groups }) => groups.filter(({ superseded }) => superseded !== true));
}

/** A source file with its version. */
export interface StatedFile {
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
