/** Returns a number with four significant digits. */
export function formatValue(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : "-";
}

/** Returns a number with its unit. */
export function formatWithUnit(value: number, unit: string): string {
  return unit === "1" ? formatValue(value) : `${formatValue(value)} ${unit}`;
}

export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** Returns a share as a percentage with one decimal. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`;
}

/** Returns the heading of a column of values. */
export function metricLabel(metric: string, unit: string): string {
  return unit === "1" ? metric : `${metric} [${unit}]`;
}
