import { html, joinMarkup, type Markup } from "../../../text/markup.ts";
import {
  chartFrame,
  type ChartText,
  px,
  tickLabels,
  valueScale,
  yearLabels,
  yearScale,
  yearsOf,
} from "./reportCharts.ts";

/** Shares of places over years under a scenario. */
export interface ShareLine {
  readonly label: string;
  /** Ascending years; shares from 0 to 1. */
  readonly points: readonly { readonly year: number; readonly share: number }[];
}

const WIDTH = 940;
const HEIGHT = 270;
const PLOT = { top: 34, bottom: 236, left: 56, right: 770 };
const LABEL_DISTANCE_MIN = 15;
/** Number of line styles in the style sheet. */
const STYLE_COUNT = 5;

/** Draws shares of places over years, one line for each scenario, labeled at its end. */
export function shareChart(lines: readonly ShareLine[], text: ChartText): Markup {
  const points = lines.flatMap((line) => line.points);
  const y = valueScale(
    points.map(({ share }) => share * 100),
    { low: PLOT.bottom, high: PLOT.top },
  );
  const years = yearsOf(points);
  const x = yearScale(years, { low: PLOT.left + 10, high: PLOT.right - 10 });
  const grid = y.ticks.map((tick) => `M${PLOT.left} ${px(y.toPixel(tick))}H${PLOT.right}`).join("");
  const labelPixels = spread(lines.map((line) => y.toPixel((line.points.at(-1)?.share ?? 0) * 100)));
  const drawn = lines.map((line, index) => {
    const style = `line s${index % STYLE_COUNT}`;
    const at = line.points.map(({ year, share }) => [px(x.toPixel(year)), px(y.toPixel(share * 100))] as const);
    const last = at.at(-1) ?? [0, 0];
    const labelY = px(labelPixels[index] ?? 0);
    return html`<g class="${style}">
      <path d="${at.map(([pointX, pointY], i) => `${i === 0 ? "M" : "L"}${pointX} ${pointY}`).join("")}" />
      ${joinMarkup(at.map(([pointX, pointY]) => html`<circle cx="${pointX}" cy="${pointY}" r="3.5" />`))}
      <path class="leader" d="M${last[0] + 6} ${last[1]}L${PLOT.right + 4} ${labelY}" />
      <text x="${PLOT.right + 8}" y="${px(labelY + 4)}">${line.label}</text>
    </g>`;
  });
  return chartFrame({ width: WIDTH, height: HEIGHT }, text, [
    html`<path class="grid" d="${grid}" />`,
    tickLabels(y, PLOT.left, (tick) => `${tick} %`),
    ...drawn,
    ...yearLabels(years, x, PLOT.bottom),
  ]);
}

/** Moves positions apart so that labels do not overlap, within the plot. */
function spread(pixels: readonly number[]): readonly number[] {
  const order = [...pixels.keys()].toSorted((a, b) => (pixels[b] ?? 0) - (pixels[a] ?? 0));
  const spreadPixels = [...pixels];
  let limit = PLOT.bottom;
  for (const index of order) {
    spreadPixels[index] = Math.min(limit, pixels[index] ?? 0);
    limit = (spreadPixels[index] ?? 0) - LABEL_DISTANCE_MIN;
  }
  return spreadPixels;
}
