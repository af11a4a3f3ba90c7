/** The columns of values of a list: the metrics of a hazard, or the value of a return period. */
import type { CatalogHazard, MetricName } from "../../contract/wireTypes.ts";
import { metricLabel, scaleMetricOf } from "../map/layerChoice.ts";
import { type ListQuery, returnPeriodColumn } from "./scoreList.ts";

export interface ListColumn {
  /** Name in files: the metric, or `rp_T`. */
  readonly name: string;
  readonly title: string;
  /** The metric with the unit and the number format. */
  readonly metric: MetricName;
}

/** Returns the columns that a query computes, with that of the map first. */
export function listColumns(
  hazard: CatalogHazard,
  { returnPeriodYears }: Pick<ListQuery, "returnPeriodYears">,
  shownMetric: MetricName,
): readonly ListColumn[] {
  const names =
    returnPeriodYears === undefined
      ? hazard.metrics
          .map(({ metric }) => metric)
          .filter((metric) => metric !== "total_hazard")
          .toSorted((a, b) => Number(b === shownMetric) - Number(a === shownMetric))
      : [returnPeriodColumn(returnPeriodYears)];
  return names.map((name) => ({ name, title: metricLabel(hazard, name), metric: scaleMetricOf(hazard, name) }));
}
