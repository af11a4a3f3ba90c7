/** Reads NetCDF-4 and HDF5 files with h5wasm. The file is read where it is; only windows are copied into memory. */
import { access, constants } from "node:fs/promises";
import { resolve } from "node:path";
import type { Attribute as Hdf5Attribute, Dataset, File as Hdf5File, Group, Metadata } from "h5wasm/node";
import { requirePackages } from "../../validation/optionalPackages.ts";
import { isFault } from "../../errors.ts";
import { messageOf, sourceFault } from "../raster.ts";
import {
  type ArrayFile,
  type ArrayVariable,
  type Attribute,
  type Attributes,
  CHUNK_BYTES_MAX,
  COORDINATE_COUNT_MAX,
  type Dimension,
  NUMBER_BYTES,
  type NumericArray,
  VARIABLE_COUNT_MAX,
} from "./arrays/arrayFile.ts";

type Hdf5Module = typeof import("h5wasm/node");

/** Largest size of one attribute. */
const ATTRIBUTE_BYTES_MAX = 1 << 20;
/** Largest number of attributes of one variable. */
const ATTRIBUTE_COUNT_MAX = 1000;
const GROUP_DEPTH_MAX = 16;
/** Attributes in which the NetCDF library stores dimensions; they are references. */
const INTERNAL_ATTRIBUTES =
  /^(CLASS|NAME|REFERENCE_LIST|DIMENSION_LIST|_Netcdf4Dimid|_Netcdf4Coordinates|_nc3_strict)$/;
/** The name of a dimension without coordinates begins with this. */
const NO_COORDINATES = "This is a netCDF dimension but not a netCDF variable";

/** Filters that the HDF5 library in h5wasm has; others are read as garbage. */
const FILTERS: ReadonlyMap<number, string> = new Map([
  [1, "deflate"],
  [2, "shuffle"],
  [3, "fletcher32"],
  [4, "szip"],
  [5, "nbit"],
  [6, "scaleoffset"],
]);
const OTHER_FILTERS: Readonly<Record<number, string>> = {
  305: "LZO",
  307: "bzip2",
  32_000: "LZF",
  32_001: "Blosc",
  32_004: "LZ4",
  32_008: "bitshuffle",
  32_013: "ZFP",
  32_015: "Zstandard",
  32_017: "SZ",
  32_022: "BitGroom",
  32_026: "Blosc2",
};

/** HDF5 type classes. */
const [CLASS_INTEGER, CLASS_FLOAT, CLASS_TEXT] = [0, 1, 3];

/** Names of the other HDF5 type classes, for messages. */
const CLASS_NAMES: Readonly<Record<number, string>> = {
  2: "times",
  4: "bit fields",
  5: "opaque bytes",
  6: "compound values",
  7: "references",
  8: "enumerated values (class codes)",
  9: "lists of variable length",
  10: "arrays",
};

/**
 * Opens a NetCDF-4 or HDF5 file on disk.
 *
 * @param path where the file is; `file` is its name in messages
 * @throws Fault `source_invalid` if the file is damaged; `configuration_invalid` if h5wasm is not installed
 */
export async function openHdf5(file: string, path: string): Promise<ArrayFile> {
  const hdf5 = await loadModule();
  try {
    await access(path, constants.R_OK);
  } catch (error) {
    throw sourceFault(file, `cannot be opened (${messageOf(error)}).`, { cause: error });
  }
  let opened: Hdf5File | undefined;
  try {
    opened = new hdf5.File(resolve(path), "r");
    const variables = new Map<string, ArrayVariable>();
    for (const { name, dataset } of datasetsOf(file, hdf5, opened)) {
      variables.set(name, variableOf(file, hdf5, { file: opened, name, dataset }));
    }
    const close = (): void => void opened?.close();
    return { file, format: "NetCDF-4", variables, close: () => Promise.resolve(close()) };
  } catch (error) {
    opened?.close();
    if (isFault(error)) throw error;
    const why = `cannot be read as NetCDF-4 or HDF5 (${shortMessage(error)}). The file is damaged or truncated.`;
    throw sourceFault(file, why, { cause: error });
  }
}

