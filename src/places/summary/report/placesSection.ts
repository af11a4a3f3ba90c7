import { html, joinMarkup, type Markup } from "../../../text/markup.ts";
import { QUANTILE_SHARES } from "../distribution.ts";
import type { ListedPlace } from "../placeList.ts";
import {
  type GroupSummary,
  type MetricSummary,
  omissionOf,
  type PartitionSummary,
  partsByMean,
  type PlaceSummary,
  type SeriesPlaces,
} from "../placeSummary.ts";
import { scoreKeyText, unitOfMetric } from "../scoreColumns.ts";
import { colorClasses, isLocated, mapDefinitions, type MapProjection, mapProjection, placeMap } from "./placeMap.ts";
import { formatCount, formatShare, formatValue, formatWithUnit, metricLabel, table } from "./reportHtml.ts";

const PARTS_LISTED_MAX = 100;

/** Returns a map and the places with the largest values for each selected column of values. */
export function placesSection(summary: PlaceSummary): Markup {
  if (summary.series.length === 0) return html``;
  const located = summary.series.flatMap(({ sample, top }) => [...sample, ...top]).filter(isLocated);
  const projection = located.length === 0 ? undefined : mapProjection(located);
  return html`<h2>Places</h2>
    ${
      projection === undefined
        ? html`<p class="note">There are no maps, because the file has no locations.</p>`
        : mapDefinitions(projection)
    }
    ${joinMarkup(summary.series.map((series) => seriesFigures(series, summary, projection)))}`;
}

function seriesFigures(series: SeriesPlaces, summary: PlaceSummary, projection: MapProjection | undefined): Markup {
  const { hazard, scenario, analysisYear, metric, top } = series;
  const unit = unitOfMetric(hazard, metric);
  const name = `${hazard}, ${scenario} ${analysisYear}: ${metricLabel(metric, unit)}`;
  const group = summary.groups.find((other) => scoreKeyText(other) === scoreKeyText(series));
  const topTable =
    top.length === 0
      ? html`<p class="note">No place has a value above 0.</p>`
      : table({
          caption: `The ${top.length === 1 ? "place with the largest value" : `${top.length} places with the largest values`} above 0`,
          head: ["place", ...summary.shownColumns, "rank", "latitude", "longitude", metricLabel(metric, unit)],
          textColumns: 1 + summary.shownColumns.length,
          rows: top.map(({ id, rowNumber, latitude, longitude, shown, value }, index) => [
            id ?? `row ${rowNumber}`,
            ...shown.map((cell) => cell ?? ""),
            String(index + 1),
            formatCoordinate(latitude),
            formatCoordinate(longitude),
            formatValue(value),
          ]),
        });
  return html`<h3>${name}</h3>
    ${projection === undefined ? html`` : mapFigure(series, projection, { unit, name, rowCount: group?.rowCount ?? 0, summaryOfMetric: metricOf(group, series) })}
    ${topTable}`;
}

function metricOf(group: GroupSummary | undefined, { metric }: SeriesPlaces): MetricSummary | undefined {
  return group?.metrics.find((summary) => summary.metric === metric);
}

function mapFigure(
  { hazard, scenario, analysisYear, metric, top, sample }: SeriesPlaces,
  projection: MapProjection,
  context: {
    readonly unit: string;
    readonly name: string;
    readonly rowCount: number;
    readonly summaryOfMetric: MetricSummary | undefined;
  },
): Markup {
  const { unit, name, rowCount, summaryOfMetric } = context;
  const distribution = summaryOfMetric?.distribution;
  const high = distribution?.quantiles[QUANTILE_SHARES.indexOf(0.99)] ?? 0;
  const colors = colorClasses(
    [...sample, ...top].map(({ value }) => value),
    {
      high: high > 0 ? high : (distribution?.maximum ?? 0),
      unit,
    },
  );
  const map = placeMap({ sample, top }, projection, colors, {
    id: `map-${hazard}-${scenario}-${analysisYear}-${metric}`,
    title: `Map of the places by ${name}`,
    description: describeMap(top, unit),
    unit,
  });
  const choice =
    sample.length < rowCount
      ? `The map shows ${formatCount(sample.length)} of ${formatCount(rowCount)} places, chosen by a hash of their row ` +
        "number, and the places of the table."
      : `The map shows all ${formatCount(rowCount)} valid places.`;
  return html`<figure>
    ${map}
    <figcaption>
      ${choice} Rings mark the places of the table. Places at the same point of the map are drawn once, with the largest
      value. Equirectangular projection, WGS84; coastlines: Natural Earth.
    </figcaption>
  </figure>`;
}

function describeMap(top: readonly ListedPlace[], unit: string): string {
  const listed = top
    .slice(0, 5)
    .map(({ id, rowNumber, value }) => `${id ?? `row ${rowNumber}`} ${formatWithUnit(value, unit)}`);
  return listed.length === 0 ? "No place has a value above 0." : `The largest values are: ${listed.join(", ")}.`;
}

function formatCoordinate(degrees: number): string {
  return Number.isFinite(degrees) ? degrees.toFixed(4) : "-";
}

/** Returns a table for each selected column of values with the statistics by the values of a kept column. */
export function partitionSection(partition: PartitionSummary, series: readonly SeriesPlaces[]): Markup {
  const { column, parts } = partition;
  const omission = omissionOf(partition);
  return html`<h2>By ${column}</h2>
    ${joinMarkup(series.map((selected) => partTable(partition, selected)))}
    ${
      parts.length > PARTS_LISTED_MAX
        ? html`<p class="note">
            The tables list the ${PARTS_LISTED_MAX} values of ${column} with the largest means, of
            ${formatCount(parts.length)}.
          </p>`
        : html``
    }
    ${omission === undefined ? html`` : html`<p class="note">${omission}</p>`}`;
}

function partTable(partition: PartitionSummary, series: SeriesPlaces): Markup {
  const { hazard, scenario, analysisYear, metric } = series;
  const { column } = partition;
  const unit = unitOfMetric(hazard, metric);
  const rows = partsByMean(partition, series).slice(0, PARTS_LISTED_MAX);
  const threshold = rows.map(({ summary }) => summary?.thresholds[0]).find((value) => value !== undefined);
  return table({
    caption: `${hazard}, ${scenario} ${analysisYear}: ${metricLabel(metric, unit)} by ${column}`,
    head: [
      column,
      "places",
      "values",
      "mean",
      "median",
      "95 %",
      "maximum",
      ...(threshold === undefined ? [] : [`share >= ${formatWithUnit(threshold, unit)}`]),
    ],
    textColumns: 1,
    rows: rows.map(({ part: { value, placeCount }, summary }) => {
      const distribution = summary?.distribution;
      const [median, q95] = [0.5, 0.95].map(
        (share) => distribution?.quantiles[(QUANTILE_SHARES as readonly number[]).indexOf(share)] ?? NaN,
      );
      return [
        value ?? "(empty)",
        formatCount(placeCount),
        formatCount(distribution?.count ?? 0),
        ...[distribution?.mean ?? NaN, median ?? NaN, q95 ?? NaN, distribution?.maximum ?? NaN].map(formatValue),
        ...(threshold === undefined ? [] : [formatShare(distribution?.aboveCounts[0] ?? 0, distribution?.count ?? 0)]),
      ];
    }),
  });
}
