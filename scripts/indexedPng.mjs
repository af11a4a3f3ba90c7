// Writes small PNG files of screenshots: with a palette, they have a quarter of the size.
import { crc32, deflateSync } from "node:zlib";

const PALETTE_COUNT = 256;
/** Colors of the palette that are chosen by their difference to the others, because thin lines have few pixels. */
const DIFFERENT_COUNT = 64;

/**
 * Encodes an image as a PNG with a palette of the most frequent colors and of those that differ most from them. Other
 * pixels get the nearest color of the palette.
 * @param {{ width: number, height: number, data: Buffer }} image u8[row][column][red, green, blue, opacity], opaque
 */
export function encodeIndexedPng({ width, height, data }) {
  const pixels = Uint32Array.from({ length: width * height }, (_, index) => data.readUIntBE(4 * index, 3));
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = paletteOf([...counts].toSorted((a, b) => b[1] - a[1]).map(([color]) => color));
  const indices = new Map(palette.map((color, index) => [color, index]));
  const indexOf = (/** @type {number} */ color) => {
    const known = indices.get(color);
    if (known !== undefined) return known;
    const distances = palette.map((other) => squaredDistance(color, other));
    const nearest = distances.indexOf(Math.min(...distances));
    indices.set(color, nearest);
    return nearest;
  };
  const rows = Buffer.alloc(height * (width + 1)); // each row begins with its filter, 0
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      rows[row * (width + 1) + column + 1] = indexOf(pixels[row * width + column]);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8); // 8 bits, indexed color
  const colors = Buffer.alloc(3 * palette.length);
  for (const [index, color] of palette.entries()) colors.writeUIntBE(color, 3 * index, 3);
  return Buffer.concat([
    Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    chunk("IHDR", header),
    chunk("PLTE", colors),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Returns the palette for colors in the order of their frequency. */
function paletteOf(/** @type {readonly number[]} */ colors) {
  const palette = colors.slice(0, PALETTE_COUNT - DIFFERENT_COUNT);
  const distances = colors.map((color) => Math.min(...palette.map((other) => squaredDistance(color, other))));
  while (palette.length < Math.min(PALETTE_COUNT, colors.length)) {
    const added = colors[distances.indexOf(Math.max(...distances))] ?? 0;
    palette.push(added);
    for (const [index, color] of colors.entries()) {
      distances[index] = Math.min(distances[index] ?? 0, squaredDistance(color, added));
    }
  }
  return palette;
}

function chunk(/** @type {string} */ type, /** @type {Buffer} */ data) {
  const typed = Buffer.concat([Buffer.from(type), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, checksum]);
}

function squaredDistance(/** @type {number} */ a, /** @type {number} */ b) {
  return [16, 8, 0].reduce((sum, shift) => sum + (((a >> shift) & 255) - ((b >> shift) & 255)) ** 2, 0);
}
