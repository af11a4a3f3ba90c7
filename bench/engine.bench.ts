/**
 * The engine against its rivals: circles at four latitudes and of the whole world, all 21 layers. Each rival
 * answers some circles first, and is timed only when its answers are ours; then all take turns.
 *
 * `npm run bench -- engine lat45` measures one grid; `--json` prints a line a row.
 */
import { Kernel } from "../src/kernel/instance.ts";
import { timeCircles } from "./measure.ts";
import { engine, openOurs, type Ours, product, sampleCircles, spans } from "./ours.ts";
import { checkAgreement, type CircleContender, type Closeness, EXACT, NEARLY, type OpenRival } from "./rival.ts";
import { blocksAndPrefix } from "./rivals/blocksAndPrefix.ts";
import { geoBlaze } from "./rivals/geoBlaze.ts";
import { geoTiffWindow } from "./rivals/geoTiffWindow.ts";
import { haversineLoop } from "./rivals/haversineLoop.ts";
import { nativeBlocksAndPrefix, nativeRowScan } from "./rivals/native.ts";
import { numpyMask, rasterioMask } from "./rivals/python.ts";
import { type Mark, print } from "./row.ts";
import { prepare, type Workload, WORKLOADS } from "./workload.ts";

/** How many circles are compared before a rival is timed. */
const COMPARED_COUNT = 12;

interface Opponent {
  readonly open: OpenRival;
  readonly name: string;
  readonly closeness: Closeness;
  /** Asked in one go what it finds in one go; else maximum and mean apart. */
  readonly asked: readonly ("max" | "mean" | "both")[];
  mark?(workload: Workload): Mark;
  /** A rival that cannot be installed, and how much longer it took where both were. */
  readonly standsInFor?: { readonly name: string; readonly timesItsTime: number; readonly mark: Mark };
}

const OPPONENTS: readonly Opponent[] = [
  {
    name: "plain JavaScript haversine loop, in memory",
    open: haversineLoop,
    closeness: NEARLY,
    asked: ["both"],
    mark: () => ({ atLeast: 700 }),
  },
  {
    name: "the same algorithm in plain JavaScript",
    open: blocksAndPrefix,
    closeness: EXACT,
    asked: ["both"],
    mark: () => ({ atLeast: 4 }),
  },
  { name: "geotiff.js 3.0.5 readRasters + loop", open: geoTiffWindow, closeness: NEARLY, asked: ["both"] },
  // Its mean gives every cell of the polygon the same weight, whatever its area.
  { name: "geoblaze 2.8.0", open: geoBlaze, closeness: { ...NEARLY, meanError: 0.05 }, asked: ["both"] },
  {
    name: "numpy haversine mask, in memory",
    open: numpyMask,
    closeness: NEARLY,
    asked: ["both"],
    mark: () => ({ atLeast: 300 }),
    standsInFor: { name: "exactextract, in memory", timesItsTime: 1.4, mark: { atLeast: 500 } },
  },
  {
    name: "rasterio.mask on GeoTIFF, warm",
    open: rasterioMask,
    closeness: NEARLY,
    asked: ["both"],
    mark: () => ({ atLeast: 500 }),
  },
  {
    name: "native row scan",
    open: nativeRowScan,
    closeness: EXACT,
    asked: ["max", "mean"],
    mark: ({ spec }) => ({ atMost: spec.name === "lat75" ? 0.2 : 0.1 }),
  },
  {
    name: "the same algorithm, native, 128-bit vectors",
    open: nativeBlocksAndPrefix,
    closeness: EXACT,
    asked: ["max", "mean"],
    mark: () => ({ atMost: 1.05 }),
  },
];

const WHAT = { max: "max", mean: "mean", both: "max + mean" } as const;

const words = new Set(process.argv.slice(2).filter((word) => !word.startsWith("-")));
const named = WORKLOADS.filter(({ name }) => words.has(name));
const kernel = await Kernel.load();
for (const spec of named.length > 0 ? named : WORKLOADS) {
  const workload = await prepare(kernel, spec);
  const ours = await openOurs(workload);
  const contenders = { engine: engine(ours, workload), product: product(ours, workload) };
  try {
    // Every place once, so that all tiles that are ever needed are in memory.
    await contenders.product.run({ places: workload.places.map((_, i) => i), radiusKm: 100, asked: "both" });
    await contenders.product.run({ places: workload.places.map((_, i) => i), radiusKm: 10, asked: "both" });
    await comparePath(workload, contenders);
    await timeSpans(workload, ours);
    await compareBulk(workload, ours, contenders.engine);
    await compareCosts(workload, contenders.engine);
    for (const opponent of OPPONENTS) await compareWith(opponent, workload, contenders);
  } finally {
    await ours.atlas.close();
  }
}

interface Contenders {
  readonly engine: CircleContender;
  readonly product: CircleContender;
}

