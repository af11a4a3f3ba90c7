/** Land, coasts and borders of Natural Earth, for orientation: decoded from TopoJSON and drawn on canvases of map tiles. */
import { feature, mesh, type Topology } from "topojson-client";
import { pixelOfLatitude, pixelOfLongitude, TILE_PIXELS, tilesPerEdge } from "../../tiles/mercator.ts";
import type { TileAddress } from "../../tiles/mercator.ts";

/** A line in the square of Web Mercator from 0 to 1: x and y of each point, and the extent. */
interface ProjectedLine {
  readonly points: Float64Array;
  readonly west: number;
  readonly east: number;
  readonly north: number;
  readonly south: number;
}

export interface Outlines {
  /** Closed rings of the land, including those of lakes. */
  readonly land: readonly ProjectedLine[];
  readonly coasts: readonly ProjectedLine[];
  readonly borders: readonly ProjectedLine[];
}

const OUTLINE_COLORS = { sea: "#e4e7ea", land: "#fcfcfa", coast: "#4a5560", border: "#8b949d" } as const;

/** Lines that cross the antimeridian are visible at both edges of the world. */
const COPIES = [-1, 0, 1] as const;

type Position = readonly [longitude: number, latitude: number];

/** Converts the countries of world-atlas. Their lines continue across the antimeridian. */
export function outlinesOf(topology: Topology): Outlines {
  const { countries, land } = topology.objects;
  const polygons = feature(topology, land).features.flatMap(({ geometry }) =>
    geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates,
  );
  const coasts = mesh(topology, land).coordinates;
  const borders = mesh(topology, countries, (a, b) => a !== b).coordinates;
  return {
    land: polygons.flat().map((ring) => project(closeAtPole(unwrap(ring)))),
    coasts: coasts.map((line) => project(unwrap(line))),
    borders: borders.map((line) => project(unwrap(line))),
  };
}

/** Returns a line with longitudes that do not jump at the antimeridian, and may therefore exceed 180 degrees. */
export function unwrap(line: readonly Position[]): readonly Position[] {
  let previous: number | undefined;
  return line.map(([longitude, latitude]) => {
    const turns = previous === undefined ? 0 : Math.round((previous - longitude) / 360);
    previous = longitude + 360 * turns;
    return [previous, latitude];
  });
}

/** Adds the pole to a ring around it, which begins and ends at different copies of the same meridian. */
export function closeAtPole(ring: readonly Position[]): readonly Position[] {
  const [first, last] = [ring[0], ring.at(-1)];
  if (first === undefined || last === undefined || Math.abs(last[0] - first[0]) < 180) return ring;
  const pole = Math.sign(first[1]) * 90;
  return [...ring, [last[0], pole], [first[0], pole]];
}

function project(line: readonly Position[]): ProjectedLine {
  const points = new Float64Array(2 * line.length);
  let [west, east, north, south] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [index, [longitude, latitude]] of line.entries()) {
    const [x, y] = [pixelOfLongitude(0, longitude) / TILE_PIXELS, pixelOfLatitude(0, latitude) / TILE_PIXELS];
    points[2 * index] = x;
    points[2 * index + 1] = y;
    west = Math.min(west, x);
    east = Math.max(east, x);
    north = Math.min(north, y);
    south = Math.max(south, y);
  }
  return { points, west, east, north, south };
}

/** Returns whether the copy of a line that is some worlds further east may be visible in a tile. */
export function touchesTile(line: ProjectedLine, { z, x, y }: TileAddress, world: number): boolean {
  const count = tilesPerEdge(z);
  // Lines are up to 2 pixels wide.
  const margin = 2 / TILE_PIXELS;
  return (
    (line.east + world) * count >= x - margin &&
    (line.west + world) * count <= x + 1 + margin &&
    line.south * count >= y - margin &&
    line.north * count <= y + 1 + margin
  );
}

/** Fills the sea and the land of a tile. */
export function drawLand(canvas: HTMLCanvasElement, { land }: Outlines, tile: TileAddress): void {
  const context = contextOf(canvas);
  context.fillStyle = OUTLINE_COLORS.sea;
  context.fillRect(0, 0, TILE_PIXELS, TILE_PIXELS);
  context.beginPath();
  traceVisible(context, land, tile);
  context.fillStyle = OUTLINE_COLORS.land;
  context.fill("evenodd");
}

/** Draws coasts and borders on a transparent tile. */
export function drawOutlines(canvas: HTMLCanvasElement, { coasts, borders }: Outlines, tile: TileAddress): void {
  const context = contextOf(canvas);
  context.lineJoin = "round";
  for (const [lines, color, width] of [
    [borders, OUTLINE_COLORS.border, 0.8],
    [coasts, OUTLINE_COLORS.coast, 1],
  ] as const) {
    context.beginPath();
    traceVisible(context, lines, tile);
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
  }
}

function traceVisible(context: CanvasRenderingContext2D, lines: readonly ProjectedLine[], tile: TileAddress): void {
  for (const line of lines) {
    for (const world of COPIES) {
      if (touchesTile(line, tile, world)) trace(context, line, tile, world);
    }
  }
}

function trace(
  context: CanvasRenderingContext2D,
  { points }: ProjectedLine,
  { z, x, y }: TileAddress,
  world: number,
): void {
  const pixels = TILE_PIXELS * tilesPerEdge(z);
  for (let i = 0; i < points.length; i += 2) {
    const [left, top] = [
      ((points[i] ?? 0) + world) * pixels - x * TILE_PIXELS,
      (points[i + 1] ?? 0) * pixels - y * TILE_PIXELS,
    ];
    if (i === 0) context.moveTo(left, top);
    else context.lineTo(left, top);
  }
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("the browser has no 2D canvas");
  return context;
}