async function loadModule(): Promise<Hdf5Module> {
  requirePackages("Reading NetCDF-4 and HDF5 files", ["h5wasm"]);
  const hdf5 = await import("h5wasm/node");
  const module = (await hdf5.ready) as Awaited<typeof hdf5.ready> & { activate_throwing_error_handler(): number };
  // Without it, errors are printed and the values read are garbage.
  module.activate_throwing_error_handler();
  return hdf5;
}

/** Returns the first line of a message: the HDF5 library appends its whole error stack. */
function shortMessage(error: unknown): string {
  const first = messageOf(error)
    .split("\n")
    .find((line) => line.trim() !== "");
  return (first ?? "unknown error").trim().slice(0, 200);
}

interface NamedDataset {
  readonly name: string;
  readonly dataset: Dataset;
}

/** Returns the arrays of all groups. External links are not followed, because they lead to other files. */
function datasetsOf(file: string, hdf5: Hdf5Module, root: Group): readonly NamedDataset[] {
  const found: NamedDataset[] = [];
  const pending: { readonly group: Group; readonly path: readonly string[] }[] = [{ group: root, path: [] }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { group, path } = next;
    for (const key of group.keys()) {
      if (isExternalLink(group, key)) continue;
      const entity = group.get(key);
      if (entity instanceof hdf5.Dataset) found.push({ name: [...path, key].join("/"), dataset: entity });
      if (entity instanceof hdf5.Group) pending.push({ group: entity, path: [...path, key] });
      if (found.length + pending.length > VARIABLE_COUNT_MAX)
        throw sourceFault(file, `has more variables and groups than the limit of ${VARIABLE_COUNT_MAX}.`);
      if (path.length > GROUP_DEPTH_MAX)
        throw sourceFault(file, `has groups nested deeper than the limit of ${GROUP_DEPTH_MAX}.`);
    }
  }
  return found;
}

/** Returns whether a member of a group is in another file. */
function isExternalLink(group: Group, key: string): boolean {
  // The declaration omits that other kinds of links have no file name.
  const { filename }: { readonly filename?: string } = group.get_external_link(
    `${group.path === "/" ? "" : group.path}/${key}`,
  );
  return filename !== undefined;
}

function variableOf(file: string, hdf5: Hdf5Module, source: NamedDataset & { readonly file: Hdf5File }): ArrayVariable {
  const { name, dataset } = source;
  const { metadata } = dataset;
  const shape = metadata.shape ?? [];
  const type = numberTypeOf(metadata);
  const chunkShape = metadata.chunks ?? undefined;
  return {
    name,
    shape,
    dimensions: dimensionsOf(hdf5, source, shape.length),
    type,
    attributes: attributesOf(file, name, dataset),
    chunkShape,
    unsupported: unsupportedStorage(dataset, type, chunkShape),
    missing: [],
    hasDefaultFill: true,
    notes: {},
    read(ranges) {
      const values = dataset.slice(ranges.map(({ first, end }) => [first, end]));
      return Promise.resolve((shape.length === 0 ? [values].flat() : values) as unknown as NumericArray);
    },
    readTexts() {
      const count = metadata.total_size;
      if (!(count <= COORDINATE_COUNT_MAX)) throw new Error(`has ${count} texts; the limit is ${COORDINATE_COUNT_MAX}`);
      return Promise.resolve([dataset.value].flat().map(String));
    },
  };
}

function numberTypeOf({ type, size, signed }: Metadata): ArrayVariable["type"] {
  if (type === CLASS_TEXT) return "text";
  if (type === CLASS_INTEGER && [1, 2, 4, 8].includes(size))
    return `${signed ? "int" : "uint"}${(size * 8) as 8 | 16 | 32 | 64}`;
  if (type === CLASS_FLOAT && (size === 4 || size === 8)) return size === 4 ? "float32" : "float64";
  if (type === CLASS_INTEGER || type === CLASS_FLOAT)
    return { unsupported: `${type === CLASS_INTEGER ? "integers" : "floats"} of ${size * 8} bits` };
  return { unsupported: CLASS_NAMES[type] ?? `values of the HDF5 class ${type}` };
}

