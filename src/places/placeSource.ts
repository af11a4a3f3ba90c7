import type { KeptColumn, PlaceBlock } from "./scores/placeBlock.ts";

/** Names of the columns that locate and identify places; undefined if the file has none. */
export interface PlaceColumns {
  readonly id: string | undefined;
  /** Undefined if a geometry locates the places. */
  readonly latitude: string | undefined;
  readonly longitude: string | undefined;
  readonly geometry: string | undefined;
  readonly radiusKm: string | undefined;
}

/** Positions among the kept columns; undefined if there is no such column. */
export interface PlaceColumnPositions {
  readonly id: number | undefined;
  /** The coordinates that were scored, also those of a geometry. */
  readonly latitude: number | undefined;
  readonly longitude: number | undefined;
}

/** An open file of places. */
export interface PlaceSource {
  readonly columns: PlaceColumns;
  readonly positions: PlaceColumnPositions;
  /** Columns of the file that are kept, in its order. */
  readonly keptColumns: readonly KeptColumn[];
  /** Names of the columns that are left out, because they have lists, structures or a type that is not supported. */
  readonly omittedColumns: readonly string[];
  /** Undefined if it is known only when all rows have been read. */
  readonly rowCount: number | undefined;
  /** Size of the file, for progress. */
  readonly sizeBytes: number;
  /**
   * Reads the blocks for which `isWanted` is true, in order. May skip the others without parsing their values.
   * @param options.onBytes called with the number of bytes read
   * @throws Fault `invalid_request` naming row and column if the file cannot be read beyond a row
   */
  blocks(options: {
    readonly isWanted: (index: number) => boolean;
    readonly onBytes?: (sizeBytes: number) => void;
    readonly signal?: AbortSignal;
  }): AsyncIterable<PlaceBlock>;
  close(): Promise<void>;
}
