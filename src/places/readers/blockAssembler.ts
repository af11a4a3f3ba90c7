import {
  type KeptColumn,
  type KeptValue,
  type PlaceBlock,
  type RowError,
  ROWS_PER_BLOCK,
} from "../scores/placeBlock.ts";
import { type CoordinateColumn, coordinateError, isInLimits, LIMITS, numberIn } from "./coordinates.ts";
import type { PlaceColumnIndices } from "./placeColumnNames.ts";

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
interface PlaceColumnPositions {
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

/** Where the places of a file are. */
export interface PlaceLayout {
  readonly keptColumns: readonly KeptColumn[];
  readonly indices: PlaceColumnIndices;
  /** Columns of coordinates that were read from a geometry, whose errors name the geometry. */
  readonly geometry?: { readonly name: string; readonly latitude: number; readonly longitude: number };
  /** Radius of places without a radius of their own. Undefined rejects empty cells of a radius column; points otherwise. */
  readonly radiusKm: number | undefined;
}

/** Returns the names of the columns that locate and identify places. */
export function placeColumnsOf({ keptColumns, indices, geometry }: PlaceLayout): PlaceColumns {
  const nameOf = (index: number | undefined) => (index === undefined ? undefined : keptColumns[index]?.name);
  return {
    id: nameOf(indices.id),
    latitude: nameOf(indices.latitude),
    longitude: nameOf(indices.longitude),
    geometry: geometry?.name,
    radiusKm: nameOf(indices.radiusKm),
  };
}

/** Returns the positions of the columns with which the places of the output are identified and located. */
export function placePositionsOf({ indices, geometry }: PlaceLayout): PlaceColumnPositions {
  const { latitude, longitude } = geometry ?? indices;
  return { id: indices.id, latitude, longitude };
}

/** A block ends with the row with which its text has this size, if it has not ended before. */
export const BLOCK_SIZE_CHARACTERS = 16 << 20;

/** Collects the rows of a file into blocks. */
export class BlockAssembler {
  readonly #layout: PlaceLayout;
  readonly #isWanted: (index: number) => boolean;
  #index = 0;
  #firstRow = 0;
  #rowCount = 0;
  #sizeCharacters = 0;
  #wantsRow: boolean | undefined;
  #kept: KeptValue[][] = [];
  #errors = new Map<number, RowError>();

  constructor(layout: PlaceLayout, isWanted: (index: number) => boolean) {
    this.#layout = layout;
    this.#isWanted = isWanted;
  }

  /** Whether the block of the next row is wanted. Other rows are skipped. */
  get wantsRow(): boolean {
    this.#wantsRow ??= this.#isWanted(this.#index);
    return this.#wantsRow;
  }

