/** Charts of the alignment view: the thermometer, and the company against the pathways of the benchmark. */
import { type AlignmentPathways, type CompanyPathway, type ThermometerRow } from "./alignmentSeries.ts";
import type { Anchor } from "../../contract/wireTypes.ts";
import { axisOver, positionOn } from "./chartScale.ts";
import { formatTemperature, formatTemperatureRange } from "./companyFormat.ts";
import { useWidth } from "./companyHooks.ts";

const CHART_HEIGHT_PX = 320;
const MARGIN = { top: 14, right: 34, bottom: 30, left: 44 };
/** Length of the dash that is drawn for a pathway with a single point. */
const POINT_WIDTH_PX = 24;
/** Narrower charts have fewer ticks and no values at the points. */
const NARROW_PX = 480;

interface PathwayChartProps {
  readonly pathways: AlignmentPathways;
  /** Temperature by the year and label of a point of the company, if it has one. */
  readonly temperatureAt: (label: string | undefined, projectedYear: number) => number | undefined;
  readonly titleId: string;
}

export function PathwayChart({ pathways, temperatureAt, titleId }: PathwayChartProps) {
  const [ref, widthPx] = useWidth<HTMLDivElement>();
  return (
    <div ref={ref} class="company-chart">
      {widthPx === 0 ? null : <PathwaySvg {...{ pathways, temperatureAt, titleId, widthPx }} />}
    </div>
  );
}

function PathwaySvg({ pathways, temperatureAt, titleId, widthPx }: PathwayChartProps & { readonly widthPx: number }) {
  const points = [...pathways.scenarios, ...pathways.company].flatMap(
    (line): readonly { year: number; ratio: number }[] => line.points,
  );
  const isNarrow = widthPx < NARROW_PX;
  const years = axisOver(
    points.map(({ year }) => year),
    isNarrow ? 4 : 8,
  );
  const yearAxis = {
    ...years,
    min: Math.min(...points.map(({ year }) => year)),
    max: Math.max(...points.map(({ year }) => year)),
  };
  const ratioAxis = axisOver([0, ...points.map(({ ratio }) => ratio)], 5);
  const x = positionOn(yearAxis, MARGIN.left, widthPx - MARGIN.right);
  const y = positionOn(ratioAxis, CHART_HEIGHT_PX - MARGIN.bottom, MARGIN.top);
  const path = (line: readonly { readonly year: number; readonly ratio: number }[]): string =>
    line
      .map(({ year, ratio }, index) => `${index === 0 ? "M" : "L"}${x(year).toFixed(1)} ${y(ratio).toFixed(1)}`)
      .join("");
  return (
    <svg width={widthPx} height={CHART_HEIGHT_PX} role="img" aria-labelledby={titleId}>
      {ratioAxis.ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={MARGIN.left} x2={widthPx - MARGIN.right} y1={y(tick)} y2={y(tick)} />
          <text class="tick" x={MARGIN.left - 6} y={y(tick)} dy="0.32em" text-anchor="end">
            {tick}
          </text>
        </g>
      ))}
      {yearAxis.ticks
        .filter((tick) => Number.isInteger(tick) && tick >= yearAxis.min && tick <= yearAxis.max)
        .map((tick) => (
          <g key={tick}>
            <line
              class="tick-mark"
              x1={x(tick)}
              x2={x(tick)}
              y1={CHART_HEIGHT_PX - MARGIN.bottom}
              y2={CHART_HEIGHT_PX - MARGIN.bottom + 4}
            />
            <text class="tick" x={x(tick)} y={CHART_HEIGHT_PX - MARGIN.bottom + 18} text-anchor="middle">
              {tick}
            </text>
          </g>
        ))}
      {pathways.scenarios.slice(1).map(({ scenario, points: upper }, index) => {
        const lower = pathways.scenarios[index]?.points ?? [];
        return (
          <path
            key={scenario}
            class={`band band-${index + 1}`}
            d={`${path(lower)}${path(upper.toReversed()).replace("M", "L")}Z`}
          />
        );
      })}
      {pathways.scenarios.map(({ scenario, points: line }, index) => (
        <g key={scenario} class={`pathway pathway-${index}`}>
          <path d={path(line)} />
          {/* A line with a single point would not be visible. */}
          {line.length === 1
            ? line.map(({ year, ratio }) => (
                <path key={year} d={`M${x(year) - POINT_WIDTH_PX / 2} ${y(ratio)}h${POINT_WIDTH_PX}`} />
              ))
            : null}
        </g>
      ))}
      {pathways.company.map((line, index) => (
        <CompanyLine
          key={line.label ?? ""}
          {...{ line, index, x, y, isNarrow, temperatureAt }}
          isOnly={pathways.company.length === 1}
          d={path(line.points)}
        />
      ))}
    </svg>
  );
}

interface CompanyLineProps {
  readonly line: CompanyPathway;
  readonly index: number;
  readonly d: string;
  readonly x: (year: number) => number;
  readonly y: (ratio: number) => number;
  readonly isNarrow: boolean;
  /** Whether the company has no other line. */
  readonly isOnly: boolean;
  readonly temperatureAt: PathwayChartProps["temperatureAt"];
}

