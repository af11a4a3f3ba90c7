/**
 * What a query reads that finds nothing at hand: an atlas of 101 x 101 tiles is opened anew for every place, one circle
 * is asked, and what was read is counted. The files are in the system's memory, so the times are those of decoding.
 */
import { Kernel } from "../src/kernel/instance.ts";
import { median } from "./measure.ts";
import { circleQuery, openOurs } from "./ours.ts";
import { print } from "./row.ts";
import { prepare, WIDE } from "./workload.ts";

/** Every so manieth place: opening an atlas takes its time. */
const STRIDE = 5;

const workload = await prepare(await Kernel.load(), WIDE, { withRivals: false });
const places = workload.places.map((_, i) => i).filter((i) => i % STRIDE === 0);

for (const method of ["max", "mean"] as const) {
  const tiles: number[] = [];
  const pyramidTiles: number[] = [];
  const pyramidRanges: number[] = [];
  const tileRanges: number[] = [];
  const bytes: number[] = [];
  const times: number[] = [];
  for (const place of places) {
    const ours = await openOurs(workload, { isSmall: true });
    try {
      ours.reads.bytes = 0;
      ours.reads.ranges.clear();
      const start = performance.now();
      await ours.atlas.hazardRisk(circleQuery(workload, { place, radiusKm: 100, method }));
      times.push((performance.now() - start) * 1e6);
      tiles.push(ours.reads.tiles.size);
      pyramidTiles.push(ours.reads.pyramidTiles.size);
      pyramidRanges.push(ours.reads.ranges.get("pyramid") ?? 0);
      tileRanges.push(ours.reads.ranges.get("tiles") ?? 0);
      bytes.push(ours.reads.bytes);
    } finally {
      await ours.atlas.close();
    }
  }
  const row = { bench: "cold", grid: WIDE.name, state: "cold" } as const;
  const name = `${method} within 100 km, 21 layers`;
  const mark = method === "max" ? { mark: { atMost: 2 } } : {};
  const figures = (values: readonly number[]) => ({
    ours: mean(values),
    note: `worst ${Math.max(...values)} of ${places.length} queries`,
  });
  print({ ...row, name: `${name}: data tiles read`, unit: "tiles, mean", ...figures(tiles), ...mark });
  print({ ...row, name: `${name}: pyramid tiles read`, unit: "tiles, mean", ...figures(pyramidTiles) });
  print({ ...row, name: `${name}: ranges read of tiles`, unit: "ranges, mean", ...figures(tileRanges) });
  print({ ...row, name: `${name}: ranges read of the pyramid`, unit: "ranges, mean", ...figures(pyramidRanges) });
  print({ ...row, name: `${name}: bytes read`, unit: "bytes, mean", ours: mean(bytes) });
  print({ ...row, name: `${name}: time`, unit: "ns, median", ours: median(times) });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
