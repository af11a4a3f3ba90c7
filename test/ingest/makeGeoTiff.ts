/** Encodes small GeoTIFF files for tests: uncompressed strips with interleaved bands. */

export interface GeoTiffSpec {
  readonly rowCount: number;
  readonly columnCount: number;
  /** Row by row in file order, bands interleaved. */
  readonly values: ArrayLike<number>;
  readonly type?: "float32" | "float64" | "uint8" | "int32";
  readonly bandCount?: number;
  readonly rowsPerStrip?: number;
  /** Indices of strips to leave out (offset and size 0). */
  readonly sparseStrips?: readonly number[];
  /** Indices of strips to write with size 0 and their actual offset. */
  readonly emptyStrips?: readonly number[];
  /** x, y of the tie point: the outer corner of the first cell, or its center with pixelIsPoint. */
  readonly tie?: readonly [number, number];
  /** Cell sizes x, y of ModelPixelScale; positive y runs south. */
  readonly scale?: readonly [number, number];
  /** ModelTransformation instead of tie point and scale, 16 numbers. */
  readonly matrix?: readonly number[];
  /** GeoKeys in addition to EPSG:4326 and PixelIsArea; null leaves out the GeoKey directory. */
  readonly geoKeys?: Readonly<Record<number, number>> | null;
  readonly pixelIsPoint?: boolean;
  readonly nodata?: string;
  readonly compression?: number;
  readonly metadata?: string;
  /** Additional or replaced tags of type SHORT. */
  readonly shorts?: Readonly<Record<number, readonly number[]>>;
}

const TYPES = {
  float32: { array: Float32Array, format: 3 },
  float64: { array: Float64Array, format: 3 },
  uint8: { array: Uint8Array, format: 1 },
  int32: { array: Int32Array, format: 2 },
} as const;

type Field = { readonly tag: number; readonly type: 2 | 3 | 4 | 12; readonly values: readonly number[] };

export function makeGeoTiff(spec: GeoTiffSpec): Buffer {
  const { rowCount, columnCount, bandCount = 1, rowsPerStrip = rowCount } = spec;
  const { array, format } = TYPES[spec.type ?? "float32"];
  const cells = array.from(spec.values);
  if (cells.length !== rowCount * columnCount * bandCount) throw new Error(`${cells.length} values`);
  const bytes = Buffer.from(cells.buffer);
  const rowBytes = columnCount * bandCount * array.BYTES_PER_ELEMENT;
  const strips: Buffer[] = [];
  for (let row = 0; row < rowCount; row += rowsPerStrip) {
    const isSparse = spec.sparseStrips?.includes(strips.length) ?? false;
    strips.push(isSparse ? Buffer.alloc(0) : bytes.subarray(row * rowBytes, (row + rowsPerStrip) * rowBytes));
  }

  const ascii = (text: string): number[] => [...Buffer.from(`${text}\0`, "latin1")];
  const keys = spec.geoKeys === null ? undefined : { 1024: 2, 2048: 4326, ...spec.geoKeys };
  const rasterType = spec.pixelIsPoint === true ? 2 : 1;
  const entries = Object.entries({ 1025: rasterType, ...keys }).map(([key, value]) => [Number(key), 0, 1, value]);
  const fields: Field[] = [
    { tag: 256, type: 4, values: [columnCount] },
    { tag: 257, type: 4, values: [rowCount] },
    { tag: 258, type: 3, values: Array.from({ length: bandCount }, () => array.BYTES_PER_ELEMENT * 8) },
    { tag: 259, type: 3, values: [spec.compression ?? 1] },
    { tag: 262, type: 3, values: [1] },
    { tag: 273, type: 4, values: strips.map(() => 0) }, // filled in below
    { tag: 277, type: 3, values: [bandCount] },
    { tag: 278, type: 4, values: [rowsPerStrip] },
    {
      tag: 279,
      type: 4,
      values: strips.map(({ length }, index) => (spec.emptyStrips?.includes(index) === true ? 0 : length)),
    },
    { tag: 284, type: 3, values: [1] },
    { tag: 339, type: 3, values: Array.from({ length: bandCount }, () => format) },
  ];
  if (spec.matrix !== undefined) fields.push({ tag: 34264, type: 12, values: spec.matrix });
  else if (spec.tie !== undefined && spec.scale !== undefined) {
    fields.push({ tag: 33550, type: 12, values: [...spec.scale, 0] });
    fields.push({ tag: 33922, type: 12, values: [0, 0, 0, ...spec.tie, 0] });
  }
  if (keys !== undefined) fields.push({ tag: 34735, type: 3, values: [1, 1, 0, entries.length, ...entries.flat()] });
  if (spec.metadata !== undefined) fields.push({ tag: 42112, type: 2, values: ascii(spec.metadata) });
  if (spec.nodata !== undefined) fields.push({ tag: 42113, type: 2, values: ascii(spec.nodata) });
  for (const [tag, values] of Object.entries(spec.shorts ?? {})) {
    const others = fields.findIndex((field) => field.tag === Number(tag));
    if (others >= 0) fields.splice(others, 1);
    fields.push({ tag: Number(tag), type: 3, values });
  }
  fields.sort((a, b) => a.tag - b.tag);

  // Header, directory, values that do not fit into entries, strips.
  const SIZES = { 2: 1, 3: 2, 4: 4, 12: 8 } as const;
  const sizeOf = ({ type, values }: Field): number => values.length * SIZES[type];
  const directorySize = 2 + 12 * fields.length + 4;
  const extraSize = fields.reduce((sum, field) => sum + (sizeOf(field) > 4 ? sizeOf(field) : 0), 0);
  const dataStart = 8 + directorySize + extraSize;
  let at = dataStart;
  const offsets = strips.map(({ length }) => {
    const offset = length === 0 ? 0 : at;
    at += length;
    return offset;
  });
  const file = Buffer.alloc(dataStart);
  file.write("II", 0, "latin1");
  file.writeUInt16LE(42, 2);
  file.writeUInt32LE(8, 4);
  file.writeUInt16LE(fields.length, 8);
  let extra = 8 + directorySize;
  fields.forEach((field, i) => {
    const values = field.tag === 273 ? offsets : field.values;
    const entry = 10 + 12 * i;
    file.writeUInt16LE(field.tag, entry);
    file.writeUInt16LE(field.type, entry + 2);
    file.writeUInt32LE(values.length, entry + 4);
    let target = entry + 8;
    if (sizeOf(field) > 4) {
      file.writeUInt32LE(extra, target);
      target = extra;
      extra += sizeOf(field);
    }
    values.forEach((value, k) => {
      if (field.type === 2) file.writeUInt8(value, target + k);
      else if (field.type === 3) file.writeUInt16LE(value, target + 2 * k);
      else if (field.type === 4) file.writeUInt32LE(value, target + 4 * k);
      else file.writeDoubleLE(value, target + 8 * k);
    });
  });
  return Buffer.concat([file, ...strips]);
}