function unsupportedStorage(
  dataset: Dataset,
  type: ArrayVariable["type"],
  chunkShape: readonly number[] | undefined,
): string | undefined {
  const { metadata } = dataset;
  if (metadata.shape === null) return "has no values (a null dataspace).";
  if (metadata.virtual_sources !== undefined && metadata.virtual_sources.length > 0)
    return "is a virtual dataset made of other files, which is not supported.";
  const unknown = dataset.filters.find(({ id }) => !FILTERS.has(id));
  if (unknown !== undefined) {
    const filter = OTHER_FILTERS[unknown.id] ?? (unknown.name === "" ? "unnamed" : unknown.name);
    return (
      `is compressed with the HDF5 filter ${unknown.id} (${filter}), which is not supported. ` +
      "Convert it: nccopy -d 1 -s in.nc out.nc, or h5repack -f GZIP=1 in.h5 out.h5."
    );
  }
  if (typeof type === "string" && type !== "text" && chunkShape !== undefined) {
    const sizeBytes = chunkShape.reduce((product, size) => product * size, NUMBER_BYTES[type]);
    if (!(sizeBytes <= CHUNK_BYTES_MAX))
      return `has chunks of ${sizeBytes} bytes; the limit is ${CHUNK_BYTES_MAX}. Write smaller chunks with nccopy -c.`;
  }
  return undefined;
}

/** Returns the dimensions of a variable, whose coordinates are dimension scales. */
function dimensionsOf(
  hdf5: Hdf5Module,
  { file, name, dataset }: NamedDataset & { readonly file: Hdf5File },
  count: number,
): readonly Dimension[] {
  const isScale = textAttribute(dataset, "CLASS") === "DIMENSION_SCALE";
  return Array.from({ length: count }, (_, index): Dimension => {
    // A dimension scale is its own coordinate.
    if (isScale && count === 1) return { name: lastPart(name), coordinate: name, values: undefined };
    const [path, ...others] = dataset.get_attached_scales(index);
    if (path === undefined || others.length > 0)
      return { name: `dimension ${index}`, coordinate: undefined, values: undefined };
    const scale = file.get(path);
    const hasValues =
      scale instanceof hdf5.Dataset &&
      scale.shape?.length === 1 &&
      !(textAttribute(scale, "NAME") ?? "").startsWith(NO_COORDINATES);
    const coordinate = path.replace(/^\//, "");
    return { name: lastPart(coordinate), coordinate: hasValues ? coordinate : undefined, values: undefined };
  });
}

function lastPart(name: string): string {
  return name.split("/").at(-1) ?? name;
}

function textAttribute(dataset: Dataset, name: string): string | undefined {
  const attribute = dataset.attrs[name];
  if (attribute?.metadata.type !== CLASS_TEXT || !isSmall(attribute.metadata)) return undefined;
  const { value } = attribute;
  return typeof value === "string" ? value : undefined;
}

function attributesOf(file: string, variable: string, dataset: Dataset): Attributes {
  const attributes = new Map<string, Attribute>();
  const entries = Object.entries(dataset.attrs);
  if (entries.length > ATTRIBUTE_COUNT_MAX)
    throw sourceFault(file, `variable ${variable} has more attributes than the limit of ${ATTRIBUTE_COUNT_MAX}.`);
  for (const [name, attribute] of entries) {
    if (INTERNAL_ATTRIBUTES.test(name)) continue;
    if (!isSmall(attribute.metadata)) {
      throw sourceFault(
        file,
        `the attribute ${name} of variable ${variable} is larger than the limit of ${ATTRIBUTE_BYTES_MAX} bytes.`,
      );
    }
    const read = attributeOf(attribute);
    if (read !== undefined) attributes.set(name, read);
  }
  return attributes;
}

/** Returns whether an attribute is small enough to be read. */
function isSmall({ size, total_size }: Pick<Metadata, "size" | "total_size">): boolean {
  return Math.max(1, size) * total_size <= ATTRIBUTE_BYTES_MAX;
}

/**
 * Returns an attribute with numbers or text; references and compound values are not used. h5wasm allocates the members of lists of
 * references before it checks their number, which ends the process if the number is damaged.
 */
function attributeOf(attribute: Hdf5Attribute): Attribute | undefined {
  const type = numberTypeOf(attribute.metadata);
  if (typeof type !== "string") return undefined;
  const { value } = attribute;
  if (value === null) return undefined;
  if (type === "text") return { value: [value].flat().map(String).join(" "), type: undefined };
  const numbers = ArrayBuffer.isView(value) ? [...(value as unknown as Iterable<number | bigint>)] : [value].flat();
  return { value: numbers.map(Number), type };
}
