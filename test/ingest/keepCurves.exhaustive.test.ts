import { afterEach, describe, expect, test } from "vitest";
import type { HazardQueryInput } from "../../src/contract/wireTypes.ts";
import { openAtlas } from "../../src/index.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { openPackedAtlas } from "../../src/atlas/packedAtlas.ts";
import { supplementName } from "../../src/atlas/supplement.ts";
import { verifyAtlas } from "../../src/atlas/verify.ts";
import { hasCurves } from "../../src/hazard/curvePlan.ts";
import { answerCurve } from "../../src/hazard/curveAnswer.ts";
import type { CurveQueryInput } from "../../src/contract/wireTypes.ts";
import { ingestLayers } from "../../src/ingest/ingest.ts";
import { keptCurves, metricStepsOfModel, type ModelValues } from "../oracle/keptCurves.ts";
import { randomFrom } from "../seededRandom.ts";
import {
  CELL_COUNT,
  folder,
  manifest,
  map,
  out,
  readCatalog,
  rejectionMessage,
  useIngestFolder,
} from "./ingestFixture.ts";
import { FLOOD_ENCODING, floodRule } from "./floodRule.ts";
import { useOpenedSamplers } from "./openedSampler.ts";

useIngestFolder();

const RETURN_PERIODS_YEARS = [2, 5, 10, 20, 25, 50, 80, 200, 500, 1000];
const COLUMN_COUNT = 80;
const RULE = floodRule(RETURN_PERIODS_YEARS);

/** Returns the values of a model, often zero or missing, and sometimes decreasing. */
function randomModel(seed: number): (cell: number, period: number) => number {
  const random = randomFrom(seed);
  const cells = Array.from({ length: CELL_COUNT }, () => {
    const kind = random.next();
    const depthM = random.next();
    return RETURN_PERIODS_YEARS.map((years) => {
      if (kind < 0.2 || (kind < 0.25 && random.chance(0.1))) return NaN;
      if (kind < 0.5) return 0;
      const noise = kind < 0.6 ? random.between({ min: 0.5, max: 1.1 }) : 1;
      return Math.fround(Math.max(0, depthM * (Math.log(years) - 1) * noise));
    });
  });
  return (cell, period) => cells[cell]?.[period] ?? NaN;
}

/** Writes the maps of models and a manifest of them. @returns the path of the manifest */
async function writeModels(models: readonly ((cell: number, period: number) => number)[]): Promise<string> {
  const layers: object[] = [];
  for (const [index, model] of models.entries()) {
    for (const [period, years] of RETURN_PERIODS_YEARS.entries()) {
      const name = `m${index}-${years}.tif`;
      await map(name, (cell) => (Number.isNaN(model(cell, period)) ? -9999 : model(cell, period)));
      const named = models.length === 1 ? {} : { model: `m${index}` };
      layers.push({ scenario: "rcp4p5", year: 2030, ...named, return_period_years: years, file: name });
    }
  }
  return manifest({ layers });
}

const valuesOf = (models: readonly ((cell: number, period: number) => number)[], cell: number): ModelValues =>
  models.map((model) => RETURN_PERIODS_YEARS.map((_, period) => model(cell, period)));

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((atlas) => atlas.close()));
});
const openedSampler = useOpenedSamplers();

const queryAt = (cell: number): CurveQueryInput => ({
  latitude: 20 - (Math.floor(cell / COLUMN_COUNT) + 0.5) / 10,
  longitude: 10 + ((cell % COLUMN_COUNT) + 0.5) / 10,
  hazards: ["riverine_floods"],
  analysis_years: [2030],
  scenarios: ["rcp4p5"],
  detail: true,
});

/** Returns an object with the values of each list for each return period. */
const pointsOf = (lists: Readonly<Record<string, readonly number[]>>): unknown[] =>
  RETURN_PERIODS_YEARS.map((return_period, i) => ({
    return_period,
    ...Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values[i]])),
  }));

