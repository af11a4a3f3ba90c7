/** Scored blocks with random values, and the rows that a writer must write for them. */
import {
  SCORE_BOUNDS,
  SCORE_STATUSES,
  scoreArrays,
  type ScoreGroup,
  scoreShapeOf,
} from "../../../src/hazard/scoring/scoreRequest.ts";
import {
  type KeptColumn,
  type KeptValue,
  ROWS_PER_BLOCK,
  type RowError,
  type ScoredBlock,
} from "../../../src/places/scores/placeBlock.ts";
import { randomFrom } from "../../seededRandom.ts";

const KEPT_TYPES = {
  id: "integer",
  name: "text",
  latitude: "text",
  longitude: "text",
  value: "number",
  insured: "boolean",
  built: "timestamp[ms, UTC]",
  status: "text",
} as const;

export const KEPT_COLUMNS: readonly KeptColumn[] = Object.entries(KEPT_TYPES).map(([name, type]) => ({ name, type }));

export const GROUPS: readonly ScoreGroup[] = [
  {
    hazard: "cyclones",
    scenario: "baseline",
    analysisYear: 1980,
    metrics: ["intensity", "wind_speed_mps", "probability"],
  },
  {
    hazard: "cyclones",
    scenario: "rcp8p5",
    analysisYear: 2050,
    metrics: ["intensity", "wind_speed_mps", "probability"],
  },
  {
    hazard: "riverine_floods",
    scenario: "rcp4p5",
    analysisYear: 2030,
    metrics: ["intensity", "depth_meters", "probability", "total_hazard"],
    threshold: 0.3,
  },
];

const NAMES = ["Acme, Inc.", 'The "Old" Mill', "line\nbreak", "", "Côte d'Ivoire", "日本 🏭", "plain"];
const ERROR: RowError = { reason: "latitude_invalid", message: 'latitude must be a number (got "a,b")' };

/** Returns a block with `rowCount` places, of which some are invalid. */
export function randomBlock({
  rowCount,
  seed = 1,
  groups = GROUPS,
  index = 0,
}: {
  readonly rowCount: number;
  readonly seed?: number;
  readonly groups?: readonly ScoreGroup[];
  readonly index?: number;
}): ScoredBlock {
  const random = randomFrom(seed);
  const shape = scoreShapeOf(groups);
  const scores = scoreArrays(shape, rowCount);
  const errors = new Map<number, RowError>();
  const latitudes = Float64Array.from({ length: rowCount }, () => random.below(180_001) / 1000 - 90);
  const longitudes = Float64Array.from({ length: rowCount }, () => random.below(360_001) / 1000 - 180);
  const kept: KeptValue[][] = KEPT_COLUMNS.map(() => []);
  for (let row = 0; row < rowCount; row++) {
    const values: readonly KeptValue[] = [
      row % 5 === 4 ? null : BigInt(row) * 3_000_000_000n,
      NAMES[random.below(NAMES.length)] ?? null,
      `${latitudes[row]}0`,
      `${longitudes[row]}`,
      row % 7 === 3 ? null : random.below(1000) / 8,
      row % 3 === 0 ? null : row % 2 === 0,
      row % 4 === 0 ? null : BigInt(Date.UTC(2000 + (row % 30), row % 12, 3, 4, 5, 6, 789)),
      "kept status",
    ];
    values.forEach((value, column) => kept[column]?.push(value));
    if (random.below(10) === 0) {
      errors.set(row, ERROR);
      latitudes[row] = NaN;
      longitudes[row] = NaN;
    }
  }
  scores.values.forEach((_, i) => {
    const status = random.below(SCORE_STATUSES.length);
    scores.statuses[i] = status;
    scores.values[i] = [random.below(60_000) / 60_000 + 1e-9, 0][status] ?? NaN;
  });
  for (const limits of [scores.probabilityLimits, scores.totalHazardLimits, scores.exceedanceLimits]) {
    limits.forEach((_, i) => (limits[i] = random.below(3) === 0 ? random.below(1000) / 1e6 : NaN));
  }
  scores.exceedanceProbabilities.forEach((_, i) => {
    const { threshold } = groups[i % groups.length] ?? {};
    scores.exceedanceProbabilities[i] = threshold === undefined ? NaN : random.below(1000) / 997;
  });
  for (const bounds of [scores.bounds, scores.exceedanceBounds]) {
    bounds.forEach((_, i) => (bounds[i] = random.below(SCORE_BOUNDS.length)));
  }
  const firstRow = index * ROWS_PER_BLOCK;
  const radiiKm = new Float64Array(rowCount);
  const places = { index, firstRow, rowCount, latitudes, longitudes, radiiKm, errors, kept };
  return { places, scores };
}

/** Returns a block of invalid rows with these texts in the column of the latitude. */
export function invalidBlock(latitudes: readonly (string | null)[]): ScoredBlock {
  const block = randomBlock({ rowCount: latitudes.length });
  const { places } = block;
  return {
    ...block,
    places: {
      ...places,
      latitudes: places.latitudes.fill(NaN),
      longitudes: places.longitudes.fill(NaN),
      errors: new Map(latitudes.map((_, row) => [row, ERROR] as const)),
      kept: places.kept.map((values, column) => (column === 2 ? latitudes : values)),
    },
  };
}

