import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

interface ChartLine {
  readonly title: string;
  /** CSS color, or custom property such as `var(--line-1)`. */
  readonly color: string;
  readonly isDashed?: boolean;
  /** One per x; null where there is no value. */
  readonly values: readonly (number | null)[];
}

export interface LineChartProps {
  readonly x: readonly number[];
  readonly lines: readonly ChartLine[];
  /** Whether the x axis is logarithmic. */
  readonly isLogX?: boolean;
  /** Whether the y axis includes negative numbers; otherwise it begins at 0. */
  readonly isSigned?: boolean;
  readonly formatX: (x: number) => string;
  readonly formatY: (y: number) => string;
  /** A value of x or y that is marked with a line. */
  readonly markedX?: number | undefined;
  readonly markedY?: number | undefined;
}

const HEIGHT_PX = 170;

/** A line chart. The table beside it has the same values, so assistive technology skips the chart. */
export function LineChart(props: LineChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const key = JSON.stringify({ ...props, formatX: undefined, formatY: undefined });
  useEffect(() => {
    const element = container.current;
    if (element === null) return undefined;
    let chart: uPlot | undefined;
    let isDisposed = false;
    const draw = async (): Promise<void> => {
      const { default: Plot } = await import("uplot");
      if (isDisposed) return;
      chart?.destroy();
      chart = new Plot(
        optionsOf(props, element),
        [[...props.x], ...props.lines.map(({ values }) => [...values])],
        element,
      );
    };
    void draw();
    const resized = new ResizeObserver(() => {
      if (chart !== undefined && chart.width !== element.clientWidth && element.clientWidth > 0) {
        chart.setSize({ width: element.clientWidth, height: HEIGHT_PX });
      }
    });
    resized.observe(element);
    // The colors of a canvas do not follow the color scheme.
    const scheme = window.matchMedia("(prefers-color-scheme: dark)");
    const redraw = (): void => void draw();
    scheme.addEventListener("change", redraw);
    const chosen = new MutationObserver(redraw);
    chosen.observe(document.documentElement, { attributes: true });
    return () => {
      isDisposed = true;
      chart?.destroy();
      resized.disconnect();
      chosen.disconnect();
      scheme.removeEventListener("change", redraw);
    };
  }, [key]);
  return <div ref={container} class="chart" aria-hidden="true" />;
}

function optionsOf(
  { lines, isLogX = false, isSigned = false, formatX, formatY, markedX, markedY }: LineChartProps,
  element: HTMLElement,
): uPlot.Options {
  const color = (value: string): string => resolvedColor(element, value);
  const axis: uPlot.Axis = {
    stroke: color("var(--muted)"),
    grid: { stroke: color("var(--border)"), width: 1 },
    ticks: { stroke: color("var(--border)"), width: 1, size: 4 },
    font: "12px system-ui, sans-serif",
  };
  const valueOf = (format: (value: number) => string) => (_: unknown, value: number | null) =>
    value === null ? "none" : format(value);
  return {
    width: Math.max(200, element.clientWidth),
    height: HEIGHT_PX,
    scales: {
      x: { time: false, ...(isLogX ? { distr: 3 as const } : {}) },
      y: {
        range: (_, minimum, maximum) => {
          const [low, high] = [isSigned ? Math.min(0, minimum) : 0, Math.max(0, maximum)];
          const spare = (high - low) * 0.08;
          return high === low ? [0, 1] : [isSigned && low < 0 ? low - spare : low, high + spare];
        },
      },
    },
    axes: [
      { ...axis, size: 32, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : formatX(tick))) },
      { ...axis, size: 48, values: (_, ticks) => ticks.map((tick) => formatY(tick)) },
    ],
    series: [
      { label: "", value: valueOf(formatX) },
      ...lines.map((line) => ({
        label: line.title,
        stroke: color(line.color),
        width: 2,
        ...(line.isDashed === true ? { dash: [5, 4] } : {}),
        spanGaps: false,
        points: { show: true, size: 6, fill: color(line.color) },
        value: valueOf(formatY),
      })),
    ],
    cursor: { drag: { x: false, y: false } },
    legend: { live: true },
    hooks: { draw: [(chart) => drawMarks(chart, { markedX, markedY }, color("var(--warning)"))] },
  };
}

/** Draws the lines of a threshold. */
function drawMarks(
  chart: uPlot,
  { markedX, markedY }: { readonly markedX: number | undefined; readonly markedY: number | undefined },
  color: string,
): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5 * window.devicePixelRatio;
  ctx.setLineDash([4 * window.devicePixelRatio, 4 * window.devicePixelRatio]);
  ctx.beginPath();
  if (markedX !== undefined) {
    const x = chart.valToPos(markedX, "x", true);
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
  }
  if (markedY !== undefined) {
    const y = chart.valToPos(markedY, "y", true);
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
  }
  ctx.stroke();
  ctx.restore();
}

/** Returns a color as the browser computes it, because a canvas knows no custom properties. */
function resolvedColor(element: HTMLElement, value: string): string {
  const previous = element.style.color;
  element.style.color = value;
  const resolved = window.getComputedStyle(element).color;
  element.style.color = previous;
  return resolved;
}
