/**
 * The format of value tiles, `.bin`: a header of 32 bytes, then 256 x 256 steps of 16 bits, row by row from the north. All
 * numbers are little-endian; docs/tiles.md describes the layout.
 */
import { TILE_PIXELS } from "./mercator.ts";

/** Step of a pixel at which the source has a cell without a value. */
export const STEP_NO_DATA = 65_535;
/** Step of a pixel at which the atlas has no cell. */
export const STEP_OUTSIDE = 65_534;

/** Values of a map tile. The value of a pixel is `step / stepsPerUnit + offset`, unless its step is reserved. */
export interface ValueTile {
  readonly stepsPerUnit: number;
  /** Value of step 0, in the unit of the metric. */
  readonly offset: number;
  /** True if a pixel is the maximum of a block of cells, false if it is the cell at its center. */
  readonly isBlockMaximum: boolean;
  /** Cells along one edge of a block; 1 if each pixel is a cell. */
  readonly blockSizeCells: number;
  /** u16[256][256], from north to south and from west to east. */
  readonly steps: Uint16Array;
}

const VALUE_TILE_VERSION = 1;
export const VALUE_TILE_HEADER_BYTES = 32;
const MAGIC = "IsoV";
const STEP_COUNT = TILE_PIXELS * TILE_PIXELS;
export const VALUE_TILE_BYTES = VALUE_TILE_HEADER_BYTES + STEP_COUNT * 2;
/** Positions of the members of the header. */
const AT = { version: 4, isBlockMaximum: 6, pixels: 8, blockSizeCells: 12, stepsPerUnit: 16, offset: 24 } as const;

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Encodes a value tile. @throws RangeError if it does not have 256 x 256 steps */
export function encodeValueTile(tile: ValueTile): Uint8Array {
  if (tile.steps.length !== STEP_COUNT) {
    throw new RangeError(`a value tile must have ${STEP_COUNT} steps (got ${tile.steps.length})`);
  }
  const bytes = new Uint8Array(VALUE_TILE_BYTES);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < MAGIC.length; i++) bytes[i] = MAGIC.charCodeAt(i);
  view.setUint16(AT.version, VALUE_TILE_VERSION, true);
  view.setUint16(AT.isBlockMaximum, tile.isBlockMaximum ? 1 : 0, true);
  view.setUint32(AT.pixels, TILE_PIXELS, true);
  view.setUint32(AT.blockSizeCells, tile.blockSizeCells, true);
  view.setFloat64(AT.stepsPerUnit, tile.stepsPerUnit, true);
  view.setFloat64(AT.offset, tile.offset, true);
  if (isLittleEndian) new Uint16Array(bytes.buffer, VALUE_TILE_HEADER_BYTES).set(tile.steps);
  else tile.steps.forEach((step, i) => view.setUint16(VALUE_TILE_HEADER_BYTES + i * 2, step, true));
  return bytes;
}

/**
 * Decodes a value tile. The steps are a copy.
 * @throws RangeError if the bytes are not a value tile of this version
 */
export function decodeValueTile(bytes: Uint8Array): ValueTile {
  if (bytes.length < VALUE_TILE_HEADER_BYTES || String.fromCharCode(...bytes.subarray(0, MAGIC.length)) !== MAGIC) {
    throw new RangeError(`a value tile must begin with "${MAGIC}" and a header of ${VALUE_TILE_HEADER_BYTES} bytes`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint16(AT.version, true);
  if (version !== VALUE_TILE_VERSION) {
    throw new RangeError(`the version of a value tile must be ${VALUE_TILE_VERSION} (got ${version})`);
  }
  const pixels = view.getUint32(AT.pixels, true);
  if (pixels !== TILE_PIXELS) throw new RangeError(`a value tile must have ${TILE_PIXELS} pixels (got ${pixels})`);
  if (bytes.length !== VALUE_TILE_BYTES) {
    throw new RangeError(`a value tile must have ${VALUE_TILE_BYTES} bytes (got ${bytes.length})`);
  }
  const steps = new Uint16Array(STEP_COUNT);
  if (isLittleEndian) new Uint8Array(steps.buffer).set(bytes.subarray(VALUE_TILE_HEADER_BYTES));
  else for (let i = 0; i < STEP_COUNT; i++) steps[i] = view.getUint16(VALUE_TILE_HEADER_BYTES + i * 2, true);
  return {
    stepsPerUnit: view.getFloat64(AT.stepsPerUnit, true),
    offset: view.getFloat64(AT.offset, true),
    isBlockMaximum: view.getUint16(AT.isBlockMaximum, true) === 1,
    blockSizeCells: view.getUint32(AT.blockSizeCells, true),
    steps,
  };
}

/** Returns the value of a step, or undefined for a reserved step. */
export function valueOfStep({ stepsPerUnit, offset }: Pick<ValueTile, "stepsPerUnit" | "offset">, step: number) {
  return step >= STEP_OUTSIDE ? undefined : step / stepsPerUnit + offset;
}