/** What the way from a query object to an answer object costs over the kernels alone. */
async function comparePath(workload: Workload, { engine, product }: Contenders): Promise<void> {
  const placeCount = workload.places.length;
  const places = Array.from({ length: 100 }, (_, i) => i);
  const compared = { places, radiusKm: 100, asked: "both" } as const;
  checkAgreement(engine.name, { ours: await product.answer(compared), theirs: await engine.answer(compared) }, EXACT);
  for (const asked of ["max", "mean"] as const) {
    for (const state of ["random", "hot"] as const) {
      const times = await timeCircles([product, engine], { radiusKm: 100, asked, placeCount, state });
      print({
        bench: "engine",
        name: `${asked} within 100 km, 21 layers: query object to answer object`,
        grid: workload.spec.name,
        state,
        unit: "ns a circle",
        ours: times.get(product) ?? Number.NaN,
        against: engine.name,
        rival: times.get(engine) ?? Number.NaN,
        mark: { atMost: 2 },
      });
    }
  }
}

/** The cells of a circle, a row. */
async function timeSpans(workload: Workload, ours: Ours): Promise<void> {
  const { contender, rowCount } = spans(ours, workload);
  const question = { radiusKm: 100, asked: "both", placeCount: workload.places.length, state: "random" } as const;
  const times = await timeCircles([contender], question);
  print({
    bench: "engine",
    name: "row spans within 100 km",
    grid: workload.spec.name,
    state: "random",
    unit: "ns a row",
    ours: (times.get(contender) ?? Number.NaN) / rowCount(),
    mark: { atMost: 8 },
  });
}

/** What the bulk door costs over the kernels alone. */
async function compareBulk(workload: Workload, ours: Ours, engine: CircleContender): Promise<void> {
  const placeCount = workload.places.length;
  for (const method of ["max", "mean"] as const) {
    const door: CircleContender = {
      ...engine,
      name: "Isotherm, atlas.sample",
      async run({ places, radiusKm }) {
        const asked = places.flatMap((place) => workload.places[place] ?? []);
        await sampleCircles(ours, { places: asked }, { radiusKm, method });
        return undefined;
      },
    };
    const question = { radiusKm: 100, asked: method, placeCount, state: "random" } as const;
    const times = await timeCircles([door, engine], question);
    print({
      bench: "engine",
      name: `${method} within 100 km, 21 layers: atlas.sample`,
      grid: workload.spec.name,
      state: "random",
      unit: "ns a circle",
      ours: times.get(door) ?? Number.NaN,
      against: engine.name,
      rival: times.get(engine) ?? Number.NaN,
      mark: { atMost: 1.25 },
    });
  }
}

/** What a hundred times the cells cost. */
async function compareCosts(workload: Workload, engine: CircleContender): Promise<void> {
  const placeCount = workload.places.length;
  for (const state of ["random", "hot"] as const) {
    for (const asked of ["max", "mean"] as const) {
      const near: CircleContender = {
        ...engine,
        name: "the same at 10 km",
        run: (question) => engine.run({ ...question, radiusKm: 10 }),
      };
      const times = await timeCircles([engine, near], { radiusKm: 100, asked, placeCount, state });
      print({
        bench: "engine",
        name: `${asked}: 100 km against 10 km`,
        grid: workload.spec.name,
        state,
        unit: "ns a circle",
        ours: times.get(engine) ?? Number.NaN,
        against: near.name,
        rival: times.get(near) ?? Number.NaN,
        mark: { atMost: asked === "max" ? 6 : 12 },
      });
    }
  }
}

async function compareWith(opponent: Opponent, workload: Workload, { engine, product }: Contenders): Promise<void> {
  const grid = workload.spec.name;
  const rival = await opponent.open(workload);
  if (typeof rival === "string") {
    for (const asked of opponent.asked) {
      const name = `${WHAT[asked]} within 100 km, 21 layers`;
      print({ bench: "engine", name, grid, state: "random", unit: "ns a circle", against: opponent.name, note: rival });
    }
    return;
  }
  try {
    const places = Array.from({ length: COMPARED_COUNT }, (_, i) => i);
    const compared = { places, radiusKm: 100, asked: "both" } as const;
    const answers = { ours: await engine.answer(compared), theirs: await rival.answer(compared) };
    checkAgreement(rival.name, answers, opponent.closeness);
    for (const asked of opponent.asked) {
      const question = { radiusKm: 100, asked, placeCount: workload.places.length, state: "random" } as const;
      const times = await timeCircles([engine, product, rival], question);
      const row = { bench: "engine", grid, state: "random", unit: "ns a circle" } as const;
      const name = `${WHAT[asked]} within 100 km, 21 layers`;
      const timeOf = (each: CircleContender): number => times.get(each) ?? Number.NaN;
      const [kernels, path, theirs] = [timeOf(engine), timeOf(product), timeOf(rival)];
      const mark = opponent.mark?.(workload);
      const judged = { ...row, against: rival.name, rival: theirs };
      print({ ...judged, name, ours: kernels, ...(mark === undefined ? {} : { mark }) });
      // Without a mark of its own, but read the same way round.
      const isCost = mark !== undefined && "atMost" in mark;
      print({ ...judged, name: `${name}, whole path`, ours: path, ratio: isCost ? path / theirs : theirs / path });
      if (opponent.standsInFor === undefined) continue;
      const { name: against, timesItsTime, mark: markOfIt } = opponent.standsInFor;
      const note = `not run: it is in neither registry. ${timesItsTime} times the time of numpy`;
      print({ ...row, name, ours: kernels, against, rival: timesItsTime * theirs, mark: markOfIt, note });
    }
  } finally {
    await rival.close();
  }
}
