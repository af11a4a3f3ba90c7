/** Names and numbers as the page shows them. Independent of the language of the browser, so that all users see the same text. */
import type { HazardName, MetricName, NoDataReason, Scenario } from "../contract/wireTypes.ts";

const HAZARD_TITLES: Readonly<Record<HazardName, string>> = {
  cyclones: "Cyclones",
  wildfire: "Wildfire",
  coastal_floods: "Coastal floods",
  riverine_floods: "River floods",
};

const SCENARIO_TITLES: Readonly<Record<Scenario, string>> = {
  baseline: "Baseline",
  rcp2p6: "RCP 2.6",
  rcp4p5: "RCP 4.5",
  rcp6p0: "RCP 6.0",
  rcp8p5: "RCP 8.5",
};

interface MetricFormat {
  readonly title: string;
  /** As shown after a number; empty for shares of 1. */
  readonly unit: string;
  /** Factor from the value to the number that is shown. */
  readonly factor: number;
  /** Digits after the point, never more than the steps of the atlas resolve. */
  readonly decimals: number;
  /** Shows at most this many significant digits, without trailing zeros, instead of a fixed number of decimals. */
  readonly significantDigits?: number;
}

const METRIC_FORMATS: Readonly<Record<MetricName, MetricFormat>> = {
  intensity: { title: "Intensity", unit: "", factor: 1, decimals: 3 },
  wind_speed_mps: { title: "Wind speed", unit: "m/s", factor: 1, decimals: 1 },
  fire_danger_days: { title: "Fire danger days", unit: "days/year", factor: 1, decimals: 1 },
  depth_meters: { title: "Flood depth", unit: "m", factor: 1, decimals: 2 },
  probability: { title: "Annual probability", unit: "%", factor: 100, decimals: 3, significantDigits: 3 },
  total_hazard: { title: "Total hazard", unit: "", factor: 1, decimals: 5, significantDigits: 3 },
};

const REASONS: Readonly<Record<NoDataReason, string>> = {
  outside_coverage: "outside the map",
  no_data: "no data in the source",
  layer_missing: "not in this atlas",
};

export function hazardTitle(hazard: HazardName): string {
  return HAZARD_TITLES[hazard];
}

export function scenarioTitle(scenario: Scenario): string {
  return SCENARIO_TITLES[scenario];
}

export function metricTitle(metric: MetricName): string {
  return METRIC_FORMATS[metric].title;
}

/** Returns the unit that follows the numbers of a metric; empty for shares of 1. */
export function metricUnit(metric: MetricName): string {
  return METRIC_FORMATS[metric].unit;
}

/** Returns why there is no value, in words. */
export function reasonText(reason: NoDataReason | undefined): string {
  return reason === undefined ? "no value" : REASONS[reason];
}

/** Returns the number of a metric as text, without its unit; probabilities are percentages. */
export function formatMetricNumber(metric: MetricName, value: number): string {
  const { factor, decimals, significantDigits } = METRIC_FORMATS[metric];
  const shown = value * factor;
  return significantDigits === undefined
    ? formatDecimals(shown, decimals)
    : formatSignificant(shown, { digits: significantDigits, decimalsMax: decimals });
}

/** Returns the number at a tick of an axis, without trailing zeros. */
export function formatMetricTick(metric: MetricName, value: number): string {
  return formatSignificant(value * METRIC_FORMATS[metric].factor, { digits: 4, decimalsMax: 6 });
}

/** Returns a value of a metric with its unit, such as `1.20 m` or `0.5 %`. */
export function formatMetric(metric: MetricName, value: number): string {
  const unit = metricUnit(metric);
  return `${formatMetricNumber(metric, value)}${unit === "" ? "" : ` ${unit}`}`;
}

/** Returns the unit of changes of a metric; changes of probabilities are percentage points. */
export function metricChangeUnit(metric: MetricName): string {
  return metric === "probability" ? "percentage points" : metricUnit(metric);
}

/** Returns the number of a change of a metric, with its sign and without its unit. */
export function formatMetricChangeNumber(metric: MetricName, change: number): string {
  return withSign(formatMetricNumber(metric, change), change);
}

/** Returns a change of a metric, with its sign and its unit. */
export function formatMetricChange(metric: MetricName, change: number): string {
  const unit = metricChangeUnit(metric);
  return `${formatMetricChangeNumber(metric, change)}${unit === "" ? "" : ` ${unit}`}`;
}

/** Adds a plus sign to the number of an increase. */
export function withSign(text: string, change: number): string {
  return change > 0 && !text.startsWith("<") ? `+${text}` : text;
}

/**
 * Returns a number with a fixed number of decimals. A value that would be rounded to 0 is shown as `<0.01`, or as `>-0.01`
 * if it is negative; only an exact 0 is `0`.
 */
export function formatDecimals(value: number, decimals: number): string {
  if (value === 0) return "0";
  const text = groupThousands(Math.abs(value).toFixed(decimals));
  if (Number(text.replaceAll(",", "")) > 0) return value < 0 ? `-${text}` : text;
  const smallest = (10 ** -decimals).toFixed(decimals);
  return value < 0 ? `>-${smallest}` : `<${smallest}`;
}

/** Returns a number rounded to significant digits, without trailing zeros after the point. */
export function formatSignificant(
  value: number,
  { digits, decimalsMax }: { readonly digits: number; readonly decimalsMax: number },
): string {
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  const decimals = Math.max(0, Math.min(decimalsMax, digits - 1 - magnitude));
  const text = formatDecimals(value, decimals);
  return text.includes(".") && !/[<>]/.test(text) ? text.replace(/\.?0+$/, "") : text;
}

/** Returns a share as a percentage; only a share of exactly 1 is `100 %`, and only 0 is `0 %`. */
export function formatShare(share: number): string {
  if (share < 1 && share > 0.999) return ">99.9 %";
  return `${formatSignificant(share * 100, { digits: 3, decimalsMax: 1 })} %`;
}

/** Returns a count with separators of thousands. */
export function formatCount(count: number): string {
  return groupThousands(count.toFixed(0));
}

/** Returns degrees with 5 decimals at most (about 1 m) and the hemisphere, such as `11.589° N, 43.145° E`. */
export function formatLocation({
  latitude,
  longitude,
}: {
  readonly latitude: number;
  readonly longitude: number;
}): string {
  const degrees = (value: number): string => String(Number(Math.abs(value).toFixed(5)));
  return `${degrees(latitude)}° ${latitude < 0 ? "S" : "N"}, ${degrees(longitude)}° ${longitude < 0 ? "W" : "E"}`;
}

function groupThousands(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
