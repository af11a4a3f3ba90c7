/** Maps values to pixels. */
export interface LinearScale {
  readonly ticks: readonly number[];
  toPixel(value: number): number;
}

/** Returns a scale from 0, or from a negative minimum, to the next tick above the maximum. */
export function valueScale(
  values: readonly number[],
  pixels: { readonly low: number; readonly high: number },
): LinearScale {
  const maximum = Math.max(0, ...values);
  const minimum = Math.min(0, ...values);
  const ticks = niceTicks(minimum, maximum > minimum ? maximum : minimum + 1, 5);
  return { ticks, toPixel: linear([ticks[0] ?? 0, ticks.at(-1) ?? 1], [pixels.low, pixels.high]) };
}

/** Returns a scale of years whose ticks are the years. */
export function yearScale(
  years: readonly number[],
  pixels: { readonly low: number; readonly high: number },
): LinearScale {
  const [first, last] = [Math.min(...years), Math.max(...years)];
  if (first === last) return { ticks: [first], toPixel: () => (pixels.low + pixels.high) / 2 };
  return { ticks: years, toPixel: linear([first, last], [pixels.low, pixels.high]) };
}

/** Returns multiples of 1, 2 or 5 times a power of ten, from at most the minimum to at least the maximum. */
export function niceTicks(minimum: number, maximum: number, countMax: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10((maximum - minimum) / countMax));
  const step =
    [1, 2, 5, 10].map((factor) => factor * power).find((size) => (maximum - minimum) / size <= countMax) ?? 1;
  const first = Math.floor(minimum / step + 1e-9);
  const last = Math.ceil(maximum / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function linear([from, to]: readonly [number, number], [low, high]: readonly [number, number]) {
  return (value: number): number => low + ((value - from) / (to - from)) * (high - low);
}

/** Rounds to a tenth of a pixel. */
export function px(pixel: number): number {
  return Math.round(pixel * 10) / 10 + 0;
}
