import { Fault } from "../../errors.ts";
import {
  type KeptColumn,
  keptSizeCharacters,
  type KeptValue,
  type PlaceBlock,
  ROWS_PER_BLOCK,
  type RowError,
} from "../scores/placeBlock.ts";
import { quote } from "../../validation/schemaErrors.ts";
import {
  BLOCK_SIZE_CHARACTERS,
  placeBlockOf,
  placeColumnsOf,
  type PlaceLayout,
  placePositionsOf,
  type PlaceSource,
} from "./blockAssembler.ts";
import type { PlaceTextFile } from "./fileText.ts";
import { type ColumnType, columnTypeOf, HEXADECIMAL } from "./parquetColumnTypes.ts";
import type { GeometryPoint } from "./jsonMembers.ts";
import { findGeometryColumn, type GeometryColumn, readWkbPoint } from "./geometryColumn.ts";
import { openParquetFile, type ParquetColumn, type ParquetFile } from "./parquetFile.ts";
import { findPlaceColumns, geometryColumnNames, readColumnNames, type RequestedColumns } from "./placeColumnNames.ts";

interface SourceOptions {
  readonly requested: RequestedColumns;
  readonly radiusKm: number | undefined;
}

/**
 * Opens Parquet or GeoParquet. Flat columns are kept with their types, and others left out; the geometry that locates the places is replaced by
 * columns with its coordinates. The file stays open until `close`.
 */
