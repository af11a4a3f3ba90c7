/** Opens Zarr stores of versions 2 and 3: finds their arrays, and describes them as variables with dimensions. */
import { isFault } from "../../../errors.ts";
import { requirePackages } from "../../../validation/optionalPackages.ts";
import { messageOf, sourceFault } from "../../raster.ts";
import { type ArrayFile, type ArrayVariable, type Dimension, textOf, VARIABLE_COUNT_MAX } from "../arrays/arrayFile.ts";
import { type ChunkedArray, ChunkReader, installCodecs } from "./chunks.ts";
import { metadataOfVersion2, metadataOfVersion3, shown, type ZarrMetadata } from "./metadata.ts";
import type { ZarrFiles } from "./store.ts";

const METADATA_BYTES_MAX = 16 << 20;
const GROUP_DEPTH_MAX = 16;

/**
 * Opens a store or a part of one: a group, or a single array.
 *
 * @param file the name of the store in messages
 * @throws Fault `source_invalid` if its metadata are damaged; `configuration_invalid` if zarrita is not installed
 */
export async function openZarr(file: string, files: ZarrFiles): Promise<ArrayFile> {
  requirePackages("Reading Zarr stores", ["zarrita"]);
  const zarr = await import("zarrita");
  installCodecs(zarr.registry);
  const arrays = new Map<string, ZarrMetadata>();
  try {
    await findArrays(files, arrays);
  } catch (error) {
    if (isFault(error)) throw error;
    throw sourceFault(file, `cannot be read as a Zarr store (${messageOf(error)}). It is damaged or incomplete.`, {
      cause: error,
    });
  }
  const variables = new Map<string, ArrayVariable>();
  for (const [path, metadata] of arrays) {
    const variable = variableOf({ zarr, files, path, metadata, arrays });
    variables.set(variable.name, variable);
  }
  return { file, format: "Zarr", variables, close: () => Promise.resolve() };
}

/** Finds the arrays of all groups from their metadata files; consolidated metadata may be outdated and are not used. */
async function findArrays(files: ZarrFiles, arrays: Map<string, ZarrMetadata>): Promise<void> {
  const pending = [""];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const metadata = await readMetadata(files, path);
    if (metadata === undefined) continue;
    if (metadata !== "group") {
      arrays.set(path, metadata);
      continue;
    }
    if (path.split("/").length > GROUP_DEPTH_MAX) throw new Error(`groups are nested deeper than ${GROUP_DEPTH_MAX}`);
    for (const name of await files.foldersIn(path)) pending.push(path === "" ? name : `${path}/${name}`);
    if (arrays.size + pending.length > VARIABLE_COUNT_MAX)
      throw new Error(`it has more arrays and groups than the limit of ${VARIABLE_COUNT_MAX}`);
  }
}

/** Returns the metadata of an array, or `group`; undefined if a folder is neither. */
async function readMetadata(files: ZarrFiles, path: string): Promise<ZarrMetadata | "group" | undefined> {
  const prefix = path === "" ? "" : `${path}/`;
  const version3 = await readJson(files, `${prefix}zarr.json`);
  if (version3 !== undefined) {
    if (version3["zarr_format"] !== 3)
      throw new Error(`${prefix}zarr.json has zarr_format ${shown(version3["zarr_format"])}`);
    return version3["node_type"] === "array" ? metadataOfVersion3(version3) : "group";
  }
  const array = await readJson(files, `${prefix}.zarray`);
  if (array !== undefined) return metadataOfVersion2(array, (await readJson(files, `${prefix}.zattrs`)) ?? {});
  return (await files.read(`${prefix}.zgroup`)) === undefined ? undefined : "group";
}

async function readJson(files: ZarrFiles, key: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const bytes = await files.read(key);
  if (bytes === undefined) return undefined;
  if (bytes.length > METADATA_BYTES_MAX) throw new Error(`${key} is larger than ${METADATA_BYTES_MAX} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new Error(`${key} is not JSON: ${messageOf(error)}`, { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`${key} is not a JSON object`);
  return value as Readonly<Record<string, unknown>>;
}

/** An array and the arrays of its store, which may be its coordinates. */
interface ArraySource extends ChunkedArray {
  readonly arrays: ReadonlyMap<string, ZarrMetadata>;
}

/** Name of the only array if the store is an array. */
const ROOT_NAME = "array";

function variableOf(source: ArraySource): ArrayVariable {
  const { path, metadata } = source;
  const { attributes, fillValue, version, unsupported, type } = metadata;
  const hasMarker = ["_FillValue", "missing_value"].some((name) => attributes.has(name)) || metadata.missing.length > 0;
  const chunks = typeof type === "string" ? new ChunkReader(source, type) : undefined;
  return {
    name: path === "" ? ROOT_NAME : path,
    shape: metadata.shape,
    dimensions: dimensionsOf(source),
    type,
    attributes,
    chunkShape: metadata.chunkShape,
    unsupported: unsupported ?? unsupportedName(path) ?? unsupportedFill(metadata),
    missing: metadata.missing,
    hasDefaultFill: false,
    notes: {
      zarr_version: version,
      ...(fillValue === undefined
        ? { cells_not_stored: "missing" }
        : hasMarker
          ? {}
          : { cells_not_stored: `have the fill value ${fillValue}` }),
    },
    async read(ranges) {
      if (chunks === undefined) throw new Error("its type is not supported");
      return chunks.read(ranges);
    },
    readTexts: () => Promise.reject(new Error("texts are not supported in Zarr")),
  };
}

/** zarrita resolves names as addresses, in which these characters have a meaning. */
function unsupportedName(path: string): string | undefined {
  return /[#?%\\]/.test(path) ? "has one of the characters # ? % \\ in its name, which is not supported." : undefined;
}

function unsupportedFill({ fillValue, type, version }: ZarrMetadata): string | undefined {
  if (fillValue === undefined)
    return version === 3 ? "has no fill value, or one that is not a number, which is not supported." : undefined;
  if (typeof type !== "string" || type.startsWith("float") || Number.isSafeInteger(fillValue)) return undefined;
  return `has the fill value ${fillValue}, which numbers of type ${type} cannot represent exactly.`;
}

function dimensionsOf({ path, metadata, arrays }: ArraySource): readonly Dimension[] {
  const { shape, dimensionNames, attributes } = metadata;
  const group = path.split("/").slice(0, -1);
  const coordinateNamed = (name: string, size: number): string | undefined => {
    for (let depth = group.length; depth >= 0; depth--) {
      const candidate = [...group.slice(0, depth), name].join("/");
      const found = arrays.get(candidate)?.shape;
      if (found?.length === 1 && found[0] === size) return candidate;
    }
    return undefined;
  };
  const indexValues = attributes.get("index_values")?.value;
  return shape.map((size, index): Dimension => {
    const name = dimensionNames[index];
    const coordinate = name === undefined ? undefined : coordinateNamed(name, size);
    if (coordinate !== undefined && name !== undefined) return { name, coordinate, values: undefined };
    // The OS-Climate hazard store has the coordinates of its first dimension in attributes.
    if (index === 0 && shape.length === 3 && attributes.has("transform_mat3x3")) {
      const values = typeof indexValues === "object" && indexValues.length === size ? indexValues : undefined;
      return { name: textOf(attributes, "index_name") ?? name ?? "index", coordinate: undefined, values };
    }
    return { name: name ?? `dimension ${index}`, coordinate: undefined, values: undefined };
  });
}
