import type { HazardName, Scenario } from "../../../src/hazard/hazards.ts";
import type { ScoreTable } from "../../../src/places/summary/scoreTable.ts";
import { randomFrom, type SeededRandom } from "../../seededRandom.ts";

/** Scores of a place in one group. */
interface PlaceScore {
  readonly status: "value" | "zero" | "no_data" | "outside_coverage" | "layer_missing";
  readonly metrics: Readonly<Record<string, number | null>>;
  readonly bound: "at_least" | "at_most" | "indeterminate" | null;
}

export interface ScoredPlace {
  readonly site: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly country: string | null;
  /** Why the row is invalid; null if it is valid. */
  readonly error: string | null;
  /** By group, in the order of `GROUPS`. */
  readonly scores: readonly PlaceScore[];
}

export interface TestGroup {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly analysisYear: number;
  readonly metrics: readonly string[];
}

export const GROUPS: readonly TestGroup[] = (
  [
    ["riverine_floods", "depth_meters"],
    ["cyclones", "wind_speed_mps"],
  ] as const
).flatMap(([hazard, own]) =>
  (
    [
      ["rcp8p5", 2080],
      ["baseline", 1980],
      ["rcp8p5", 2050],
      ["rcp4p5", 2080],
    ] as const
  ).map(([scenario, analysisYear]) => ({
    hazard,
    scenario,
    analysisYear,
    metrics: ["intensity", own, "probability"],
  })),
);
const METRICS = ["intensity", "wind_speed_mps", "depth_meters", "probability"];

export function randomPlaces(
  seed: number,
  count: number,
  valueOf: (random: SeededRandom, metric: string) => number = steppedValue,
): readonly ScoredPlace[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, index) => {
    const isInvalid = random.chance(0.05);
    return {
      site: `site "${index}"`,
      latitude: Math.round(random.between({ min: -90, max: 90 }) * 1e4) / 1e4,
      longitude: Math.round(random.between({ min: -180, max: 180 }) * 1e4) / 1e4,
      country: random.pick(["Kenya", "Chile", "Japan", null]),
      error: isInvalid ? "latitude must be between -90 and 90 (got 146)" : null,
      scores: isInvalid ? [] : GROUPS.map((group) => randomScore(random, group, valueOf)),
    };
  });
}

function randomScore(
  random: SeededRandom,
  { metrics }: TestGroup,
  valueOf: (random: SeededRandom, metric: string) => number,
): PlaceScore {
  const kind = random.next();
  if (kind < 0.1) {
    const status = random.pick(["no_data", "outside_coverage", "layer_missing"] as const);
    return { status, metrics: Object.fromEntries(metrics.map((metric) => [metric, null])), bound: null };
  }
  const isZero = kind < 0.4;
  return {
    status: isZero ? "zero" : "value",
    metrics: Object.fromEntries(metrics.map((metric) => [metric, isZero ? 0 : valueOf(random, metric)])),
    bound: random.chance(0.3) ? random.pick(["at_least", "at_most", "indeterminate"] as const) : null,
  };
}

function steppedValue(random: SeededRandom, metric: string): number {
  if (metric === "depth_meters") return random.below(8000) / 1000;
  return metric === "wind_speed_mps" ? random.below(9000) / 100 : random.below(10_000) / 10_000;
}

export type Row = Readonly<Record<string, string | number | null>>;

const keptCells = ({ site, latitude, longitude, country }: ScoredPlace): Row => ({
  site,
  latitude,
  longitude,
  country,
});

/** Returns the rows of the long layout. */
export function longRows(places: readonly ScoredPlace[]): readonly Row[] {
  const missing = Object.fromEntries(METRICS.map((metric) => [metric, null]));
  return places.flatMap((place): readonly Row[] => {
    const kept = keptCells(place);
    if (place.error !== null) {
      const key = { hazard: null, scenario: null, analysis_year: null };
      return [{ ...kept, ...key, ...missing, probability_bound: null, status: "invalid_row", error: place.error }];
    }
    return place.scores.map(({ status, metrics, bound }, index) => {
      const { hazard, scenario, analysisYear } = GROUPS[index] as TestGroup;
      const key = { hazard, scenario, analysis_year: analysisYear };
      return { ...kept, ...key, ...missing, ...metrics, probability_bound: bound, status, error: null };
    });
  });
}

/** Returns the rows of the wide layout. */
export function wideRows(places: readonly ScoredPlace[]): readonly Row[] {
  return places.map((place) => {
    const scores = GROUPS.flatMap(({ hazard, scenario, analysisYear, metrics }, index) => {
      const score = place.scores[index];
      const name = `${hazard}.${scenario}.${analysisYear}`;
      return [
        ...metrics.map((metric) => [`${name}.${metric}`, score?.metrics[metric] ?? null] as const),
        [`${name}.probability_bound`, score?.bound ?? null] as const,
        [`${name}.status`, score?.status ?? null] as const,
      ];
    });
    const status = place.error === null ? "value" : "invalid_row";
    return { ...keptCells(place), ...Object.fromEntries(scores), status, error: place.error };
  });
}

/** Returns a table of rows in memory. */
export function memoryTable(rows: readonly Row[], batchSize = 100): ScoreTable {
  return {
    columnNames: Object.keys(rows[0] ?? {}),
    sizeBytes: 0,
    async *batches(names) {
      for (let start = 0; start < rows.length; start += batchSize) {
        const batch = rows.slice(start, start + batchSize);
        yield await Promise.resolve({
          rowCount: batch.length,
          columns: names.map((name) => batch.map((row) => row[name])),
        });
      }
    },
    close: () => Promise.resolve(),
  };
}
