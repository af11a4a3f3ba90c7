/**
 * Property test of bounds: ingests random return-period maps into small atlases and derives from the curves which
 * probabilities are only bounds, and whether each bound contains the true probability.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAtlas } from "../../src/index.ts";
import { ingestLayers } from "../../src/ingest/ingest.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { makeGeoTiff } from "../ingest/makeGeoTiff.ts";
import {
  boundOf,
  cellByDefinition,
  type Interval,
  intervalOf,
  kindOfMaximum,
  minus,
  type OracleCurveCell,
  type OracleKind,
  sameKind,
} from "../oracle/bounds.ts";
import { containingCellByDefinition, type OracleCell } from "../oracle/points.ts";
import { circleByDefinition, summarizeByDefinition } from "../oracle/radius.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import type { Bound, Bounds } from "../../src/contract/wireTypes.ts";

const GRID: Grid = {
  northDeg: 10,
  westDeg: 20,
  cellSizeLatDeg: 0.1,
  cellSizeLonDeg: 0.1,
  rowCount: 12,
  columnCount: 12,
};
const CELL_COUNT = GRID.rowCount * GRID.columnCount;
const ATLAS_COUNT = 14;
const QUERIES_PER_ATLAS = 60;
/** Half a step of probability and total_hazard. */
const HALF_STEP = 0.5 / 60_000 + 1e-12;
const STEPS = { intensity: 10_000, probability: 60_000, total_hazard: 60_000 } as const;

const HAZARDS = [
  { hazard: "riverine_floods", own: "depth_meters", family: "gumbel", threshold: 0.5, intensityReference: 10 },
  { hazard: "cyclones", own: "wind_speed_mps", family: "log", threshold: 33, intensityReference: 100 },
] as const;

type Cell = Pick<OracleCurveCell, "own" | "probability" | "kind" | "models"> | undefined;

/** Source data of one scenario and year. */
interface SourceGroup {
  readonly scenario: "baseline" | "rcp8p5";
  readonly year: 1980 | 2050;
  /** Return periods of the maps, years; empty if the source contains probabilities. */
  readonly periods: readonly number[];
  readonly modelCount: number;
  readonly cells: readonly Cell[];
}

interface TestAtlas {
  readonly spec: (typeof HAZARDS)[number];
  readonly groups: readonly [SourceGroup, SourceGroup];
  readonly address: string;
}

