/** A waterfall as horizontal bars, one below the other. */
import { axisOver, positionOn } from "./chartScale.ts";
import { formatFigure, formatMoney, formatMoneyChange, type MoneyScale } from "./companyFormat.ts";
import { useWidth } from "./companyHooks.ts";
import type { WaterfallStep } from "./waterfall.ts";

const ROW_HEIGHT_PX = 40;
const BAR_HEIGHT_PX = 14;
const LABEL_HEIGHT_PX = 18;
const AXIS_HEIGHT_PX = 26;

interface WaterfallProps {
  readonly steps: readonly WaterfallStep[];
  /** Amounts that the axis contains besides those of the steps, so that several charts have the same axis. */
  readonly axisUsd: readonly number[];
  readonly scale: MoneyScale;
  /** Accessible name. */
  readonly title: string;
}

export function WaterfallChart(props: WaterfallProps) {
  const [ref, widthPx] = useWidth<HTMLDivElement>();
  return (
    <div ref={ref} class="company-chart">
      {widthPx === 0 ? null : <WaterfallSvg {...props} widthPx={widthPx} />}
    </div>
  );
}

function WaterfallSvg({ steps, axisUsd, scale, title, widthPx }: WaterfallProps & { readonly widthPx: number }) {
  const axis = axisOver(
    [0, ...axisUsd, ...steps.flatMap(({ fromUsd, toUsd }) => [fromUsd, toUsd])].map((usd) => usd / scale.divisor),
    4,
  );
  const inner = positionOn(axis, 8, widthPx - 16);
  const x = (usd: number): number => inner(usd / scale.divisor);
  const axisPx = steps.length * ROW_HEIGHT_PX;
  return (
    <svg width={widthPx} height={axisPx + AXIS_HEIGHT_PX} role="img" aria-label={title}>
      {axis.ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={inner(tick)} x2={inner(tick)} y1={0} y2={axisPx} />
          <text class="tick" x={inner(tick)} y={axisPx + 16} text-anchor="middle">
            {formatFigure(tick)}
          </text>
        </g>
      ))}
      {/* Names and values cover the connectors, and bars cover their outline. */}
      {steps.slice(1).map(({ id, fromUsd, toUsd }, index) => (
        <line
          key={id}
          class="connector"
          x1={x(isEnd(id) ? toUsd : fromUsd)}
          x2={x(isEnd(id) ? toUsd : fromUsd)}
          y1={index * ROW_HEIGHT_PX + LABEL_HEIGHT_PX}
          y2={(index + 1) * ROW_HEIGHT_PX + LABEL_HEIGHT_PX + BAR_HEIGHT_PX}
        />
      ))}
      {steps.map(({ id, name, amountUsd, fromUsd, toUsd }, index) => {
        const top = index * ROW_HEIGHT_PX + LABEL_HEIGHT_PX;
        return (
          <g key={id}>
            <text class="bar-name" x={8} y={top - 5}>
              {name}
            </text>
            <text class="bar-value" x={widthPx - 8} y={top - 5} text-anchor="end">
              {isEnd(id) ? formatMoney(amountUsd, scale) : formatMoneyChange(amountUsd, scale)}
            </text>
            <rect
              class={`bar bar-${id} ${isEnd(id) ? "end" : amountUsd > 0 ? "gain" : "loss"}`}
              x={Math.min(x(fromUsd), x(toUsd))}
              y={top}
              width={amountUsd === 0 ? 0 : Math.max(Math.abs(x(toUsd) - x(fromUsd)), 1)}
              height={BAR_HEIGHT_PX}
            />
          </g>
        );
      })}
    </svg>
  );
}

function isEnd(id: WaterfallStep["id"]): boolean {
  return id === "before" || id === "after";
}
