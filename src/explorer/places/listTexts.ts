/** What the view of a list says about its values. */
import { formatCount, hazardTitle, scenarioTitle } from "../format.ts";
import type { ScoringState } from "./listModel.ts";
import type { ListQuery } from "./scoreList.ts";

interface ListProgress {
  readonly kind: ScoringState["kind"];
  /** Places with a value, or with the reason why the query was refused. */
  readonly doneCount: number;
  /** Places with a location. */
  readonly count: number;
}

export function progressText({ kind, doneCount, count }: ListProgress): string {
  if (kind === "running") return `${formatCount(doneCount)} of ${formatCount(count)} places computed`;
  if (kind === "canceled") return `Canceled after ${formatCount(doneCount)} of ${formatCount(count)} places.`;
  return doneCount === 0 ? "" : `${formatCount(doneCount)} of ${formatCount(count)} places computed.`;
}

/** Returns whether the values can be downloaded, and what the file contains, or why there is none. */
export function downloadOffer({ kind, doneCount, count }: ListProgress): {
  readonly isReady: boolean;
  readonly note: string;
} {
  if (kind === "running") {
    return { isReady: false, note: "Available when all values have been computed, or after Cancel." };
  }
  if (doneCount === 0) return { isReady: false, note: "Available when values have been computed." };
  const missing = count - doneCount;
  const notComputed =
    missing === 0 ? "" : `${formatCount(missing)} of ${formatCount(count)} places have the status not_computed. `;
  return {
    isReady: true,
    note: `${notComputed}All columns and rows of the list, with the values as columns. Faulty rows have their errors.`,
  };
}

export function queryText({ hazard, scenario, year, radiusKm, method, returnPeriodYears }: ListQuery): string {
  const period = returnPeriodYears === undefined ? "" : `return period ${returnPeriodYears} years, `;
  const area = radiusKm === 0 ? "cell at the place" : `${method} within ${radiusKm} km`;
  return `${hazardTitle(hazard)}, ${scenarioTitle(scenario)} ${year}, ${period}${area}`;
}
