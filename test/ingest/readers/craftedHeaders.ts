/**
 * Generates malformed TIFF files from seeds: loops of directories, counts and offsets past the end, flipped bits,
 * truncation, huge dimensions, decompression bombs, and malicious sidecar files.
 */
import { deflateSync } from "node:zlib";
import { randomFrom, type SeededRandom } from "../../seededRandom.ts";

/** A malformed file. */
export interface CraftedFile {
  readonly name: string;
  readonly bytes: Buffer;
  /** Size to which the file is extended with a sparse region. */
  readonly sizeBytes?: number;
  /** Contents of sidecar files by their suffix. */
  readonly sidecars?: Readonly<Record<string, Buffer>>;
}

interface Field {
  readonly tag: number;
  readonly type: number;
  readonly values: readonly number[] | Buffer;
  /** Incorrect count and offset to write into the entry. */
  readonly count?: number;
  readonly offset?: number;
}

const SIZES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 12: 8, 13: 4, 16: 8, 18: 8 };

interface Image {
  readonly rowCount: number;
  readonly columnCount: number;
  readonly rowsPerStrip: number;
  readonly compression: number;
  readonly strips: readonly Buffer[];
}

const ROWS = 12;
const COLUMNS = 16;

/** Float32 values 0 to 191 in strips of four rows; the image of most cases. */
function plainImage(compression = 1): Image {
  const values = Buffer.from(Float32Array.from({ length: ROWS * COLUMNS }, (_, i) => i).buffer);
  const size = 4 * COLUMNS * 4;
  const strips = [0, 1, 2].map((index) => values.subarray(index * size, (index + 1) * size));
  const encoded = compression === 8 ? strips.map((strip) => deflateSync(strip)) : strips;
  return { rowCount: ROWS, columnCount: COLUMNS, rowsPerStrip: 4, compression, strips: encoded };
}

function fieldsOf({ rowCount, columnCount, rowsPerStrip, compression, strips }: Image): Field[] {
  return [
    { tag: 256, type: 4, values: [columnCount] },
    { tag: 257, type: 4, values: [rowCount] },
    { tag: 258, type: 3, values: [32] },
    { tag: 259, type: 3, values: [compression] },
    { tag: 262, type: 3, values: [1] },
    { tag: 273, type: 4, values: strips.map(() => 0) }, // filled in by tiffOf
    { tag: 277, type: 3, values: [1] },
    { tag: 278, type: 4, values: [rowsPerStrip] },
    { tag: 279, type: 4, values: strips.map(({ length }) => length) },
    { tag: 284, type: 3, values: [1] },
    { tag: 339, type: 3, values: [3] },
    { tag: 33_550, type: 12, values: [1e-5, 1e-5, 0] },
    { tag: 33_922, type: 12, values: [0, 0, 0, 10, 50, 0] },
    { tag: 34_735, type: 3, values: [1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, 4326] },
    { tag: 42_113, type: 2, values: Buffer.from("-9999\0") },
  ];
}

interface Shape {
  readonly isBig?: boolean;
  /** Offset of the next directory; "self" for the offset of the directory itself. */
  readonly next?: number | "self";
  readonly entryCount?: number;
}

/** Encodes header, directory, values and strips, including the incorrect counts and offsets of the fields. */
function tiffOf(fields: readonly Field[], strips: readonly Buffer[], shape: Shape = {}): Buffer {
  const isBig = shape.isBig === true;
  const wordBytes = isBig ? 8 : 4;
  const at = isBig ? 16 : 8;
  const countBytes = isBig ? 8 : 2;
  const entryBytes = isBig ? 20 : 12;
  const encoded = fields.map(({ type, values }) => bytesOf(type, values));
  const extraStart = at + countBytes + entryBytes * fields.length + wordBytes;
  const extraBytes = encoded.reduce((sum, { length }) => sum + (length > wordBytes ? length : 0), 0);
  let stripOffset = extraStart + extraBytes;
  const offsets = strips.map(({ length }) => (stripOffset += length) - length);
  const file = Buffer.alloc(extraStart + extraBytes);
  const put = (value: number, position: number): void => {
    if (isBig) file.writeBigUInt64LE(BigInt(value), position);
    else file.writeUInt32LE(value >>> 0, position);
  };
  file.write("II", 0, "latin1");
  file.writeUInt16LE(isBig ? 43 : 42, 2);
  if (isBig) file.writeUInt16LE(8, 4);
  put(at, isBig ? 8 : 4);
  if (isBig) file.writeBigUInt64LE(BigInt(shape.entryCount ?? fields.length), at);
  else file.writeUInt16LE(shape.entryCount ?? fields.length, at);
  let extra = extraStart;
  fields.forEach((field, index) => {
    const isOffsets = field.tag === 273 && field.values.length === offsets.length;
    const bytes = isOffsets ? bytesOf(field.type, offsets) : (encoded[index] ?? Buffer.alloc(0));
    const entry = at + countBytes + entryBytes * index;
    file.writeUInt16LE(field.tag, entry);
    file.writeUInt16LE(field.type, entry + 2);
    put(field.count ?? bytes.length / (SIZES[field.type] ?? 1), entry + 4);
    const valueOffset = entry + 4 + wordBytes;
    if (field.offset !== undefined) put(field.offset, valueOffset);
    else if (bytes.length <= wordBytes) bytes.copy(file, valueOffset);
    else {
      put(extra, valueOffset);
      bytes.copy(file, extra);
      extra += bytes.length;
    }
  });
  put(shape.next === "self" ? at : (shape.next ?? 0), at + countBytes + entryBytes * fields.length);
  return Buffer.concat([file, ...strips]);
}

