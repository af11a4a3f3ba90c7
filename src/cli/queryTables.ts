/** Tables of metrics and of curves. */
import type {
  AnalysisYearResult,
  Bound,
  CurveResult,
  CurveYearResult,
  Exceedance,
  HazardResult,
} from "../contract/wireTypes.ts";
import { HAZARDS } from "../hazard/hazards.ts";
import { formatTable } from "./textTable.ts";

/** The open atlas, as far as the tables name it. */
interface NamedAtlas {
  readonly release: string;
  readonly synthetic: boolean;
}

const NO_DATA_TEXTS: Readonly<Record<string, string>> = {
  outside_coverage: "outside the atlas",
  no_data: "no data in the source",
  layer_missing: "no such layer in the atlas",
};

const BOUND_SIGNS = { at_least: ">=", at_most: "<=" } as const;
const BOUND_LEGEND = ">= and <= mark bounds: the source maps have no return periods beyond them.";

/** Returns the first lines of the output: location, selection of cells, atlas. */
function formatHeading(
  { location, aggregation }: Pick<HazardResult, "location" | "aggregation">,
  { release, synthetic }: NamedAtlas,
): string {
  const locationText = `latitude ${location.latitude}, longitude ${location.longitude}`;
  const selection =
    aggregation === undefined ? "single cell" : `${aggregation.method} within ${aggregation.radius_km} km`;
  return `${locationText}: ${selection} (atlas ${release})\n${synthetic ? "  SYNTHETIC: not real data\n" : ""}`;
}

/** Returns the explanation of a missing value. */
function formatReason(reason: string | undefined): string {
  return NO_DATA_TEXTS[reason ?? ""] ?? reason ?? "missing";
}

/** Returns a number with six significant digits. */
export function formatNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** Returns a result of hazards as text, with one table per hazard. */
export function formatMetrics(result: HazardResult, atlas: NamedAtlas): string {
  const tables = result.results.map(({ hazard, scenarios }) => {
    const years = scenarios.flatMap(({ scenario, analysis_years }) =>
      analysis_years.map((year) => ({ scenario, ...year })),
    );
    const metrics = Object.keys(years[0]?.metrics ?? {});
    const units = new Map<string, string>(HAZARDS[hazard].metrics.map(({ metric, unit }) => [metric, unit]));
    const table = formatTable({
      head: ["scenario", "year", ...metrics.map((metric) => metricHeading(metric, units.get(metric)))],
      rows: years.map((year) => [
        year.scenario,
        String(year.analysis_year),
        ...metrics.map((metric) => formatMetric(year, metric)),
      ]),
      isNumeric: (column) => column > 0,
    });
    return `\n${hazard}\n${table}\n`;
  });
  return `${formatHeading(result, atlas)}${tables.join("")}${formatLegend(result)}`;
}

function metricHeading(metric: string, unit: string | undefined): string {
  return unit === undefined || unit === "1" ? metric : `${metric} [${unit}]`;
}

function formatMetric(row: AnalysisYearResult, metric: string): string {
  const value = (row.metrics as Readonly<Record<string, number | null | undefined>>)[metric];
  if (value === null || value === undefined) return `- (${formatReason(row.no_data)})`;
  const bound = (row.bounds as Readonly<Record<string, Bound | undefined>> | undefined)?.[metric];
  if (bound === undefined) return formatNumber(value);
  return bound.bound === "indeterminate"
    ? `${formatNumber(value)} ?`
    : `${BOUND_SIGNS[bound.bound]} ${formatNumber(bound.limit)}`;
}

/** Explains the bound signs that occur in the tables. */
function formatLegend({ results }: HazardResult): string {
  const years = results.flatMap(({ scenarios }) => scenarios.flatMap(({ analysis_years }) => analysis_years));
  const boundKinds = new Set(years.flatMap(({ bounds }) => (bounds === undefined ? [] : bounds.probability.bound)));
  const lines = [
    ...(boundKinds.has("at_least") || boundKinds.has("at_most") ? [BOUND_LEGEND] : []),
    ...(boundKinds.has("indeterminate")
      ? ["? marks the difference of two bounds: the actual change may be larger or smaller."]
      : []),
  ];
  return lines.map((line) => `\n${line}\n`).join("");
}

interface NamedYear extends CurveYearResult {
  /** Scenario and year. */
  readonly name: string;
}

