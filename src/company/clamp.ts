/** Returns the value limited to the range, bounds included. */
export function clamp(value: number, [min, max]: readonly [min: number, max: number]): number {
  return Math.max(min, Math.min(max, value));
}
