/**
 * What a circle costs when its tiles are in memory: the product's own path, query object to answer object, against
 * a plain JavaScript loop over the same cells with the haversine (which is not even right at the rim). Both are
 * measured in turns in one process; what counts is the ratio.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Bench } from "tinybench";
import { gridEntryOf } from "../src/atlas/catalogue.ts";
import { publish, writePack } from "../src/atlas/writer.ts";
import { Kernel } from "../src/kernel/instance.ts";
import { openAtlas } from "../src/openAtlas.ts";
import { report } from "./report.ts";

const SIDE = 1024;
const grid = {
  northDeg: 50,
  westDeg: 0,
  cellSizeLatDeg: 0.0089,
  cellSizeLonDeg: 0.0089,
  rowCount: SIDE,
  columnCount: SIDE,
};
const layer = { metric: "depth_meters", unit: "m", steps_per_unit: 1000, offset: 0 };

/** Mostly dry, with flooded stripes and a sea without data: repeatable, and compressible as real maps are. */
const cells = Uint16Array.from({ length: SIDE * SIDE }, (_, i) => {
  const row = Math.floor(i / SIDE);
  const column = i % SIDE;
  if (Math.hypot(row - 200, column - 800) < 150) return 65_535;
  const wave = Math.sin(row / 17) + Math.sin((column + row / 3) / 23);
  return wave > 1.2 ? Math.round((wave - 1.2) * 5000) : 0;
});

const folder = await mkdtemp(join(tmpdir(), "isotherm-bench-"));
const pack = await writePack(await Kernel.load(), folder, {
  hazard: "riverine_floods",
  grid,
  groups: [{ scenario: "rcp4p5", year: 2030, layers: [layer] }],
  resumeKey: "bench",
  readBand: async ({ firstRow, rowCount }) => [cells.subarray(firstRow * SIDE, (firstRow + rowCount) * SIDE)],
});
await publish(folder, () => ({
  format: "isotherm-atlas",
  format_version: 1,
  release: "bench",
  created_at: "2026-01-01T00:00:00.000Z",
  synthetic: true,
  hazards: [
    {
      hazard: "riverine_floods",
      grid: gridEntryOf(grid),
      rules: {},
      packs: [{ ...pack, groups: [{ scenario: "rcp4p5", year: 2030, layers: [layer], provenance: {} }] }],
    },
  ],
}));
const atlas = await openAtlas(folder);

const place = { latitude: 45.5, longitude: 4.5 };
const rows: { name: string; ours: number; rival: number }[] = [];
for (const radius of [1, 10, 100]) {
  for (const method of ["max", "mean"] as const) {
    const bench = new Bench({ time: 400 });
    bench.add("ours", async () => {
      await atlas.hazardRisk({
        ...place,
        radius,
        aggregation_method: method,
        hazards: ["riverine_floods"],
        scenarios: ["rcp4p5"],
        analysis_years: [2030],
      });
    });
    bench.add("plain JavaScript haversine loop", () => haversineLoop(radius, method));
    await bench.run();
    const [ours = 0, rival = 0] = bench.tasks.map(({ result }) =>
      "latency" in result ? result.latency.p50 * 1e6 : Number.NaN,
    );
    rows.push({ name: `${method} within ${radius} km, query object to answer object`, ours, rival });
  }
}
report("radius", "plain JavaScript haversine loop", rows);
await atlas.close();
await rm(folder, { recursive: true, force: true });

function haversineLoop(radiusKm: number, method: "max" | "mean"): number {
  const { latitude, longitude } = place;
  const degree = Math.PI / 180;
  const cosLat = Math.cos(latitude * degree);
  const reachDeg = radiusKm / 110;
  const firstRow = Math.max(0, Math.floor((grid.northDeg - latitude - reachDeg) / grid.cellSizeLatDeg));
  const lastRow = Math.min(SIDE - 1, Math.ceil((grid.northDeg - latitude + reachDeg) / grid.cellSizeLatDeg));
  const reachLonDeg = reachDeg / Math.cos((Math.abs(latitude) + reachDeg) * degree);
  const firstColumn = Math.max(0, Math.floor((longitude - reachLonDeg - grid.westDeg) / grid.cellSizeLonDeg));
  const lastColumn = Math.min(SIDE - 1, Math.ceil((longitude + reachLonDeg - grid.westDeg) / grid.cellSizeLonDeg));
  const limit = Math.sin(radiusKm / 2 / 6371.0088) ** 2;
  let largest = -1;
  let total = 0;
  let weights = 0;
  for (let row = firstRow; row <= lastRow; row++) {
    const rowLat = (grid.northDeg - (row + 0.5) * grid.cellSizeLatDeg) * degree;
    const weight = Math.cos(rowLat);
    const vertical = Math.sin((rowLat - latitude * degree) / 2) ** 2;
    for (let column = firstColumn; column <= lastColumn; column++) {
      const lon = grid.westDeg + (column + 0.5) * grid.cellSizeLonDeg;
      if (vertical + cosLat * weight * Math.sin(((lon - longitude) * degree) / 2) ** 2 > limit) continue;
      const steps = cells[row * SIDE + column] ?? 0;
      if (steps > 65_533) continue;
      largest = Math.max(largest, steps);
      total += weight * steps;
      weights += weight;
    }
  }
  return method === "max" ? largest : total / weights;
}