function bytesOf(type: number, values: readonly number[] | Buffer): Buffer {
  if (Buffer.isBuffer(values)) return values;
  const size = SIZES[type] ?? 1;
  const bytes = Buffer.alloc(values.length * size);
  values.forEach((value, index) => {
    if (type === 12) bytes.writeDoubleLE(value, index * size);
    else if (size === 8) bytes.writeBigUInt64LE(BigInt(Math.trunc(value)), index * size);
    else bytes.writeUIntLE(value % 2 ** (8 * size), index * size, size);
  });
  return bytes;
}

const HUGE = [0, 1, 2, 7, 255, 65_535, 65_536, 2 ** 24, 2 ** 28, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1] as const;

/** Returns the fields with one of them changed or added. */
function withField(fields: readonly Field[], tag: number, change: Partial<Field>): Field[] {
  const hasField = fields.some((field) => field.tag === tag);
  const all = hasField ? fields : [...fields, { tag, type: 4, values: [0] }];
  return all.map((field) => (field.tag === tag ? { ...field, ...change } : field)).toSorted((a, b) => a.tag - b.tag);
}

/**
 * Decompression bombs: at most about one megabyte of encoded data, which expands to about `sizeBytes` or as far as one
 * megabyte goes.
 */
const BOMBS: Readonly<Record<string, { readonly compression: number; encode(sizeBytes: number): Buffer }>> = {
  deflate: { compression: 8, encode: (sizeBytes) => deflateSync(Buffer.alloc(sizeBytes)) },
  packbits: {
    compression: 32_773,
    encode: (sizeBytes) => Buffer.alloc(2 * Math.min(500_000, Math.ceil(sizeBytes / 128)), Buffer.from([0x81, 0])),
  },
  // RLE blocks of 128 KB each, in a frame without content size.
  zstd: {
    compression: 50_000,
    encode: (sizeBytes) => {
      const block = Buffer.from([0x02, 0x00, 0x10, 0x00]);
      const end = Buffer.from([0x01, 0x00, 0x00]);
      const count = Math.min(250_000, Math.ceil(sizeBytes / 131_072));
      return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]), Buffer.alloc(4 * count, block), end]);
    },
  },
  // An empty frame with a stated content size of 8 GiB.
  "zstd-stated": {
    compression: 50_000,
    encode: () => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 2, 0, 0, 0, 0x01, 0x00, 0x00]),
  },
  // Codes for increasingly long runs of zeros.
  lzw: { compression: 5, encode: (sizeBytes) => lzwRun(sizeBytes) },
};

function lzwRun(sizeBytes: number): Buffer {
  const bytes: number[] = [];
  let buffer = 0;
  let buffered = 0;
  const put = (code: number, width: number): void => {
    buffer = (buffer << width) | code;
    buffered += width;
    while (buffered >= 8) {
      bytes.push((buffer >> (buffered - 8)) & 0xff);
      buffered -= 8;
    }
    buffer &= (1 << buffered) - 1;
  };
  for (let written = 0; written < sizeBytes && bytes.length < 1_000_000;) {
    put(256, 9);
    put(0, 9);
    written++;
    let width = 9;
    for (let code = 258; code < 4093; code++) {
      put(code, width);
      written += code - 256;
      if (code + 2 >= 1 << width && width < 12) width++;
    }
  }
  bytes.push(buffer << (8 - buffered));
  return Buffer.from(bytes);
}

