import { beforeAll, describe, expect, test } from "vitest";
import { TileCache } from "../../src/atlas/cache.ts";
import type { CellSource } from "../../src/atlas/cellSource.ts";
import { ConstantTiles } from "../../src/atlas/constantTiles.ts";
import { Fields } from "../../src/atlas/fields.ts";
import type { FieldLayer } from "../../src/atlas/cachedField.ts";
import { FieldGrid } from "../../src/kernel/field.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { worldGrid } from "../kernel/circleCells.ts";
import { FLOOD_LAYERS } from "./makeAtlas.ts";

const LAYER = FLOOD_LAYERS[1] as (typeof FLOOD_LAYERS)[number];
/** Two sources of two groups of three layers. */
const SOURCES = [0, 1].map(
  () => ({ groups: [0, 1].map(() => ({ layers: [LAYER, LAYER, LAYER] })) }) as unknown as CellSource,
);
const LAYERS: readonly FieldLayer[] = SOURCES.flatMap((source) =>
  [0, 1].flatMap((group) => [0, 1, 2].map((layer) => ({ source, group, layer, entry: LAYER }))),
);

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load({ scratchBytes: 16 << 20 });
});

function fieldsOf(cellSizeDeg: number): Fields {
  return new Fields(kernel, new TileCache(kernel, { sizeBytes: 1 << 20 }), {
    grid: new FieldGrid(kernel, worldGrid(cellSizeDeg)),
    allLayers: LAYERS,
    constants: new ConstantTiles(kernel),
    onFetch: () => undefined,
  });
}

/** Returns the layers whose bits are set. */
function layersOfBits(bits: number): readonly FieldLayer[] {
  return LAYERS.filter((_, i) => ((bits >> i) & 1) === 1);
}

describe("the fields of a grid", () => {
  test("return the lane of each layer regardless of the order of the requested layers", () => {
    const fields = fieldsOf(1);
    const requested = [7, 2, 11, 0].map((i) => LAYERS[i] as FieldLayer);
    const { cachedField, lanes } = fields.of(requested);
    expect(lanes.map((lane) => cachedField.layers[lane])).toStrictEqual(requested);
    expect(cachedField.layers).toHaveLength(4);
    const reversed = fields.of(requested.toReversed());
    expect(reversed.cachedField).toBe(cachedField);
    expect(reversed.lanes).toStrictEqual(lanes.toReversed());
  });

  test("are created per set of layers, with exactly those layers", () => {
    const fields = fieldsOf(1);
    const cachedFields = Array.from({ length: 64 }, (_, i) => fields.of(layersOfBits(i + 1)).cachedField);
    expect(new Set(cachedFields).size).toBe(64);
    for (const [i, cachedField] of cachedFields.entries())
      expect(cachedField.layers).toStrictEqual(layersOfBits(i + 1));
  });

  test("are limited in number: later sets use the narrowest field that contains them, or one of all layers", () => {
    const fields = fieldsOf(1);
    const narrow = fields.of(layersOfBits(0b1110_0000_0000)).cachedField;
    const wide = fields.of(layersOfBits(0b1111_1111_0000)).cachedField;
    for (let i = 1; i <= 62; i++) fields.of(layersOfBits(i));
    for (const [bits, cachedField] of [
      [0b0110_0000_0000, narrow],
      [0b0001_0001_0000, wide],
    ] as const) {
      const found = fields.of(layersOfBits(bits));
      expect(found.cachedField).toBe(cachedField);
      expect(found.lanes.map((lane) => cachedField.layers[lane])).toStrictEqual(layersOfBits(bits));
    }
    const ofAllLayers = fields.of(layersOfBits(0b1000_0000_0001));
    expect(ofAllLayers.cachedField.layers).toHaveLength(LAYERS.length);
    expect(fields.of(layersOfBits(0b0100_0000_0001)).cachedField).toBe(ofAllLayers.cachedField);
    expect(ofAllLayers.lanes.map((lane) => ofAllLayers.cachedField.layers[lane])).toStrictEqual(
      layersOfBits(0b1000_0000_0001),
    );
  });

  test("are fewer on a fine grid, whose directories are large", () => {
    const fields = fieldsOf(0.005);
    // 72,000 x 36,000 cells: 1125 x 563 tiles, 141 x 71 pyramid tiles; two directories each, 4 bytes per tile.
    const countMax = Math.floor((64 << 20) / (2 * 4 * (1125 * 563 + 141 * 71)));
    expect(countMax).toBe(13);
    const cachedFields = Array.from({ length: 30 }, (_, i) => fields.of(layersOfBits(i + 1)).cachedField);
    // Plus one of all layers.
    expect(new Set(cachedFields).size).toBeLessThanOrEqual(countMax + 1);
    expect(new Set(cachedFields.slice(0, countMax)).size).toBe(countMax);
  });
});

describe("constant tiles", () => {
  test("exist once per form, state and layer count", () => {
    const constants = new ConstantTiles(kernel);
    const zero = constants.of("cells", "zero", 3);
    expect(constants.of("cells", "zero", 3)).toBe(zero);
    expect(constants.has(zero.pointer)).toBe(true);
    expect(constants.has(0)).toBe(false);
    const others = [
      constants.of("cells", "zero", 1),
      constants.of("cells", "nodata", 3),
      constants.of("cells", "outside", 3),
      constants.of("bounds", "zero", 3),
      constants.of("bounds", "nodata", 3),
      constants.of("totals", "nodata", 3),
      constants.of("prefixes", "nodata", 3),
    ];
    expect(new Set([zero, ...others].map(({ pointer }) => pointer)).size).toBe(8);
    // Without valid cells, these forms are the same for both states.
    for (const form of ["bounds", "totals", "prefixes"] as const) {
      expect(constants.of(form, "outside", 3)).toBe(constants.of(form, "nodata", 3));
    }
  });
});