let folder: string;
const atlases: TestAtlas[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  for (let seed = 0; seed < ATLAS_COUNT; seed++) atlases.push(await makeTestAtlas(seed));
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function makeTestAtlas(seed: number): Promise<TestAtlas> {
  const random = randomFrom(7000 + seed);
  const spec = HAZARDS[seed % 2] ?? HAZARDS[0];
  const layers: object[] = [];
  const path = join(folder, String(seed));
  const write = async (name: string, values: readonly number[]): Promise<string> => {
    const file = `${path}-${name}.tif`;
    const shape = {
      rowCount: GRID.rowCount,
      columnCount: GRID.columnCount,
      tiePoint: [20, 10],
      pixelScale: [0.1, 0.1],
    } as const;
    await writeFile(file, makeGeoTiff({ ...shape, type: "float64", values }));
    return file;
  };
  const group = async (scenario: SourceGroup["scenario"], year: SourceGroup["year"]): Promise<SourceGroup> => {
    const at = { scenario, year };
    if (random.chance(0.15)) {
      const cells = Array.from({ length: CELL_COUNT }, () => statedCell(random, spec.threshold));
      for (const [metric, of] of Object.entries({
        [spec.own]: (cell: Cell) => cell?.own ?? NaN,
        intensity: (cell: Cell) => intensityOf(cell, spec),
        probability: (cell: Cell) => cell?.probability ?? NaN,
      })) {
        layers.push({ ...at, metric, file: await write(`${scenario}-${metric}`, cells.map(of)) });
      }
      return { ...at, periods: [], modelCount: 1, cells };
    }
    const periods = random.pick([[10, 100], [2, 25, 100, 1000], [1.5, 7, 100, 500], [100], [5, 30, 250]]);
    const models = random.pick([[""], ["", ""].map((_, i) => `gcm-${i}`), ["a", "b", "c"]]);
    const regions = Array.from({ length: 9 }, () => random.pick(["first", "never", "between", "any", "missing"]));
    const rule = {
      family: spec.family,
      returnPeriods: periods,
      unitFactor: 1,
      designReturnPeriodYears: 100,
      threshold: spec.threshold,
    };
    const curves = Array.from({ length: CELL_COUNT }, (_, i) => {
      const region = regions[Math.floor(i / 48) * 3 + Math.floor((i % 12) / 4)] ?? "any";
      return models.map(() => curveOf(random, region, { count: periods.length, threshold: spec.threshold }));
    });
    for (const [m, model] of models.entries()) {
      for (const [t, return_period_years] of periods.entries()) {
        const values = curves.map((cell) => cell[m]?.[t] ?? NaN);
        const file = await write(`${scenario}-${m}-${t}`, values);
        layers.push({ ...at, return_period_years, file, ...(model === "" ? {} : { model }) });
      }
    }
    return { ...at, periods, modelCount: models.length, cells: curves.map((cell) => cellByDefinition(cell, rule)) };
  };
  const groups = [await group("baseline", 1980), await group("rcp8p5", 2050)] as const;
  const manifest = {
    hazard: spec.hazard,
    source: { name: "synthetic", licence: "none" },
    layers,
    options: { hold_flat: true },
  };
  await writeFile(`${path}.json`, JSON.stringify(manifest));
  await ingestLayers({ manifest: `${path}.json`, out: path });
  return { spec, groups, address: path };
}

/**
 * Returns a curve from a small set of values, so that none reaches the threshold within half a step of its first map.
 */
function curveOf(
  random: SeededRandom,
  region: string,
  { count, threshold }: { readonly count: number; readonly threshold: number },
): readonly number[] {
  const kind = region === "any" ? random.pick(["first", "never", "between", "missing"]) : region;
  const least = kind === "first" ? [1, 1.25, 2] : [0, 0.25, 0.5];
  const most = kind === "never" ? [0.25, 0.5, 0.75] : [1, 1.5, 2.5];
  const values = Array.from({ length: count }, (_, i) =>
    random.pick(i === 0 ? least : i === count - 1 ? most : [0.5, 0.75]),
  );
  if (count === 1) values[0] = random.pick(kind === "first" ? [1, 2] : [0, 0.5]);
  if (kind === "missing") values[random.below(count)] = NaN;
  let highest = 0;
  return values.map((value) => (highest = Number.isNaN(value) ? NaN : Math.max(highest, value)) * threshold);
}

/** Returns a cell whose probability comes directly from the source, which is never a bound. */
function statedCell(random: SeededRandom, threshold: number): Cell {
  if (random.chance(0.1)) return undefined;
  return {
    own: threshold * random.pick([0, 1, 2]),
    probability: random.pick([0, 0.1, 0.25, 0.5]),
    kind: "exact",
    models: [],
  };
}

function intensityOf(cell: Cell, { intensityReference }: TestAtlas["spec"]): number {
  return cell === undefined ? NaN : Math.min(1, cell.own / intensityReference);
}

type Method = "point" | "max" | "mean";

/** Returns the expected values of a group over some cells: kinds from the curves, values from rounded cells. */
function sideAt(
  { periods, modelCount, cells }: SourceGroup,
  spec: TestAtlas["spec"],
  circleCells: readonly OracleCell[],
  method: Method,
) {
  const cellAt = ({ row, column }: OracleCell): Cell => cells[row * GRID.columnCount + column];
  const summary = (valueOf: (cell: NonNullable<Cell>) => number): number => {
    const found = summarizeByDefinition(GRID, circleCells, (at) => {
      const cell = cellAt(at);
      return cell === undefined ? 65_535 : valueOf(cell);
    });
    return (method === "mean" ? found.meanSteps : found.maxSteps) ?? NaN;
  };
  const intensitySteps = (cell: Cell): number => Math.round(intensityOf(cell, spec) * STEPS.intensity);
  const probabilitySteps = (cell: NonNullable<Cell>): number => Math.floor(cell.probability * STEPS.probability + 0.5);
  const kinds = circleCells.flatMap((at) => cellAt(at)?.kind ?? []);
  const kind: OracleKind = method === "max" ? kindOfMaximum(kinds) : sameKind(kinds);
  const [first = NaN, last = first] = [periods[0], periods.at(-1)];
  const probability = summary(probabilitySteps) / 60_000;
  const total = summary((cell) => Math.round((intensitySteps(cell) * probabilitySteps(cell)) / 10_000)) / 60_000;
  const totalAtMost = (summary(intensitySteps) / STEPS.intensity) * (1 / last);
  const isStated = periods.length === 0;
  return {
    isValid: kinds.length > 0,
    kind,
    isStated,
    probability: intervalOf(kind, { value: probability, atLeast: 1 / first, atMost: 1 / last }),
    total: intervalOf(kind, { value: total, atLeast: total, atMost: totalAtMost }),
    /** Interval next to a bound on the other side of a change: a mean may include lower bounds, so it is open above. */
    besideBound: {
      probability: {
        low: probability,
        high: !isStated && (method === "mean" || modelCount > 1) ? Infinity : probability,
      },
      total: {
        low: total,
        high: isStated ? total : method === "mean" || modelCount > 1 ? Infinity : Math.max(total, totalAtMost),
      },
    },
    /** Draws possible true probabilities of the cells and aggregates them. */
    draw: (random: SeededRandom) => {
      const truths = new Map(
        circleCells.map((at) => {
          const cell = cellAt(at);
          const each = cell?.models.map(({ kind: of, probability }) =>
            of === "at_least"
              ? random.between({ min: 1 / first, max: 1 })
              : of === "at_most"
                ? random.between({ min: 0, max: 1 / last })
                : probability,
          );
          const mean = each === undefined || each.length === 0 ? cell?.probability : sumOf(each) / each.length;
          return [at, mean ?? NaN] as const;
        }),
      );
      const summed = (valueOf: (at: OracleCell) => number): number => {
        const found = summarizeByDefinition(GRID, circleCells, (at) =>
          cellAt(at) === undefined ? 65_535 : valueOf(at),
        );
        return (method === "mean" ? found.meanSteps : found.maxSteps) ?? NaN;
      };
      return {
        probability: summed((at) => truths.get(at) ?? NaN),
        total: summed((at) => (truths.get(at) ?? NaN) * intensityOf(cellAt(at), spec)),
      };
    },
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

function expectBound(found: Bound | undefined, expected: Interval, tolerance: number, context: string): void {
  const bound = boundOf(expected);
  expect(found?.bound, context).toBe(bound?.bound);
  if (bound?.limit === undefined) expect(found?.limit, context).toBeUndefined();
  else expect(Math.abs((found?.limit ?? NaN) - bound.limit), context).toBeLessThanOrEqual(tolerance);
}

/** Expects that a possible true value satisfies the bound. */
function expectContains(bound: Bound | undefined, truth: number, context: string): void {
  // An intensity is rounded to 1/10,000, its product with a probability to 1/60,000.
  const tolerance = 1e-4;
  if (bound?.bound === "at_least") expect(truth, context).toBeGreaterThanOrEqual(bound.limit - tolerance);
  if (bound?.bound === "at_most") expect(truth, context).toBeLessThanOrEqual(bound.limit + tolerance);
}

describe("values that are only bounds", () => {
  test.each(Array.from({ length: ATLAS_COUNT }, (_, seed) => seed))(
    "match the curves at points and in maxima, means, changes and totals (atlas %i)",
    async (seed) => {
      const testAtlas = atlases[seed];
      if (testAtlas === undefined) throw new Error("no such atlas");
      const { spec, groups, address } = testAtlas;
      const atlas = await openAtlas(address);
      const random = randomFrom(90 + seed);
      const seen = new Set<string>();
      try {
        for (let i = 0; i < QUERIES_PER_ATLAS; i++) {
          const isChange = random.chance(0.5);
          const method = random.pick(["point", "max", "mean"] as const);
          const radius = method === "point" ? 0 : random.pick([8, 12, 25]);
          const query = {
            latitude: random.between({ min: 8.8, max: 10 }),
            longitude: random.between({ min: 20, max: 21.2 }),
            hazards: [spec.hazard],
            scenarios: ["rcp8p5" as const],
            analysis_years: [2050],
            radius,
            ...(method === "point" ? {} : { aggregation_method: method }),
            anthropogenic: isChange,
            total_hazard: random.chance(0.7),
            detail: true,
          };
          const circle = { latDeg: query.latitude, lonDeg: query.longitude, radiusM: radius * 1000 };
          const containing = containingCellByDefinition(GRID, circle);
          const circleCells =
            radius === 0 ? (containing === undefined ? [] : [containing]) : circleByDefinition(GRID, circle);
          const [year] = (await atlas.hazardRisk(query)).results[0]?.scenarios[0]?.analysis_years ?? [];
          const context = JSON.stringify({ query, year });
          const [before, own] = groups.map((group) => sideAt(group, spec, circleCells, method));
          if (own === undefined || before === undefined || year === undefined) throw new Error(context);
          const bounds: Partial<Bounds> = year.bounds ?? {};
          const sides = isChange ? [own, before] : [own];
          if (sides.some(({ isValid }) => !isValid)) {
            expect(year.metrics.probability, context).toBeNull();
            expect(year, context).not.toHaveProperty("bounds");
            seen.add("null");
            continue;
          }
          const sideOf = (side: typeof own, of: "probability" | "total"): Interval =>
            side.kind === "exact" ? side.besideBound[of] : side[of];
          const isBound = sides.some(({ kind }) => kind !== "exact");
          const [probability, total] = (["probability", "total"] as const).map((of) => {
            if (!isBound) return { low: 0, high: 0 };
            return isChange ? minus(sideOf(own, of), sideOf(before, of)) : own[of];
          }) as [Interval, Interval];
          expectBound(bounds.probability, probability, 1e-9 + (isChange ? 2 * HALF_STEP : 0), context);
          if (query.total_hazard) expectBound(bounds.total_hazard, total, 1e-9 + 2 * HALF_STEP, context);
          else expect(bounds, context).not.toHaveProperty("total_hazard");
          if (boundOf(probability) === undefined) expect(year, context).not.toHaveProperty("bounds");
          for (let draw = 0; draw < 5; draw++) {
            const [truth, truthBefore] = sides.map((side) => side.draw(random));
            const isPlain = truthBefore === undefined;
            expectContains(
              bounds.probability,
              (truth?.probability ?? NaN) - (isPlain ? 0 : truthBefore.probability),
              context,
            );
            // Bounded cells and models count with their lowest possible value.
            if (isPlain)
              expect(truth?.probability, context).toBeGreaterThanOrEqual((year.metrics.probability ?? NaN) - 1e-4);
            expectContains(bounds.total_hazard, (truth?.total ?? NaN) - (isPlain ? 0 : truthBefore.total), context);
          }
          seen.add(`${method} ${isChange ? "change " : ""}${bounds.probability?.bound ?? "exact"}`);
          const mayHide = sides.some(
            ({ kind }, side) => kind === "exact" && (groups[1 - side]?.periods.length ?? 0) > 0,
          );
          const hasCaveat = year.detail?.caveats?.some((caveat) => caveat.includes("mean over cells")) ?? false;
          expect(hasCaveat, context).toBe(method === "mean" && mayHide);
        }
      } finally {
        await atlas.close();
      }
      seenKinds.push(...seen);
    },
  );

  test("include every combination of method and bound", () => {
    for (const method of ["point", "max", "mean"]) {
      for (const bound of ["exact", "at_least", "at_most"]) {
        expect(seenKinds).toContain(`${method} ${bound}`);
        expect(seenKinds).toContain(`${method} change ${bound}`);
      }
      expect(seenKinds).toContain(`${method} change indeterminate`);
    }
    expect(seenKinds).toContain("null");
  });
});

const seenKinds: string[] = [];
