/**
 * Times the reading of single cells in bulk: all 21 layers at random points, in nanoseconds per point. Competitors that
 * need milliseconds per point get fewer points; all must read the same cells. numpy, rasterio and gdallocationinfo
 * return stored numbers (u16 or text), plain JavaScript returns them as f64; their times should be compared with those
 * of our steps. Our values are converted to units, and each has a reason.
 */
import { sample, sampleSteps } from "../src/hazard/sample.ts";
import { scorePlaces } from "../src/hazard/scoring/scorePlaces.ts";
import type { ScoreRequest } from "../src/hazard/scoring/scoreRequest.ts";
import { Kernel } from "../src/kernel/instance.ts";
import { STEPS_NODATA } from "../src/kernel/kernel.generated.ts";
import { type Contender, interleave } from "./interleave.ts";
import { openInstrumentedAtlas, samplePoints, stepSumOf } from "./isotherm.ts";
import {
  gdalLocationInfo,
  numpyIndex,
  type OpenPointCompetitor,
  plainJavaScript,
  rasterioSample,
  readPoints,
} from "./competitors/points.ts";
import { print } from "./row.ts";
import { GROUPS, HAZARD, LAYER_COUNT, QUERIED_LAYERS, QUERIED_METRICS } from "./floodMaps.ts";
import { POINT_COUNT, prepare, WORKLOADS } from "./workload.ts";

const NAME = "random points x 21 layers, cells in memory";
const ROUNDS = 9;
/** Points compared before anything is timed. */
const COMPARED_COUNT = 2000;

const COMPETITORS: readonly { readonly name: string; readonly open: OpenPointCompetitor; readonly atLeast: number }[] =
  [
    { name: "numpy fancy index, in memory", open: numpyIndex, atLeast: 8 },
    { name: "rasterio.sample", open: rasterioSample, atLeast: 3000 },
    { name: "gdallocationinfo", open: gdalLocationInfo, atLeast: 4000 },
    { name: "plain JavaScript, in memory", open: plainJavaScript, atLeast: 8 },
  ];

const spec = WORKLOADS.find(({ name }) => name === "lat45");
if (spec === undefined) throw new Error("the workload lat45 is not defined");
const workload = await prepare(await Kernel.load(), spec);
const opened = await openInstrumentedAtlas(workload);
const { latitudes, longitudes } = await readPoints(workload);
const request = {
  hazard: HAZARD,
  layers: QUERIED_LAYERS.map(({ scenario, year, metric }) => ({ scenario, analysisYear: year, metric })),
  latitudes,
  longitudes,
};
const length = POINT_COUNT * LAYER_COUNT;
const values = new Float64Array(length);
const into = { values, reasons: new Uint8Array(length) };
const steps = new Uint16Array(length);
const scoreRequest: ScoreRequest = {
  groups: GROUPS.map(({ scenario, year }) => ({
    hazard: HAZARD,
    scenario,
    analysisYear: year,
    metrics: QUERIED_METRICS,
  })),
  latitudes,
  longitudes,
  radiiKm: new Float64Array(POINT_COUNT),
  method: "max",
  anthropogenic: false,
};
/** The result forms of the library: steps or values, into new or reused arrays, and scores of a portfolio. */
const FORMS = [
  { form: "steps, array reused", run: () => sampleSteps(opened.sampler, { ...request, into: steps }) },
  { form: "steps, new array", run: () => sampleSteps(opened.sampler, request) },
  { form: "values, arrays reused", run: () => sample(opened.sampler, { ...request, into }) },
  { form: "values, new arrays", run: () => samplePoints(opened, { latitudes, longitudes }) },
  { form: "scores with statuses and bounds, new arrays", run: () => scorePlaces(opened.sampler, scoreRequest) },
] as const;

try {
  for (const { run } of FORMS) await run(); // loads the tiles into memory
  const comparedValueCount = COMPARED_COUNT * LAYER_COUNT;
  const expected = stepSumOf(values.subarray(0, comparedValueCount));
  const sum = steps.subarray(0, comparedValueCount).reduce((total, each) => total + Math.min(each, STEPS_NODATA), 0);
  if (sum !== expected) throw new Error(`steps and values differ: sum of steps ${sum}, from values ${expected}`);
  const scores = await scorePlaces(opened.sampler, scoreRequest);
  if (!Buffer.from(scores.values.buffer, 0, values.byteLength).equals(Buffer.from(values.buffer)))
    throw new Error("scores and values differ");
  for (const { name, open, atLeast } of COMPETITORS) {
    const row = {
      bench: "points",
      grid: spec.name,
      state: "random",
      unit: "ns per point",
      target: { atLeast },
    } as const;
    const competitor = await open(workload);
    if (typeof competitor === "string") {
      print({ ...row, name: NAME, against: name, note: competitor });
      continue;
    }
    try {
      const { stepSum } = await competitor.run(COMPARED_COUNT);
      if (stepSum !== expected)
        throw new Error(`${name} reads different cells: sum of steps ${stepSum}, expected ${expected}`);
      const run = async (): Promise<{ readonly overriddenDuration: number }> => {
        const { nanoseconds } = await competitor.run(competitor.pointCount);
        return { overriddenDuration: nanoseconds / 1e6 };
      };
      const timings = await interleave(
        [
          ...FORMS.map(({ form, run: sampleAll }) => ({ name: form, run: async () => void (await sampleAll()) })),
          { name, run: run as () => Promise<unknown> as Contender["run"] }, // tinybench uses the returned duration
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
          theirs: ((theirs?.medianMs ?? Number.NaN) * 1e6) / competitor.pointCount,
          note: `points per call: ours ${POINT_COUNT}, theirs ${competitor.pointCount}`,
        });
      }
    } finally {
      await competitor.close();
    }
  }
} finally {
  await opened.atlas.close();
}