const KINDS: readonly ((random: SeededRandom) => Omit<CraftedFile, "name"> & { readonly name?: string })[] = [
  function selfLoop(random) {
    const image = plainImage();
    return { bytes: tiffOf(fieldsOf(image), image.strips, { next: "self", isBig: random.chance(0.5) }) };
  },
  function subDirectoryLoop(random) {
    const image = plainImage();
    const count = random.pick([1, 3, 500, 100_000]);
    const values = Array.from({ length: count }, () => 8);
    return { bytes: tiffOf([...fieldsOf(image).slice(0, 11), { tag: 330, type: 13, values }], image.strips) };
  },
  function longChain(random) {
    const image = plainImage();
    const first = tiffOf(fieldsOf(image), image.strips, {});
    const count = random.pick([2, 900, 1100, 40_000]);
    const isClosed = random.chance(0.5);
    const next = Buffer.alloc(18 * count);
    for (let i = 0; i < count; i++) {
      next.writeUInt16LE(1, 18 * i);
      next.writeUInt16LE(254, 18 * i + 2);
      next.writeUInt16LE(4, 18 * i + 4);
      next.writeUInt32LE(1, 18 * i + 6);
      next.writeUInt32LE(1, 18 * i + 10);
      next.writeUInt32LE(i + 1 < count ? first.length + 18 * (i + 1) : isClosed ? first.length : 0, 18 * i + 14);
    }
    first.writeUInt32LE(first.length, 8 + 2 + 12 * fieldsOf(image).length);
    return { bytes: Buffer.concat([first, next]) };
  },
  function hugeDimensions(random) {
    const image = plainImage(random.pick([1, 8]));
    let fields = fieldsOf(image);
    fields = withField(fields, 256, { values: [random.pick(HUGE)] });
    fields = withField(fields, 257, { values: [random.pick(HUGE)] });
    fields = withField(fields, 278, { values: [random.pick(HUGE)] });
    const scale = random.pick([1e-5, 1e-9, 1e-12]);
    return { bytes: tiffOf(withField(fields, 33_550, { values: [scale, scale, 0] }), image.strips) };
  },
  function hugeBands(random) {
    const image = plainImage();
    const count = random.pick([0, 2, 4, 1000, 65_535]);
    let fields = withField(fieldsOf(image), 277, { values: [count] });
    fields = withField(fields, 258, { values: Array.from({ length: count }, () => random.pick([0, 8, 32, 64])) });
    fields = withField(fields, 339, { values: Array.from({ length: count }, () => random.pick([1, 2, 3])) });
    return { bytes: tiffOf(withField(fields, 284, { values: [random.pick([1, 2, 3])] }), image.strips) };
  },
  function falseCount(random) {
    const image = plainImage(random.pick([1, 8]));
    const fields = fieldsOf(image);
    const isBig = random.chance(0.5);
    const count = isBig ? random.pick([...HUGE, 2 ** 40, 2 ** 53]) : random.pick(HUGE);
    return { bytes: tiffOf(withField(fields, random.pick(fields).tag, { count }), image.strips, { isBig }) };
  },
  function falseOffset(random) {
    const image = plainImage(random.pick([1, 8]));
    const fields = fieldsOf(image);
    const isBig = random.chance(0.5);
    const offset = isBig ? random.pick([...HUGE, 2 ** 40, 2 ** 53]) : random.pick(HUGE);
    return { bytes: tiffOf(withField(fields, random.pick(fields).tag, { offset }), image.strips, { isBig }) };
  },
  function falseType(random) {
    const image = plainImage();
    const fields = fieldsOf(image);
    const type = random.pick([0, 1, 2, 4, 5, 7, 12, 13, 16, 18, 99, 65_535]);
    return { bytes: tiffOf(withField(fields, random.pick(fields).tag, { type }), image.strips) };
  },
  function falseEntryCount(random) {
    const image = plainImage();
    const isBig = random.chance(0.5);
    const entryCount = isBig ? random.pick(HUGE) : random.pick([0, 1, 14, 16, 1000, 65_535]);
    return { bytes: tiffOf(fieldsOf(image), image.strips, { isBig, entryCount }) };
  },
  function falseBlockSize(random) {
    const image = plainImage(random.pick([1, 8]));
    const values = image.strips.map(({ length }) => (random.chance(0.5) ? length : random.pick(HUGE)));
    return {
      bytes: tiffOf(withField(fieldsOf(image), 279, { values }), image.strips),
      ...(random.chance(0.5) ? { sizeBytes: 6 * 2 ** 30 } : {}),
    };
  },
  function missingTag(random) {
    const image = plainImage();
    const fields = fieldsOf(image);
    const without = random.pick(fields).tag;
    return { bytes: tiffOf(fields.filter(({ tag }) => tag !== without), image.strips) }; // prettier-ignore
  },
  function flippedBits(random) {
    const image = plainImage(random.pick([1, 8]));
    const bytes = tiffOf(fieldsOf(image), image.strips, { isBig: random.chance(0.5) });
    const end = bytes.length - image.strips.reduce((sum, { length }) => sum + length, 0);
    for (let count = 1 + random.below(12); count > 0; count--) {
      const at = random.below(end);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    }
    return { bytes };
  },
  function randomHeader(random) {
    const bytes = Buffer.from(Array.from({ length: 400 }, () => random.below(256)));
    bytes.write("II", 0, "latin1");
    bytes.writeUInt16LE(42, 2);
    bytes.writeUInt32LE(8, 4);
    bytes.writeUInt16LE(random.below(30), 8);
    return { bytes };
  },
  function truncated(random) {
    const image = plainImage(random.pick([1, 8]));
    const bytes = tiffOf(fieldsOf(image), image.strips, { isBig: random.chance(0.5) });
    return { bytes: bytes.subarray(0, random.below(bytes.length)) };
  },
  function bombInSmallBlock(random) {
    const kind = random.pick(Object.keys(BOMBS));
    const bomb = BOMBS[kind] as (typeof BOMBS)[string];
    const strip = bomb.encode(random.pick([5000, 10 ** 6, 3 * 10 ** 8]));
    const image = { ...plainImage(), compression: bomb.compression, rowsPerStrip: ROWS, strips: [strip] };
    return { name: kind, bytes: tiffOf(fieldsOf(image), image.strips) };
  },
  function bombInLargeBlock(random) {
    const kind = random.pick(Object.keys(BOMBS));
    const bomb = BOMBS[kind] as (typeof BOMBS)[string];
    const columnCount = random.pick([1000, 4000, 5000]);
    const strip = bomb.encode(3 * 10 ** 8);
    const image = { rowCount: 4000, columnCount, rowsPerStrip: 4000, compression: bomb.compression, strips: [strip] };
    return { name: kind, bytes: tiffOf(fieldsOf(image), image.strips) };
  },
  function falseIndex(random) {
    const image = plainImage();
    const count = random.pick([2 ** 20, 2 ** 23, 2 ** 24, 2 ** 28]);
    let fields = withField(fieldsOf(image), 273, { type: 16, count, offset: 4096 });
    fields = withField(fields, 279, { type: 16, count, offset: 4096 });
    fields = withField(fields, 278, { values: [1] });
    fields = withField(fields, 257, { values: [Math.min(count, 3_900_000)] });
    const scale = 1e-6;
    fields = withField(fields, 33_550, { values: [scale, scale, 0] });
    return { bytes: tiffOf(fields, image.strips, { isBig: true }), sizeBytes: 3 * 2 ** 30 };
  },
  function hostileMetadata(random) {
    const image = plainImage();
    const text = random.pick(HOSTILE_TEXTS)();
    const field = { tag: random.pick([42_112, 42_113, 34_737]), type: 2, values: text };
    return { bytes: tiffOf([...fieldsOf(image).slice(0, 14), field], image.strips) };
  },
  function hostileSidecar(random) {
    const image = plainImage();
    const suffix = random.pick([".aux.xml", ".tfw", ".aux", ".msk"]);
    return { bytes: tiffOf(fieldsOf(image), image.strips), sidecars: { [suffix]: random.pick(HOSTILE_TEXTS)() } };
  },
];

