/** Finds maps in zip archives. */
import { mkdir } from "node:fs/promises";
import { join, posix } from "node:path";
import { sourceFault } from "../../raster.ts";
import { ZARR_METADATA } from "../fileFormat.ts";
import { rangeWithin, STORED_BYTES_MAX, type ZarrFiles } from "../zarr/store.ts";
import type { ZipArchive } from "./archive.ts";

/** Largest decompressed size of one map. */
const EXTRACTED_BYTES_MAX = 64 * 2 ** 30;
const MAP_NAME = /\.(tiff?|nc|nc4|cdf|h5|hdf5|he5|hdf|grib2?|grb2?)$/i;
const LISTED_COUNT_MAX = 12;

/** What a name in an archive refers to. */
export type ZipMap = { readonly kind: "zarr" | "file"; readonly name: string };

/**
 * Returns the map that a name refers to, or the only map of the archive if the name is empty.
 * @throws Fault `source_invalid` listing the maps of the archive
 */
export function findZipMap(file: string, archive: ZipArchive, name: string): ZipMap {
  if (name !== "" && archive.entries.has(name)) return { kind: "file", name };
  if (ZARR_METADATA.some((metadata) => archive.entries.has(posix.join(name, metadata)))) return { kind: "zarr", name };
  const maps = mapsOf(archive);
  const list = maps.length === 0 ? "It has no maps." : `Its maps are ${listOf(maps)}.`;
  if (name !== "") throw sourceFault(file, `the archive has no ${JSON.stringify(name)}. ${list}`);
  const [first] = maps;
  if (first === undefined || maps.length > 1)
    throw sourceFault(
      file,
      `${maps.length === 0 ? "the archive has no maps" : "the archive has several maps; append the name of one of them to its path"}. ${list}`,
    );
  return first;
}

function listOf(maps: readonly ZipMap[]): string {
  const names = maps
    .slice(0, LISTED_COUNT_MAX)
    .map(({ name }) => name)
    .join(", ");
  return maps.length > LISTED_COUNT_MAX ? `${names} and ${maps.length - LISTED_COUNT_MAX} more` : names;
}

/** Returns the Zarr stores and the files with names of maps, except those in Zarr stores. */
function mapsOf(archive: ZipArchive): readonly ZipMap[] {
  const names = [...archive.entries.keys()].filter((name) => !name.endsWith("/"));
  const folders = names
    .filter((name) => ZARR_METADATA.some((metadata) => posix.basename(name) === metadata))
    .map((name) => posix.dirname(name));
  const stores = [...new Set(folders)].filter((folder) => !folders.some((other) => folder.startsWith(`${other}/`)));
  const isInStore = (name: string): boolean => stores.some((store) => name.startsWith(`${store}/`));
  return [
    ...stores.map((name) => ({ kind: "zarr", name }) as const),
    ...names.filter((name) => MAP_NAME.test(name) && !isInStore(name)).map((name) => ({ kind: "file", name }) as const),
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the files of a Zarr store in an archive. */
export function zarrInZip(archive: ZipArchive, store: string): ZarrFiles {
  const prefix = store === "" ? "" : `${store}/`;
  const folders = new Map<string, Set<string>>();
  for (const name of archive.entries.keys()) {
    if (!name.startsWith(prefix)) continue;
    const parts = name.slice(prefix.length).split("/").slice(0, -1);
    for (const [depth, part] of parts.entries()) {
      const parent = parts.slice(0, depth).join("/");
      const children = folders.get(parent) ?? new Set();
      folders.set(parent, children.add(part));
    }
  }
  return {
    async read(key, range) {
      const entry = archive.entries.get(prefix + key);
      if (entry === undefined) return undefined;
      if (range === undefined) return archive.read(entry, STORED_BYTES_MAX);
      return archive.readRange(entry, rangeWithin(range, entry.sizeBytes), STORED_BYTES_MAX);
    },
    foldersIn: (folder) => Promise.resolve([...(folders.get(folder) ?? [])]),
  };
}

/**
 * Decompresses a map and the files beside it whose names begin with its name (masks, `.aux.xml`, world files) into a new
 * folder.
 * @returns the path of the map
 */
export async function extractMap(
  archive: ZipArchive,
  name: string,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal | undefined },
): Promise<string> {
  await mkdir(folder);
  const stem = name.replace(/\.[^./]*$/, "").toLowerCase();
  for (const entry of archive.entries.values()) {
    const isBeside =
      posix.dirname(entry.name) === posix.dirname(name) && entry.name.toLowerCase().startsWith(`${stem}.`);
    const isOtherMap = MAP_NAME.test(entry.name) && entry.name !== name;
    if (entry.name !== name && (!isBeside || isOtherMap || entry.name.endsWith("/"))) continue;
    const target = join(folder, posix.basename(entry.name));
    await archive.extract(entry, target, { sizeBytesMax: EXTRACTED_BYTES_MAX, signal });
  }
  return join(folder, posix.basename(name));
}
