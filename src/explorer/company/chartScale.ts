/** Axes of the charts. */

export interface Axis {
  readonly min: number;
  readonly max: number;
  readonly ticks: readonly number[];
}

const STEPS = [1, 2, 2.5, 5, 10] as const;

/** Returns an axis that contains all values, with about `tickCount` ticks at round numbers. */
export function axisOver(values: readonly number[], tickCount: number): Axis {
  const finite = values.filter(Number.isFinite);
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  if (finite.length === 0) return { min: 0, max: 1, ticks: [0, 1] };
  const span = high > low ? high - low : Math.max(Math.abs(high), 1);
  const step = roundStep(span / tickCount);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(Math.ceil(high / step - 1e-9), first + 1);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => roundTick((first + index) * step));
  return { min: roundTick(first * step), max: roundTick(last * step), ticks };
}

function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * (STEPS.find((step) => step * power >= least * (1 - 1e-9)) ?? 10);
}

/** Removes the rounding error of a multiplication: 3 * 0.1 is 0.30000000000000004. */
function roundTick(value: number): number {
  return Number(value.toPrecision(12));
}

/** Returns a function from values of an axis to positions between two ends. */
export function positionOn({ min, max }: Axis, from: number, to: number): (value: number) => number {
  return (value) => from + ((value - min) / (max - min)) * (to - from);
}
