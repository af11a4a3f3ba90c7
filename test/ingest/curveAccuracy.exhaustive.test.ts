/** The metrics of stored curves against stored metrics, at 100,000 random cells. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerCurve } from "../../src/hazard/curveAnswer.ts";
import { ingestLayers } from "../../src/ingest/ingest.ts";
import { STEPS_MAX } from "../../src/kernel/kernel.generated.ts";
import { curveByDefinition } from "../oracle/curve.ts";
import { randomFrom } from "../seededRandom.ts";
import { folder, manifest, out, useIngestFolder } from "./ingestFixture.ts";
import { makeGeoTiff } from "./makeGeoTiff.ts";
import { useOpenedSamplers } from "./openedSampler.ts";

useIngestFolder();

const SIZE = 400;
const CELL_COUNT = 100_000;
const GRID = { rowCount: SIZE, columnCount: SIZE, tiePoint: [10, 20], pixelScale: [0.01, 0.01] } as const;
const CASES = [
  // The design return period of 100 years is a map, as in Aqueduct Floods.
  { hazard: "riverine_floods", periods: [2, 5, 10, 25, 50, 100, 250, 500, 1000], scale: 1, own: 1000, threshold: 0.5 },
  { hazard: "riverine_floods", periods: [2, 5, 10, 20, 75, 200, 500, 1000], scale: 1, own: 1000, threshold: 0.5 },
  { hazard: "cyclones", periods: [10, 20, 50, 90, 150, 400, 1000, 10_000], scale: 20, own: 100, threshold: 33 },
] as const;
const PROBABILITY_STEPS = 60_000;

const openedSampler = useOpenedSamplers();

test.each(CASES)(
  "$hazard, $periods years",
  { timeout: 300_000 },
  async ({ hazard, periods, scale, own, threshold }) => {
    const random = randomFrom(12);
    const shape = Array.from({ length: SIZE * SIZE }, () => ({
      kind: random.next(),
      level: random.next(),
      slope: random.between({ min: 0, max: 0.6 }),
    }));
    const layers: object[] = [];
    for (const years of periods) {
      const values = shape.map(({ kind, level, slope }) => {
        if (kind < 0.1) return -9999;
        return kind < 0.2
          ? 0
          : Math.max(0, scale * (level - 0.4 + slope * Math.log(years)) * (kind < 0.3 ? random.next() : 1));
      });
      const file = `${years}.tif`;
      await writeFile(join(folder, file), makeGeoTiff({ ...GRID, nodata: "-9999", rowsPerStrip: 64, values }));
      layers.push({ scenario: "rcp4p5", year: 2030, return_period_years: years, file });
    }
    await ingestLayers({ manifest: await manifest({ hazard, layers }), out, keepCurves: true });
    const sampler = await openedSampler(out);
    const stored = sampler.hazards.get(hazard);
    if (stored === undefined) throw new Error(`There is no ${hazard}.`);
    const metrics = sampler.layerSet(stored, stored.allLayers());
    const family = hazard === "cyclones" ? "log" : "gumbel";
    const rule = { family, returnPeriods: periods, unitFactor: 1, designReturnPeriodYears: 100, threshold } as const;
    const halfStep = 0.5 / own;
    const halfProbabilityStep = 0.5 / PROBABILITY_STEPS;
    let [compared, worstDesign, outside, exact] = [0, 0, 0, 0];
    for (let i = 0; i < CELL_COUNT; i++) {
      const [row, column] = [random.below(SIZE), random.below(SIZE)];
      const place = { latitude: 20 - (row + 0.5) / 100, longitude: 10 + (column + 0.5) / 100 };
      const query = { ...place, hazards: [hazard], analysis_years: [2030], scenarios: ["rcp4p5"] };
      const { results } = await answerCurve(sampler, query);
      const values = results[0]?.scenarios[0]?.analysis_years[0]?.curve?.map(({ value }) => value);
      const cell = await sampler.sampleCell(metrics, { latDeg: place.latitude, lonDeg: place.longitude });
      const [, designSteps = NaN, probabilitySteps = NaN] = cell?.steps ?? [];
      if (values === undefined) {
        expect(designSteps).toBeGreaterThan(STEPS_MAX);
        continue;
      }
      compared++;
      const { design, probability } = curveByDefinition(values, rule);
      worstDesign = Math.max(worstDesign, Math.abs(design - designSteps / own));
      // The values of the maps differ from the stored ones by half a step, as if the threshold were half a step higher or lower.
      const atMost = curveByDefinition(values, { ...rule, threshold: threshold - halfStep }).probability;
      const atLeast = curveByDefinition(values, { ...rule, threshold: threshold + halfStep }).probability;
      const of = probabilitySteps / PROBABILITY_STEPS;
      if (!(of <= atMost + 1.001 * halfProbabilityStep && of >= atLeast - 1.001 * halfProbabilityStep)) outside++;
      if (Math.abs(probability - of) <= 1.001 * halfProbabilityStep) exact++;
    }
    const isNode = (periods as readonly number[]).includes(100);
    console.info(
      `${compared} curves; design value within ${worstDesign * own} steps; probability within half a step in ${exact}`,
    );
    expect(compared).toBeGreaterThan(0.8 * CELL_COUNT);
    // Half a step of the stored metric and half a step of the stored curve; none if the return period is that of a map.
    expect(worstDesign).toBeLessThanOrEqual(isNode ? 0 : 2.001 * halfStep);
    expect(outside).toBe(0);
    expect(exact).toBeGreaterThan(0);
  },
);
