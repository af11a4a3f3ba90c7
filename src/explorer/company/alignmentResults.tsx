/** Results of the alignment view: temperature, charts, and the same figures as tables. */
import type { AlignedYear, AlignmentInclude, AlignmentResult } from "../../contract/wireTypes.ts";
import { PathwayChart, PathwayLegend, Thermometer } from "./alignmentCharts.tsx";
import { alignmentPathwaysOf, headlineOf, thermometerRowsOf } from "./alignmentSeries.ts";
import { BudgetTable, FlagList, PathwayTable, TemperatureTable } from "./alignmentTables.tsx";
import { formatTemperature, formatTemperatureRange } from "./companyFormat.ts";

const QUANTITY_NAMES = {
  intensity: "Emissions intensity",
  emissions: "Emissions",
  cumulative: "Mean emissions since the baseline",
} as const;
const GROWTH_NAMES = {
  supplied: "the revenue that you gave",
  country: "the economy of the country",
  region: "the economy of the region",
  default: "the economies of the benchmark, because neither revenue nor a known country is given",
} as const;

interface ResultsProps {
  readonly result: AlignmentResult;
  readonly baselineYear: number;
  readonly include: readonly AlignmentInclude[];
  readonly method: string;
  readonly benchmark: string;
}

export function AlignmentResults({ result, baselineYear, include, method, benchmark }: ResultsProps) {
  const pathways = alignmentPathwaysOf(result, baselineYear);
  const shown = {
    ...result,
    ...(include.includes("overall") ? {} : { overall: null }),
    data: result.data.map((year) => shownYear(year, include)),
  };
  const rows = thermometerRowsOf(shown);
  const [detail] = result.data.flatMap((year) => year.detail ?? []);
  return (
    <>
      <AlignmentHeadline result={shown} />
      {rows.length === 0 || detail === undefined ? null : (
        <figure>
          <figcaption id="thermometer-title">Implied warming in 2100, °C above 1850-1900</figcaption>
          <Thermometer rows={rows} anchors={detail.anchors} titleId="thermometer-title" />
          <p class="hint">
            Thick bar: emissions 5 % lower or higher.
            {include.includes("climate_range")
              ? " Thin bar: 10th to 90th percentile of the climate response."
              : ""}{" "}
            Vertical lines: the scenarios below.
          </p>
        </figure>
      )}
      {detail === undefined || pathways.scenarios.length === 0 ? null : (
        <figure>
          <figcaption id="pathways-title">
            {QUANTITY_NAMES[detail.basis]} of the company against the pathways, {baselineYear} = 1
          </figcaption>
          <PathwayChart
            pathways={pathways}
            titleId="pathways-title"
            temperatureAt={(label, projectedYear) =>
              result.data.find((year) => year.label === label && year.year === projectedYear)?.temperature_alignment ??
              undefined
            }
          />
          <PathwayLegend pathways={pathways} />
          <p class="hint">
            Pathways have the company's mix of sectors and are computed for the years of the projection; lines connect
            them.
            {pathways.scenarios.some(({ points }) => points[0]?.year !== baselineYear)
              ? " After 2025, the response has no pathways in the baseline year, where only that of Current Policies is 1."
              : ""}
            {detail.basis === "intensity"
              ? " The company's ratio is adjusted for its growth compared with that of the benchmark."
              : ""}
            {result.data.some((year) => year.flags?.includes("short_horizon") === true)
              ? " Hollow points are extrapolated from an earlier year."
              : ""}
          </p>
        </figure>
      )}
      <TemperatureTable result={shown} include={include} />
      <FlagList result={result} />
      {include.includes("budget") ? <BudgetTable data={result.data} /> : null}
      <PathwayTable pathways={pathways} />
      {detail === undefined ? null : (
        <details>
          <summary>How it was computed</summary>
          <dl class="facts">
            <dt>Pathway</dt>
            <dd>
              {detail.pathway}
              {detail.matched.key === null
                ? " (nothing matched)"
                : ` (matched “${detail.matched.key}” in the ${detail.matched.on ?? "name"})`}
            </dd>
            <dt>Pathway of each scope</dt>
            <dd>
              {Object.entries(detail.scope_pathways)
                .map(([scope, pathway]) => `${scope}: ${pathway}`)
                .join(", ") || "no usable scope"}
            </dd>
            <dt>Growth</dt>
            <dd>
              {detail.growth.source === null ? "not used by this basis" : `from ${GROWTH_NAMES[detail.growth.source]}`}
            </dd>
            <dt>Method and benchmark</dt>
            <dd>
              {method}, {benchmark}
            </dd>
            <dt>Source</dt>
            <dd>{detail.credit}</dd>
          </dl>
        </details>
      )}
    </>
  );
}

/** Removes members that only `detail` added. */
function shownYear(
  { climate_range, by_scope, budget, ...year }: AlignedYear,
  include: readonly AlignmentInclude[],
): AlignedYear {
  return {
    ...year,
    ...(climate_range !== undefined && include.includes("climate_range") ? { climate_range } : {}),
    ...(by_scope !== undefined && include.includes("by_scope") ? { by_scope } : {}),
    ...(budget !== undefined && include.includes("budget") ? { budget } : {}),
  };
}

/** The temperature to read first. */
function AlignmentHeadline({ result }: { readonly result: AlignmentResult }) {
  const headline = headlineOf(result);
  if (headline === undefined) {
    return <p class="company-headline">No temperature: see the reason for each year in the table.</p>;
  }
  const { name, temperatureC, range } = headline;
  return (
    <p class="company-headline">
      <span class="company-headline-value">{formatTemperature(temperatureC)} °C</span>{" "}
      <span>
        {name === "All years" ? "all years together" : name}
        {range === undefined ? "" : `, range ${formatTemperatureRange(range)} °C`}
      </span>
    </p>
  );
}
