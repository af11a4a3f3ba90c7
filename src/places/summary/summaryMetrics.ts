import { METRIC_NAMES } from "../../contract/names.ts";
import { HAZARDS, type HazardName } from "../../hazard/hazards.ts";

/** Columns with a value for each place and group: the metrics, and the probability of reaching a threshold of the user. */
export const SUMMARY_METRICS = [...METRIC_NAMES, "exceedance_probability"] as const;
export type SummaryMetric = (typeof SUMMARY_METRICS)[number];

/** A value at or above which places are counted. */
export interface MetricThreshold {
  readonly metric: SummaryMetric;
  readonly value: number;
}

type StatedRules = Readonly<Record<string, unknown>>;

export function isSummaryMetric(name: string): name is SummaryMetric {
  return (SUMMARY_METRICS as readonly string[]).includes(name);
}

/** Returns whether a hazard can have values of a metric. The columns of the long layout are those of all hazards. */
export function hasMetric(hazard: HazardName, metric: SummaryMetric): boolean {
  return metric === "exceedance_probability" || HAZARDS[hazard].metrics.some((spec) => spec.metric === metric);
}

/** Returns the unit of a metric; "1" means a share or a probability. */
export function unitOfMetric(hazard: HazardName, metric: SummaryMetric): string {
  return HAZARDS[hazard].metrics.find((spec) => spec.metric === metric)?.unit ?? "1";
}

/** Returns the hazard's own metric if it is among those present, else the first of them. */
export function leadingMetric(hazard: HazardName, present: readonly SummaryMetric[]): SummaryMetric | undefined {
  return present.find((metric) => metric === HAZARDS[hazard].ownMetric) ?? present[0];
}

/**
 * Returns the thresholds that the rules of a hazard imply: the threshold of its probability, in its own metric and as
 * intensity, and the probability of the design return period. Without a rule there is no threshold.
 *
 * @param rules rules of the atlas; the default rules of the hazard if undefined
 */
export function impliedThresholds(hazard: HazardName, rules?: StatedRules): readonly MetricThreshold[] {
  const { ownMetric, metrics, rules: defaultRules } = HAZARDS[hazard];
  const stated: StatedRules = rules ?? { ...defaultRules };
  const { threshold, threshold_unit: thresholdUnit, intensity_reference: reference } = stated;
  const designYears = stated["design_return_period_years"];
  const ownUnit = metrics.find(({ metric }) => metric === ownMetric)?.unit;
  return [
    ...(isPositive(threshold) && isPositive(reference) && threshold <= reference
      ? // 12 digits, because 0.3 / 6 is 0.049999999999999996.
        [{ metric: "intensity" as const, value: Number((threshold / reference).toPrecision(12)) }]
      : []),
    ...(isPositive(threshold) && thresholdUnit === ownUnit ? [{ metric: ownMetric, value: threshold }] : []),
    ...(isPositive(designYears) ? [{ metric: "probability" as const, value: 1 / designYears }] : []),
  ];
}

function isPositive(value: unknown): value is number {
  return typeof value === "number" && value > 0;
}