describe("keepCurves", () => {
  test("stores the mean, smallest and largest value over models at each return period", async () => {
    const models = [1, 2, 3].map(randomModel);
    await ingestLayers({ manifest: await writeModels(models), out, keepCurves: true, keepRange: true });
    const sampler = await openedSampler(out);
    const found: unknown[] = [];
    const expected: unknown[] = [];
    for (let cell = 0; cell < CELL_COUNT; cell++) {
      const { results } = await answerCurve(sampler, queryAt(cell));
      const { curve, unit, no_data, detail } = results[0]?.scenarios[0]?.analysis_years[0] ?? {};
      const { cells, valid_share, variate, model_range } = detail ?? {};
      found.push({ curve, unit, no_data, cells, valid_share, variate, model_range });
      const kept = keptCurves(valuesOf(models, cell), FLOOD_ENCODING.depth);
      const meters = (steps: readonly number[]): number[] => steps.map((step) => step / FLOOD_ENCODING.depth);
      expected.push(
        kept === undefined
          ? { curve: null, unit: "m", no_data: "no_data", cells: 1, valid_share: 0 }
          : {
              curve: pointsOf({ value: meters(kept.mean) }),
              unit: "m",
              cells: 1,
              valid_share: 1,
              variate: "gumbel",
              model_range: pointsOf({ minimum: meters(kept.minimum), maximum: meters(kept.maximum) }),
            },
      );
    }
    expect(found).toEqual(expected);
    const curveCount = expected.filter((year) => (year as { curve: unknown }).curve !== null).length;
    expect(curveCount).toBeGreaterThan(CELL_COUNT / 2);
  });

  test("stores the smallest and largest of each metric over models", async () => {
    const models = [4, 5].map(randomModel);
    await ingestLayers({ manifest: await writeModels(models), out, keepRange: true });
    const sampler = await openedSampler(out);
    const supplement = sampler.hazards.get(supplementName("riverine_floods"));
    if (supplement === undefined) throw new Error("There is no supplement.");
    const set = sampler.layerSet(supplement, supplement.allLayers());
    const found: unknown[] = [];
    const expected: unknown[] = [];
    for (let cell = 0; cell < CELL_COUNT; cell++) {
      const { latitude, longitude } = queryAt(cell);
      const sampled = await sampler.sampleCell(set, { latDeg: latitude, lonDeg: longitude });
      const metrics = valuesOf(models, cell)
        .filter((values) => !values.some(Number.isNaN))
        .map((values) => metricStepsOfModel(values, RULE, FLOOD_ENCODING));
      const extreme = (pick: (...steps: number[]) => number): number[] =>
        [0, 1, 2, 3].map((metric) =>
          metrics.length === 0 ? 0xffff : pick(...metrics.map((steps) => steps[metric] ?? NaN)),
        );
      found.push([...(sampled?.steps ?? [])]);
      expected.push([...extreme(Math.min), ...extreme(Math.max)]);
    }
    expect(found).toEqual(expected);
    expect(hasCurves(sampler, "riverine_floods")).toBe(false);
  });

  test("writes the same packs of metrics as an ingest without it, and an intact atlas", async () => {
    const models = [6, 7].map(randomModel);
    const file = await writeModels(models);
    await ingestLayers({ manifest: file, out });
    const plain = await readCatalog();
    await ingestLayers({ manifest: file, out, keepCurves: true, keepRange: true });
    const catalog = await readCatalog();
    expect(catalog.hazards.map(({ hazard }) => hazard)).toEqual(["riverine_floods", "riverine_floods.supplement"]);
    expect(catalog.hazards[0]).toEqual(plain.hazards[0]);
    expect(catalog.release).not.toBe(plain.release);
    const kernel = await Kernel.load();
    const blobs = diskBlobs(out);
    const atlas = await openPackedAtlas(kernel, blobs, { headerCacheBytes: 1 << 20 });
    opened.push(atlas);
    expect((await verifyAtlas(atlas, { blobs })).problems).toEqual([]);
  });

  test("an ingest without it removes the curves of the scenarios and years that it replaces", async () => {
    const file = await writeModels([randomModel(8)]);
    await ingestLayers({ manifest: file, out, keepCurves: true });
    expect(hasCurves(await openedSampler(out), "riverine_floods")).toBe(true);
    const metric = { scenario: "rcp8p5", year: 2030, metric: "depth_meters", file: `${folder}/m0-50.tif` };
    await ingestLayers({ manifest: await manifest({ layers: [metric] }, "other.json"), out });
    expect(hasCurves(await openedSampler(out), "riverine_floods")).toBe(true);
    await ingestLayers({ manifest: file, out });
    const sampler = await openedSampler(out);
    expect(hasCurves(sampler, "riverine_floods")).toBe(false);
    expect((await readCatalog()).hazards.map(({ hazard }) => hazard)).toEqual(["riverine_floods"]);
    await expect(answerCurve(sampler, queryAt(0))).rejects.toThrow("This atlas has no return-period curves");
  });
});