const HOSTILE_TEXTS: readonly (() => Buffer)[] = [
  () => Buffer.from("<a>".repeat(2_000_000)),
  () => Buffer.from(`<PAMDataset>${"<b/>".repeat(1_500_000)}</PAMDataset>`),
  () => Buffer.from(`<PAMDataset x="${"y".repeat(5_000_000)}"/>`),
  () => Buffer.from(`<!DOCTYPE a [<!ENTITY b "${"c".repeat(1000)}"><!ENTITY d "${"&b;".repeat(1000)}">]><a>&d;</a>`),
  () => Buffer.from(`<PAMDataset>${"x".repeat(17 << 20)}</PAMDataset>`),
  () => Buffer.alloc(7_000_000, "&amp;"),
  () => Buffer.alloc(1_000_000),
  // Just below the size limit.
  () => Buffer.from(`<PAMDataset>${"<b/>".repeat(260_000)}</PAMDataset>`),
  () => Buffer.from(`<GDALMetadata>${"<b/>".repeat(260_000)}</GDALMetadata>`),
  () => Buffer.from(`<GDALMetadata x="${"y".repeat(1_040_000)}"/>`),
  () => Buffer.from(`<GDALMetadata>${"&amp;".repeat(209_000)}</GDALMetadata>`),
];

/** Returns the crafted file of a seed. */
export function craftedFile(seed: number): CraftedFile {
  const random = randomFrom(seed);
  const make = KINDS[seed % KINDS.length] as (typeof KINDS)[number];
  const { name, ...crafted } = make(random);
  return { ...crafted, name: `${seed} ${make.name}${name === undefined ? "" : ` ${name}`}` };
}
