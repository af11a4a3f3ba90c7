/**
 * Single cells in bulk: all 21 layers at random points, nanoseconds a point. Rivals that need milliseconds a point
 * take fewer of them; all must read the same cells.
 */
import { Kernel } from "../src/kernel/instance.ts";
import { type Contender, interleave } from "./interleaved.ts";
import { openOurs, samplePoints, stepSumOf } from "./ours.ts";
import {
  gdalLocationInfo,
  numpyIndex,
  type OpenPointRival,
  plainJavaScript,
  rasterioSample,
  readPoints,
} from "./rivals/points.ts";
import { print } from "./row.ts";
import { POINT_COUNT, prepare, WORKLOADS } from "./workload.ts";

const ROUNDS = 5;
/** Compared before anything is timed. */
const COMPARED_COUNT = 2000;

const OPPONENTS: readonly { readonly name: string; readonly open: OpenPointRival; readonly atLeast: number }[] = [
  { name: "numpy fancy index, in memory", open: numpyIndex, atLeast: 8 },
  { name: "rasterio.sample", open: rasterioSample, atLeast: 3000 },
  { name: "gdallocationinfo", open: gdalLocationInfo, atLeast: 4000 },
  { name: "plain JavaScript, in memory", open: plainJavaScript, atLeast: 8 },
];

const spec = WORKLOADS.find(({ name }) => name === "lat45");
if (spec === undefined) throw new Error("There is no workload lat45.");
const workload = await prepare(await Kernel.load(), spec);
const ours = await openOurs(workload);
const { latitudes, longitudes } = await readPoints(workload);
const ask = (count: number): Promise<Float64Array> =>
  samplePoints(ours, { latitudes: latitudes.subarray(0, count), longitudes: longitudes.subarray(0, count) });
try {
  const expected = stepSumOf(await ask(COMPARED_COUNT));
  for (const { name, open, atLeast } of OPPONENTS) {
    const row = {
      bench: "points",
      name: "random points x 21 layers, cells in memory",
      grid: spec.name,
      state: "random",
      unit: "ns a point",
      mark: { atLeast },
    } as const;
    const rival = await open(workload);
    if (typeof rival === "string") {
      print({ ...row, against: name, note: rival });
      continue;
    }
    try {
      const { stepSum } = await rival.run(COMPARED_COUNT);
      if (stepSum !== expected) throw new Error(`${name} reads other cells: ${stepSum} steps, ours ${expected}.`);
      const run = async (): Promise<{ readonly overriddenDuration: number }> => {
        const { nanoseconds } = await rival.run(rival.pointCount);
        return { overriddenDuration: nanoseconds / 1e6 };
      };
      const [own, theirs] = await interleave(
        [
          { name: "atlas.sample", run: async () => void (await ask(POINT_COUNT)) },
          { name, run: run as () => Promise<unknown> as Contender["run"] }, // tinybench takes the duration that a run returns
        ],
        { rounds: ROUNDS, warmupRounds: 1 },
      );
      print({
        ...row,
        ours: ((own?.medianMs ?? Number.NaN) * 1e6) / POINT_COUNT,
        against: name,
        rival: ((theirs?.medianMs ?? Number.NaN) * 1e6) / rival.pointCount,
        note: `ours ${POINT_COUNT} points at once, the rival ${rival.pointCount}`,
      });
    } finally {
      await rival.close();
    }
  }
} finally {
  await ours.atlas.close();
}
