import { SCORE_BOUNDS, SCORE_STATUSES } from "../../hazard/scoring/scoreRequest.ts";
import { QUANTILE_SHARES } from "./distribution.ts";
import type { ListedPlace } from "./placeList.ts";
import type { GroupSummary, InvalidPlace, MetricSummary, PlaceSummary } from "./placeSummary.ts";
import { scoreKeyText } from "./scoreColumns.ts";
import type { StatedRun } from "./statedRun.ts";

/** Returns a summary as it is printed as JSON, with the names of the HTTP contract. */
export function summaryJson(
  { placeCount, invalidRowCount, invalidRows, shownColumns, groups, series, partition }: PlaceSummary,
  { fileName, run }: { readonly fileName: string; readonly run: StatedRun | undefined },
): Readonly<Record<string, unknown>> {
  return {
    file: fileName,
    ...(run === undefined ? {} : { run: runJson(run) }),
    places: placeCount,
    invalid_rows: { count: invalidRowCount, first: invalidRows.map((row) => invalidRowJson(row, shownColumns)) },
    results: groups.map(groupJson),
    top: series.map((selected) => ({
      by: `${scoreKeyText(selected)}.${selected.metric}`,
      places: selected.top.map((place) => placeJson(place, shownColumns)),
    })),
    ...(partition === undefined
      ? {}
      : {
          group_by: {
            column: partition.column,
            omitted: partition.omitted,
            values: partition.parts.map((part) => ({
              value: part.value,
              places: part.placeCount,
              invalid_rows: part.invalidRowCount,
              results: part.groups.map(groupJson),
            })),
          },
        }),
  };
}

function runJson(run: StatedRun) {
  return {
    input: run.inputFile,
    input_sha256: run.inputSha256,
    options: run.options,
    release: run.release,
    content_hash: run.contentHash,
    synthetic: run.isSynthetic,
    program_version: run.programVersion,
    rules: run.rules,
    sources: run.sources,
  };
}

function groupJson({ hazard, scenario, analysisYear, rowCount, statusCounts, metrics }: GroupSummary) {
  return {
    hazard,
    scenario,
    analysis_year: analysisYear,
    rows: rowCount,
    statuses: named(SCORE_STATUSES, statusCounts),
    metrics: Object.fromEntries(metrics.map((summary) => [summary.metric, metricJson(summary)])),
  };
}

function metricJson({ unit, distribution, thresholds, boundCounts }: MetricSummary) {
  return {
    unit,
    count: distribution?.count ?? 0,
    minimum: distribution?.minimum ?? null,
    mean: distribution?.mean ?? null,
    maximum: distribution?.maximum ?? null,
    quantiles:
      distribution?.quantiles.length === 0
        ? null
        : Object.fromEntries(QUANTILE_SHARES.map((share, i) => [share, distribution?.quantiles[i] ?? null])),
    quantile_error: distribution?.quantileError ?? 0,
    above: thresholds.map((threshold, i) => {
      const count = distribution?.aboveCounts[i] ?? 0;
      return { threshold, count, share: distribution === undefined ? null : count / distribution.count };
    }),
    ...(boundCounts === undefined ? {} : { bounds: named(SCORE_BOUNDS, boundCounts) }),
  };
}

function placeJson({ rowNumber, id, latitude, longitude, shown, value }: ListedPlace, shownColumns: readonly string[]) {
  const coordinate = (degrees: number): number | null => (Number.isFinite(degrees) ? degrees : null);
  return {
    row: rowNumber,
    id,
    ...shownJson(shown, shownColumns),
    latitude: coordinate(latitude),
    longitude: coordinate(longitude),
    value,
  };
}

function invalidRowJson({ id, shown, error }: InvalidPlace, shownColumns: readonly string[]) {
  return { id, ...shownJson(shown, shownColumns), error };
}

function shownJson(cells: readonly (string | null)[], names: readonly string[]) {
  if (names.length === 0) return {};
  return { columns: Object.fromEntries(names.map((name, i) => [name, cells[i] ?? null])) };
}

function named(names: readonly string[], counts: readonly number[]): Readonly<Record<string, number>> {
  return Object.fromEntries(names.map((name, i) => [name, counts[i] ?? 0]));
}
