import { Fault } from "../../errors.ts";
import {
  type KeptColumn,
  type KeptValue,
  type PlaceBlock,
  ROWS_PER_BLOCK,
  type RowError,
} from "../../places/placeBlock.ts";
import { quote } from "../../schemaErrors.ts";
import type { PlaceSource } from "../placeSource.ts";
import { placeBlockOf, type PlaceLayout, placeColumnsOf } from "./blockAssembler.ts";
import type { PlaceTextFile } from "./fileText.ts";
import type { ColumnReader } from "./parquet/columnReader.ts";
import { type ColumnType, columnTypeOf, HEXADECIMAL } from "./parquet/columnTypes.ts";
import { findGeometryColumn, type GeometryColumn, readWkbPoint } from "./parquet/geometryColumn.ts";
import { openParquetFile, type ParquetColumn, type ParquetFile } from "./parquet/parquetFile.ts";
import { findPlaceColumns, geometryColumnNames, readColumnNames, type RequestedColumns } from "./placeColumnNames.ts";

interface SourceOptions {
  readonly requested: RequestedColumns;
  readonly radiusKm: number | undefined;
}

/**
 * Opens Parquet or GeoParquet. Flat columns are kept with their types; the geometry that locates the places is replaced by
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
      keptColumns: plan.layout.keptColumns,
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

interface ColumnPlan {
  readonly layout: PlaceLayout;
  /** The kept columns of the file, in the order of the layout, before the coordinates of the geometry. */
  readonly kept: readonly { readonly column: FlatColumn; readonly type: ColumnType }[];
  /** The column of the geometry that locates the places. */
  readonly geometry: FlatColumn | undefined;
}

function planColumns(file: ParquetFile, { requested, radiusKm }: SourceOptions): ColumnPlan {
  readColumnNames(file.columns.map(({ name }) => name)); // rejects repeated names
  const geometryColumn = findGeometryColumn(file.metadata);
  const hasGeometry =
    geometryColumn !== undefined && requested.latitude === undefined && requested.longitude === undefined;
  const geometry = hasGeometry ? openGeometry(file, geometryColumn) : undefined;
  const kept = keptColumnsOf(file.columns, geometryColumn, geometry);
  const columns = kept.map(({ column, type }): KeptColumn => ({ name: column.name, type: type.type }));
  const names = columns.map(({ name }) => name);
  const indices = findPlaceColumns(names, { requested, hasGeometry });
  if (geometry === undefined) return { layout: { keptColumns: columns, indices, radiusKm }, kept, geometry };
  const coordinates = geometryColumnNames(names).map((name): KeptColumn => ({ name, type: "number" }));
  const layout: PlaceLayout = {
    keptColumns: [...columns, ...coordinates],
    indices,
    radiusKm,
    geometry: { name: geometry.name, latitude: columns.length, longitude: columns.length + 1 },
  };
  return { layout, kept, geometry };
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

/** @throws Fault `invalid_request` naming all columns that cannot be kept */
function keptColumnsOf(
  columns: readonly ParquetColumn[],
  geometryColumn: GeometryColumn | undefined,
  geometry: FlatColumn | undefined,
): ColumnPlan["kept"] {
  const geometryNames = new Set([geometryColumn?.name, ...(geometryColumn?.otherNames ?? [])]);
  const kept = columns
    .filter(({ name }) => name !== geometry?.name && geometryColumn?.coveringNames.includes(name) !== true)
    .map((column) => {
      const type = geometryNames.has(column.name)
        ? HEXADECIMAL
        : column.element === undefined
          ? undefined
          : columnTypeOf(column.element);
      return { column, type };
    });
  const rejected = kept.filter(({ column, type }) => !isFlat(column) || type === undefined);
  if (rejected.length > 0) {
    const list = rejected.map(({ column }) => quote(column.name)).join(", ");
    const message = `The columns ${list} cannot be kept, because they have lists, structures or a type that is not supported; leave them out of the file.`;
    throw new Fault("invalid_request", message);
  }
  return kept as ColumnPlan["kept"];
}

async function* readBlocks(
  file: ParquetFile,
  { layout, kept, geometry }: ColumnPlan,
  { isWanted, onBytes, signal, sizeBytes }: Parameters<PlaceSource["blocks"]>[0] & { readonly sizeBytes: number },
): AsyncGenerator<PlaceBlock> {
  const readers = kept.map(({ column, type }) => file.openColumn(column, (stored) => type.convert(stored)));
  const geometries = geometry === undefined ? undefined : file.openColumn(geometry, (stored) => stored as Uint8Array);
  for (let index = 0; index * ROWS_PER_BLOCK < file.rowCount; index++) {
    signal?.throwIfAborted();
    const firstRow = index * ROWS_PER_BLOCK;
    const rowCount = Math.min(ROWS_PER_BLOCK, file.rowCount - firstRow);
    if (isWanted(index)) {
      const columns: (readonly KeptValue[])[] = [];
      for (const reader of readers) columns.push(await reader.read(firstRow, rowCount));
      const errors = new Map<number, RowError>();
      if (geometries !== undefined) {
        columns.push(...coordinatesOf(await geometries.read(firstRow, rowCount), errors));
      }
      yield placeBlockOf({ index, rowCount, kept: columns, errors, layout });
    }
    // The columns are not read in the order of the file.
    const bytesBefore = (rows: number): number => Math.round((sizeBytes * rows) / file.rowCount);
    onBytes?.(bytesBefore(firstRow + rowCount) - bytesBefore(firstRow));
  }
}

/** Returns latitudes and longitudes, and adds the errors of geometries that are not points. */
function coordinatesOf(
  geometries: Awaited<ReturnType<ColumnReader<Uint8Array>["read"]>>,
  errors: Map<number, RowError>,
): readonly [KeptValue[], KeptValue[]] {
  const latitudes: KeptValue[] = [];
  const longitudes: KeptValue[] = [];
  for (const [row, geometry] of geometries.entries()) {
    const point = readWkbPoint(geometry);
    if ("error" in point) errors.set(row, point.error);
    latitudes.push("error" in point ? null : point.latitude);
    longitudes.push("error" in point ? null : point.longitude);
  }
  return [latitudes, longitudes];
}
