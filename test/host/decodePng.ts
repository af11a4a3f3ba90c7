import { crc32, inflateSync } from "node:zlib";

export interface DecodedImage {
  readonly width: number;
  readonly height: number;
  /** Returns red, green, blue and opacity of a pixel. */
  colorAt(column: number, row: number): readonly number[];
}

/** Decodes a PNG that has a palette of 8-bit indices and rows without filters. @throws Error for all other images */
export function decodePng(bytes: Uint8Array): DecodedImage {
  const buffer = Buffer.from(bytes);
  if (buffer.subarray(0, 8).toString("hex") !== "89504e470d0a1a0a") throw new Error("This is not a PNG.");
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < buffer.length;) {
    const size = buffer.readUInt32BE(at);
    const type = buffer.toString("latin1", at + 4, at + 8);
    if (crc32(buffer.subarray(at + 4, at + 8 + size)) !== buffer.readUInt32BE(at + 8 + size)) {
      throw new Error(`The chunk ${type} has a wrong checksum.`);
    }
    chunks.set(type, buffer.subarray(at + 8, at + 8 + size));
    at += 12 + size;
  }
  const [header, palette, alphas, data] = ["IHDR", "PLTE", "tRNS", "IDAT"].map((type) => chunks.get(type));
  if (!header || !palette || !alphas || !data || !chunks.has("IEND")) throw new Error("A chunk is missing.");
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  if (header.subarray(8).toString("hex") !== "0803000000") throw new Error("The image has no 8-bit palette.");
  const rows = inflateSync(data);
  if (rows.length !== height * (width + 1)) throw new Error(`The image has ${rows.length} bytes.`);
  return {
    width,
    height,
    colorAt(column, row) {
      if (rows[row * (width + 1)] !== 0) throw new Error(`Row ${row} has a filter.`);
      const index = rows[row * (width + 1) + 1 + column] ?? 0;
      if (3 * index >= palette.length) throw new Error(`The palette has no color ${index}.`);
      return [...palette.subarray(3 * index, 3 * index + 3), alphas[index] ?? 255];
    },
  };
}
