/** Encodes small GeoTIFF files for tests: uncompressed strips with interleaved bands. */

export interface GeoTiffSpec {
  readonly rowCount: number;
  readonly columnCount: number;
  /** Values row by row in file order, with interleaved bands. */
  readonly values: ArrayLike<number>;
  readonly type?: "float32" | "float64" | "uint8" | "int32";
  readonly bandCount?: number;
  readonly rowsPerStrip?: number;
  /** Indices of strips to leave out (offset and size 0). */
  readonly sparseStrips?: readonly number[];
  /** Indices of strips to write with size 0 and their actual offset. */
  readonly emptyStrips?: readonly number[];
  /**
   * Coordinates x, y of `tiePointCell`: of the cell's corner nearest the file's first cell, or of its center with
   * `pixelIsPoint`.
   */
  readonly tiePoint?: readonly [number, number];
  /** Column and row of the tie point, by default those of the first cell. */
  readonly tiePointCell?: readonly [number, number];
  /** Cell sizes x, y of ModelPixelScale; positive y runs south. */
  readonly pixelScale?: readonly [number, number];
  /** ModelTransformation instead of tie point and pixel scale, 16 numbers. */
  readonly matrix?: readonly number[];
  /** GeoKeys in addition to EPSG:4326 and PixelIsArea; null leaves out the GeoKey directory. */
  readonly geoKeys?: Readonly<Record<number, number>> | null;
  readonly pixelIsPoint?: boolean;
  readonly nodata?: string;
  readonly compression?: number;
  readonly metadata?: string;
  /** Tags of type SHORT that are added, or replace the default tag of the same number. */
  readonly shortTags?: Readonly<Record<number, readonly number[]>>;
}

const TAG = {
  imageWidth: 256,
  imageLength: 257,
  bitsPerSample: 258,
  compression: 259,
  photometricInterpretation: 262,
  stripOffsets: 273,
  samplesPerPixel: 277,
  rowsPerStrip: 278,
  stripByteCounts: 279,
  planarConfiguration: 284,
  sampleFormat: 339,
  modelTransformation: 34264,
  modelPixelScale: 33550,
  modelTiepoint: 33922,
  geoKeyDirectory: 34735,
  gdalMetadata: 42112,
  gdalNodata: 42113,
} as const;

const TYPES = {
  float32: { array: Float32Array, format: 3 },
  float64: { array: Float64Array, format: 3 },
  uint8: { array: Uint8Array, format: 1 },
  int32: { array: Int32Array, format: 2 },
} as const;

type Field = { readonly tag: number; readonly type: 2 | 3 | 4 | 12; readonly values: readonly number[] };

