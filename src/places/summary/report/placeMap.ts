import { html, joinMarkup, type Markup } from "../../../text/markup.ts";
import type { ListedPlace } from "../placeList.ts";
import { niceTicks, px } from "./reportCharts.ts";
import { coastlinesIn, type MapWindow } from "./coastlines.ts";
import { formatValue, formatWithUnit, scrollRegion } from "./reportHtml.ts";

const WIDTH = 940;
const LEGEND_HEIGHT = 54;
const HEIGHT_MIN = 360;
const HEIGHT_MAX = 560;
const SPAN_DEG_MIN = 2;
const MARGIN_SHARE = 0.06;

/** A map of a region, equirectangular and true to scale at its middle latitude. */
export interface MapProjection {
  readonly window: MapWindow;
  readonly height: number;
  readonly pixelsPerDegLat: number;
  toX(longitude: number): number;
  toY(latitude: number): number;
}

const LAND_ID = "land";

/** Defines the coastlines, which all maps of a page use. */
export function mapDefinitions(projection: MapProjection): Markup {
  return html`<svg class="definitions" aria-hidden="true">
    <defs><path id="${LAND_ID}" d="${landPath(projection)}" /></defs>
  </svg>`;
}

/** Draws places on a map. The page needs `mapDefinitions` of the same projection. */
export function placeMap(
  places: { readonly sample: readonly ListedPlace[]; readonly top: readonly ListedPlace[] },
  projection: MapProjection,
  colors: ColorClasses,
  text: { readonly id: string; readonly title: string; readonly description: string; readonly unit: string },
): Markup {
  const { height, toX, toY } = projection;
  const top = places.top.filter(isLocated);
  const located = [...places.sample.filter(isLocated), ...top];
  return scrollRegion(
    text.title,
    html`<svg
      class="map"
      viewBox="0 0 ${WIDTH} ${height + LEGEND_HEIGHT}"
      role="img"
      aria-labelledby="${text.id}-title ${text.id}-description"
    >
      <title id="${text.id}-title">${text.title}</title>
      <desc id="${text.id}-description">${text.description}</desc>
      <svg width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">
        <rect class="sea" width="${WIDTH}" height="${height}" />
        <use class="land" href="#${LAND_ID}" />
        ${graticule(projection)} ${pointPaths(located, colors, projection)}
        ${joinMarkup(
          top.map(
            (place, index) =>
              html`<circle class="top" cx="${px(toX(place.longitude))}" cy="${px(toY(place.latitude))}" r="8">
                <title>
                  ${index + 1}. ${place.id ?? `row ${place.rowNumber}`}: ${formatWithUnit(place.value, text.unit)}
                </title>
              </circle>`,
          ),
        )}
      </svg>
      ${legend(colors, height)}
    </svg>`,
  );
}

export function isLocated({ latitude, longitude }: ListedPlace): boolean {
  return Number.isFinite(latitude) && Number.isFinite(longitude);
}

/** Returns a map of the region that the places cover. */
export function mapProjection(places: readonly ListedPlace[]): MapProjection {
  const window = windowAround(places);
  const longitudeScale = longitudeScaleAt((window.south + window.north) / 2);
  const pixelsPerDegLon = WIDTH / (window.east - window.west);
  const pixelsPerDegLat = pixelsPerDegLon / longitudeScale;
  return {
    window,
    height: Math.round((window.north - window.south) * pixelsPerDegLat),
    pixelsPerDegLat,
    toX: (longitude) => (longitude - window.west) * pixelsPerDegLon,
    toY: (latitude) => (window.north - latitude) * pixelsPerDegLat,
  };
}

/** Returns the length of a degree of longitude in degrees of latitude, limited near the poles. */
function longitudeScaleAt(latitude: number): number {
  return Math.max(0.2, Math.cos((latitude * Math.PI) / 180));
}

