/** Land, coasts and borders of Natural Earth, for orientation: decoded from TopoJSON and drawn on canvases of map tiles. */
import { feature, mesh, type Topology } from "topojson-client";
import { pixelOfLatitude, pixelOfLongitude, TILE_PIXELS, tilesPerEdge } from "../../tiles/mercator.ts";
import type { TileAddress } from "../../tiles/mercator.ts";

/** A line in the square of Web Mercator, whose edges are 0 and 1: x and y of each point, and the extent. */
export interface ProjectedLine {
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

export const OUTLINE_COLORS = { sea: "#e4e7ea", land: "#fcfcfa", coast: "#4a5560", border: "#8b949d" } as const;

type Position = readonly [longitude: number, latitude: number];

/** Converts the countries of world-atlas. */
export function outlinesOf(topology: Topology): Outlines {
  const { countries, land } = topology.objects;
  const polygons = feature(topology, land).features.flatMap(({ geometry }) =>
    geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates,
  );
  const coasts = mesh(topology, land).coordinates.flatMap(withoutFrame);
  const borders = mesh(topology, countries, (a, b) => a !== b).coordinates.flatMap(withoutFrame);
  return { land: polygons.flat().map(project), coasts: coasts.map(project), borders: borders.map(project) };
}

/** Cuts a line where it follows the antimeridian or a pole: those segments only close polygons. */
export function withoutFrame(line: readonly Position[]): readonly (readonly Position[])[] {
  const parts: Position[][] = [];
  let part: Position[] = [];
  for (const [index, point] of line.entries()) {
    const previous = line[index - 1];
    if (previous !== undefined && isOnFrame(previous) && isOnFrame(point)) {
      parts.push(part);
      part = [];
    }
    part.push(point);
  }
  return [...parts, part].filter(({ length }) => length > 1);
}

/** Quantized coordinates differ from 180 and 90 by up to the size of a step. */
function isOnFrame([longitude, latitude]: Position): boolean {
  return Math.abs(longitude) > 179.99 || Math.abs(latitude) > 89.9;
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

/** Returns whether a line may be visible in a tile. */
export function touchesTile(line: ProjectedLine, { z, x, y }: TileAddress): boolean {
  const count = tilesPerEdge(z);
  // Lines are up to 2 pixels wide.
  const margin = 2 / TILE_PIXELS;
  return (
    line.east * count >= x - margin &&
    line.west * count <= x + 1 + margin &&
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
  for (const ring of land) {
    if (touchesTile(ring, tile)) trace(context, ring, tile);
  }
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
    for (const line of lines) {
      if (touchesTile(line, tile)) trace(context, line, tile);
    }
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
  }
}

function trace(context: CanvasRenderingContext2D, { points }: ProjectedLine, { z, x, y }: TileAddress): void {
  const pixels = TILE_PIXELS * tilesPerEdge(z);
  for (let i = 0; i < points.length; i += 2) {
    const [left, top] = [(points[i] ?? 0) * pixels - x * TILE_PIXELS, (points[i + 1] ?? 0) * pixels - y * TILE_PIXELS];
    if (i === 0) context.moveTo(left, top);
    else context.lineTo(left, top);
  }
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("the browser has no 2D canvas");
  return context;
}
