import type { ScoreResult } from "../../hazard/scoring/scoreRequest.ts";

/** A column of the input that is kept in the output. */
export interface KeptColumn {
  readonly name: string;
  /** `text` also holds what has no simpler type, such as JSON objects, as JSON text. */
  readonly type: "text" | "number" | "integer" | "boolean" | `timestamp[${"ms" | "us" | "ns"}${"" | ", UTC"}]`;
}

/** Integers may be numbers or bigint. Timestamps are bigint: the number of units since 1970. */
export type KeptValue = string | number | bigint | boolean | null;

/** Why a row of the input cannot be scored. */
export interface RowError {
  /** Stable name by which the report counts reasons. */
  readonly reason:
    | "latitude_missing"
    | "latitude_invalid"
    | "longitude_missing"
    | "longitude_invalid"
    | "radius_invalid"
    | "geometry_missing"
    | "geometry_invalid"
    | "row_invalid";
  /** What is wrong and what is accepted, with the name of the column. */
  readonly message: string;
}

/**
 * Consecutive rows of a file of places: ROWS_PER_BLOCK, or fewer if their text is long. A block number and the file determine
 * its content.
 */
export interface PlaceBlock {
  /** Number of the block, from 0. */
  readonly index: number;
  /** Index of its first row in the file. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** Degrees; NaN in invalid rows. */
  readonly latitudes: Float64Array;
  readonly longitudes: Float64Array;
  /** Kilometers; NaN in invalid rows. */
  readonly radiiKm: Float64Array;
  /** Errors of the invalid rows, by index in the block. */
  readonly errors: ReadonlyMap<number, RowError>;
  /** Values of the kept columns, by column and row; all columns of the file, including identifier and location. */
  readonly kept: readonly (readonly KeptValue[])[];
}

/** Number of rows of a block at most. */
export const ROWS_PER_BLOCK = 8192;

/** Returns the size of kept values as text, in characters; numbers count as 8. */
export function keptSizeCharacters(kept: PlaceBlock["kept"]): number {
  let size = 0;
  for (const values of kept) for (const value of values) size += typeof value === "string" ? value.length : 8;
  return size;
}

/** A block with its scores. */
export interface ScoredBlock {
  readonly places: PlaceBlock;
  /** Scores of all rows; invalid rows have no values. */
  readonly scores: ScoreResult;
}
