/**
 * Measures the reads of a query with empty caches: opens an atlas of 101 x 101 tiles again for each place, queries one
 * circle and counts the reads. The files are in the page cache, so the times are mostly those of decoding.
 */
import { Kernel } from "../src/kernel/instance.ts";
import { median } from "./measure.ts";
import { circleQuery, openInstrumentedAtlas } from "./isotherm.ts";
import { print } from "./row.ts";
import { prepare, WIDE } from "./workload.ts";

/** Only every fifth place is measured, because opening an atlas takes time. */
const STRIDE = 5;

const workload = await prepare(await Kernel.load(), WIDE, { withCompetitorData: false });
const places = workload.places.map((_, i) => i).filter((i) => i % STRIDE === 0);

for (const method of ["max", "mean"] as const) {
  const tiles: number[] = [];
  const pyramidTiles: number[] = [];
  const pyramidRanges: number[] = [];
  const tileRanges: number[] = [];
  const bytes: number[] = [];
  const times: number[] = [];
  for (const place of places) {
    const opened = await openInstrumentedAtlas(workload, { hasDefaultCache: true });
    try {
      opened.reads.bytes = 0;
      opened.reads.ranges.clear();
      const start = performance.now();
      await opened.atlas.hazardRisk(circleQuery(workload, { place, radiusKm: 100, method }));
      times.push((performance.now() - start) * 1e6);
      tiles.push(opened.reads.tiles.size);
      pyramidTiles.push(opened.reads.pyramidTiles.size);
      pyramidRanges.push(opened.reads.ranges.get("pyramid") ?? 0);
      tileRanges.push(opened.reads.ranges.get("tiles") ?? 0);
      bytes.push(opened.reads.bytes);
    } finally {
      await opened.atlas.close();
    }
  }
  const row = { bench: "cold", grid: WIDE.name, state: "cold" } as const;
  const name = `${method} within 100 km, 21 layers`;
  const target = method === "max" ? { target: { atMost: 2 } } : {};
  const figures = (values: readonly number[]) => ({
    ours: mean(values),
    note: `worst ${Math.max(...values)} of ${places.length} queries`,
  });
  print({ ...row, name: `${name}: data tiles read`, unit: "tiles, mean", ...figures(tiles), ...target });
  print({ ...row, name: `${name}: pyramid tiles read`, unit: "tiles, mean", ...figures(pyramidTiles) });
  print({ ...row, name: `${name}: tile ranges read`, unit: "ranges, mean", ...figures(tileRanges) });
  print({ ...row, name: `${name}: pyramid ranges read`, unit: "ranges, mean", ...figures(pyramidRanges) });
  print({ ...row, name: `${name}: bytes read`, unit: "bytes, mean", ours: mean(bytes) });
  print({ ...row, name: `${name}: time`, unit: "ns, median", ours: median(times) });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