export type ExpectedRow = Readonly<Record<string, KeptValue>>;

/** Returns the rows of the long layout for GROUPS and KEPT_COLUMNS, computed value by value. */
export function expectedLongRows({ places, scores }: ScoredBlock): readonly ExpectedRow[] {
  const rows: ExpectedRow[] = [];
  for (let place = 0; place < places.rowCount; place++) {
    const kept = keptValues(places, place);
    const error = places.errors.get(place);
    const groups = error === undefined ? GROUPS.keys() : [undefined];
    for (const group of groups) {
      const found = group === undefined ? undefined : GROUPS[group];
      const metrics = group === undefined ? {} : metricsOf(scores, place, group);
      rows.push({
        ...kept,
        hazard: found?.hazard ?? null,
        scenario: found?.scenario ?? null,
        analysis_year: found?.analysisYear ?? null,
        intensity: metrics["intensity"]?.value ?? null,
        wind_speed_mps: metrics["wind_speed_mps"]?.value ?? null,
        depth_meters: metrics["depth_meters"]?.value ?? null,
        probability: metrics["probability"]?.value ?? null,
        total_hazard: metrics["total_hazard"]?.value ?? null,
        ...groupValues(scores, place, group),
        status: group === undefined ? "invalid_row" : ownStatus(scores, place, group),
        error: error?.message ?? null,
      });
    }
  }
  return rows;
}

/** Returns the rows of the wide layout. */
export function expectedWideRows({ places, scores }: ScoredBlock): readonly ExpectedRow[] {
  return Array.from({ length: places.rowCount }, (_, place) => {
    const error = places.errors.get(place);
    const row: Record<string, KeptValue> = { ...keptValues(places, place) };
    const statuses: string[] = [];
    for (const [group, { hazard, scenario, analysisYear, metrics, threshold }] of GROUPS.entries()) {
      const prefix = `${hazard}.${scenario}.${analysisYear}`;
      const values = error === undefined ? metricsOf(scores, place, group) : {};
      for (const metric of metrics) row[`${prefix}.${metric}`] = values[metric]?.value ?? null;
      const others = groupValues(scores, place, error === undefined ? group : undefined);
      for (const [name, value] of Object.entries(others)) {
        if (name.startsWith("exceedance") && threshold === undefined) continue;
        if (name === "total_hazard_limit" && !metrics.includes("total_hazard")) continue;
        row[`${prefix}.${name}`] = value;
      }
      const status = ownStatus(scores, place, group);
      row[`${prefix}.status`] = error === undefined ? status : null;
      statuses.push(status);
    }
    const best = SCORE_STATUSES.find((status) => statuses.includes(status));
    return { ...row, status: error === undefined ? (best ?? null) : "invalid_row", error: error?.message ?? null };
  });
}

function keptValues({ kept }: ScoredBlock["places"], place: number): Record<string, KeptValue> {
  return Object.fromEntries(
    KEPT_COLUMNS.map(({ name }, column) => [name === "status" ? "input_status" : name, kept[column]?.[place] ?? null]),
  );
}

function metricsOf(scores: ScoredBlock["scores"], place: number, group: number) {
  const columnCount = GROUPS.reduce((count, { metrics }) => count + metrics.length, 0);
  const first = GROUPS.slice(0, group).reduce((count, { metrics }) => count + metrics.length, 0);
  return Object.fromEntries(
    (GROUPS[group]?.metrics ?? []).map((metric, i) => {
      const column = place * columnCount + first + i;
      const value = scores.values[column] ?? NaN;
      return [
        metric,
        { value: Number.isNaN(value) ? null : value, status: SCORE_STATUSES[scores.statuses[column] ?? 0] ?? "" },
      ];
    }),
  );
}

function ownStatus(scores: ScoredBlock["scores"], place: number, group: number): string {
  const own = GROUPS[group]?.hazard === "cyclones" ? "wind_speed_mps" : "depth_meters";
  return metricsOf(scores, place, group)[own]?.status ?? "";
}

function groupValues(scores: ScoredBlock["scores"], place: number, group: number | undefined) {
  const index = place * GROUPS.length + (group ?? 0);
  const number = (array: Float64Array): number | null => {
    const value = group === undefined ? NaN : (array[index] ?? NaN);
    return Number.isNaN(value) ? null : value;
  };
  const bound = (array: Uint8Array): string | null =>
    group === undefined || array[index] === 0 ? null : (SCORE_BOUNDS[array[index] ?? 0] ?? null);
  return {
    probability_bound: bound(scores.bounds),
    probability_limit: number(scores.probabilityLimits),
    total_hazard_limit: number(scores.totalHazardLimits),
    exceedance_probability: number(scores.exceedanceProbabilities),
    exceedance_bound: bound(scores.exceedanceBounds),
    exceedance_limit: number(scores.exceedanceLimits),
  };
}
