/**
 * Map tiles as indexed PNG images (PNG, third edition). Written here instead of with a library, because a tile needs only
 * five chunks, and because the small libraries compress on the event loop, which node:zlib does not.
 */
import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";
import {
  COLOR_LEVEL_COUNT,
  type ColorScale,
  isHatchLine,
  levelColorsOf,
  levelOf,
  NO_DATA_COLOR,
  NO_DATA_LINE_COLOR,
  OUTSIDE_COLOR,
  type Rgba,
  ZERO_COLOR,
} from "../../tiles/colorScales.ts";
import { TILE_PIXELS } from "../../tiles/mercator.ts";
import { STEP_NO_DATA, STEP_OUTSIDE, valueOfStep, type ValueTile } from "../../tiles/valueTile.ts";

const deflateAsync = promisify<Uint8Array, Buffer>(deflate);

/** Palette: the special colors, then the levels of the scale. */
const SPECIAL_COLORS: readonly Rgba[] = [OUTSIDE_COLOR, ZERO_COLOR, NO_DATA_COLOR, NO_DATA_LINE_COLOR];
const INDEX = { outside: 0, zero: 1, noData: 2, noDataLine: 3, firstLevel: SPECIAL_COLORS.length } as const;
const STEP_COUNT = 65_536;

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const HEADER = { bitDepth: 8, indexedColor: 3 } as const;

type Encoding = Pick<ValueTile, "stepsPerUnit" | "offset">;

/** Palette index of every step, by scale and encoding. Layers of few encodings exist. */
const indicesByScale = new WeakMap<ColorScale, Map<string, Uint8Array>>();
const ENCODING_COUNT_MAX = 16;

/** Encodes a tile with the colors of a scale. */
export async function encodePngTile(tile: ValueTile, scale: ColorScale): Promise<Uint8Array> {
  const indexOfStep = indicesOf(scale, tile);
  const rows = new Uint8Array(TILE_PIXELS * (TILE_PIXELS + 1)); // each row begins with its filter, 0
  let largestIndex = 0;
  for (let row = 0; row < TILE_PIXELS; row++) {
    for (let column = 0; column < TILE_PIXELS; column++) {
      const step = tile.steps[row * TILE_PIXELS + column] ?? STEP_OUTSIDE;
      let index = indexOfStep[step] ?? INDEX.outside;
      if (index === INDEX.noData && isHatchLine(column, row)) index = INDEX.noDataLine;
      if (index > largestIndex) largestIndex = index;
      rows[row * (TILE_PIXELS + 1) + column + 1] = index;
    }
  }
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, TILE_PIXELS);
  view.setUint32(4, TILE_PIXELS);
  view.setUint8(8, HEADER.bitDepth);
  view.setUint8(9, HEADER.indexedColor);
  const { colors, alphas } = paletteOf(scale, largestIndex + 1);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", colors),
    chunk("tRNS", alphas),
    chunk("IDAT", await deflateAsync(rows)),
    chunk("IEND", new Uint8Array(0)),
  ]);
}

/** Returns the palette index of each step, u8[65536]. */
function indicesOf(scale: ColorScale, encoding: Encoding): Uint8Array {
  const known = indicesByScale.get(scale) ?? new Map<string, Uint8Array>();
  indicesByScale.set(scale, known);
  const name = `${encoding.stepsPerUnit} ${encoding.offset}`;
  let indices = known.get(name);
  if (indices === undefined) {
    indices = new Uint8Array(STEP_COUNT);
    for (let step = 0; step < STEP_COUNT; step++) indices[step] = indexOf(scale, encoding, step);
    if (known.size >= ENCODING_COUNT_MAX) known.clear();
    known.set(name, indices);
  }
  return indices;
}

function indexOf(scale: ColorScale, encoding: Encoding, step: number): number {
  if (step === STEP_OUTSIDE) return INDEX.outside;
  if (step === STEP_NO_DATA) return INDEX.noData;
  const value = valueOfStep(encoding, step) ?? 0;
  return value === 0 ? INDEX.zero : INDEX.firstLevel + levelOf(scale, value);
}

/** Returns the first colors of the palette: u8[count][red, green, blue] and u8[count] opacities. */
function paletteOf(scale: ColorScale, count: number): { readonly colors: Uint8Array; readonly alphas: Uint8Array } {
  const colors = new Uint8Array(3 * (INDEX.firstLevel + COLOR_LEVEL_COUNT));
  for (const [i, [red, green, blue]] of SPECIAL_COLORS.entries()) colors.set([red, green, blue], 3 * i);
  colors.set(levelColorsOf(scale), 3 * INDEX.firstLevel);
  const alphas = Uint8Array.from(SPECIAL_COLORS, ([, , , alpha]) => alpha); // the levels are opaque
  return { colors: colors.subarray(0, 3 * count), alphas: alphas.subarray(0, count) };
}

/** Returns a chunk: length, type, content, and the CRC-32 of type and content. */
function chunk(type: string, content: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(12 + content.length);
  bytes.writeUInt32BE(content.length, 0);
  bytes.write(type, 4, "latin1");
  bytes.set(content, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + content.length)), 8 + content.length);
  return bytes;
}