/** Encodes a little-endian GeoTIFF file. */
export function makeGeoTiff(spec: GeoTiffSpec): Buffer {
  const { rowCount, columnCount, bandCount = 1, rowsPerStrip = rowCount } = spec;
  const { array, format } = TYPES[spec.type ?? "float32"];
  const cells = array.from(spec.values);
  if (cells.length !== rowCount * columnCount * bandCount) {
    const expectedCount = rowCount * columnCount * bandCount;
    throw new Error(`values must have ${expectedCount} items (got ${cells.length})`);
  }
  const bytes = Buffer.from(cells.buffer);
  const rowBytes = columnCount * bandCount * array.BYTES_PER_ELEMENT;
  const strips: Buffer[] = [];
  for (let row = 0; row < rowCount; row += rowsPerStrip) {
    const isSparse = spec.sparseStrips?.includes(strips.length) ?? false;
    strips.push(isSparse ? Buffer.alloc(0) : bytes.subarray(row * rowBytes, (row + rowsPerStrip) * rowBytes));
  }

  const ascii = (text: string): number[] => [...Buffer.from(`${text}\0`, "latin1")];
  const geoKeys = spec.geoKeys === null ? undefined : { 1024: 2, 2048: 4326, ...spec.geoKeys };
  const rasterType = spec.pixelIsPoint === true ? 2 : 1;
  const geoKeyEntries = Object.entries({ 1025: rasterType, ...geoKeys }).map(([key, value]) => [
    Number(key),
    0,
    1,
    value,
  ]);
  const fields: Field[] = [
    { tag: TAG.imageWidth, type: 4, values: [columnCount] },
    { tag: TAG.imageLength, type: 4, values: [rowCount] },
    { tag: TAG.bitsPerSample, type: 3, values: Array.from({ length: bandCount }, () => array.BYTES_PER_ELEMENT * 8) },
    { tag: TAG.compression, type: 3, values: [spec.compression ?? 1] },
    { tag: TAG.photometricInterpretation, type: 3, values: [1] },
    { tag: TAG.stripOffsets, type: 4, values: strips.map(() => 0) }, // filled in below
    { tag: TAG.samplesPerPixel, type: 3, values: [bandCount] },
    { tag: TAG.rowsPerStrip, type: 4, values: [rowsPerStrip] },
    {
      tag: TAG.stripByteCounts,
      type: 4,
      values: strips.map(({ length }, index) => (spec.emptyStrips?.includes(index) === true ? 0 : length)),
    },
    { tag: TAG.planarConfiguration, type: 3, values: [1] },
    { tag: TAG.sampleFormat, type: 3, values: Array.from({ length: bandCount }, () => format) },
  ];
  if (spec.matrix !== undefined) fields.push({ tag: TAG.modelTransformation, type: 12, values: spec.matrix });
  else if (spec.tiePoint !== undefined && spec.pixelScale !== undefined) {
    fields.push({ tag: TAG.modelPixelScale, type: 12, values: [...spec.pixelScale, 0] });
    fields.push({
      tag: TAG.modelTiepoint,
      type: 12,
      values: [...(spec.tiePointCell ?? [0, 0]), 0, ...spec.tiePoint, 0],
    });
  }
  if (geoKeys !== undefined)
    fields.push({
      tag: TAG.geoKeyDirectory,
      type: 3,
      values: [1, 1, 0, geoKeyEntries.length, ...geoKeyEntries.flat()],
    });
  if (spec.metadata !== undefined) fields.push({ tag: TAG.gdalMetadata, type: 2, values: ascii(spec.metadata) });
  if (spec.nodata !== undefined) fields.push({ tag: TAG.gdalNodata, type: 2, values: ascii(spec.nodata) });
  for (const [tag, values] of Object.entries(spec.shortTags ?? {})) {
    const existingIndex = fields.findIndex((field) => field.tag === Number(tag));
    if (existingIndex >= 0) fields.splice(existingIndex, 1);
    fields.push({ tag: Number(tag), type: 3, values });
  }
  fields.sort((a, b) => a.tag - b.tag);

  // Layout of the file: header, directory, values that do not fit into their entries, strips.
  const TYPE_SIZES_BYTES = { 2: 1, 3: 2, 4: 4, 12: 8 } as const;
  const sizeOf = ({ type, values }: Field): number => values.length * TYPE_SIZES_BYTES[type];
  const directorySize = 2 + 12 * fields.length + 4;
  const extraSize = fields.reduce((sum, field) => sum + (sizeOf(field) > 4 ? sizeOf(field) : 0), 0);
  const dataStart = 8 + directorySize + extraSize;
  let stripOffset = dataStart;
  const offsets = strips.map(({ length }) => {
    const offset = length === 0 ? 0 : stripOffset;
    stripOffset += length;
    return offset;
  });
  const file = Buffer.alloc(dataStart);
  file.write("II", 0, "latin1");
  file.writeUInt16LE(42, 2);
  file.writeUInt32LE(8, 4);
  file.writeUInt16LE(fields.length, 8);
  let extraOffset = 8 + directorySize;
  fields.forEach((field, i) => {
    const values = field.tag === TAG.stripOffsets ? offsets : field.values;
    const entryOffset = 10 + 12 * i;
    file.writeUInt16LE(field.tag, entryOffset);
    file.writeUInt16LE(field.type, entryOffset + 2);
    file.writeUInt32LE(values.length, entryOffset + 4);
    let valueOffset = entryOffset + 8;
    if (sizeOf(field) > 4) {
      file.writeUInt32LE(extraOffset, valueOffset);
      valueOffset = extraOffset;
      extraOffset += sizeOf(field);
    }
    values.forEach((value, k) => {
      if (field.type === 2) file.writeUInt8(value, valueOffset + k);
      else if (field.type === 3) file.writeUInt16LE(value, valueOffset + 2 * k);
      else if (field.type === 4) file.writeUInt32LE(value, valueOffset + 4 * k);
      else file.writeDoubleLE(value, valueOffset + 8 * k);
    });
  });
  return Buffer.concat([file, ...strips]);
}