function CompanyLine({ line, index, d, x, y, isNarrow, isOnly, temperatureAt }: CompanyLineProps) {
  return (
    <g class={`company-line company-${index % 3}`}>
      <path d={d} />
      {line.points.map(({ year, ratio, projectedYear }, point) => {
        const isLast = point === line.points.length - 1;
        // Values of points that are close together would cover each other.
        const hasValue = point > 0 && !isNarrow && (isLast || (isOnly && projectedYear === year));
        const temperatureC = hasValue ? temperatureAt(line.label, projectedYear) : undefined;
        return (
          <g key={`${projectedYear} ${point}`}>
            <circle class={projectedYear === year ? undefined : "extrapolated"} cx={x(year)} cy={y(ratio)} r={4} />
            {temperatureC === undefined ? null : (
              <text class="point-value" x={x(year)} y={y(ratio) - 10} text-anchor="middle">
                {formatTemperature(temperatureC)} °C
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

/** Names of the lines of the pathway chart. */
export function PathwayLegend({ pathways }: { readonly pathways: AlignmentPathways }) {
  return (
    <ul class="company-legend">
      {pathways.company.map(({ label }, index) => (
        <li key={label ?? ""}>
          <LineSample name={`company-line company-${index % 3}`} hasPoint />
          {label ?? "Company"}
        </li>
      ))}
      {pathways.scenarios.map(({ scenario, temperatureC }, index) => (
        <li key={scenario}>
          <LineSample name={`pathway pathway-${index}`} />
          {scenario}, {formatTemperature(temperatureC)} °C
        </li>
      ))}
    </ul>
  );
}

function LineSample({ name, hasPoint }: { readonly name: string; readonly hasPoint?: boolean }) {
  return (
    <svg width={28} height={12} aria-hidden="true">
      <g class={name}>
        <path d="M1 6L27 6" />
        {hasPoint === true ? <circle cx={14} cy={6} r={4} /> : null}
      </g>
    </svg>
  );
}

const ROW_HEIGHT_PX = 34;
const THERMOMETER_TOP_PX = 24;
const THERMOMETER_BOTTOM_PX = 36;
/** Width for the names of the rows. */
const NAME_WIDTH_PX = { min: 60, max: 170, perCharacter: 7.5 };

interface ThermometerProps {
  readonly rows: readonly ThermometerRow[];
  readonly anchors: readonly Anchor[];
  readonly titleId: string;
}

/** Temperatures with their ranges, and the scenarios of the benchmark as lines. */
export function Thermometer({ rows, anchors, titleId }: ThermometerProps) {
  const [ref, widthPx] = useWidth<HTMLDivElement>();
  return (
    <div ref={ref} class="company-chart">
      {widthPx === 0 ? null : <ThermometerSvg {...{ rows, anchors, titleId, widthPx }} />}
    </div>
  );
}

function ThermometerSvg({ rows, anchors, titleId, widthPx }: ThermometerProps & { readonly widthPx: number }) {
  const values = [
    ...rows.flatMap(({ temperatureC, range, climateRange }) => [
      temperatureC,
      ...(range === undefined ? [] : [range.low, range.high]),
      ...(climateRange === undefined ? [] : [climateRange.low, climateRange.high]),
    ]),
    ...anchors.map(({ temperature_2100_c }) => temperature_2100_c),
    1,
  ];
  const axis = axisOver(values, widthPx < NARROW_PX ? 4 : 8);
  const longest = Math.max(...rows.map(({ name }) => name.length)) * NAME_WIDTH_PX.perCharacter;
  const x = positionOn(axis, Math.min(Math.max(longest, NAME_WIDTH_PX.min), NAME_WIDTH_PX.max), widthPx - 24);
  const bottomPx = THERMOMETER_TOP_PX + rows.length * ROW_HEIGHT_PX;
  return (
    <svg width={widthPx} height={bottomPx + THERMOMETER_BOTTOM_PX} role="img" aria-labelledby={titleId}>
      {axis.ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={x(tick)} x2={x(tick)} y1={THERMOMETER_TOP_PX} y2={bottomPx} />
          <text class="tick" x={x(tick)} y={bottomPx + 18} text-anchor="middle">
            {tick} °C
          </text>
        </g>
      ))}
      {anchors.map(({ scenario, temperature_2100_c: temperatureC }, index) => (
        <line
          key={scenario}
          class={`pathway pathway-${index}`}
          x1={x(temperatureC)}
          x2={x(temperatureC)}
          y1={THERMOMETER_TOP_PX - 6}
          y2={bottomPx}
        />
      ))}
      {rows.map((row, index) => {
        const y = THERMOMETER_TOP_PX + (index + 0.5) * ROW_HEIGHT_PX;
        const { name, temperatureC, range, climateRange, isMean } = row;
        return (
          <g key={name} class={isMean ? "mean" : undefined}>
            <text class="row-name" x={0} y={y} dy="0.32em">
              {name}
            </text>
            {climateRange === undefined ? null : (
              <line class="climate-range" x1={x(climateRange.low)} x2={x(climateRange.high)} y1={y} y2={y} />
            )}
            {range === undefined ? null : <line class="range" x1={x(range.low)} x2={x(range.high)} y1={y} y2={y} />}
            <circle class="value" cx={x(temperatureC)} cy={y} r={isMean ? 6 : 5} />
            <text class="point-value" x={x(temperatureC)} y={y - 9} text-anchor="middle">
              {formatTemperature(temperatureC)}
            </text>
            <title>{rowTitle(row)}</title>
          </g>
        );
      })}
    </svg>
  );
}

function rowTitle({ name, temperatureC, range }: ThermometerRow): string {
  return `${name}: ${formatTemperature(temperatureC)} °C${range === undefined ? "" : ` (${formatTemperatureRange(range)} °C)`}`;
}