/** Returns a result of curves as text: the values by return period, and the values derived from each curve. */
export function formatCurves(result: CurveResult, atlas: NamedAtlas): string {
  const sections = result.results.map(({ hazard, scenarios }) => {
    const years = scenarios.flatMap(({ scenario, analysis_years }) =>
      analysis_years.map((year): NamedYear => ({ ...year, name: `${scenario} ${year.analysis_year}` })),
    );
    const unit = years[0]?.unit ?? "";
    const tables = [valueTable(years), derivedTable(years, unit)].filter((table) => table !== undefined);
    const missing = years.filter(({ curve }) => curve === null).map((year) => `${year.name}: ${reasonOf(year)}`);
    return [`\n${hazard} [${unit}]`, ...tables, ...missing, ""].join("\n");
  });
  return `${formatHeading(result, atlas)}${sections.join("")}${legendOf(result)}`;
}

const EXPECTED_LEGEND =
  "Expected annual amounts include a lower bound for longer return periods than those of the maps, and nothing for shorter ones.";

/** Explains the bound signs and expected amounts that occur in the tables. */
function legendOf({ results }: CurveResult): string {
  const years = results.flatMap(({ scenarios }) => scenarios.flatMap(({ analysis_years }) => analysis_years));
  const hasBounds = years.some(
    ({ exceedance, return_levels = [] }) =>
      exceedance?.bound !== undefined || return_levels.some(({ bound }) => bound !== undefined),
  );
  const hasExpected = years.some(
    ({ expected_annual_value, expected_annual_damage }) =>
      expected_annual_value !== undefined || expected_annual_damage !== undefined,
  );
  const lines = [...(hasBounds ? [BOUND_LEGEND] : []), ...(hasExpected ? [EXPECTED_LEGEND] : [])];
  return lines.map((line) => `\n${line}\n`).join("");
}

/** Returns a table with one row per return period and one column per scenario and year. */
function valueTable(years: readonly NamedYear[]): string | undefined {
  const periods = new Set(years.flatMap(({ curve }) => (curve ?? []).map(({ return_period }) => return_period)));
  if (periods.size === 0) return undefined;
  const rows = [...periods]
    .toSorted((a, b) => a - b)
    .map((period) => [
      formatNumber(period),
      ...years.map(({ curve }) => {
        const point = curve?.find(({ return_period }) => return_period === period);
        return point === undefined ? "-" : formatNumber(point.value);
      }),
    ]);
  const head = ["return period [years]", ...years.map(({ name }) => name)];
  return formatTable({ head, rows, isNumeric: () => true });
}

/** Returns a table with one row per scenario and year and one column per derived value; undefined if there are none. */
function derivedTable(years: readonly NamedYear[], unit: string): string | undefined {
  const sample = years.find(({ curve }) => curve !== null);
  if (sample === undefined) return undefined;
  const { exceedance, return_levels, expected_annual_value, expected_annual_damage } = sample;
  const heads = [
    ...(return_levels ?? []).map(({ return_period }) => `${formatNumber(return_period)} years [${unit}]`),
    ...(exceedance === undefined
      ? []
      : [`P(>= ${formatNumber(exceedance.threshold)} ${unit})`, "return period [years]"]),
    ...(expected_annual_value === undefined
      ? []
      : [`expected per year above ${formatNumber(expected_annual_value.floor)} ${unit} [${unit}]`]),
    ...(expected_annual_damage === undefined ? [] : ["expected annual damage share"]),
  ];
  if (heads.length === 0) return undefined;
  const rows = years.map((year) => {
    const cells = derivedCells(year);
    return [year.name, ...(cells.length === 0 ? heads.map(() => "-") : cells)];
  });
  return formatTable({ head: ["", ...heads], rows, isNumeric: (column) => column > 0 });
}

function derivedCells(year: CurveYearResult): readonly string[] {
  const { exceedance, return_levels = [], expected_annual_value, expected_annual_damage } = year;
  const levels = return_levels.map(({ value, bound }) =>
    bound === undefined ? formatNumber(value) : `${BOUND_SIGNS[bound]} ${formatNumber(value)}`,
  );
  const amounts = [expected_annual_value, expected_annual_damage].flatMap((amount) => amount ?? []);
  return [
    ...levels,
    ...(exceedance === undefined ? [] : exceedanceCells(exceedance)),
    ...amounts.map(({ value }) => formatNumber(value)),
  ];
}

/** Returns the probability and the return period; its bound has the opposite direction. */
function exceedanceCells({ probability, return_period, bound, limit = NaN }: Exceedance): readonly string[] {
  if (bound === undefined) return [probability, return_period ?? NaN].map(formatNumber);
  const opposite = bound === "at_least" ? "at_most" : "at_least";
  return [`${BOUND_SIGNS[bound]} ${formatNumber(limit)}`, `${BOUND_SIGNS[opposite]} ${formatNumber(1 / limit)}`];
}

function reasonOf({ no_data }: CurveYearResult): string {
  return `no curve (${formatReason(no_data)})`;
}
