/** Figures that both the tables on the terminal and the report derive from a summary. */
import type { MetricSummary, PartitionSummary, PlaceSummary } from "./placeSummary.ts";
import { scoreKeyText, type SeriesName } from "./scoreColumns.ts";

/** Returns the statistics of a column of values by the values of the kept column, in descending order of the mean. */
export function partsByMean(
  { parts }: PartitionSummary,
  series: SeriesName,
): readonly { readonly part: PartitionSummary["parts"][number]; readonly summary: MetricSummary | undefined }[] {
  const key = scoreKeyText(series);
  const meanOf = (summary: MetricSummary | undefined): number => summary?.distribution?.mean ?? -Infinity;
  return parts
    .map((part) => {
      const group = part.groups.find((other) => scoreKeyText(other) === key);
      return { part, summary: group?.metrics.find(({ metric }) => metric === series.metric) };
    })
    .toSorted((a, b) => meanOf(b.summary) - meanOf(a.summary) || 0);
}

/** Returns a sentence about what is left out because the kept column has many values; undefined if nothing is. */
export function omissionOf({ column, parts, omitted }: PartitionSummary): string | undefined {
  if (omitted.length === 0) return undefined;
  const quantiles = omitted.includes("quantiles") ? ", without quantiles" : "";
  return `Because ${column} has ${parts.length} values, only the listed columns are summarized by it${quantiles}.`;
}

/** Returns the largest relative error of all quantiles; 0 if all are exact. */
export function largestQuantileError({ groups, partition }: PlaceSummary): number {
  return [...groups, ...(partition?.parts ?? []).flatMap((part) => part.groups)]
    .flatMap(({ metrics }) => metrics)
    .reduce((largest, { distribution }) => Math.max(largest, distribution?.quantileError ?? 0), 0);
}
