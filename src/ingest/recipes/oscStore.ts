/** Finds the arrays of an OS-Climate hazard indicator store (Zarr), and what their paths mean. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { isFault } from "../../errors.ts";
import { sourceFault } from "../raster.ts";
import type { Scenario } from "../../hazard/hazards.ts";
import { type AqueductChoices, readAqueductName } from "./aqueductNames.ts";

/** The content of one array: all return periods of one climate model, scenario and year. */
export interface OscArray {
  readonly hazard: "riverine_floods" | "coastal_floods";
  readonly scenario: Scenario;
  readonly year: number;
  readonly model: string;
}

/** The meaning of the path of an array: one that the recipe uses, or one that it ignores, with the reason. */
export type OscPath =
  { readonly kind: "array"; readonly array: OscArray } | { readonly kind: "ignored"; readonly reason: string };

const AQUEDUCT = /(?:^|\/)inundation\/wri\/v2\/((inunriver|inuncoast)_[^/]+)$/;

/** Resources that are known and not used, each with the reason. */
const UNUSED: readonly (readonly [path: RegExp, reason: string])[] = [
  [/_map(\/|$)/, "an image pyramid for display"],
  [
    /wind\/iris\//,
    "the store shifts the IRIS winds by half a cell; ingest the original files with isotherm ingest iris-winds",
  ],
  [
    /wind\/jupiter\//,
    "the store declares neither the unit of these winds (descriptions of it disagree between km/h and m/s) nor that their index is a return period; commercial license",
  ],
  [
    /fire\/jupiter\//,
    "the largest monthly probability of a fire within 100 km, which is not the probability of a Fire Weather Index; commercial license",
  ],
  [
    /inundation\/river_tudelft\//,
    "river floods of Europe for 1985, 2035 and 2070; describe the layers and years that they may stand for in a manifest of isotherm ingest layers",
  ],
];

/**
 * Returns the meaning of the path of an array in the store, with slashes.
 * @param choices among the maps of WRI Aqueduct Floods
 */
export function readOscPath(path: string, choices: AqueductChoices): OscPath {
  const unused = UNUSED.find(([pattern]) => pattern.test(path));
  if (unused !== undefined) return { kind: "ignored", reason: unused[1] };
  const aqueduct = AQUEDUCT.exec(path);
  if (aqueduct !== null) {
    const [, name = "", kind] = aqueduct;
    // All return periods are in one array; any of them makes the name of a file of the product.
    const fileName =
      kind === "inunriver" ? `${name}_rp00100.tif` : name.replace(/_0(_perc_\d{2})?$/, "_rp0100_0$1.tif");
    const meaning = readAqueductName(fileName, choices);
    if (meaning?.kind === "ignored") return meaning;
    if (meaning !== undefined) {
      const { hazard, scenario, year, model } = meaning.map;
      return { kind: "array", array: { hazard, scenario, year, model } };
    }
  }
  return {
    kind: "ignored",
    reason: "not a resource that the recipe knows; describe it in a manifest of isotherm ingest layers",
  };
}

/**
 * Returns the folders of all arrays of a store or a part of it, with their paths. A folder may be any part of a store, because the
 * paths of resources are recognized by their ends.
 * @throws Fault `source_invalid` if a folder does not exist or has no array
 */
export async function findArrays(
  source: string,
): Promise<readonly { readonly folder: string; readonly path: string }[]> {
  if (/^https?:\/\//.test(source)) {
    throw sourceFault(
      source,
      "is an address; copy the resources of the store into a folder, for example with aws s3 sync.",
    );
  }
  const isFolder = await stat(source).then(
    (entry) => entry.isDirectory(),
    (error: unknown) => {
      throw sourceFault(source, "there is no such folder.", { cause: error });
    },
  );
  if (!isFolder) throw sourceFault(source, "is not a folder; the store is a folder with .zgroup or zarr.json in it.");
  const found: { folder: string; path: string }[] = [];
  await addArrays(source, found);
  if (found.length === 0) throw sourceFault(source, "has no Zarr array, which is a folder with .zarray or zarr.json.");
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

async function addArrays(folder: string, found: { folder: string; path: string }[]): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = new Set(entries.map(({ name }) => name));
  if (names.has(".zarray") || (names.has("zarr.json") && (await isArray3(join(folder, "zarr.json"))))) {
    found.push({ folder, path: folder.split(sep).join("/") });
    return;
  }
  for (const entry of entries) if (entry.isDirectory()) await addArrays(join(folder, entry.name), found);
}

async function isArray3(file: string): Promise<boolean> {
  try {
    return (JSON.parse(await readFile(file, "utf8")) as { readonly node_type?: unknown }).node_type === "array";
  } catch (error) {
    if (isFault(error)) throw error;
    throw sourceFault(file, "is not JSON.", { cause: error });
  }
}