  /**
   * Adds a row. Missing values at its end are null.
   * @param sizeCharacters size of the row in the file
   * @returns the block that the row completes
   */
  add(
    values: readonly (KeptValue | undefined)[],
    sizeCharacters: number,
    error: RowError | undefined,
  ): PlaceBlock | undefined {
    const columnCount = this.#layout.keptColumns.length;
    if (this.#rowCount === 0) this.#kept = Array.from({ length: columnCount }, () => []);
    for (let column = 0; column < columnCount; column++) this.#kept[column]?.push(values[column] ?? null);
    if (error !== undefined) this.#errors.set(this.#rowCount, error);
    return this.#countRow(sizeCharacters) ? this.end() : undefined;
  }

  /** Counts a row that is not wanted. */
  skip(sizeCharacters: number): void {
    if (this.#countRow(sizeCharacters)) this.end();
  }

  /** @returns whether the row completes the block */
  #countRow(sizeCharacters: number): boolean {
    this.#rowCount++;
    this.#sizeCharacters += sizeCharacters;
    return this.#rowCount === ROWS_PER_BLOCK || this.#sizeCharacters >= BLOCK_SIZE_CHARACTERS;
  }

  /** Returns the last block, if it has rows and is wanted. */
  end(): PlaceBlock | undefined {
    const [index, firstRow, rowCount, kept, errors] = [
      this.#index,
      this.#firstRow,
      this.#rowCount,
      this.#kept,
      this.#errors,
    ];
    const isReturned = rowCount > 0 && this.wantsRow;
    this.#index++;
    this.#firstRow += rowCount;
    this.#rowCount = 0;
    this.#sizeCharacters = 0;
    this.#wantsRow = undefined;
    this.#kept = [];
    this.#errors = new Map();
    return isReturned ? placeBlockOf({ index, firstRow, rowCount, kept, errors, layout: this.#layout }) : undefined;
  }
}

/**
 * Builds a block from the values of its columns.
 * @param errors rows whose error is known already; errors of coordinates are added
 */
export function placeBlockOf({
  index,
  firstRow,
  rowCount,
  kept,
  errors,
  layout,
}: {
  readonly index: number;
  readonly firstRow: number;
  readonly rowCount: number;
  readonly kept: readonly (readonly KeptValue[])[];
  readonly errors: Map<number, RowError>;
  readonly layout: PlaceLayout;
}): PlaceBlock {
  const { indices, geometry } = layout;
  const latitudes = new Float64Array(rowCount);
  const longitudes = new Float64Array(rowCount);
  const radiiKm = new Float64Array(rowCount).fill(layout.radiusKm ?? 0);
  const column = (kind: CoordinateColumn["kind"], columnIndex: number | undefined) => {
    const values = columnIndex === undefined ? undefined : kept[columnIndex];
    const isInGeometry = columnIndex === geometry?.latitude || columnIndex === geometry?.longitude;
    const name = (isInGeometry ? geometry?.name : layout.keptColumns[columnIndex ?? 0]?.name) ?? "";
    return values === undefined ? undefined : { kind, name, values };
  };
  const latitude = column("latitude", indices.latitude ?? geometry?.latitude);
  const longitude = column("longitude", indices.longitude ?? geometry?.longitude);
  const radius = column("radius", indices.radiusKm);
  if (latitude === undefined || longitude === undefined) throw new Error("The places have no coordinates.");
  const swappedRows: number[] = [];
  for (let row = 0; row < rowCount; row++) {
    const lat = (latitudes[row] = numberIn(latitude.values[row] ?? null));
    const lon = (longitudes[row] = numberIn(longitude.values[row] ?? null));
    const radiusValue = radius?.values[row] ?? null;
    if (radius !== undefined && (layout.radiusKm === undefined || radiusValue !== null)) {
      radiiKm[row] = numberIn(radiusValue);
    }
    const isValid =
      isInLimits("latitude", lat) && isInLimits("longitude", lon) && isInLimits("radius", radiiKm[row] ?? NaN);
    if (isValid && !errors.has(row)) continue;
    if (!errors.has(row)) {
      errors.set(row, rowError([latitude, longitude, radius], row, layout.radiusKm));
      if (Math.abs(lat) > LIMITS.latitude && Math.abs(lat) <= LIMITS.longitude && Math.abs(lon) <= LIMITS.latitude) {
        swappedRows.push(row);
      }
    }
    latitudes[row] = longitudes[row] = radiiKm[row] = NaN;
  }
  if (swappedRows.length > rowCount / 2) addSwapHint(errors, swappedRows);
  return { index, firstRow, rowCount, latitudes, longitudes, radiiKm, errors, kept };
}

interface ColumnValues extends CoordinateColumn {
  readonly values: readonly KeptValue[];
}

/** Returns the first reason, and the messages of all coordinates that are not accepted. */
function rowError(
  columns: readonly (ColumnValues | undefined)[],
  row: number,
  defaultRadiusKm: number | undefined,
): RowError {
  const errors = columns.flatMap((column) => {
    const value = column?.values[row] ?? null;
    if (column === undefined || isInLimits(column.kind, numberIn(value))) return [];
    if (column.kind === "radius" && value === null && defaultRadiusKm !== undefined) return [];
    return [coordinateError(column, value)];
  });
  const reason = errors[0]?.reason ?? "row_invalid";
  return { reason, message: errors.map(({ message }) => message).join("; ") };
}

function addSwapHint(errors: Map<number, RowError>, rows: readonly number[]): void {
  for (const row of rows) {
    const error = errors.get(row);
    if (error === undefined) continue;
    errors.set(row, { ...error, message: `${error.message}; latitude and longitude may be swapped` });
  }
}
