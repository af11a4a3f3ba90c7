import type { CatalogHazard, MetricName, Scenario } from "../../contract/wireTypes.ts";
import { formatMetricTick, metricChangeUnit, metricTitle, metricUnit, scenarioTitle } from "../format.ts";
import { metricMeaning } from "../map/layerChoice.ts";
import { LineChart } from "./lineChart.tsx";
import {
  BASELINE_YEAR,
  type MetricTable,
  metricSeries,
  type MetricValue,
  numberText,
  rangeText,
} from "./placeQuery.ts";

/** Colors of the scenarios in charts, defined in place.css. The lines also differ in their dashes. */
export const SCENARIO_COLORS: Readonly<Record<Scenario, string>> = {
  baseline: "var(--line-baseline)",
  rcp2p6: "var(--line-rcp2p6)",
  rcp4p5: "var(--line-rcp4p5)",
  rcp6p0: "var(--line-rcp6p0)",
  rcp8p5: "var(--line-rcp8p5)",
};

interface MetricSectionProps {
  readonly hazard: CatalogHazard;
  readonly table: MetricTable;
  readonly isChange: boolean;
}

/** A metric by scenario and year: its meaning, a chart and a table. */
export function MetricSection({ hazard, table, isChange }: MetricSectionProps) {
  const { metric } = table;
  const meaning = metricMeaning(hazard, metric);
  const { years, lines } = metricSeries(table);
  const title = metricTitle(metric);
  const unit = isChange ? metricChangeUnit(metric) : metricUnit(metric);
  return (
    <section class="metric" aria-label={title}>
      <h3>
        {title}
        {isChange ? `, change since ${BASELINE_YEAR}` : ""}
        {unit === "" ? "" : ` (${unit})`}
      </h3>
      {meaning === "" ? null : <p class="note">{meaning}</p>}
      {lines.length === 0 ? null : (
        <LineChart
          x={years}
          isSigned={isChange}
          formatX={String}
          formatY={(value) => formatMetricTick(metric, value)}
          lines={lines.map(({ scenario, values }) => ({
            title: scenarioTitle(scenario),
            color: SCENARIO_COLORS[scenario],
            values,
          }))}
        />
      )}
      <ValueTable table={table} isChange={isChange} unit={unit} />
    </section>
  );
}

interface ValueTableProps {
  readonly table: MetricTable;
  readonly isChange: boolean;
  readonly unit: string;
}

function ValueTable({ table, isChange, unit }: ValueTableProps) {
  const { metric, scenarios, rows } = table;
  return (
    <div class="table-frame" role="region" aria-label={`Table of ${metricTitle(metric).toLowerCase()}`} tabIndex={0}>
      <table class="values">
        <caption class="visually-hidden">
          {metricTitle(metric)}
          {isChange ? `, change since ${BASELINE_YEAR},` : ""} by year and scenario{unit === "" ? "" : `, ${unit}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Year</th>
            {scenarios.map((scenario) => (
              <th key={scenario} scope="col">
                {scenarioTitle(scenario)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ year, values }) => (
            <tr key={year}>
              <th scope="row">
                {year}
                {year === BASELINE_YEAR ? " (baseline)" : ""}
              </th>
              {values.map((value, index) => (
                <td key={scenarios[index]} colSpan={year === BASELINE_YEAR ? scenarios.length : 1}>
                  <Value metric={metric} value={value} isChange={isChange} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Value({
  metric,
  value,
  isChange,
}: {
  readonly metric: MetricName;
  readonly value: MetricValue;
  readonly isChange: boolean;
}) {
  const text = numberText(metric, value, isChange);
  if (value.value === null) return <span class="no-value">{text}</span>;
  return (
    <>
      {text}
      {value.range === undefined ? null : <span class="note range">{rangeText(metric, value.range)}</span>}
    </>
  );
}
