/** Computes the values of a layer at the places of a list, in batches. */
import type {
  AnalysisYearResult,
  HazardName,
  HazardQueryInput,
  HazardResult,
  RefusedQuery,
  Scenario,
} from "../../contract/wireTypes.ts";
import type { ExplorerData } from "../data/explorerData.ts";
import type { ListRow } from "./placeList.ts";

/** What is computed at every place. */
export interface ListQuery {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly year: number;
  readonly radiusKm: number;
  readonly method: "max" | "mean";
}

/** The answer for a row: its values, or why the query was refused. */
export type RowScore =
  | { readonly kind: "scored"; readonly answer: AnalysisYearResult }
  | { readonly kind: "refused"; readonly message: string };

/** Scores by the line of the row. */
export type ListScores = ReadonlyMap<number, RowScore>;

/** Places in one request: small enough that progress is seen, far below the limits of the service. */
const BATCH_SIZE = 100;

export interface ScoreOptions {
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
  data: Pick<ExplorerData, "hazardRiskBatch">,
  rows: readonly ListRow[],
  query: ListQuery,
  { signal, onProgress }: ScoreOptions,
): Promise<ListScores> {
  const scores = new Map<number, RowScore>();
  const located = rows.filter(({ location }) => location !== undefined);
  for (let start = 0; start < located.length; start += BATCH_SIZE) {
    const batch = located.slice(start, start + BATCH_SIZE);
    const results = await data.hazardRiskBatch(
      batch.map((row) => rowQuery(row, query)),
      signal,
    );
    signal.throwIfAborted();
    for (const [index, row] of batch.entries()) scores.set(row.line, scoreOf(results[index]));
    onProgress(new Map(scores));
  }
  return scores;
}

function rowQuery({ location }: ListRow, { hazard, scenario, year, radiusKm, method }: ListQuery): HazardQueryInput {
  if (location === undefined) throw new Error("only rows with a location are queried");
  return {
    ...location,
    hazards: [hazard],
    analysis_years: [year],
    scenarios: [scenario],
    ...(radiusKm > 0 ? { radius: radiusKm, aggregation_method: method } : {}),
  };
}

function scoreOf(result: HazardResult | RefusedQuery | undefined): RowScore {
  if (result === undefined) return { kind: "refused", message: "The answer has no result for this place." };
  if ("error" in result) return { kind: "refused", message: result.error.detail };
  const answer = result.results[0]?.scenarios[0]?.analysis_years[0];
  if (answer === undefined) return { kind: "refused", message: "The answer has no result for this place." };
  return { kind: "scored", answer };
}