describe("options without effect", () => {
  test("rejects keepCurves without return-period maps, and keepRange without several models", async () => {
    const file = await map("depth.tif", () => 1);
    const metric = { scenario: "rcp4p5", year: 2030, metric: "depth_meters", file };
    const ofMetric = await manifest({ layers: [metric] });
    expect(await rejectionMessage(ingestLayers({ manifest: ofMetric, out, keepCurves: true }))).toBe(
      "--keep-curves (keepCurves) has no effect: no scenario and year has return-period maps. Omit the option.",
    );
    const oneModel = await writeModels([randomModel(9)]);
    expect(await rejectionMessage(ingestLayers({ manifest: oneModel, out, keepRange: true }))).toBe(
      "--keep-range (keepRange) has no effect: no scenario and year has maps of several climate models. Omit the option.",
    );
  });

  test("rejects curves with more return periods than an atlas stores", async () => {
    const file = await map("depth.tif", () => 1);
    const layers = Array.from({ length: 33 }, (_, i) => ({
      scenario: "rcp4p5",
      year: 2030,
      return_period_years: 10 * (i + 2),
      file,
    }));
    expect(await rejectionMessage(ingestLayers({ manifest: await manifest({ layers }), out, keepCurves: true }))).toBe(
      "An atlas stores curves of at most 32 return periods; the maps have 33. Omit --keep-curves (keepCurves), or some of the maps.",
    );
  });

  test("rejects a depth that a curve cannot store, naming file and cell", async () => {
    const layers = [];
    for (const years of [50, 100, 500]) {
      await map(`${years}.tif`, (cell) => (cell === 7 && years === 500 ? 70 : 1));
      layers.push({ scenario: "rcp4p5", year: 2030, return_period_years: years, file: `${years}.tif` });
    }
    const file = await manifest({ layers });
    expect(await rejectionMessage(ingestLayers({ manifest: file, out, keepCurves: true }))).toMatch(
      /500\.tif: row 0, column 7 .*the value 70 gives depth_meters 70 m; a layer stores 0 to 65.533 m\..*--depth-steps-per-meter 500/,
    );
  });
});

describe("hazard-risk answers of an atlas with curves", () => {
  const QUERIES: readonly HazardQueryInput[] = [0, 20, 100].flatMap((radius) =>
    [0, 1, 2].flatMap((place) => [
      {
        latitude: 19.93 - 2.31 * place,
        longitude: 10.07 + 3.11 * place,
        hazards: ["riverine_floods", "cyclones"],
        scenarios: ["rcp4p5", "rcp8p5"],
        analysis_years: [2030, 2050],
        total_hazard: true,
        detail: true,
        radius,
        aggregation_method: place === 1 ? "mean" : "max",
      },
    ]),
  );

  test("equal those of a plain atlas byte for byte", async () => {
    const file = await writeModels([1, 2].map(randomModel));
    const answers = async (omitted?: string): Promise<string> => {
      const atlas = await openAtlas(out);
      opened.push(atlas);
      const omit = (name: string, value: unknown): unknown =>
        name === omitted || name === "ingested_on" ? undefined : value;
      return JSON.stringify(await atlas.hazardRiskBatch(QUERIES), omit);
    };
    await ingestLayers({ manifest: file, out });
    const plain = await answers();
    await ingestLayers({ manifest: file, out, keepCurves: true });
    expect((await answers()) === plain).toBe(true);
    // The range over models is in the details only if it is kept.
    await ingestLayers({ manifest: file, out, keepRange: true });
    expect((await answers()) === plain).toBe(false);
    expect((await answers("model_range")) === plain).toBe(true);
  });

  test("state the range over models, also in a circle, but not of a change", async () => {
    await ingestLayers({
      manifest: await writeModels([(_, period) => period / 10, (_, period) => period / 5]),
      out,
      keepRange: true,
    });
    const atlas = await openAtlas(out);
    opened.push(atlas);
    const query = { ...QUERIES[0], hazards: ["riverine_floods"], scenarios: ["rcp4p5"], analysis_years: [2030] };
    const rangeOf = async (more: object): Promise<unknown> => {
      const { results } = await atlas.hazardRisk({ ...query, ...more } as HazardQueryInput);
      return results[0]?.scenarios[0]?.analysis_years[0]?.detail?.model_range;
    };
    // 100 years are between the nodes of 80 and 200 years, at depths of 0.6 to 0.7 m and 1.2 to 1.4 m.
    const range = await rangeOf({});
    expect(range).toMatchObject({
      depth_meters: { minimum: 0.624, maximum: 1.249 },
      intensity: { minimum: 0.0624, maximum: 0.1249 },
    });
    expect(await rangeOf({ radius: 30 })).toEqual(range);
    expect(await rangeOf({ radius: 30, aggregation_method: "mean", total_hazard: false })).not.toHaveProperty(
      "total_hazard",
    );
    expect(await rangeOf({ anthropogenic: true })).toBeUndefined();
  });
});

test("the holdings of an atlas list the return periods of its curves", async () => {
  const file = await writeModels([randomModel(1)]);
  const listed = async (): Promise<unknown> => {
    const atlas = await openAtlas(out);
    opened.push(atlas);
    return atlas.holdings[0]?.layers.map((layer) => layer.curve_return_periods);
  };
  await ingestLayers({ manifest: file, out });
  expect(await listed()).toStrictEqual([undefined]);
  await ingestLayers({ manifest: file, out, keepCurves: true });
  expect(await listed()).toStrictEqual([RETURN_PERIODS_YEARS]);
});
