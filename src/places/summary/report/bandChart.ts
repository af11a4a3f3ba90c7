import { html, joinMarkup, type Markup } from "../../../text/markup.ts";
import {
  chartFrame,
  type ChartText,
  type LinearScale,
  px,
  tickLabels,
  valueScale,
  yearLabels,
  yearScale,
  yearsOf,
} from "./reportCharts.ts";
import { formatValue } from "./reportHtml.ts";

/** Quantiles of the values of one year. */
export interface BandPoint {
  readonly year: number;
  readonly q05: number;
  readonly q25: number;
  readonly q50: number;
  readonly q75: number;
  readonly q95: number;
  readonly q99: number;
}

/** A panel of a chart, such as a scenario. */
export interface BandPanel {
  readonly label: string;
  /** Ascending years. */
  readonly points: readonly BandPoint[];
}

const WIDTH = 940;
const HEIGHT = 280;
const PLOT = { top: 46, bottom: 246, left: 56, gap: 26 };
/** Half of the width of the bar of a single year. */
const BAR_HALF_WIDTH = 10;

/** Draws the quantiles of values over years, with one panel for each scenario and a shared vertical axis. */
export function bandChart(panels: readonly BandPanel[], text: ChartText): Markup {
  const points = panels.flatMap((panel) => panel.points);
  const y = valueScale(
    points.flatMap(({ q05, q99 }) => [q05, q99]),
    { low: PLOT.bottom, high: PLOT.top },
  );
  const years = yearsOf(points);
  const panelWidth = (WIDTH - PLOT.left - PLOT.gap * panels.length) / panels.length;
  const drawn = panels.map((panel, index) => {
    const left = PLOT.left + index * (panelWidth + PLOT.gap);
    const x = yearScale(years, { low: left + BAR_HALF_WIDTH, high: left + panelWidth - BAR_HALF_WIDTH });
    return drawPanel(panel, { x, y, left, right: left + panelWidth });
  });
  return chartFrame({ width: WIDTH, height: HEIGHT }, text, [
    legend(),
    tickLabels(y, PLOT.left, formatValue),
    ...drawn,
  ]);
}

function legend(): Markup {
  return html`<g class="legend">
    <rect class="band outer" x="500" y="4" width="18" height="11" /><text x="523" y="14">5 to 95 %</text>
    <rect class="band inner" x="605" y="4" width="18" height="11" /><text x="628" y="14">25 to 75 %</text>
    <path class="median" d="M720 10h18" /><text x="744" y="14">median</text>
    <path class="extreme" d="M815 10h18" /><text x="839" y="14">99 % quantile</text>
  </g>`;
}

function drawPanel(
  { label, points }: BandPanel,
  {
    x,
    y,
    left,
    right,
  }: { readonly x: LinearScale; readonly y: LinearScale; readonly left: number; readonly right: number },
): Markup {
  const at = (year: number, value: number): string => `${px(x.toPixel(year))} ${px(y.toPixel(value))}`;
  const line = (select: (point: BandPoint) => number): string =>
    points.map((point, i) => `${i === 0 ? "M" : "L"}${at(point.year, select(point))}`).join("");
  const band = (low: (point: BandPoint) => number, high: (point: BandPoint) => number): string =>
    points.length === 1
      ? points.map((point) => bar(x.toPixel(point.year), y.toPixel(low(point)), y.toPixel(high(point)))).join("")
      : `${line(high)}${points
          .toReversed()
          .map((point) => `L${at(point.year, low(point))}`)
          .join("")}Z`;
  const grid = y.ticks.map((tick) => `M${px(left)} ${px(y.toPixel(tick))}H${px(right)}`).join("");
  const isSingle = points.length === 1;
  return html`<g>
    <path class="grid" d="${grid}" />
    <path
      class="band outer"
      d="${band(
        ({ q05 }) => q05,
        ({ q95 }) => q95,
      )}"
    />
    <path
      class="band inner"
      d="${band(
        ({ q25 }) => q25,
        ({ q75 }) => q75,
      )}"
    />
    <path class="extreme" d="${isSingle ? marks(points, "q99", x, y) : line(({ q99 }) => q99)}" />
    <path class="median" d="${isSingle ? marks(points, "q50", x, y) : line(({ q50 }) => q50)}" />
    ${joinMarkup(
      points.map(
        (point) =>
          html`<circle class="dot" cx="${px(x.toPixel(point.year))}" cy="${px(y.toPixel(point.q50))}" r="3">
            <title>${point.year}: median ${formatValue(point.q50)}, 99 % ${formatValue(point.q99)}</title>
          </circle>`,
      ),
    )}
    <text class="panel" x="${px((left + right) / 2)}" y="${PLOT.top - 9}">${label}</text>
    ${joinMarkup(
      yearLabels(
        points.map(({ year }) => year),
        x,
        PLOT.bottom,
      ),
    )}
  </g>`;
}

function bar(center: number, low: number, high: number): string {
  return `M${px(center - BAR_HALF_WIDTH)} ${px(high)}h${2 * BAR_HALF_WIDTH}V${px(low)}h${-2 * BAR_HALF_WIDTH}Z`;
}

function marks(points: readonly BandPoint[], quantile: "q50" | "q99", x: LinearScale, y: LinearScale): string {
  return points
    .map(
      (point) =>
        `M${px(x.toPixel(point.year) - BAR_HALF_WIDTH)} ${px(y.toPixel(point[quantile]))}h${2 * BAR_HALF_WIDTH}`,
    )
    .join("");
}