export async function openParquetSource(
  { path, sizeBytes }: Pick<PlaceTextFile, "path" | "sizeBytes">,
  options: SourceOptions,
): Promise<PlaceSource> {
  const file = await openParquetFile(path, sizeBytes);
  try {
    const plan = planColumns(file, options);
    return {
      columns: placeColumnsOf(plan.layout),
      positions: placePositionsOf(plan.layout),
      keptColumns: plan.layout.keptColumns,
      omittedColumns: plan.omittedNames,
      rowCount: file.rowCount,
      sizeBytes,
      blocks: (blockOptions) => readBlocks(file, plan, { ...blockOptions, sizeBytes }),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

type FlatColumn = ParquetColumn & { readonly element: NonNullable<ParquetColumn["element"]> };

interface KeptFlatColumn {
  readonly column: FlatColumn;
  readonly type: ColumnType;
}

interface ColumnPlan {
  readonly layout: PlaceLayout;
  /** The kept columns of the file, in the order of the layout, before the coordinates of the geometry. */
  readonly kept: readonly KeptFlatColumn[];
  readonly omittedNames: readonly string[];
  /** The column of the geometry that locates the places. */
  readonly geometry: FlatColumn | undefined;
}

function planColumns(file: ParquetFile, { requested, radiusKm }: SourceOptions): ColumnPlan {
  readColumnNames(file.columns.map(({ name }) => name)); // rejects repeated names
  const geometryColumn = findGeometryColumn(file.metadata);
  const hasGeometry =
    geometryColumn !== undefined && requested.latitude === undefined && requested.longitude === undefined;
  const geometry = hasGeometry ? openGeometry(file, geometryColumn) : undefined;
  const { kept, omittedNames } = keptColumnsOf(file.columns, geometryColumn, geometry);
  const columns = kept.map(({ column, type }): KeptColumn => ({ name: column.name, type: type.type }));
  const names = columns.map(({ name }) => name);
  const indices = findPlaceColumns(names, { requested, hasGeometry });
  if (geometry === undefined) {
    return { layout: { keptColumns: columns, indices, radiusKm }, kept, omittedNames, geometry };
  }
  const coordinates = geometryColumnNames(names).map((name): KeptColumn => ({ name, type: "number" }));
  const layout: PlaceLayout = {
    keptColumns: [...columns, ...coordinates],
    indices,
    radiusKm,
    geometry: { name: geometry.name, latitude: columns.length, longitude: columns.length + 1 },
  };
  return { layout, kept, omittedNames, geometry };
}

function openGeometry({ columns }: ParquetFile, geometry: GeometryColumn): FlatColumn {
  geometry.check();
  const column = columns.find(({ name }) => name === geometry.name);
  if (column !== undefined && isFlat(column) && column.element.type === "BYTE_ARRAY") return column;
  const message = `The column ${quote(geometry.name)}, which the key geo describes, is missing or not binary.`;
  throw new Fault("invalid_request", message);
}

function isFlat(column: ParquetColumn): column is FlatColumn {
  return column.element !== undefined;
}

function keptColumnsOf(
  columns: readonly ParquetColumn[],
  geometryColumn: GeometryColumn | undefined,
  geometry: FlatColumn | undefined,
): Pick<ColumnPlan, "kept" | "omittedNames"> {
  const geometryNames = new Set([geometryColumn?.name, ...(geometryColumn?.otherNames ?? [])]);
  const kept: KeptFlatColumn[] = [];
  const omittedNames: string[] = [];
  for (const column of columns) {
    if (column.name === geometry?.name || geometryColumn?.coveringNames.includes(column.name) === true) continue;
    const type = !isFlat(column)
      ? undefined
      : geometryNames.has(column.name)
        ? HEXADECIMAL
        : columnTypeOf(column.element);
    if (isFlat(column) && type !== undefined) kept.push({ column, type });
    else omittedNames.push(column.name);
  }
  return { kept, omittedNames };
}

/** A block with this size is rejected. Only long texts that are stored once and occur in many rows make such blocks. */
const REJECTED_SIZE_CHARACTERS = 16 * BLOCK_SIZE_CHARACTERS;

/**
 * Returns the number of rows of all blocks but the last. It follows from the mean sizes of the row groups, so that a block
 * can be found without reading those before it.
 */
function rowsPerBlock(file: ParquetFile, { kept, geometry }: ColumnPlan): number {
  const columns = kept.map(({ column }) => column);
  const rowBytes = file.meanRowBytesMax(geometry === undefined ? columns : [...columns, geometry]);
  return Math.max(1, Math.min(ROWS_PER_BLOCK, Math.floor(BLOCK_SIZE_CHARACTERS / rowBytes)));
}

async function* readBlocks(
  file: ParquetFile,
  plan: ColumnPlan,
  { isWanted, onBytes, signal, sizeBytes }: Parameters<PlaceSource["blocks"]>[0] & { readonly sizeBytes: number },
): AsyncGenerator<PlaceBlock> {
  const { layout, kept, geometry } = plan;
  const blockRowCount = rowsPerBlock(file, plan);
  const readers = await file.openColumns(kept.map(({ column, type }) => ({ ...column, convert: type.convert })));
  const points =
    geometry === undefined ? [] : [{ ...geometry, convert: (stored: unknown) => readWkbPoint(stored as Uint8Array) }];
  const [geometries] = await file.openColumns(points);
  for (let index = 0; index * blockRowCount < file.rowCount; index++) {
    signal?.throwIfAborted();
    const firstRow = index * blockRowCount;
    const rowCount = Math.min(blockRowCount, file.rowCount - firstRow);
    if (isWanted(index)) {
      const columns: (readonly KeptValue[])[] = [];
      let sizeCharacters = 0;
      for (const reader of readers) {
        const values = await reader.read(firstRow, rowCount);
        sizeCharacters += keptSizeCharacters([values]);
        if (sizeCharacters > REJECTED_SIZE_CHARACTERS) throw longTextFault(firstRow, rowCount);
        columns.push(values);
      }
      const errors = new Map<number, RowError>();
      if (geometries !== undefined) {
        columns.push(...coordinatesOf(await geometries.read(firstRow, rowCount), errors));
      }
      yield placeBlockOf({ index, firstRow, rowCount, kept: columns, errors, layout });
    }
    // The columns are not read in the order of the file.
    const bytesBefore = (rows: number): number => Math.round((sizeBytes * rows) / file.rowCount);
    onBytes?.(bytesBefore(firstRow + rowCount) - bytesBefore(firstRow));
  }
}

function longTextFault(firstRow: number, rowCount: number): Fault {
  const message =
    `Rows ${firstRow + 1} to ${firstRow + rowCount} have more than ${REJECTED_SIZE_CHARACTERS >> 20} Mi characters of text; ` +
    "leave out the columns with long texts.";
  return new Fault("invalid_request", message);
}

/** Returns latitudes and longitudes, and adds the errors of geometries that are not points. */
function coordinatesOf(
  points: readonly (GeometryPoint | null)[],
  errors: Map<number, RowError>,
): readonly [KeptValue[], KeptValue[]] {
  const latitudes: KeptValue[] = [];
  const longitudes: KeptValue[] = [];
  for (const [row, located] of points.entries()) {
    const point = located ?? readWkbPoint(null);
    if ("error" in point) errors.set(row, point.error);
    latitudes.push("error" in point ? null : point.latitude);
    longitudes.push("error" in point ? null : point.longitude);
  }
  return [latitudes, longitudes];
}
