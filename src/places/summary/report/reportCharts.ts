/** Scales and frames of charts. */
import { html, joinMarkup, type Markup } from "../../../text/markup.ts";
import { scrollRegion } from "./reportHtml.ts";

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

/** What is written about a chart. */
export interface ChartText {
  /** Prefix of the ids of title and description. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly axis: string;
}

/** Returns a chart with its title and description for screen readers, and the name of its vertical axis. */
export function chartFrame(
  { width, height }: { readonly width: number; readonly height: number },
  text: ChartText,
  content: readonly Markup[],
): Markup {
  return scrollRegion(
    text.title,
    html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${text.id}-title ${text.id}-description">
      <title id="${text.id}-title">${text.title}</title>
      <desc id="${text.id}-description">${text.description}</desc>
      <text class="axis" x="0" y="14">${text.axis}</text>
      ${joinMarkup(content)}
    </svg>`,
  );
}

/** Returns the distinct years of points, ascending. */
export function yearsOf(points: readonly { readonly year: number }[]): readonly number[] {
  return [...new Set(points.map(({ year }) => year))].toSorted((a, b) => a - b);
}

/** Returns the labels of the ticks of a vertical axis, at the left of a plot that begins at `left`. */
export function tickLabels(y: LinearScale, left: number, format: (tick: number) => string): Markup {
  return joinMarkup(
    y.ticks.map(
      (tick) => html`<text class="tick end" x="${left - 8}" y="${px(y.toPixel(tick) + 4)}">${format(tick)}</text>`,
    ),
  );
}

/** Returns the labels of the years, without those that would overlap the previous one. */
export function yearLabels(years: readonly number[], x: LinearScale, bottom: number): readonly Markup[] {
  const labels: Markup[] = [];
  let lastPixel = -Infinity;
  for (const year of years) {
    const pixel = x.toPixel(year);
    if (pixel - lastPixel < 34) continue;
    lastPixel = pixel;
    labels.push(html`<text class="tick middle" x="${px(pixel)}" y="${bottom + 18}">${year}</text>`);
  }
  return labels;
}
