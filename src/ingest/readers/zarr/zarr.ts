/** Reads Zarr stores of versions 2 and 3 with zarrita, chunk by chunk. */
import type { Array as ZarrArray, AsyncReadable, DataType } from "zarrita";
import { isFault } from "../../../errors.ts";
import { requirePackages } from "../../../optionalPackages.ts";
import { messageOf, type NumberType, sourceFault } from "../../raster.ts";
import {
  type ArrayFile,
  type ArrayVariable,
  countOf,
  type Dimension,
  type IndexRange,
  NUMBER_BYTES,
  type NumericArray,
  textOf,
  VARIABLE_COUNT_MAX,
} from "../arrays/arrayFile.ts";
import { installCodecs } from "./codecs.ts";
import { metadataOfVersion2, metadataOfVersion3, shown, type ZarrMetadata } from "./metadata.ts";
import { filesWithMember, type ZarrFiles } from "./store.ts";

type ZarrModule = typeof import("zarrita");

const METADATA_BYTES_MAX = 16 << 20;
const GROUP_DEPTH_MAX = 16;
/** Decoded chunks that are kept, because maps of several return periods are often in the same chunk. */
const CACHED_BYTES_MAX = 128 << 20;

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

interface ArraySource {
  readonly zarr: ZarrModule;
  readonly files: ZarrFiles;
  readonly path: string;
  readonly metadata: ZarrMetadata;
  readonly arrays: ReadonlyMap<string, ZarrMetadata>;
}

/** Name of the only array if the store is an array. */
const ROOT_NAME = "array";

function variableOf(source: ArraySource): ArrayVariable {
  const { path, metadata } = source;
  const { attributes, fillValue, version, unsupported, type } = metadata;
  const hasMarker = ["_FillValue", "missing_value"].some((name) => attributes.has(name)) || metadata.missing.length > 0;
  const chunks = typeof type === "string" ? new ChunkReader(source, type) : undefined;
  let chunksWithoutFill: ChunkReader | undefined;
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
    async read(ranges, { absentAsMissing = false } = {}) {
      if (chunks === undefined || typeof type !== "string") throw new Error("its type is not supported");
      if (!absentAsMissing || fillValue === undefined) return chunks.read(ranges);
      chunksWithoutFill ??= new ChunkReader(withoutFill(source), type);
      return chunksWithoutFill.read(ranges);
    },
    readTexts: () => Promise.reject(new Error("texts are not supported in Zarr")),
  };
}

