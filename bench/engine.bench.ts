/**
 * Compares the engine with its competitors: circles of all 21 layers at four latitudes and on the world grid. Each
 * competitor is first checked against our results, then timed interleaved with Isotherm's two contenders.
 *
 * `npm run bench -- engine lat45` measures one grid; `--json` prints one JSON line per row.
 */
import { Kernel } from "../src/kernel/instance.ts";
import { timeCircles } from "./measure.ts";
import {
  type InstrumentedAtlas,
  kernelContender,
  libraryContender,
  openInstrumentedAtlas,
  rowSpanContender,
  sampleCircles,
} from "./isotherm.ts";
import {
  checkAgreement,
  type CircleContender,
  type Tolerance,
  EXACT,
  APPROXIMATE,
  type OpenCompetitor,
} from "./circleContender.ts";
import { blocksAndPrefix } from "./competitors/blocksAndPrefix.ts";
import { geoBlaze } from "./competitors/geoBlaze.ts";
import { geoTiffWindow } from "./competitors/geoTiffWindow.ts";
import { haversineLoop } from "./competitors/haversineLoop.ts";
import { nativeBlocksAndPrefix, nativeRowScan } from "./competitors/native.ts";
import { numpyMask, rasterioMask } from "./competitors/python.ts";
import { type Target, print } from "./row.ts";
import { prepare, type Workload, WORKLOADS } from "./workload.ts";

/** Circles compared before a competitor is timed. */
const COMPARED_COUNT = 12;

interface Competitor {
  readonly open: OpenCompetitor;
  readonly name: string;
  readonly tolerance: Tolerance;
  /** `both` if one pass computes maximum and mean; otherwise they are requested separately. */
  readonly aggregations: readonly ("max" | "mean" | "both")[];
  target?(workload: Workload): Target;
  /**
   * A competitor that cannot be installed: estimated from this competitor's time and a ratio of the two, measured on a
   * machine that had both.
   */
  readonly estimateFor?: { readonly name: string; readonly timeFactor: number; readonly target: Target };
}

const COMPETITORS: readonly Competitor[] = [
  {
    name: "plain JavaScript haversine loop, in memory",
    open: haversineLoop,
    tolerance: APPROXIMATE,
    aggregations: ["both"],
    target: () => ({ atLeast: 700 }),
  },
  {
    name: "the same algorithm in plain JavaScript",
    open: blocksAndPrefix,
    tolerance: EXACT,
    aggregations: ["both"],
    target: () => ({ atLeast: 4 }),
  },
  { name: "geotiff.js 3.0.5 readRasters + loop", open: geoTiffWindow, tolerance: APPROXIMATE, aggregations: ["both"] },
  // Its mean weights all cells equally, regardless of their area.
  { name: "geoblaze 2.8.0", open: geoBlaze, tolerance: { ...APPROXIMATE, meanErrorMax: 0.05 }, aggregations: ["both"] },
  {
    name: "numpy haversine mask, in memory",
    open: numpyMask,
    tolerance: APPROXIMATE,
    aggregations: ["both"],
    target: () => ({ atLeast: 300 }),
    estimateFor: { name: "exactextract, in memory", timeFactor: 1.4, target: { atLeast: 500 } },
  },
  {
    name: "rasterio.mask on GeoTIFF, warm",
    open: rasterioMask,
    tolerance: APPROXIMATE,
    aggregations: ["both"],
    target: () => ({ atLeast: 500 }),
  },
  {
    name: "native row scan",
    open: nativeRowScan,
    tolerance: EXACT,
    aggregations: ["max", "mean"],
    target: ({ spec }) => ({ atMost: spec.name === "lat75" ? 0.2 : 0.1 }),
  },
  {
    name: "the same algorithm, native, 128-bit vectors",
    open: nativeBlocksAndPrefix,
    tolerance: EXACT,
    aggregations: ["max", "mean"],
    target: () => ({ atMost: 1.05 }),
  },
];

