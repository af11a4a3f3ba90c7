import { html, joinMarkup, type Markup } from "../../../text/markup.ts";
import { type LinearScale, px } from "./chartScale.ts";
import { scrollRegion } from "./reportHtml.ts";

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
