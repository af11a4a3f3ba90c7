/**
 * Times the scores of portfolios of places on a stored part of the demo world: every hazard, scenario and year, at points
 * and within 10 km, 70 % of the places around 40 towns. The contenders are `hazardRiskBatch`, which answers one query per
 * place, `sample`, which returns values only, and loops over rasterio.sample or windows that rasterio reads, with numpy,
 * whose values must be the same. Runs are interleaved; figures are processor time of all threads.
 *
 *   npm run bench -- places
 *   npm run bench -- places rows=1000000 queries=20000 circles=20000
 */
import { type HazardQueryInput, openAtlas } from "../src/index.ts";
import type { ScoreRequest } from "../src/hazard/scoring/scoreRequest.ts";
import { scoreBlocks, scoringAtlasOf } from "../src/places/scores/scoreBlocks.ts";
import { type PlaceBlock, ROWS_PER_BLOCK } from "../src/places/scores/placeBlock.ts";
import { planScores } from "../src/places/scores/scorePlan.ts";
import { median } from "./measure.ts";
import { numberArgument } from "./processTime.ts";
import { rasterioPlaces } from "./competitors/rasterioPlaces.ts";
import { print, type Target } from "./row.ts";
import { prepareStoredDemo, STORED_DEMO_PLACES } from "./storedDemo.ts";
import { generatePlaces } from "./workload.ts";

const ROWS = numberArgument("rows", 100_000);
const CIRCLES = numberArgument("circles", 2000);
const QUERIES = numberArgument("queries", 2000);
const RASTERIO = numberArgument("rasterio", 5000);
const ROUNDS = numberArgument("rounds", 5);
const UNIT = "us of CPU per place";

const stored = await prepareStoredDemo();
const atlas = await openAtlas(stored.atlasFolder);
const plan = planScores(atlas, {});
const columnCount = plan.groups.reduce((count, { metrics }) => count + metrics.length, 0);

type Places = Pick<ScoreRequest, "latitudes" | "longitudes" | "radiiKm">;

function placesOf(count: number, radiusKm: number): Places {
  const places = generatePlaces({ ...STORED_DEMO_PLACES, places: { ...STORED_DEMO_PLACES.places, count } });
  return {
    latitudes: Float64Array.from(places, ({ latDeg }) => latDeg),
    longitudes: Float64Array.from(places, ({ lonDeg }) => lonDeg),
    radiiKm: new Float64Array(count).fill(radiusKm),
  };
}

function firstOf({ latitudes, longitudes, radiiKm }: Places, count: number): Places {
  return {
    latitudes: latitudes.subarray(0, count),
    longitudes: longitudes.subarray(0, count),
    radiiKm: radiiKm.subarray(0, count),
  };
}

/** Scores places block by block, as for a file. */
async function score(places: Places): Promise<number> {
  const blocks: PlaceBlock[] = [];
  for (let first = 0; first < places.latitudes.length; first += ROWS_PER_BLOCK) {
    const end = Math.min(places.latitudes.length, first + ROWS_PER_BLOCK);
    blocks.push({
      index: blocks.length,
      firstRow: first,
      rowCount: end - first,
      latitudes: places.latitudes.subarray(first, end),
      longitudes: places.longitudes.subarray(first, end),
      radiiKm: places.radiiKm.subarray(first, end),
      errors: new Map(),
      kept: [],
    });
  }
  let checksum = 0;
  for await (const { scores, release } of scoreBlocks(atlas, blocks, { plan: { ...plan, radiusKm: undefined } })) {
    checksum += scores.values[0] ?? 0;
    release();
  }
  return checksum;
}

async function sampleHazards({ latitudes, longitudes, radiiKm }: Places): Promise<void> {
  for (const hazard of new Set(plan.groups.map((group) => group.hazard))) {
    const layers = plan.groups
      .filter((group) => group.hazard === hazard)
      .flatMap(({ scenario, analysisYear, metrics }) => metrics.map((metric) => ({ scenario, analysisYear, metric })));
    await atlas.sample({ hazard, layers, latitudes, longitudes, radiusKm: radiiKm[0] ?? 0 });
  }
}