/** Returns a window around the places, of a height between HEIGHT_MIN and HEIGHT_MAX as far as the world allows it. */
function windowAround(places: readonly ListedPlace[]): MapWindow {
  const extent = places.reduce(
    ({ west, east, south, north }, { latitude, longitude }) => ({
      west: Math.min(west, longitude),
      east: Math.max(east, longitude),
      south: Math.min(south, latitude),
      north: Math.max(north, latitude),
    }),
    { west: Infinity, east: -Infinity, south: Infinity, north: -Infinity },
  );
  const middle = { longitude: (extent.west + extent.east) / 2, latitude: (extent.south + extent.north) / 2 };
  const longitudeScale = longitudeScaleAt(middle.latitude);
  const withMargin = (span: number): number => Math.max(SPAN_DEG_MIN, span * (1 + 2 * MARGIN_SHARE));
  let lonSpan = withMargin(extent.east - extent.west);
  let latSpan = withMargin(extent.north - extent.south);
  const aspect = latSpan / (lonSpan * longitudeScale);
  if (aspect < HEIGHT_MIN / WIDTH) latSpan = (lonSpan * longitudeScale * HEIGHT_MIN) / WIDTH;
  if (aspect > HEIGHT_MAX / WIDTH) lonSpan = (latSpan * WIDTH) / HEIGHT_MAX / longitudeScale;
  const [west, east] = interval(middle.longitude, lonSpan, 180);
  const [south, north] = interval(middle.latitude, latSpan, 90);
  return { west, east, south, north };
}

/** Returns an interval of a length around its middle, moved and cut to be between -limit and limit. */
function interval(middle: number, span: number, limit: number): readonly [number, number] {
  const length = Math.min(span, 2 * limit);
  const start = Math.max(-limit, Math.min(limit - length, middle - length / 2));
  return [start, start + length];
}

function landPath({ window, pixelsPerDegLat, toX, toY }: MapProjection): string {
  return coastlinesIn(window, 0.7 / pixelsPerDegLat)
    .map((ring) => `${ring.map(([lon, lat], i) => `${i === 0 ? "M" : "L"}${px(toX(lon))} ${px(toY(lat))}`).join("")}Z`)
    .join("");
}

function graticule({ window, height, toX, toY }: MapProjection): Markup {
  const { west, east, south, north } = window;
  const meridians = niceTicks(west, east, 8).filter((lon) => lon > west && lon < east);
  const parallels = niceTicks(south, north, 5).filter((lat) => lat > south && lat < north);
  const lines = [
    ...meridians.map((lon) => `M${px(toX(lon))} 0V${height}`),
    ...parallels.map((lat) => `M0 ${px(toY(lat))}H${WIDTH}`),
  ].join("");
  return html`<path class="graticule" d="${lines}" /> ${joinMarkup([
      ...meridians.map(
        (lon) => html`<text class="tick middle" x="${px(toX(lon))}" y="${height - 5}">${degrees(lon, "E", "W")}</text>`,
      ),
      ...parallels.map(
        (lat) => html`<text class="tick" x="4" y="${px(toY(lat) - 3)}">${degrees(lat, "N", "S")}</text>`,
      ),
    ])}`;
}

function degrees(value: number, positive: string, negative: string): string {
  return `${formatValue(Math.abs(value))}°${value === 0 ? "" : ` ${value > 0 ? positive : negative}`}`;
}

