import { describe, expect, test } from "vitest";
import {
  latitudeOfPixel,
  longitudeOfPixel,
  MERCATOR_LAT_DEG_MAX,
  nativeZoom,
  pixelAt,
  pixelCenter,
  pixelLatitudes,
  pixelLongitudes,
  pixelOfLatitude,
  pixelOfLongitude,
  pixelWidthDeg,
  TILE_PIXELS,
  tileOfPixel,
  tilesPerEdge,
  wrapColumn,
  ZOOM_MAX,
} from "../../src/tiles/mercator.ts";

describe("Web Mercator", () => {
  test("ends at the latitude at which the world is a square", () => {
    expect(MERCATOR_LAT_DEG_MAX).toBeCloseTo(85.0511287798, 9);
    expect(latitudeOfPixel(0, 0)).toBeCloseTo(85.0511287798, 9);
    expect(latitudeOfPixel(5, TILE_PIXELS * tilesPerEdge(5))).toBeCloseTo(-85.0511287798, 9);
    expect(longitudeOfPixel(3, 0)).toBe(-180);
    expect(longitudeOfPixel(3, TILE_PIXELS * tilesPerEdge(3))).toBe(180);
  });

  // Bounds of tiles as the wiki of OpenStreetMap states them, https://wiki.openstreetmap.org/wiki/Slippy_map_tilenames
  test.each([
    { z: 1, y: 1, north: 0 },
    { z: 2, y: 1, north: 66.51326044311186 },
    { z: 3, y: 3, north: 40.97989806962013 },
    { z: 10, y: 385, north: 40.713955826286046 },
  ])("tile row $y of zoom $z begins at latitude $north", ({ z, y, north }) => {
    expect(latitudeOfPixel(z, y * TILE_PIXELS)).toBeCloseTo(north, 9);
  });

  test("pixel centers are evenly spaced between the edges of the tile", () => {
    const address = { z: 7, x: 79, y: 60 };
    const lons = pixelLongitudes(address);
    const lats = pixelLatitudes(address);
    expect([lons.length, lats.length]).toEqual([TILE_PIXELS, TILE_PIXELS]);
    expect(lons[0]).toBeCloseTo((79 / 128) * 360 - 180 + pixelWidthDeg(7) / 2, 12);
    expect((lons[255] ?? 0) + pixelWidthDeg(7) / 2).toBeCloseTo((80 / 128) * 360 - 180, 10);
    for (let i = 0; i < TILE_PIXELS; i++) {
      expect(pixelOfLongitude(7, lons[i] ?? 0)).toBeCloseTo(79 * 256 + i + 0.5, 6);
      expect(pixelOfLatitude(7, lats[i] ?? 0)).toBeCloseTo(60 * 256 + i + 0.5, 6);
    }
  });

  test("the center of a pixel is exactly that of its row and column in the tile", () => {
    for (const address of [
      { z: 0, x: 0, y: 0 },
      { z: 7, x: 79, y: 60 },
      { z: 13, x: 5009, y: 3911 },
    ]) {
      const [lats, lons] = [pixelLatitudes(address), pixelLongitudes(address)];
      for (let i = 0; i < TILE_PIXELS; i++) {
        const pixel = { z: address.z, column: address.x * TILE_PIXELS + i, row: address.y * TILE_PIXELS + 255 - i };
        expect(pixelCenter(pixel)).toStrictEqual({ latDeg: lats[255 - i], lonDeg: lons[i] });
        expect(tileOfPixel(pixel)).toStrictEqual({ address, index: (255 - i) * TILE_PIXELS + i });
        expect(pixelAt(address.z, pixelCenter(pixel))).toStrictEqual(pixel);
      }
    }
  });

  test("a location in a copy of the world, or beyond its edges, has a pixel of the world", () => {
    const pixel = { z: 3, column: 1900, row: 700 };
    const { latDeg, lonDeg } = pixelCenter(pixel);
    for (const turnDeg of [-720, -360, 0, 360]) {
      expect(pixelAt(3, { latDeg, lonDeg: lonDeg + turnDeg })).toStrictEqual(pixel);
    }
    expect(pixelAt(3, { latDeg: 90, lonDeg: 180 })).toStrictEqual({ z: 3, column: 0, row: 0 });
    expect(pixelAt(3, { latDeg: -90, lonDeg: -180 })).toStrictEqual({ z: 3, column: 0, row: 2047 });
    expect([-1, -2049, 2048, 5].map((column) => wrapColumn(3, column))).toStrictEqual([2047, 2047, 0, 5]);
  });

  test("latitudes beyond its edges have the position of the edge", () => {
    expect(pixelOfLatitude(4, 90)).toBeCloseTo(0, 8);
    expect(pixelOfLatitude(4, -90)).toBeCloseTo(TILE_PIXELS * 16, 8);
  });

  test.each([
    { cellSizeDeg: 360 / 256, z: 0 },
    { cellSizeDeg: 360 / 257, z: 1 },
    { cellSizeDeg: 1 / 120, z: 8 },
    { cellSizeDeg: 0.1, z: 4 },
    { cellSizeDeg: 1e-9, z: ZOOM_MAX },
  ])("the native zoom of cells of $cellSizeDeg degrees is $z", ({ cellSizeDeg, z }) => {
    expect(nativeZoom(cellSizeDeg)).toBe(z);
  });
});
