import type { CurveResult, CurveYearResult, Exceedance } from "../contract/wireTypes.ts";
import { BOUND_LEGEND, BOUND_SIGNS, formatHeading, formatNumber, formatReason, type NamedAtlas } from "./queryText.ts";
import { formatTable } from "./textTable.ts";

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
