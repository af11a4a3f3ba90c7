/** Encodes small NetCDF-3 files (classic format) for tests. */

interface Netcdf3Variable {
  readonly dimensions: readonly string[];
  readonly values: ArrayLike<number>;
  readonly type?: "int32" | "float32" | "float64";
  readonly attributes?: Readonly<Record<string, string | number>>;
}

export interface Netcdf3Spec {
  readonly dimensions: Readonly<Record<string, number>>;
  readonly variables: Readonly<Record<string, Netcdf3Variable>>;
}

const TYPES = {
  int32: { code: 4, size: 4, set: "setInt32" },
  float32: { code: 5, size: 4, set: "setFloat32" },
  float64: { code: 6, size: 8, set: "setFloat64" },
} as const;
const TEXT = 2;
const TAGS = { dimensions: 10, variables: 11, attributes: 12 } as const;

export function makeNetcdf3({ dimensions, variables }: Netcdf3Spec): Uint8Array {
  const names = Object.keys(dimensions);
  const entries = Object.entries(variables);
  const sizes = entries.map(([, { values, type = "float32" }]) => values.length * TYPES[type].size);
  const headerOf = (offsets: readonly number[]): Uint8Array =>
    joined([
      Uint8Array.of(0x43, 0x44, 0x46, 1),
      int32(0),
      int32(TAGS.dimensions, names.length),
      ...names.flatMap((name) => [text(name), int32(dimensions[name] ?? 0)]),
      int32(0, 0),
      int32(TAGS.variables, entries.length),
      ...entries.flatMap(([name, { dimensions: own, attributes = {}, type = "float32" }], index) => [
        text(name),
        int32(own.length, ...own.map((dimension) => names.indexOf(dimension))),
        attributeList(attributes),
        int32(TYPES[type].code, sizes[index] ?? 0, offsets[index] ?? 0),
      ]),
    ]);
  const headerSize = headerOf([]).length;
  const offsets = sizes.map((_, index) => headerSize + sizes.slice(0, index).reduce((sum, size) => sum + size, 0));
  return joined([
    headerOf(entries.map((_, index) => offsets[index] ?? 0)),
    ...entries.map(([, { values, type = "float32" }]) => {
      const view = new DataView(new ArrayBuffer(values.length * TYPES[type].size));
      for (let i = 0; i < values.length; i++) view[TYPES[type].set](i * TYPES[type].size, values[i] ?? NaN);
      return new Uint8Array(view.buffer);
    }),
  ]);
}

/** Returns the coordinates and the grid mapping of a grid in WGS84 degrees, given its centers. */
export function netcdfGrid(lat: readonly number[], lon: readonly number[]): Netcdf3Spec["variables"] {
  return {
    lat: { dimensions: ["lat"], values: lat, type: "float64", attributes: { units: "degrees_north" } },
    lon: { dimensions: ["lon"], values: lon, type: "float64", attributes: { units: "degrees_east" } },
    crs: {
      dimensions: [],
      values: [0],
      type: "int32",
      attributes: {
        grid_mapping_name: "latitude_longitude",
        semi_major_axis: 6_378_137,
        inverse_flattening: 298.257_223_563,
        longitude_of_prime_meridian: 0,
      },
    },
  };
}

function attributeList(attributes: Readonly<Record<string, string | number>>): Uint8Array {
  const entries = Object.entries(attributes);
  if (entries.length === 0) return int32(0, 0);
  return joined([
    int32(TAGS.attributes, entries.length),
    ...entries.map(([name, value]) => {
      if (typeof value === "string") return joined([text(name), int32(TEXT), text(value)]);
      const view = new DataView(new ArrayBuffer(8));
      view.setFloat64(0, value);
      return joined([text(name), int32(TYPES.float64.code, 1), new Uint8Array(view.buffer)]);
    }),
  ]);
}

function int32(...values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(4 * values.length));
  values.forEach((value, index) => view.setInt32(4 * index, value));
  return new Uint8Array(view.buffer);
}

/** Returns the length of a text and its bytes, padded to four bytes. */
function text(value: string): Uint8Array {
  const bytes = new TextEncoder().encode(value);
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  return joined([int32(bytes.length), padded]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    result.set(part, offset);
    offset += part.length;
  }
  return result;
}
