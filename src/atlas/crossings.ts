/** Rows and columns; a map shows the cells where they cross. Indices repeat where several pixels show the same cell. */
export interface Crossings {
  /** -1 outside the grid. */
  readonly rows: Int32Array;
  /** -1 outside the grid. */
  readonly columns: Int32Array;
}

/** The distinct rows and columns in one tile of a tiling. */
export interface CrossedTile {
  readonly row: number;
  readonly column: number;
  /** Position of the first row in this tile among the distinct rows. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** Position of the first column in this tile among the distinct columns. */
  readonly firstColumn: number;
  readonly columnCount: number;
}

/** A run of distinct indices in one tile of a tiling. */
interface TileRun {
  readonly tile: number;
  readonly first: number;
  readonly count: number;
}

/** Steps at the crossings of distinct rows and columns, which are read tile by tile and then copied to each crossing. */
export class CrossedSteps {
  /** In ascending order. */
  readonly rows: Int32Array;
  /** In ascending order. */
  readonly columns: Int32Array;
  /** u16[rows.length][columns.length] */
  readonly steps: Uint16Array;
  readonly #crossings: Crossings;

  constructor(crossings: Crossings) {
    this.#crossings = crossings;
    this.rows = distinctInside(crossings.rows);
    this.columns = distinctInside(crossings.columns);
    this.steps = new Uint16Array(this.rows.length * this.columns.length);
  }

  /** Returns the tiles, of `tileSize` rows and columns, that contain a crossing, row by row. */
  tiles(tileSize: number): readonly CrossedTile[] {
    const columnRuns = runsOf(this.columns, tileSize);
    return runsOf(this.rows, tileSize).flatMap((rows) =>
      columnRuns.map((columns) => ({
        row: rows.tile,
        column: columns.tile,
        firstRow: rows.first,
        rowCount: rows.count,
        firstColumn: columns.first,
        columnCount: columns.count,
      })),
    );
  }

  /** Copies the crossings of a tile from its steps, u16[tileSize][tileSize]. */
  copyFrom(tileSteps: Uint16Array, tile: CrossedTile, tileSize: number): void {
    const { rows, columns, steps } = this;
    const width = columns.length;
    for (let row = tile.firstRow; row < tile.firstRow + tile.rowCount; row++) {
      const from = ((rows[row] as number) % tileSize) * tileSize;
      const to = row * width;
      for (let column = tile.firstColumn; column < tile.firstColumn + tile.columnCount; column++) {
        steps[to + column] = tileSteps[from + ((columns[column] as number) % tileSize)] as number;
      }
    }
  }

  /** Returns the steps of all crossings, u16[row][column], with `outside` where the row or the column is -1. */
  expand(outside: number): Uint16Array {
    const { rows, columns } = this.#crossings;
    const width = columns.length;
    const rowPositions = positionsOf(rows, this.rows);
    const columnPositions = positionsOf(columns, this.columns);
    const out = new Uint16Array(rows.length * width).fill(outside);
    for (let row = 0; row < rows.length; row++) {
      const position = rowPositions[row] as number;
      if (position < 0) continue;
      const to = row * width;
      if (row > 0 && rowPositions[row - 1] === position) {
        out.copyWithin(to, to - width, to);
        continue;
      }
      const from = position * this.columns.length;
      for (let column = 0; column < width; column++) {
        const columnPosition = columnPositions[column] as number;
        if (columnPosition >= 0) out[to + column] = this.steps[from + columnPosition] as number;
      }
    }
    return out;
  }
}

function distinctInside(indices: Int32Array): Int32Array {
  return Int32Array.from(new Set(indices.filter((index) => index >= 0))).toSorted((a, b) => a - b);
}

/** Returns the position of each index in the distinct indices, -1 for -1. */
function positionsOf(indices: Int32Array, distinct: Int32Array): Int32Array {
  const positions = new Map([...distinct].map((index, position) => [index, position]));
  return indices.map((index) => positions.get(index) ?? -1);
}

function runsOf(indices: Int32Array, tileSize: number): readonly TileRun[] {
  const runs: TileRun[] = [];
  for (let first = 0; first < indices.length;) {
    const tile = Math.floor((indices[first] ?? 0) / tileSize);
    let end = first + 1;
    while (end < indices.length && Math.floor((indices[end] ?? 0) / tileSize) === tile) end += 1;
    runs.push({ tile, first, count: end - first });
    first = end;
  }
  return runs;
}
