/** What the charts of the alignment view show. */
import type { AlignedYear, AlignmentDetail, AlignmentResult, TemperatureRange } from "../../contract/wireTypes.ts";

/** Year in which all pathways of the benchmarks are 1. Before it they are constant. */
const PATHWAY_BASE_YEAR = 2025;

interface RatioPoint {
  readonly year: number;
  /** Relative to the baseline year, which is 1. */
  readonly ratio: number;
}

interface CompanyPoint extends RatioPoint {
  /** The projected year, which is before `year` if the change was extrapolated. */
  readonly projectedYear: number;
}

/** A line of the benchmark: a scenario with the company's mix of sectors. */
interface ScenarioPathway {
  readonly scenario: string;
  readonly temperatureC: number;
  readonly points: readonly RatioPoint[];
}

/** A line of the company: its projection, or one of several. */
export interface CompanyPathway {
  /** Undefined if the projection has no label. */
  readonly label: string | undefined;
  readonly points: readonly CompanyPoint[];
}

export interface AlignmentPathways {
  readonly scenarios: readonly ScenarioPathway[];
  readonly company: readonly CompanyPathway[];
}

/**
 * Returns the ratios that the method compares, by year: those of the benchmark at its four scenarios, and those of the
 * company. Years without figures, such as those without a usable scope, are left out.
 */
export function alignmentPathwaysOf({ data }: AlignmentResult, baselineYear: number): AlignmentPathways {
  const evaluated = data.flatMap((year) => (year.detail === undefined ? [] : [{ year, detail: year.detail }]));
  const labels = [...new Set(evaluated.map(({ year }) => year.label))];
  const start = { year: baselineYear, ratio: 1 };
  return {
    scenarios: scenarioPathwaysOf(
      evaluated.map(({ year, detail }) => ({ year: evaluationYearOf(year, detail), detail })),
      baselineYear,
    ),
    company: labels.map((label) => ({
      label,
      points: [
        { ...start, projectedYear: baselineYear },
        ...evaluated
          .filter(({ year }) => year.label === label)
          .flatMap(({ year, detail }) => {
            const ratio = detail.emissions_ratio_q;
            return ratio === null ? [] : [{ year: evaluationYearOf(year, detail), ratio, projectedYear: year.year }];
          })
          .toSorted((a, b) => a.year - b.year),
      ],
    })),
  };
}

/** Returns the year that the ratios belong to. Pathways are constant after the last year that the method evaluates. */
function evaluationYearOf({ year }: AlignedYear, { evaluated_year }: AlignmentDetail): number {
  return Math.max(year, evaluated_year);
}

function scenarioPathwaysOf(
  evaluated: readonly { readonly year: number; readonly detail: AlignmentDetail }[],
  baselineYear: number,
): readonly ScenarioPathway[] {
  const [first] = evaluated;
  if (first === undefined) return [];
  const byYear = new Map<number, readonly number[]>();
  for (const { year, detail } of evaluated) {
    const ratios = detail.benchmark_ratio_at_anchors;
    if (ratios !== null && !byYear.has(year)) byYear.set(year, ratios);
  }
  const years = [...byYear].toSorted(([a], [b]) => a - b);
  const { anchors } = first.detail;
  return anchors.map(({ scenario, temperature_2100_c: temperatureC }, anchor) => {
    const isLast = anchor === anchors.length - 1;
    const start = startOf(baselineYear, isLast).filter(({ year }) => year < (years[0]?.[0] ?? -Infinity));
    return {
      scenario,
      temperatureC,
      points: [...start, ...years.map(([year, ratios]) => ({ year, ratio: ratios[anchor] ?? NaN }))],
    };
  });
}

/**
 * Returns where a pathway starts. The method lets the world follow the last scenario, Current Policies, until the baseline
 * year (equation 1), so that its pathway is 1 there. The others differ from 1 in a baseline year after the base year, and
 * the response does not contain their values.
 */
function startOf(baselineYear: number, isLast: boolean): readonly RatioPoint[] {
  if (baselineYear > PATHWAY_BASE_YEAR) return isLast ? [{ year: baselineYear, ratio: 1 }] : [];
  const base = { year: PATHWAY_BASE_YEAR, ratio: 1 };
  return baselineYear === PATHWAY_BASE_YEAR ? [base] : [{ year: baselineYear, ratio: 1 }, base];
}

/** A row of the thermometer. */
export interface ThermometerRow {
  readonly name: string;
  readonly temperatureC: number;
  readonly range: TemperatureRange | undefined;
  readonly climateRange: TemperatureRange | undefined;
  readonly isMean: boolean;
}

/** Returns the temperatures of a result: the mean of all years, then those of the years, then the means over labels. */
export function thermometerRowsOf({ overall, data, blended = [] }: AlignmentResult): readonly ThermometerRow[] {
  const rows: ThermometerRow[] = [];
  if (overall !== undefined && overall !== null) {
    const { temperature_alignment: temperatureC, range } = overall;
    rows.push({ name: "All years", temperatureC, range, climateRange: undefined, isMean: true });
  }
  for (const year of data) {
    const { temperature_alignment: temperatureC, range, climate_range: climateRange } = year;
    if (temperatureC === null) continue;
    rows.push({ name: yearName(year), temperatureC, range, climateRange, isMean: false });
  }
  for (const { year, temperature_alignment: temperatureC, range } of blended) {
    rows.push({ name: `${year}, mean of labels`, temperatureC, range, climateRange: undefined, isMean: true });
  }
  return rows;
}

/** Returns the year and, if there is one, its label. */
export function yearName({ year, label }: Pick<AlignedYear, "year" | "label">): string {
  return label === undefined ? String(year) : `${year}, ${label}`;
}

/** A temperature to show first: that of all years if it was requested, else that of the last year that has one. */
export function headlineOf(result: AlignmentResult): ThermometerRow | undefined {
  const rows = thermometerRowsOf(result);
  const [first] = rows;
  return first?.isMean === true && first.name === "All years" ? first : rows.findLast(({ isMean }) => !isMean);
}
