/** Computes the values of a layer at the places of a list, in batches. */
import type {
  CatalogHazard,
  CurveQueryInput,
  CurveResult,
  HazardName,
  HazardQueryInput,
  HazardResult,
  MetricName,
  RefusedQuery,
  Scenario,
} from "../../contract/wireTypes.ts";
import type { ExplorerData } from "../data/explorerData.ts";
import { type MetricValue, metricValue } from "../place/placeQuery.ts";
import type { ListRow } from "./placeList.ts";
import { metricLabel, scaleMetricOf } from "../map/layerChoice.ts";

/** What is computed at every place. */
export interface ListQuery {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly year: number;
  readonly radiusKm: number;
  readonly method: "max" | "mean";
  /** The value of this return period, years, is computed; undefined for the metrics of the hazard. */
  readonly returnPeriodYears: number | undefined;
}

/** Returns the name of the column of a return period, years. */
function returnPeriodColumn(returnPeriodYears: number): string {
  return `rp_${returnPeriodYears}`;
}

/** The answer for a row: its values by the name of their column, or why the query was refused. */
export type RowScore =
  | { readonly kind: "scored"; readonly values: Readonly<Record<string, MetricValue>> }
  | { readonly kind: "refused"; readonly message: string };

/** Scores by the line of the row. */
export type ListScores = ReadonlyMap<number, RowScore>;

/** Places in one request: small enough that progress is seen, far below the limits of the service. */
const BATCH_SIZE = 100;
const NO_RESULT: RowScore = { kind: "refused", message: "The answer has no result for this place." };

interface ScoreOptions {
  readonly signal: AbortSignal;
  /** Called after each batch with the scores so far, by row. */
  readonly onProgress: (scores: ListScores) => void;
}

/**
 * Computes the values of all rows that have a location.
 *
 * @throws ExplorerError if a whole request fails; the signal's reason
 */
export async function scoreList(
  data: Pick<ExplorerData, "hazardRiskBatch" | "curveBatch">,
  rows: readonly ListRow[],
  query: ListQuery,
  { signal, onProgress }: ScoreOptions,
): Promise<ListScores> {
  const scores = new Map<number, RowScore>();
  const located = rows.filter(({ location }) => location !== undefined);
  for (let start = 0; start < located.length; start += BATCH_SIZE) {
    const batch = located.slice(start, start + BATCH_SIZE);
    const results = await scoreBatch(data, batch, query, signal);
    signal.throwIfAborted();
    for (const [index, row] of batch.entries()) scores.set(row.line, results[index] ?? NO_RESULT);
    onProgress(new Map(scores));
  }
  return scores;
}

async function scoreBatch(
  data: Pick<ExplorerData, "hazardRiskBatch" | "curveBatch">,
  rows: readonly ListRow[],
  query: ListQuery,
  signal: AbortSignal,
): Promise<readonly RowScore[]> {
  const queries = rows.map((row) => rowQuery(row, query));
  const { returnPeriodYears } = query;
  if (returnPeriodYears === undefined) {
    return (await data.hazardRiskBatch(queries, signal)).map((result) => scoreOf(result));
  }
  return (await data.curveBatch(queries, signal)).map((result) => curveScoreOf(result, returnPeriodYears));
}

function rowQuery(
  { location }: ListRow,
  { hazard, scenario, year, radiusKm, method }: ListQuery,
): HazardQueryInput & CurveQueryInput {
  if (location === undefined) throw new Error("only rows with a location are queried");
  return {
    ...location,
    hazards: [hazard],
    analysis_years: [year],
    scenarios: [scenario],
    ...(radiusKm > 0 ? { radius: radiusKm, aggregation_method: method } : {}),
  };
}

function scoreOf(result: HazardResult | RefusedQuery): RowScore {
  if ("error" in result) return { kind: "refused", message: result.error.detail };
  const answer = result.results[0]?.scenarios[0]?.analysis_years[0];
  if (answer === undefined) return NO_RESULT;
  const metrics = Object.keys(answer.metrics) as MetricName[];
  return {
    kind: "scored",
    values: Object.fromEntries(metrics.map((metric) => [metric, metricValue(answer, metric)])),
  };
}

function curveScoreOf(result: CurveResult | RefusedQuery, returnPeriodYears: number): RowScore {
  if ("error" in result) return { kind: "refused", message: result.error.detail };
  const answer = result.results[0]?.scenarios[0]?.analysis_years[0];
  if (answer === undefined) return NO_RESULT;
  const point = answer.curve?.find(({ return_period }) => return_period === returnPeriodYears);
  const value = { value: point?.value ?? null, reason: answer.no_data, bound: undefined, range: undefined };
  return { kind: "scored", values: { [returnPeriodColumn(returnPeriodYears)]: value } };
}

export interface ListColumn {
  /** Name in files: the metric, or `rp_T`. */
  readonly name: string;
  readonly title: string;
  /** The metric with the unit and the number format. */
  readonly metric: MetricName;
}

/** Returns the columns that a query computes, with that of the map first. */
export function listColumns(
  hazard: CatalogHazard,
  { returnPeriodYears }: Pick<ListQuery, "returnPeriodYears">,
  shownMetric: MetricName,
): readonly ListColumn[] {
  const names =
    returnPeriodYears === undefined
      ? hazard.metrics
          .map(({ metric }) => metric)
          .filter((metric) => metric !== "total_hazard")
          .toSorted((a, b) => Number(b === shownMetric) - Number(a === shownMetric))
      : [returnPeriodColumn(returnPeriodYears)];
  return names.map((name) => ({ name, title: metricLabel(hazard, name), metric: scaleMetricOf(hazard, name) }));
}

export interface ListOrder {
  /** What the rows are sorted by: `line` in the list, `id`, or the name of a column of values. */
  readonly by: string;
  readonly isDescending: boolean;
}

/** Rows on one page. Longer lists have several pages. */
export const PAGE_SIZE = 100;

const collator = new Intl.Collator("en", { numeric: true });

/** Returns the rows in an order. Rows without a value come last, whatever the direction; equal ones keep their order. */
export function sortRows(
  rows: readonly ListRow[],
  { by, isDescending }: ListOrder,
  scores: ListScores,
): readonly ListRow[] {
  const sign = isDescending ? -1 : 1;
  if (by === "line") return isDescending ? rows.toReversed() : rows;
  if (by === "id") return rows.toSorted((a, b) => sign * collator.compare(a.id, b.id));
  return rows.toSorted((a, b) => {
    const [first, second] = [valueOf(scores.get(a.line), by), valueOf(scores.get(b.line), by)];
    if (first === undefined || second === undefined) return Number(first === undefined) - Number(second === undefined);
    return sign * (first - second);
  });
}

function valueOf(score: RowScore | undefined, column: string): number | undefined {
  return score?.kind === "scored" ? (score.values[column]?.value ?? undefined) : undefined;
}

export function pageCount(rowCount: number): number {
  return Math.max(1, Math.ceil(rowCount / PAGE_SIZE));
}