const AGGREGATION_LABELS = { max: "max", mean: "mean", both: "max + mean" } as const;

const gridNames = new Set(process.argv.slice(2).filter((word) => !/^-|=/.test(word)));
const selectedWorkloads = WORKLOADS.filter(({ name }) => gridNames.delete(name));
if (gridNames.size > 0) {
  const known = WORKLOADS.map(({ name }) => name).join(", ");
  throw new Error(`grids must be among ${known} (got ${[...gridNames].join(", ")})`);
}
const kernel = await Kernel.load();
for (const spec of selectedWorkloads.length > 0 ? selectedWorkloads : WORKLOADS) {
  const workload = await prepare(kernel, spec);
  const opened = await openInstrumentedAtlas(workload);
  const contenders = { kernels: kernelContender(opened, workload), library: libraryContender(opened, workload) };
  try {
    // Query every place once, so that all tiles needed later are in memory.
    await contenders.library.run({ places: workload.places.map((_, i) => i), radiusKm: 100, aggregation: "both" });
    await contenders.library.run({ places: workload.places.map((_, i) => i), radiusKm: 10, aggregation: "both" });
    await compareWithKernels(workload, contenders);
    await timeSpans(workload, opened);
    await compareBulk(workload, opened, contenders.kernels);
    await compareRadii(workload, contenders.kernels);
    for (const entry of COMPETITORS) await compareWith(entry, workload, contenders);
  } finally {
    await opened.atlas.close();
  }
}

interface Contenders {
  readonly kernels: CircleContender;
  readonly library: CircleContender;
}

/** Measures the cost of the path from query object to result object relative to the kernels alone. */
async function compareWithKernels(workload: Workload, { kernels, library }: Contenders): Promise<void> {
  const placeCount = workload.places.length;
  const places = Array.from({ length: 100 }, (_, i) => i);
  const request = { places, radiusKm: 100, aggregation: "both" } as const;
  checkAgreement(kernels.name, { ours: await library.compute(request), theirs: await kernels.compute(request) }, EXACT);
  for (const aggregation of ["max", "mean"] as const) {
    for (const state of ["random", "hot"] as const) {
      const times = await timeCircles([library, kernels], { radiusKm: 100, aggregation, placeCount, state });
      print({
        bench: "engine",
        name: `${aggregation} within 100 km, 21 layers: query object to result object`,
        grid: workload.spec.name,
        state,
        unit: "ns per circle",
        ours: times.get(library) ?? Number.NaN,
        against: kernels.name,
        theirs: times.get(kernels) ?? Number.NaN,
        target: { atMost: 2 },
      });
    }
  }
}

/** Measures the time per row to find the cells of a circle. */
async function timeSpans(workload: Workload, opened: InstrumentedAtlas): Promise<void> {
  const { contender, rowCount } = rowSpanContender(opened, workload);
  const request = { radiusKm: 100, aggregation: "both", placeCount: workload.places.length, state: "random" } as const;
  const times = await timeCircles([contender], request);
  print({
    bench: "engine",
    name: "row spans within 100 km",
    grid: workload.spec.name,
    state: "random",
    unit: "ns per row",
    ours: (times.get(contender) ?? Number.NaN) / rowCount(),
    target: { atMost: 8 },
  });
}

/** Measures the cost of bulk sampling relative to the kernels alone. */
async function compareBulk(workload: Workload, opened: InstrumentedAtlas, kernels: CircleContender): Promise<void> {
  const placeCount = workload.places.length;
  for (const method of ["max", "mean"] as const) {
    const bulk: CircleContender = {
      ...kernels,
      name: "Isotherm, atlas.sample",
      async run({ places, radiusKm }) {
        const locations = places.flatMap((place) => workload.places[place] ?? []);
        await sampleCircles(opened, { places: locations }, { radiusKm, method });
        return undefined;
      },
    };
    const request = { radiusKm: 100, aggregation: method, placeCount, state: "random" } as const;
    const times = await timeCircles([bulk, kernels], request);
    print({
      bench: "engine",
      name: `${method} within 100 km, 21 layers: atlas.sample`,
      grid: workload.spec.name,
      state: "random",
      unit: "ns per circle",
      ours: times.get(bulk) ?? Number.NaN,
      against: kernels.name,
      theirs: times.get(kernels) ?? Number.NaN,
      target: { atMost: 1.25 },
    });
  }
}

