import { SCENARIOS } from "../../../contract/names.ts";
import { type HazardName, HAZARDS } from "../../../hazard/hazards.ts";
import { SCORE_STATUSES } from "../../../hazard/scoring/scoreRequest.ts";
import { html, joinMarkup, type Markup } from "../../../text/markup.ts";
import { QUANTILE_SHARES } from "../distribution.ts";
import type { GroupSummary, MetricSummary } from "../placeSummary.ts";
import type { SummaryMetric } from "../scoreColumns.ts";
import { bandChart, type BandPoint } from "./bandChart.ts";
import { formatCount, formatShare, formatValue, formatWithUnit, metricLabel, table } from "./reportHtml.ts";
import { shareChart, type ShareLine } from "./shareChart.ts";

/** Metrics that have a chart, besides the hazard's own metric; the others are in the table. */
const CHARTED_METRICS: readonly SummaryMetric[] = ["probability", "exceedance_probability"];

/** Returns the section of one hazard: charts over years for each scenario, and a table of all statistics. */
export function hazardSection(hazard: HazardName, groups: readonly GroupSummary[]): Markup {
  const charted = [HAZARDS[hazard].ownMetric, ...CHARTED_METRICS].filter((metric) =>
    groups.some((group) => metricOf(group, metric)?.distribution !== undefined),
  );
  return html`<h2>${hazard}</h2>
    ${joinMarkup(charted.map((metric) => bandFigure(hazard, metric, groups)))} ${shareFigure(hazard, charted, groups)}
    <details>
      <summary>All statistics of ${hazard}</summary>
      ${statisticsTable(hazard, groups)} ${statusTable(hazard, groups)}
    </details>`;
}

function metricOf(group: GroupSummary, metric: SummaryMetric): MetricSummary | undefined {
  return group.metrics.find((summary) => summary.metric === metric);
}

/**
 * Returns the groups by scenario, each with the baseline before its years. The baseline has its own list only if there is
 * no other scenario.
 */
function groupsByScenario(groups: readonly GroupSummary[]): readonly (readonly [string, readonly GroupSummary[]])[] {
  const baseline = groups.filter(({ scenario }) => scenario === "baseline");
  const others = SCENARIOS.filter((name) => name !== "baseline").flatMap((scenario) => {
    const own = groups.filter((group) => group.scenario === scenario);
    return own.length === 0 ? [] : [[scenario, [...baseline, ...own]] as const];
  });
  return others.length === 0 ? [["baseline", baseline]] : others;
}

function bandFigure(hazard: HazardName, metric: SummaryMetric, groups: readonly GroupSummary[]): Markup {
  const unit = groups.map((group) => metricOf(group, metric)?.unit).find((text) => text !== undefined) ?? "1";
  const panels = groupsByScenario(groups).map(([label, own]) => ({
    label,
    points: own.flatMap((group) => bandPoint(group, metric) ?? []),
  }));
  const label = metricLabel(metric, unit);
  const chart = bandChart(
    panels.filter(({ points }) => points.length > 0),
    {
      id: `${hazard}-${metric}`,
      title: `${hazard}: distribution of ${metric} over the places, by scenario and year`,
      description: panels.map((panel) => describePanel(panel, unit)).join(" "),
      axis: label,
    },
  );
  return html`<figure>
    <h3>${label}</h3>
    ${chart}
    <figcaption>
      Distribution over the places that have a value. The first year of each scenario is the baseline, if it was scored.
    </figcaption>
  </figure>`;
}

function describePanel(
  { label, points }: { readonly label: string; readonly points: readonly BandPoint[] },
  unit: string,
) {
  const years = points.map(
    ({ year, q50, q95 }) => `${year} median ${formatWithUnit(q50, unit)}, 95 % quantile ${formatWithUnit(q95, unit)}`,
  );
  return `${label}: ${years.join("; ")}.`;
}

function bandPoint(group: GroupSummary, metric: SummaryMetric): BandPoint | undefined {
  const quantiles = metricOf(group, metric)?.distribution?.quantiles;
  if (quantiles === undefined) return undefined;
  const [q05 = NaN, q25 = NaN, q50 = NaN, q75 = NaN, q95 = NaN, q99 = NaN] = quantiles;
  return { year: group.analysisYear, q05, q25, q50, q75, q95, q99 };
}

/** Draws the share of places at or above the first threshold of the first charted metric that has one. */
function shareFigure(hazard: HazardName, metrics: readonly SummaryMetric[], groups: readonly GroupSummary[]): Markup {
  for (const metric of metrics) {
    const summary = groups.map((group) => metricOf(group, metric)).find((found) => found !== undefined);
    const threshold = summary?.thresholds[0];
    if (summary === undefined || threshold === undefined) continue;
    const lines: readonly ShareLine[] = groupsByScenario(groups)
      .map(([label, own]) => ({ label, points: own.flatMap((group) => sharePoint(group, metric) ?? []) }))
      .filter(({ points }) => points.length > 0);
    const what = `${metric} of at least ${formatWithUnit(threshold, summary.unit)}`;
    const chart = shareChart(lines, {
      id: `${hazard}-share`,
      title: `${hazard}: share of places with ${what}, by scenario and year`,
      description: lines
        .map(
          ({ label, points }) =>
            `${label}: ${points.map(({ year, share }) => `${year} ${percent(share)}`).join(", ")}.`,
        )
        .join(" "),
      axis: "share of places",
    });
    return html`<figure>
      <h3>Places with ${what}</h3>
      ${chart}
      <figcaption>Share of the places that have a value.</figcaption>
    </figure>`;
  }
  return html``;
}

function sharePoint(group: GroupSummary, metric: SummaryMetric): ShareLine["points"][number] | undefined {
  const distribution = metricOf(group, metric)?.distribution;
  if (distribution === undefined) return undefined;
  return { year: group.analysisYear, share: (distribution.aboveCounts[0] ?? 0) / distribution.count };
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function statisticsTable(hazard: HazardName, groups: readonly GroupSummary[]): Markup {
  const quantileNames = QUANTILE_SHARES.map((share) => `${share * 100} %`);
  return table({
    caption: `${hazard}: statistics of the values, and share of places at or above thresholds`,
    head: ["scenario", "metric", "year", "values", "minimum", ...quantileNames, "maximum", "mean", "share above"],
    textColumns: 2,
    rows: groups.flatMap(({ scenario, analysisYear, metrics }) =>
      metrics.map(({ metric, unit, distribution, thresholds }) => {
        const name = [scenario, metricLabel(metric, unit), String(analysisYear)];
        if (distribution === undefined) return [...name, "0", ...Array.from({ length: 10 }, () => "-")];
        const { count, minimum, quantiles, maximum, mean, aboveCounts } = distribution;
        const shares = thresholds.map(
          (threshold, i) => `${formatShare(aboveCounts[i] ?? 0, count)} >= ${formatValue(threshold)}`,
        );
        return [
          ...name,
          formatCount(count),
          ...[minimum, ...quantiles, maximum, mean].map(formatValue),
          shares.length === 0 ? "-" : shares.join("; "),
        ];
      }),
    ),
  });
}

function statusTable(hazard: HazardName, groups: readonly GroupSummary[]): Markup {
  return table({
    caption: `${hazard}: statuses by scenario and year`,
    head: ["scenario", "year", "results", ...SCORE_STATUSES],
    textColumns: 1,
    rows: groups.map(({ scenario, analysisYear, rowCount, statusCounts }) => [
      scenario,
      String(analysisYear),
      formatCount(rowCount),
      ...statusCounts.map(formatCount),
    ]),
  });
}
