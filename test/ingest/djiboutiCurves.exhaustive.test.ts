/** The nine river maps of Djibouti: metrics and curves of every cell, and the error of a curve without one of its maps. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromFile } from "geotiff";
import { afterAll, beforeAll, expect, test } from "vitest";
import { supplementName } from "../../src/atlas/supplement.ts";
import { ingestAqueductFloods } from "../../src/ingest/ingest.ts";
import { curveMetrics } from "../../src/kernel/curve.ts";
import { cellCenter } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { STEPS_NODATA } from "../../src/kernel/kernel.generated.ts";
import { keptCurves, metricStepsOfModel } from "../oracle/keptCurves.ts";
import { describeIfShared, SHARED_FOLDER } from "../sharedFolder.ts";
import { FLOOD_ENCODING, floodRule } from "./floodRule.ts";
import { useOpenedSamplers } from "./openedSampler.ts";

const RETURN_PERIODS_YEARS = [2, 5, 10, 25, 50, 100, 250, 500, 1000];
const FOLDER = "data/hazard/aqueduct";
const NAMES = RETURN_PERIODS_YEARS.map(
  (years) => `djibouti_inunriver_rcp4p5_MIROC-ESM-CHEM_2030_rp${String(years).padStart(5, "0")}.tif`,
);
const NODATA = -9999;
const RULE = floodRule(RETURN_PERIODS_YEARS);

const openedSampler = useOpenedSamplers();

describeIfShared(NAMES.map((name) => `${FOLDER}/${name}`))("nine maps of Djibouti", () => {
  let out: string;
  let kernel: Kernel;
  /** The values of each map; NaN is missing. */
  let maps: readonly Float64Array[];

  beforeAll(async () => {
    out = await mkdtemp(join(tmpdir(), "isotherm-djibouti-"));
    kernel = await Kernel.load();
    maps = await Promise.all(
      NAMES.map(async (name) => {
        const image = await (await fromFile(`${SHARED_FOLDER}${FOLDER}/${name}`)).getImage();
        const [values] = (await image.readRasters()) as unknown as readonly [Float32Array];
        return Float64Array.from(values, (value) => (value === NODATA ? NaN : value));
      }),
    );
    await ingestAqueductFloods({
      sources: NAMES.map((name) => `${SHARED_FOLDER}${FOLDER}/${name}`),
      out,
      keepCurves: true,
    });
  }, 120_000);
  afterAll(() => rm(out, { recursive: true, force: true }));

  test("every cell has the metrics and the curve of the reference implementation", { timeout: 120_000 }, async () => {
    const sampler = await openedSampler(out);
    const [metrics, curves] = ["riverine_floods", supplementName("riverine_floods")].map((name) => {
      const hazard = sampler.hazards.get(name);
      if (hazard === undefined) throw new Error(`There is no ${name}.`);
      return sampler.layerSet(hazard, hazard.allLayers());
    });
    if (metrics === undefined || curves === undefined) throw new Error("Both are in the list.");
    const { grid } = metrics.hazard;
    expect(curves.cachedField.layers.map(({ entry }) => entry.metric)).toEqual(
      RETURN_PERIODS_YEARS.map((years) => `rp_${years}`),
    );
    const cellCount = grid.rowCount * grid.columnCount;
    expect(cellCount).toBe(59_648);
    let differing = 0;
    let valid = 0;
    for (let index = 0; index < cellCount; index++) {
      const cell = { row: Math.floor(index / grid.columnCount), column: index % grid.columnCount };
      const place = cellCenter(grid, cell);
      const values = maps.map((map) => map[index] ?? NaN);
      const kept = keptCurves([values], FLOOD_ENCODING.depth);
      if (kept !== undefined) valid++;
      const expected =
        kept === undefined
          ? Array.from({ length: 4 + values.length }, () => STEPS_NODATA)
          : [...metricStepsOfModel(values, RULE, FLOOD_ENCODING), ...kept.mean];
      const found = [
        ...((await sampler.sampleCell(metrics, place))?.steps ?? []),
        ...((await sampler.sampleCell(curves, place))?.steps ?? []),
      ];
      if (found.join() !== expected.join()) differing++;
    }
    expect(differing).toBe(0);
    expect(valid).toBe(42_028);
  });

  /**
   * Returns the root mean square error, in mm, of values that are interpolated between the return periods on both sides, over the
   * cells that are wet at 1000 years.
   */
  function leaveOneOutErrorMm(interpolated: (values: readonly number[], left: number) => number): number {
    let [sum, count] = [0, 0];
    for (let index = 0; index < (maps[0]?.length ?? 0); index++) {
      const values = maps.map((map) => map[index] ?? NaN);
      if (values.some(Number.isNaN) || values.at(-1) === 0) continue;
      const curve = values.map((_, i) => Math.max(...values.slice(0, i + 1)));
      for (let left = 1; left < curve.length - 1; left++) {
        sum += (interpolated(curve, left) - (curve[left] ?? NaN)) ** 2;
        count++;
      }
    }
    return 1000 * Math.sqrt(sum / count);
  }

  /** Interpolates with the kernel, whose design return period is that of the map that is left out. */
  const byKernel = (family: "gumbel" | "log") => (values: readonly number[], left: number) => {
    const rest = [left - 1, left + 1];
    const outcome = curveMetrics(
      kernel,
      rest.map((i) => Float64Array.of(values[i] ?? NaN)),
      {
        family,
        returnPeriods: rest.map((i) => RETURN_PERIODS_YEARS[i] ?? NaN),
        unitFactor: 1,
        designReturnPeriodYears: RETURN_PERIODS_YEARS[left] ?? NaN,
        threshold: 0.5,
      },
    );
    return outcome.kind === "metrics" ? (outcome.designs[0] ?? NaN) : NaN;
  };

  test("a map that is left out is interpolated to 0.41 mm in the Gumbel variate", { timeout: 120_000 }, () => {
    expect(leaveOneOutErrorMm(byKernel("gumbel"))).toBeCloseTo(0.41, 2);
    expect(leaveOneOutErrorMm(byKernel("log"))).toBeCloseTo(0.63, 2);
    const inProbability = leaveOneOutErrorMm((values, left) => {
      const [low, p, high] = [left - 1, left, left + 1].map((i) => 1 / (RETURN_PERIODS_YEARS[i] ?? NaN));
      const share = ((p ?? NaN) - (low ?? NaN)) / ((high ?? NaN) - (low ?? NaN));
      return (values[left - 1] ?? NaN) * (1 - share) + (values[left + 1] ?? NaN) * share;
    });
    expect(inProbability).toBeCloseTo(7.4, 1);
  });
});
