import { expect, test } from "vitest";
import type { Topology } from "topojson-client";
import { closeAtPole, outlinesOf, touchesTile, unwrap } from "../../src/explorer/mapView/outlines.ts";

test("longitudes continue across the antimeridian in both directions", () => {
  const eastward = [
    [170, 60],
    [179, 61],
    [-179, 62],
    [-170, 63],
    [175, 64],
  ] as const;
  expect(unwrap(eastward).map(([longitude]) => longitude)).toStrictEqual([170, 179, 181, 190, 175]);
  const westward = [
    [-170, 0],
    [-179, 0],
    [179, 0],
  ] as const;
  expect(unwrap(westward).map(([longitude]) => longitude)).toStrictEqual([-170, -179, -181]);
});

test("a ring around a pole is closed at the pole, other rings stay", () => {
  const around = [-180, -90, 0, 90, 180].map((longitude) => [longitude, -70] as const);
  expect(closeAtPole(around).slice(-2)).toStrictEqual([
    [180, -90],
    [-180, -90],
  ]);
  const island = [
    [10, 10],
    [20, 10],
    [20, 20],
    [10, 10],
  ] as const;
  expect(closeAtPole(island)).toBe(island);
});

/** Two countries side by side, each a square, with a border at 10 degrees east; not quantized. */
const TOPOLOGY = {
  type: "Topology",
  objects: {
    countries: {
      type: "GeometryCollection",
      geometries: [
        { type: "Polygon", arcs: [[0, 1]] },
        { type: "Polygon", arcs: [[~0, 2]] },
      ],
    },
    land: { type: "GeometryCollection", geometries: [{ type: "MultiPolygon", arcs: [[[1, 2]]] }] },
  },
  arcs: [
    [
      [10, 0],
      [10, 10],
    ],
    [
      [10, 10],
      [0, 10],
      [0, 0],
      [10, 0],
    ],
    [
      [10, 0],
      [20, 0],
      [20, 10],
      [10, 10],
    ],
  ],
} as unknown as Topology;

test("separates borders between countries from coasts", () => {
  const { land, coasts, borders } = outlinesOf(TOPOLOGY);
  expect(land).toHaveLength(1);
  expect(borders).toHaveLength(1);
  expect(borders[0]?.west).toBe(borders[0]?.east);
  expect(borders[0]?.west).toBeCloseTo(0.5 + 10 / 360, 12);
  expect(Math.min(...coasts.map(({ west }) => west))).toBeCloseTo(0.5, 12);
  expect(Math.max(...coasts.map(({ east }) => east))).toBeCloseTo(0.5 + 20 / 360, 12);
});

test("a line is drawn in the tiles that it touches, in each copy of the world", () => {
  const [land] = outlinesOf(TOPOLOGY).land;
  if (land === undefined) throw new Error("the land must have a ring");
  const touched = (z: number, world: number): string[] => {
    const indexes = Array.from({ length: 2 ** z }, (_, i) => i);
    return indexes.flatMap((x) => indexes.filter((y) => touchesTile(land, { z, x, y }, world)).map((y) => `${x}/${y}`));
  };
  expect(touched(0, 0)).toStrictEqual(["0/0"]);
  // 0 to 20 degrees east and 0 to 10 degrees north; lines at the edge of a tile are in both tiles.
  expect(touched(3, 0)).toStrictEqual(["3/3", "3/4", "4/3", "4/4"]);
  expect(touched(3, 1)).toStrictEqual([]);
});