/** Draws the places of each class with one path, larger values above smaller ones. */
function pointPaths(places: readonly ListedPlace[], colors: ColorClasses, { toX, toY }: MapProjection): Markup {
  // Places at the same point of the map are drawn once, with the largest value.
  const classByPoint = new Map<string, number>();
  const none = colors.classes.length - 1;
  const rank = (index: number): number => (index === none ? -1 : index);
  for (const { latitude, longitude, value } of places) {
    const point = `${px(toX(longitude))} ${px(toY(latitude))}`;
    const index = colors.indexOf(value);
    const known = classByPoint.get(point);
    if (known === undefined || rank(index) > rank(known)) classByPoint.set(point, index);
  }
  const size = classByPoint.size <= 300 ? "large" : classByPoint.size <= 3000 ? "medium" : "small";
  const drawOrder = [none, ...colors.classes.keys()].slice(0, -1);
  const paths = drawOrder.map((index) => {
    const points = [...classByPoint].filter(([, other]) => other === index).map(([point]) => `M${point}h0`);
    const style = `point ${size} ${colors.classes[index]?.style ?? ""}`;
    return html`<path class="${style}" d="${points.join("")}" />`;
  });
  return joinMarkup(paths.filter(({ html: path }) => !path.includes('d=""')));
}

function legend({ classes }: ColorClasses, top: number): Markup {
  const columnWidth = WIDTH / Math.ceil(classes.length / 2);
  return html`<g class="legend">
    ${joinMarkup(
      classes.map(({ style, label }, index) => {
        const column = index % Math.ceil(classes.length / 2);
        const row = Math.floor(index / Math.ceil(classes.length / 2));
        const [x, y] = [px(8 + column * columnWidth), top + 18 + row * 22];
        return html`<path class="point large ${style}" d="M${x} ${y}h0" /><text x="${x + 12}" y="${y + 4}"
            >${label}</text
          >`;
      }),
    )}
  </g>`;
}

/** Number of colors of the scale in the style sheet. */
const COLOR_COUNT = 7;

/** Values that a map shows in one color. */
interface ColorClass {
  /** Class of the style sheet. */
  readonly style: string;
  readonly label: string;
}

/** Divides values into ranges with a color each. */
interface ColorClasses {
  /** In ascending order of the values; the last class has no value. */
  readonly classes: readonly ColorClass[];
  /** Returns the index of the class of a value; NaN has no value. */
  indexOf(value: number): number;
}

/**
 * Returns classes with round limits. If no value is negative, 0 has its own class. The last range has no upper limit, so
 * that few extreme values do not make all others look the same.
 *
 * @param values values of the places, which may be NaN
 * @param high a large value that is not extreme, such as the quantile 0.99
 */
export function colorClasses(
  values: readonly number[],
  { high, unit }: { readonly high: number; readonly unit: string },
): ColorClasses {
  const present = values.filter((value) => !Number.isNaN(value));
  const minimum = present.reduce((least, value) => Math.min(least, value), Infinity);
  const suffix = unit === "1" ? "" : ` ${unit}`;
  const none = { style: "none", label: "no value" };
  const hasZeroClass = minimum >= 0;
  const low = hasZeroClass ? 0 : minimum;
  const limits = high > low ? niceTicks(low, high, COLOR_COUNT - 1).slice(1, -1) : [];
  const ranges = Array.from({ length: limits.length + 1 }, (_, i) =>
    rangeLabel(limits[i - 1], limits[i], hasZeroClass),
  );
  const colored = ranges.map((label, i) => ({
    style: `c${Math.round((i / Math.max(1, limits.length)) * (COLOR_COUNT - 1))}`,
    label: `${label}${suffix}`,
  }));
  const zero = hasZeroClass ? [{ style: "zero", label: `0${suffix}` }] : [];
  const classes = [...zero, ...colored, none];
  return {
    classes,
    indexOf(value) {
      if (Number.isNaN(value)) return classes.length - 1;
      if (hasZeroClass && value === 0) return 0;
      return zero.length + limits.filter((limit) => value >= limit).length;
    },
  };
}

function rangeLabel(from: number | undefined, to: number | undefined, isPositive: boolean): string {
  if (from === undefined && to === undefined) return isPositive ? "above 0" : "all values";
  if (from === undefined) return `${isPositive ? "above 0, " : ""}below ${formatValue(to ?? NaN)}`;
  return to === undefined ? `${formatValue(from)} or more` : `${formatValue(from)} to ${formatValue(to)}`;
}