/** Answers one query per place and hazard; a query needs years and scenarios that its hazard offers. */
async function queryPlaces({ latitudes, longitudes, radiiKm }: Places): Promise<void> {
  const queries: HazardQueryInput[] = [];
  for (const hazard of new Set(plan.groups.map((group) => group.hazard))) {
    const groups = plan.groups.filter((group) => group.hazard === hazard && group.scenario !== "baseline");
    const scenarios = [...new Set(groups.map(({ scenario }) => scenario))];
    // 1980 is the baseline under every scenario.
    const analysis_years = [1980, ...new Set(groups.map(({ analysisYear }) => analysisYear))];
    for (const [i, latitude] of latitudes.entries()) {
      const [longitude = NaN, radius = 0] = [longitudes[i], radiiKm[i]];
      queries.push({ latitude, longitude, radius, hazards: [hazard], scenarios, analysis_years });
    }
  }
  await atlas.hazardRiskBatch(queries);
}

/** Compares values and processor time with Python at the first of the places. */
async function compareWithRasterio(
  name: string,
  ours: Places,
  contender: { readonly name: string; readonly count: number; readonly target?: Target },
): Promise<void> {
  const places = firstOf(ours, contender.count);
  const count = places.latitudes.length;
  const row = { bench: "places", name: fullNameOf(name), unit: UNIT, against: contender.name };
  const read = await rasterioPlaces(stored.hazards, { ...places, radiusKm: places.radiiKm[0] ?? 0 });
  if (typeof read === "string") {
    print({ ...row, note: read });
    return;
  }
  const { values } = await scoringAtlasOf(atlas).score({ ...plan, ...places });
  if (!Buffer.from(values.buffer, values.byteOffset, values.byteLength).equals(Buffer.from(read.values.buffer))) {
    throw new Error(`the values of ${contender.name} differ`);
  }
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await cpuMicrosecondsPerPlace(ours, score));
  const own = median(times);
  const theirs = read.cpuNanoseconds / 1000 / count;
  print({
    ...row,
    ours: own,
    theirs,
    ratio: theirs / own,
    ...(contender.target === undefined ? {} : { target: contender.target }),
    note: `the same values, bit for bit, at ${count.toLocaleString("en")} places`,
  });
}

async function cpuMicrosecondsPerPlace(places: Places, work: (places: Places) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work(places);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / places.latitudes.length;
}

function fullNameOf(name: string): string {
  return `${name} x ${plan.groups.length} scenarios and years, ${columnCount} values`;
}

/** Compares the scores of places with another way to compute them, for as many places as it takes a reasonable time. */
async function compare(
  name: string,
  ours: Places,
  contender: { readonly name: string; readonly places: Places; run(places: Places): Promise<unknown> },
  atLeast: number,
): Promise<void> {
  const samples: { readonly ours: number; readonly theirs: number }[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const sample = {
      ours: await cpuMicrosecondsPerPlace(ours, score),
      theirs: await cpuMicrosecondsPerPlace(contender.places, (places) => contender.run(places)),
    };
    if (round >= 0) samples.push(sample); // the first round compiles and fills the cache
  }
  const microseconds = median(samples.map((sample) => sample.ours));
  print({
    bench: "places",
    name: fullNameOf(name),
    unit: UNIT,
    ours: microseconds,
    against: contender.name,
    theirs: median(samples.map((sample) => sample.theirs)),
    ratio: median(samples.map(({ ours: own, theirs }) => theirs / own)),
    target: { atLeast },
    note: `${Math.round((columnCount * 1e6) / microseconds).toLocaleString("en")} values per CPU second`,
  });
}

const points = placesOf(ROWS, 0);
const circles = placesOf(CIRCLES, 10);
await compare("points", points, { name: "sample", places: points, run: sampleHazards }, 0.8);
await compare("points", points, { name: "hazardRiskBatch", places: firstOf(points, QUERIES), run: queryPlaces }, 2);
await compare("circles of 10 km", circles, { name: "sample", places: circles, run: sampleHazards }, 0.8);
await compare(
  "circles of 10 km",
  circles,
  { name: "hazardRiskBatch", places: firstOf(circles, Math.min(QUERIES, CIRCLES)), run: queryPlaces },
  1,
);
await compareWithRasterio("points", points, {
  name: "rasterio.sample and numpy",
  count: RASTERIO,
  target: { atLeast: 100 },
});
await compareWithRasterio("circles of 10 km", circles, { name: "rasterio windows and numpy masks", count: RASTERIO });
await atlas.close();
