import type { CircleCells } from "../kernel/geodesy.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";

/** Row and column of a tile in its grid. */
export interface CircleTile {
  readonly tileRow: number;
  readonly tileColumn: number;
}

/** Returns the tiles that contain cells of the circle, north to south, then west to east. */
export function tilesInCircle({ spans }: CircleCells): CircleTile[] {
  const columnsByRow = new Map<number, Set<number>>();
  for (let i = 0; i < spans.length; i += 3) {
    const tileRow = Math.floor((spans[i] ?? 0) / TILE_SIZE);
    let columns = columnsByRow.get(tileRow);
    if (columns === undefined) columnsByRow.set(tileRow, (columns = new Set()));
    const last = Math.floor((spans[i + 2] ?? 0) / TILE_SIZE);
    for (let column = Math.floor((spans[i + 1] ?? 0) / TILE_SIZE); column <= last; column++) columns.add(column);
  }
  return [...columnsByRow].flatMap(([tileRow, columns]) =>
    [...columns].toSorted((a, b) => a - b).map((tileColumn) => ({ tileRow, tileColumn })),
  );
}
