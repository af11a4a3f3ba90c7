import type { Cell, Grid } from "./grid.ts";
import type { Kernel, Region } from "./instance.ts";
import {
  DEMO_COASTAL_FLOODS,
  DEMO_CYCLONES,
  DEMO_LAYER_COUNT,
  DEMO_RIVERINE_FLOODS,
  DEMO_TILE_CELLS,
  DEMO_TILE_NODATA,
  DEMO_TILE_ZERO,
  DEMO_VERSION,
  DEMO_WILDFIRE,
  TILE_SIZE,
} from "./kernel.generated.ts";
import { log, log1p } from "../numerics/elementaryFunctions.ts";

export { DEMO_LAYER_COUNT, DEMO_VERSION };

const HAZARD_CODES = {
  cyclones: DEMO_CYCLONES,
  wildfire: DEMO_WILDFIRE,
  coastal_floods: DEMO_COASTAL_FLOODS,
  riverine_floods: DEMO_RIVERINE_FLOODS,
} as const;

type DemoHazard = keyof typeof HAZARD_CODES;

/** Grid of signed distances to the coast in the kernel's memory. */
export interface DemoLand {
  /** i8[180 * nodesPerDeg + 1][360 * nodesPerDeg], from 90 north and 180 west. */
  readonly codes: Region;
  readonly nodesPerDeg: number;
  /** The distance in km is code x |code| x kmPerCodeSquared, positive on land. */
  readonly kmPerCodeSquared: number;
}

/** One hazard of the synthetic world. */
export interface DemoWorld {
  readonly hazard: DemoHazard;
  readonly land: DemoLand;
  /** Square cells from 90 north and 180 west. */
  readonly grid: Grid;
}

/** What is generated: `warmingC` is in degrees C above the climate of 1980, 0 or more. */
export interface DemoLayers {
  readonly warmingC: number;
  /** The return periods of a curve; undefined for the metrics. */
  readonly curve?: DemoCurve | undefined;
}

/** A tile of 64 x 64 cells. */
export interface DemoTile extends DemoLayers {
  readonly tileRow: number;
  readonly tileColumn: number;
}

/** The return periods of a curve in the kernel's memory. */
export interface DemoCurve {
  /** f64[count]: variates of the return periods minus the variate of 100 years. */
  readonly nodes: Region;
  readonly count: number;
}

/**
 * Copies the return periods of a curve into the kernel's memory, where they stay for the lifetime of the kernel.
 * @param variate in which the curve is linear
 */
export function reserveDemoCurve(
  kernel: Kernel,
  returnPeriodsYears: readonly number[],
  variate: "gumbel" | "log",
): DemoCurve {
  const variateOf = (years: number): number => (variate === "gumbel" ? -log(-log1p(-1 / years)) : log(years));
  const design = variateOf(100);
  const nodes = kernel.reserve(returnPeriodsYears.length * 8);
  kernel.f64(nodes).set(returnPeriodsYears.map((years) => variateOf(years) - design));
  return { nodes, count: returnPeriodsYears.length };
}

/** Returns the number of layers of a generated cell. */
export function demoLayerCount({ curve }: Pick<DemoLayers, "curve">): number {
  return curve?.count ?? DEMO_LAYER_COUNT;
}

/** Copies a grid of coast distances into the kernel's memory, where it stays for the lifetime of the kernel. */
export function reserveDemoLand(
  kernel: Kernel,
  field: { readonly codes: Int8Array; readonly nodesPerDeg: number; readonly kmPerCodeSquared: number },
): DemoLand {
  const { codes, nodesPerDeg, kmPerCodeSquared } = field;
  const size = (180 * nodesPerDeg + 1) * 360 * nodesPerDeg;
  if (codes.length !== size) throw new RangeError(`coast distances must have ${size} nodes (got ${codes.length})`);
  const region = kernel.reserve(size);
  kernel.bytes(region).set(new Uint8Array(codes.buffer, codes.byteOffset, codes.byteLength));
  return { codes: region, nodesPerDeg, kmPerCodeSquared };
}

/** Generates the cells of a tile in `slot`, u16[64][64][layer]. The formula is in assembly/demo.ts. */
export function fillDemoTile(kernel: Kernel, world: DemoWorld, tile: DemoTile, slot: Region): void {
  const sizeBytes = TILE_SIZE * TILE_SIZE * demoLayerCount(tile) * 2;
  if (slot.sizeBytes < sizeBytes)
    throw new RangeError(`slot must have at least ${sizeBytes} bytes (got ${slot.sizeBytes})`);
  const { hazard, land, grid } = world;
  kernel.check(
    kernel.exports.demoTile(
      HAZARD_CODES[hazard],
      tile.warmingC,
      land.codes.pointer,
      land.nodesPerDeg,
      land.kmPerCodeSquared,
      grid.cellSizeLatDeg,
      grid.rowCount,
      grid.columnCount,
      tile.tileRow,
      tile.tileColumn,
      tile.curve?.nodes.pointer ?? 0,
      tile.curve?.count ?? 0,
      slot.pointer,
    ),
    "demoTile",
  );
}

/**
 * Generates single cells, bit for bit equal to those of their tiles.
 *
 * @returns u16[cells.length][layer]
 */
export function makeDemoCells(
  kernel: Kernel,
  world: DemoWorld,
  wanted: DemoLayers & { readonly cells: readonly Cell[] },
): Uint16Array {
  const { hazard, land, grid } = world;
  const { cells, warmingC, curve } = wanted;
  return kernel.withScratch((scratch) => {
    const rows = scratch.reserve(cells.length * 4);
    const columns = scratch.reserve(cells.length * 4);
    const [rowView, columnView] = [kernel.i32(rows), kernel.i32(columns)];
    for (const [i, { row, column }] of cells.entries()) {
      rowView[i] = row;
      columnView[i] = column;
    }
    const out = scratch.reserve(cells.length * demoLayerCount(wanted) * 2);
    kernel.check(
      kernel.exports.demoCells(
        HAZARD_CODES[hazard],
        warmingC,
        land.codes.pointer,
        land.nodesPerDeg,
        land.kmPerCodeSquared,
        grid.cellSizeLatDeg,
        grid.rowCount,
        grid.columnCount,
        rows.pointer,
        columns.pointer,
        cells.length,
        curve?.nodes.pointer ?? 0,
        curve?.count ?? 0,
        out.pointer,
      ),
      "demoCells",
    );
    return kernel.u16(out).slice();
  });
}

/**
 * Returns "zero" or "nodata" if every cell of the tile has this state at any warming, which is determined without
 * generating the cells; otherwise "cells".
 *
 * @throws RangeError if the grid does not have the tile
 */
export function demoTileState(
  kernel: Kernel,
  world: DemoWorld,
  tile: { readonly tileRow: number; readonly tileColumn: number },
): "cells" | "zero" | "nodata" {
  const { hazard, land, grid } = world;
  const state = kernel.exports.demoTileState(
    HAZARD_CODES[hazard],
    land.codes.pointer,
    land.nodesPerDeg,
    land.kmPerCodeSquared,
    grid.cellSizeLatDeg,
    grid.rowCount,
    grid.columnCount,
    tile.tileRow,
    tile.tileColumn,
  );
  if (state === DEMO_TILE_CELLS) return "cells";
  if (state === DEMO_TILE_ZERO) return "zero";
  if (state === DEMO_TILE_NODATA) return "nodata";
  throw new RangeError(`tile row ${tile.tileRow}, column ${tile.tileColumn} is outside the grid`);
}