/** Measures how much the cost grows when the circle has a hundred times as many cells. */
async function compareRadii(workload: Workload, kernels: CircleContender): Promise<void> {
  const placeCount = workload.places.length;
  for (const state of ["random", "hot"] as const) {
    for (const aggregation of ["max", "mean"] as const) {
      const near: CircleContender = {
        ...kernels,
        name: "the same at 10 km",
        run: (request) => kernels.run({ ...request, radiusKm: 10 }),
      };
      const times = await timeCircles([kernels, near], { radiusKm: 100, aggregation, placeCount, state });
      print({
        bench: "engine",
        name: `${aggregation}: 100 km against 10 km`,
        grid: workload.spec.name,
        state,
        unit: "ns per circle",
        ours: times.get(kernels) ?? Number.NaN,
        against: near.name,
        theirs: times.get(near) ?? Number.NaN,
        target: { atMost: aggregation === "max" ? 6 : 12 },
      });
    }
  }
}

async function compareWith(entry: Competitor, workload: Workload, { kernels, library }: Contenders): Promise<void> {
  const grid = workload.spec.name;
  const competitor = await entry.open(workload);
  if (typeof competitor === "string") {
    for (const aggregation of entry.aggregations) {
      const name = `${AGGREGATION_LABELS[aggregation]} within 100 km, 21 layers`;
      print({
        bench: "engine",
        name,
        grid,
        state: "random",
        unit: "ns per circle",
        against: entry.name,
        note: competitor,
      });
    }
    return;
  }
  try {
    const places = Array.from({ length: COMPARED_COUNT }, (_, i) => i);
    const checkRequest = { places, radiusKm: 100, aggregation: "both" } as const;
    const results = { ours: await kernels.compute(checkRequest), theirs: await competitor.compute(checkRequest) };
    checkAgreement(competitor.name, results, entry.tolerance);
    for (const aggregation of entry.aggregations) {
      const request = { radiusKm: 100, aggregation, placeCount: workload.places.length, state: "random" } as const;
      const times = await timeCircles([kernels, library, competitor], request);
      const row = { bench: "engine", grid, state: "random", unit: "ns per circle" } as const;
      const name = `${AGGREGATION_LABELS[aggregation]} within 100 km, 21 layers`;
      const timeOf = (each: CircleContender): number => times.get(each) ?? Number.NaN;
      const [kernelsNs, libraryNs, theirs] = [timeOf(kernels), timeOf(library), timeOf(competitor)];
      const target = entry.target?.(workload);
      const comparison = { ...row, against: competitor.name, theirs: theirs };
      print({ ...comparison, name, ours: kernelsNs, ...(target === undefined ? {} : { target }) });
      // This row has no target; its ratio has the same direction as that of the row above.
      const isCost = target !== undefined && "atMost" in target;
      print({
        ...comparison,
        name: `${name}, full query`,
        ours: libraryNs,
        ratio: isCost ? libraryNs / theirs : theirs / libraryNs,
      });
      if (entry.estimateFor === undefined) continue;
      const { name: against, timeFactor, target: estimateTarget } = entry.estimateFor;
      const note = `not run (in neither the npm registry nor Debian); estimated as ${timeFactor} times ${entry.name}`;
      print({ ...row, name, ours: kernelsNs, against, theirs: timeFactor * theirs, target: estimateTarget, note });
    }
  } finally {
    await competitor.close();
  }
}
