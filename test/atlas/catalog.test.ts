import { expect, onTestFinished, test, vi } from "vitest";
import { type Catalog, decodeCatalog, encodeCatalog, sha256Hex } from "../../src/atlas/catalog.ts";

const GRID = {
  north_deg: 60,
  west_deg: 0,
  cell_size_lat_deg: 0.5,
  cell_size_lon_deg: 0.5,
  row_count: 100,
  column_count: 100,
};

async function decodeWithGrid(grid: Readonly<Record<string, unknown>>): Promise<Catalog> {
  const file = { name: "a.bin", size_bytes: 1, sha256: "0".repeat(64) };
  const layers = [{ metric: "depth_meters", steps_per_unit: 100, offset: 0, unit: "m" }];
  const pack = {
    id: "a",
    files: { root: file, pyramid: file, tiles: file },
    groups: [{ scenario: "baseline", year: 1980, layers, provenance: {} }],
  };
  const catalog: Omit<Catalog, "sha256"> = {
    format: "isotherm-atlas",
    format_version: 1,
    release: "test",
    created_at: "2026-01-01T00:00:00Z",
    synthetic: true,
    hazards: [{ hazard: "riverine_floods", grid: grid as unknown as typeof GRID, rules: {}, packs: [pack] }],
  };
  return decodeCatalog(await encodeCatalog(catalog));
}

test("a catalog is decoded with the grid that it was encoded with", async () => {
  const { hazards } = await decodeWithGrid(GRID);
  expect(hazards.map(({ grid }) => grid)).toEqual([GRID]);
});

test.each([
  ["cell_size_lat_deg", 0, "cells must be larger than 0 degrees (got 0 x 0.5)"],
  ["cell_size_lon_deg", -0.5, "cells must be larger than 0 degrees (got 0.5 x -0.5)"],
  ["row_count", 0, "there must be at least one row and one column (got 0 and 100)"],
  ["column_count", -1, "there must be at least one row and one column (got 100 and -1)"],
  ["row_count", 1.5, "/hazards/0/grid/row_count"],
  ["west_deg", "0", "/hazards/0/grid/west_deg"],
  ["rows", 1, "/hazards/0/grid"],
])("rejects a grid with %s %s", async (member, value, message) => {
  await expect(decodeWithGrid({ ...GRID, [member]: value })).rejects.toMatchObject({
    code: "atlas_unavailable",
    message: expect.stringContaining(message) as unknown,
  });
});

test("names the reason where a browser offers no SHA-256", async () => {
  const missing = vi.spyOn(globalThis, "crypto", "get").mockReturnValue({} as Crypto);
  onTestFinished(() => missing.mockRestore());
  await expect(sha256Hex(new Uint8Array(1))).rejects.toMatchObject({
    code: "configuration_invalid",
    message: expect.stringContaining("must be opened over https or on localhost") as unknown,
  });
});
