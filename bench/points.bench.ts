/**
 * Single cells in bulk: all 21 layers at random points, nanoseconds a point. Rivals that need milliseconds a point
 * take fewer of them; all must read the same cells. numpy, rasterio and gdallocationinfo hand out what is stored, u16 and
 * text, and plain JavaScript the same numbers as f64: our steps are the like of these, our values are in their units and
 * have a reason beside each.
 */
import { sample, sampleSteps } from "../src/hazard/sample.ts";
import { Kernel } from "../src/kernel/instance.ts";
import { STEPS_NODATA } from "../src/kernel/kernel.generated.ts";
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
import { ASKED_LAYERS, HAZARD, LAYER_COUNT, POINT_COUNT, prepare, WORKLOADS } from "./workload.ts";

const NAME = "random points x 21 layers, cells in memory";
const ROUNDS = 9;
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
const request = {
  hazard: HAZARD,
  layers: ASKED_LAYERS.map(({ scenario, year, metric }) => ({ scenario, analysisYear: year, metric })),
  latitudes,
  longitudes,
};
const length = POINT_COUNT * LAYER_COUNT;
const values = new Float64Array(length);
const into = { values, reasons: new Uint8Array(length) };
const steps = new Uint16Array(length);
/** What the library hands out, and whether into arrays that it makes or that it is given again. */
const FORMS = [
  { form: "steps, array reused", run: () => sampleSteps(ours.sampler, { ...request, into: steps }) },
  { form: "steps, new array", run: () => sampleSteps(ours.sampler, request) },
  { form: "values, arrays reused", run: () => sample(ours.sampler, { ...request, into }) },
  { form: "values, new arrays", run: () => samplePoints(ours, { latitudes, longitudes }) },
] as const;

try {
  for (const { run } of FORMS) await run(); // the tiles come into memory here
  const compared = COMPARED_COUNT * LAYER_COUNT;
  const expected = stepSumOf(values.subarray(0, compared));
  const sum = steps.subarray(0, compared).reduce((total, each) => total + Math.min(each, STEPS_NODATA), 0);
  if (sum !== expected) throw new Error(`Steps and values differ: ${sum} steps, ${expected} by values.`);
  for (const { name, open, atLeast } of OPPONENTS) {
    const row = {
      bench: "points",
      grid: spec.name,
      state: "random",
      unit: "ns a point",
      mark: { atLeast },
    } as const;
    const rival = await open(workload);
    if (typeof rival === "string") {
      print({ ...row, name: NAME, against: name, note: rival });
      continue;
    }
    try {
      const { stepSum } = await rival.run(COMPARED_COUNT);
      if (stepSum !== expected) throw new Error(`${name} reads other cells: ${stepSum} steps, ours ${expected}.`);
      const run = async (): Promise<{ readonly overriddenDuration: number }> => {
        const { nanoseconds } = await rival.run(rival.pointCount);
        return { overriddenDuration: nanoseconds / 1e6 };
      };
      const timings = await interleave(
        [
          ...FORMS.map(({ form, run: ask }) => ({ name: form, run: async () => void (await ask()) })),
          { name, run: run as () => Promise<unknown> as Contender["run"] }, // tinybench takes the duration that a run returns
        ],
        { rounds: ROUNDS, warmupRounds: 2 },
      );
      const theirs = timings.at(-1);
      for (const [i, { form }] of FORMS.entries()) {
        print({
          ...row,
          name: `${NAME}: ${form}`,
          ours: ((timings[i]?.medianMs ?? Number.NaN) * 1e6) / POINT_COUNT,
          against: name,
          rival: ((theirs?.medianMs ?? Number.NaN) * 1e6) / rival.pointCount,
          note: `ours ${POINT_COUNT} points at once, the rival ${rival.pointCount}`,
        });
      }
    } finally {
      await rival.close();
    }
  }
} finally {
  await ours.atlas.close();
}
