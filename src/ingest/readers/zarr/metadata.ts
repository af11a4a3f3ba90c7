/** Checks the metadata of Zarr arrays before zarrita uses it, and rejects what zarrita would ignore. */
import type { NumberType } from "../../raster.ts";
import { type Attribute, type Attributes, CHUNK_BYTES_MAX, NUMBER_BYTES } from "../arrays/arrayFile.ts";

/** Codecs that are decoded exactly, without the prefix `numcodecs.`. */
const CODECS: ReadonlySet<string> = new Set([
  "bytes",
  "transpose",
  "crc32c",
  "blosc",
  "gzip",
  "zlib",
  "zstd",
  "lz4",
  "shuffle",
  "delta",
  "bitround",
]);

const NUMBER_TYPES: Readonly<Record<string, NumberType>> = {
  i1: "int8",
  u1: "uint8",
  i2: "int16",
  u2: "uint16",
  i4: "int32",
  u4: "uint32",
  i8: "int64",
  u8: "uint64",
  f4: "float32",
  f8: "float64",
};

/** Metadata of one array, common to both versions of the format. */
export interface ZarrMetadata {
  readonly version: 2 | 3;
  readonly shape: readonly number[];
  readonly type: NumberType | { readonly unsupported: string };
  /** Shape of the parts that are decoded together: chunks, or the inner chunks of shards. */
  readonly chunkShape: readonly number[];
  readonly dimensionNames: readonly (string | undefined)[];
  readonly attributes: Attributes;
  /** The value of cells that are not stored; undefined if the array has none, so that such cells are missing. */
  readonly fillValue: number | undefined;
  /** Numbers that mark missing cells by the convention of xarray. */
  readonly missing: readonly number[];
  /** Why the values cannot be read, if so. */
  readonly unsupported: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** Reads `.zarray` and `.zattrs` of version 2. */
export function metadataOfVersion2(array: Json, attributes: Json): ZarrMetadata {
  const { dtype } = array;
  const type = typeof dtype === "string" ? NUMBER_TYPES[dtype.slice(1)] : undefined;
  const names = attributes["_ARRAY_DIMENSIONS"];
  const fillValue = fillOf(array["fill_value"]);
  // xarray stores the missing value of a variable as the fill value of the array.
  const isXarray = Array.isArray(names);
  const codecs = [...list(array["filters"]), ...(array["compressor"] === null ? [] : [array["compressor"]])].map(
    (codec) => ({
      name: textOrUndefined((codec as Json | undefined)?.["id"]),
      configuration: codec,
    }),
  );
  return checked({
    version: 2,
    shape: numbers(array["shape"]),
    type: type ?? { unsupported: `values of the type ${shown(dtype)}` },
    chunkShape: numbers(array["chunks"]),
    dimensionNames: isXarray ? names.map(textOrUndefined) : [],
    attributes: attributesOf(attributes, type),
    fillValue,
    missing: isXarray && fillValue !== undefined ? [fillValue] : [],
    unsupported:
      array["zarr_format"] === 2 ? unsupportedCodec(codecs) : `has zarr_format ${shown(array["zarr_format"])}.`,
  });
}

const KNOWN_MEMBERS = new Set(
  "zarr_format node_type shape data_type chunk_grid chunk_key_encoding fill_value codecs attributes storage_transformers dimension_names".split(
    " ",
  ),
);

/** Reads `zarr.json` of version 3. */
export function metadataOfVersion3(array: Json): ZarrMetadata {
  const dataType = array["data_type"];
  const type = Object.values(NUMBER_TYPES).find((known) => known === dataType);
  const grid = array["chunk_grid"] as Json | undefined;
  const codecs = list(array["codecs"]).map((codec) => {
    const { name, configuration } = (typeof codec === "string" ? { name: codec } : (codec ?? {})) as Json;
    return { name: textOrUndefined(name), configuration };
  });
  const sharding = codecs.find(({ name }) => name === "sharding_indexed");
  const shard = sharding?.configuration as Json | undefined;
  const outerShape = numbers((grid?.["configuration"] as Json | undefined)?.["chunk_shape"]);
  const unknown = Object.entries(array).find(
    ([name, value]) => !KNOWN_MEMBERS.has(name) && (value as Json | null)?.["must_understand"] !== false,
  );
  const unsupported = (): string | undefined => {
    if (grid?.["name"] !== "regular") return `has the chunk grid ${shown(grid?.["name"])}, which is not supported.`;
    if (list(array["storage_transformers"]).length > 0) return "has storage transformers, which are not supported.";
    if (unknown !== undefined) return `has the extension ${JSON.stringify(unknown[0])}, which is not supported.`;
    const keyEncoding = (array["chunk_key_encoding"] as Json | undefined)?.["name"];
    if (keyEncoding !== "default" && keyEncoding !== "v2") {
      return `has the chunk key encoding ${shown(keyEncoding)}; "default" and "v2" are supported.`;
    }
    if (sharding === undefined) return unsupportedCodec(codecs);
    if (codecs.length > 1) return "has other codecs beside sharding_indexed, which is not supported.";
    const location = shard?.["index_location"] ?? "end";
    if (location !== "end") return `has its shard index at the ${shown(location)}; only "end" is supported.`;
    const codecsIn = (member: string): readonly Codec[] =>
      list(shard?.[member]).map((codec) => ({
        name: textOrUndefined((codec as Json | null)?.["name"]),
        configuration: (codec as Json | null)?.["configuration"],
      }));
    const innerShape = numbers(shard?.["chunk_shape"]);
    if (!innerShape.every((size, index) => Number.isInteger((outerShape[index] ?? NaN) / size)))
      return `has shards of ${outerShape.join(" x ")} that are not whole multiples of their chunks of ${innerShape.join(" x ")}.`;
    return unsupportedCodec([...codecsIn("codecs"), ...codecsIn("index_codecs")]);
  };
  return checked({
    version: 3,
    shape: numbers(array["shape"]),
    type: type ?? { unsupported: `values of the type ${shown(dataType)}` },
    chunkShape: sharding === undefined ? outerShape : numbers(shard?.["chunk_shape"]),
    dimensionNames: list(array["dimension_names"]).map(textOrUndefined),
    attributes: attributesOf((array["attributes"] ?? {}) as Json, type),
    fillValue: fillOf(array["fill_value"]),
    missing: [],
    unsupported: unsupported(),
  });
}

interface Codec {
  readonly name: string | undefined;
  readonly configuration: unknown;
}

function unsupportedCodec(codecs: readonly Codec[]): string | undefined {
  const unknown = codecs.find(({ name }) => name === undefined || !CODECS.has(name.replace(/^numcodecs\./, "")));
  if (unknown === undefined) return undefined;
  return `is stored with the codec ${shown(unknown.name)}, which is not supported. Accepted are ${[...CODECS].join(", ")} and sharding_indexed.`;
}

/** Checks sizes, which are used to allocate memory. */
function checked(metadata: ZarrMetadata): ZarrMetadata {
  const { shape, chunkShape, type, unsupported } = metadata;
  if (unsupported !== undefined) return metadata;
  const isSize = (size: number): boolean => Number.isSafeInteger(size) && size >= 0;
  if (!(
    shape.every(isSize) &&
    chunkShape.length === shape.length &&
    chunkShape.every((size) => isSize(size) && size > 0)
  ))
    return {
      ...metadata,
      unsupported: `has the invalid shape ${shape.join(" x ")} with chunks of ${chunkShape.join(" x ")}.`,
    };
  if (typeof type !== "string") return metadata;
  const chunkBytes = chunkShape.reduce((product, size) => product * size, NUMBER_BYTES[type]);
  if (chunkBytes <= CHUNK_BYTES_MAX) return metadata;
  return { ...metadata, unsupported: `has chunks of ${chunkBytes} bytes; the limit is ${CHUNK_BYTES_MAX}.` };
}

function attributesOf(attributes: Json, type: NumberType | undefined): Attributes {
  const found = new Map<string, Attribute>();
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "_FillValue" && typeof value === "string") {
      const fill = xarrayFillOf(value, type);
      if (fill !== undefined) found.set(name, { value: [fill], type: undefined });
      else found.set(name, { value, type: undefined });
    } else if (typeof value === "string") found.set(name, { value, type: undefined });
    else if (typeof value === "number") found.set(name, { value: [value], type: undefined });
    else if (Array.isArray(value) && value.every((item) => typeof item === "number"))
      found.set(name, { value, type: undefined });
    else if (Array.isArray(value) && value.every((item) => typeof item === "string"))
      found.set(name, { value: value.join(" "), type: undefined });
  }
  return found;
}

/** Reads the `_FillValue` that xarray writes into version 3: base64 of a little-endian float64, or NaN as text. */
function xarrayFillOf(text: string, type: NumberType | undefined): number | undefined {
  const named = fillOf(text);
  if (named !== undefined) return named;
  if (type !== "float32" && type !== "float64") return undefined;
  const bytes = /^[A-Za-z0-9+/]{11}=$/.test(text) ? Buffer.from(text, "base64") : undefined;
  return bytes?.length === 8 ? bytes.readDoubleLE() : undefined;
}

/** Returns a fill value; undefined if there is none. */
function fillOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return { NaN: NaN, Infinity, "-Infinity": -Infinity }[String(value)];
}

function numbers(value: unknown): readonly number[] {
  return list(value).map((item) => (typeof item === "number" ? item : NaN));
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOrUndefined(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Returns a value of a metadata document for a message; it may be absent. */
export function shown(value: unknown): string {
  return JSON.stringify(value) ?? "(none)";
}
