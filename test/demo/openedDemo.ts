/** The demo world opened on its own kernel, and functions to read it by place. */
import { openDemo } from "../../src/demo/world.ts";
import type { AtlasHazard, CellSource } from "../../src/atlas/cellSource.ts";
import type { HazardName } from "../../src/hazard/hazards.ts";
import { type Cell, type Grid, locateCell, type Location } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";

/** Layers of each group: intensity, own metric, probability and total. */
export const LAYER_COUNT = 4;

const kernel = await Kernel.load();
export const demo = await openDemo(kernel);

/** Returns a random place, uniformly distributed on the sphere. */
export function randomPlace(random: SeededRandom): Location {
  return { latDeg: (Math.asin(2 * random.next() - 1) * 180) / Math.PI, lonDeg: random.next() * 360 - 180 };
}

export function hazardOf(name: HazardName): AtlasHazard & { readonly source: CellSource } {
  const hazard = demo.hazards.find((item) => item.hazard === name);
  const [source] = hazard?.sources ?? [];
  if (hazard === undefined || source === undefined) throw new Error(`the demo has no ${name}`);
  return { ...hazard, source };
}

export function readCells(name: HazardName, group: number, cells: readonly Cell[]): Uint16Array {
  const { source } = hazardOf(name);
  if (source.readCells === undefined) throw new Error("the demo source does not read single cells");
  return source.readCells(group, cells);
}

export function cellAt(grid: Grid, place: Location): Cell {
  const cell = locateCell(kernel, grid, place);
  if (cell === undefined) throw new Error(`no cell at ${place.latDeg}, ${place.lonDeg}`);
  return cell;
}

export function randomCells(grid: Grid, count: number, seed: number): Cell[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => cellAt(grid, randomPlace(random)));
}

/** Returns the baseline's steps of intensity, own metric, probability and total at a place. */
export function baselineAt(name: HazardName, latDeg: number, lonDeg: number): number[] {
  return [...readCells(name, 0, [cellAt(hazardOf(name).grid, { latDeg, lonDeg })])];
}

export async function loadTile(name: HazardName, group: number, tile: { tileRow: number; tileColumn: number }) {
  const [cells = new Uint16Array()] = await hazardOf(name).source.load([{ group, ...tile }]);
  return cells;
}