/** Returns an array without its fill value, or with NaN as its fill value, so that chunks that are not stored are missing. */
function withoutFill(source: ArraySource): ArraySource {
  const { files, path, metadata } = source;
  const prefix = path === "" ? "" : `${path}/`;
  if (metadata.version === 2) {
    const withNone = filesWithMember(files, `${prefix}.zarray`, { fill_value: null });
    return { ...source, metadata: { ...metadata, fillValue: undefined }, files: withNone };
  }
  const type = typeof metadata.type === "string" ? metadata.type : JSON.stringify(metadata.type);
  if (!type.startsWith("float"))
    throw new Error(`chunks of ${type} that are not stored cannot be told from stored ones`);
  const withNaN = filesWithMember(files, `${prefix}zarr.json`, { fill_value: "NaN" });
  return { ...source, metadata: { ...metadata, fillValue: NaN }, files: withNaN };
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

interface DecodedChunk {
  readonly data: NumericArray;
  readonly stride: readonly number[];
}

/** Reads parts of one array. */
class ChunkReader {
  readonly #source: ArraySource;
  readonly #type: NumberType;
  /** Keys that were requested and do not exist. */
  readonly #absentKeys = new Set<string>();
  readonly #cache = new Map<string, Promise<DecodedChunk | undefined>>();
  #array: Promise<ZarrArray<DataType, AsyncReadable>> | undefined;

  constructor(source: ArraySource, type: NumberType) {
    this.#source = source;
    this.#type = type;
  }

  async read(ranges: readonly IndexRange[]): Promise<NumericArray> {
    const { chunkShape } = this.#source.metadata;
    const sizes = ranges.map(({ first, end }) => end - first);
    let values = emptyValues(this.#type, countOf(ranges));
    for (const coordinates of chunksOf(ranges, chunkShape)) {
      const chunk = await this.#chunk(coordinates);
      if (chunk === undefined) values = withNaN(values);
      copyChunk({ chunk, coordinates, chunkShape }, { values, ranges, sizes });
    }
    return values;
  }

  /** Returns a decoded chunk; undefined if it is not stored and the array has no fill value. */
  #chunk(coordinates: readonly number[]): Promise<DecodedChunk | undefined> {
    const key = coordinates.join(" ");
    let chunk = this.#cache.get(key);
    if (chunk === undefined) {
      chunk = this.#decode(coordinates);
      chunk.catch(() => this.#cache.delete(key)); // a failure is not cached
    }
    this.#cache.delete(key);
    this.#cache.set(key, chunk); // most recently used last
    const { chunkShape } = this.#source.metadata;
    const chunkBytes = chunkShape.reduce((product, size) => product * size, NUMBER_BYTES[this.#type]);
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size <= 1 || this.#cache.size * chunkBytes <= CACHED_BYTES_MAX) break;
      this.#cache.delete(oldest);
    }
    return chunk;
  }

  async #decode(coordinates: readonly number[]): Promise<DecodedChunk | undefined> {
    const { metadata } = this.#source;
    this.#array ??= this.#open();
    const array = await this.#array;
    const { data, stride, shape } = await array.getChunk([...coordinates]);
    // Only version 2 has arrays without a fill value, and it has no shards: each chunk is one key.
    if (metadata.fillValue === undefined && this.#absentKeys.has(coordinates.join("."))) return undefined;
    const expectedCount = metadata.chunkShape.reduce((product, size) => product * size, 1);
    const values = data as unknown as NumericArray;
    if (values.length !== expectedCount || shape.some((size, index) => size !== metadata.chunkShape[index]))
      throw new Error(`chunk ${coordinates.join(", ")} has ${values.length} values instead of ${expectedCount}`);
    return { data: values, stride };
  }

  #open(): Promise<ZarrArray<DataType, AsyncReadable>> {
    const { zarr, files, path, metadata } = this.#source;
    const absent = this.#absentKeys;
    const prefix = path === "" ? "" : `${path}/`;
    const store: AsyncReadable = {
      async get(key) {
        const bytes = await files.read(key.slice(1));
        if (bytes === undefined) absent.add(key.slice(1 + prefix.length).replaceAll("/", "."));
        return bytes;
      },
      getRange: (key, range) => files.read(key.slice(1), range),
    };
    const location = path === "" ? zarr.root(store) : zarr.root(store).resolve(path);
    return metadata.version === 2
      ? zarr.open.v2(location, { kind: "array" })
      : zarr.open.v3(location, { kind: "array" });
  }
}

/** Returns the coordinates of the chunks that ranges touch. */
function* chunksOf(ranges: readonly IndexRange[], chunkShape: readonly number[]): Generator<readonly number[]> {
  const first = ranges.map((range, index) => Math.floor(range.first / (chunkShape[index] ?? 1)));
  const last = ranges.map((range, index) => Math.ceil(range.end / (chunkShape[index] ?? 1)) - 1);
  const coordinates = [...first];
  for (;;) {
    yield [...coordinates];
    let axis = coordinates.length - 1;
    while (axis >= 0 && coordinates[axis] === last[axis]) {
      coordinates[axis] = first[axis] ?? 0;
      axis--;
    }
    if (axis < 0) return;
    coordinates[axis] = (coordinates[axis] ?? 0) + 1;
  }
}

function copyChunk(
  {
    chunk,
    coordinates,
    chunkShape,
  }: {
    readonly chunk: DecodedChunk | undefined;
    readonly coordinates: readonly number[];
    readonly chunkShape: readonly number[];
  },
  target: { readonly values: NumericArray; readonly ranges: readonly IndexRange[]; readonly sizes: readonly number[] },
): void {
  const values = target.values as Float64Array;
  const data = chunk?.data as Float64Array | undefined;
  const copy = (axis: number, from: number, to: number): void => {
    const range = target.ranges[axis];
    if (range === undefined) {
      values[to] = data === undefined ? NaN : (data[from] as number);
      return;
    }
    const start = (coordinates[axis] ?? 0) * (chunkShape[axis] ?? 1);
    const first = Math.max(start, range.first);
    const end = Math.min(start + (chunkShape[axis] ?? 1), range.end);
    const stride = chunk?.stride[axis] ?? 0;
    const isRun = axis === target.ranges.length - 1 && data !== undefined && stride === 1;
    const targetStart = to * (target.sizes[axis] ?? 1);
    if (isRun) {
      values.set(data.subarray(from + first - start, from + end - start), targetStart + first - range.first);
      return;
    }
    for (let index = first; index < end; index++) {
      copy(axis + 1, from + (index - start) * stride, targetStart + index - range.first);
    }
  };
  copy(0, 0, 0);
}

function emptyValues(type: NumberType, count: number): NumericArray {
  const constructors = {
    int8: Int8Array,
    uint8: Uint8Array,
    int16: Int16Array,
    uint16: Uint16Array,
    int32: Int32Array,
    uint32: Uint32Array,
    int64: BigInt64Array,
    uint64: BigUint64Array,
    float32: Float32Array,
    float64: Float64Array,
  } as const;
  return new constructors[type](count);
}

/** Returns the values in an array that can hold NaN. */
function withNaN(values: NumericArray): NumericArray {
  if (values instanceof Float32Array || values instanceof Float64Array) return values;
  if (values instanceof BigInt64Array || values instanceof BigUint64Array)
    throw new Error("a chunk of 64-bit integers is not stored and the array has no fill value");
  return Float64Array.from(values);
}
