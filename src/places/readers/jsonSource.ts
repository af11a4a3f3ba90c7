import type { KeptColumn, KeptValue, PlaceBlock, RowError } from "../scores/placeBlock.ts";
import {
  BlockAssembler,
  placeColumnsOf,
  type PlaceLayout,
  placePositionsOf,
  type PlaceSource,
} from "./blockAssembler.ts";
import { type PlaceTextFile, readMarkedFileText } from "./fileText.ts";
import {
  checkFeatureCollection,
  isFeature,
  type JsonRow,
  keptValueOf,
  MemberColumns,
  readFeature,
  readObject,
  readPoint,
  type ReadRow,
} from "./jsonMembers.ts";
import { type JsonRecord, splitFeatures, splitJsonLines } from "./jsonRecords.ts";
import { featureIdName, findPlaceColumns, geometryColumnNames, type RequestedColumns } from "./placeColumnNames.ts";

interface SourceOptions {
  readonly requested: RequestedColumns;
  readonly radiusKm: number | undefined;
}

type RecordBatches = AsyncIterable<readonly JsonRecord[]>;

/**
 * Opens NDJSON: one object per line, or one GeoJSON feature per line if the first line is one. All members are columns, as
 * found by reading the whole file; objects and lists are kept as JSON text. A line that is not JSON or not UTF-8 is an
 * invalid row.
 */
export async function openNdjsonSource(file: PlaceTextFile, options: SourceOptions): Promise<PlaceSource> {
  const split = (texts: AsyncIterable<string>): RecordBatches => splitJsonLines(texts);
  return await openJsonSource(file, { ...options, split, areFeatures: await beginsWithFeature(file) });
}

/**
 * Opens a GeoJSON FeatureCollection with points. The `id` of the features and all their properties are columns, as found by
 * reading the whole file, and so are the coordinates. Objects and lists are kept as JSON text.
 */
export async function openGeojsonSource(file: PlaceTextFile, options: SourceOptions): Promise<PlaceSource> {
  const split = (texts: AsyncIterable<string>): RecordBatches => splitFeatures(texts, checkFeatureCollection);
  return await openJsonSource(file, { ...options, split, areFeatures: true });
}

async function beginsWithFeature(file: PlaceTextFile): Promise<boolean> {
  for await (const [first] of splitJsonLines(readMarkedFileText(file))) return first !== undefined && isFeature(first);
  return false;
}

interface JsonSourceOptions extends SourceOptions {
  readonly split: (texts: AsyncIterable<string>) => RecordBatches;
  readonly areFeatures: boolean;
}

async function openJsonSource(
  file: PlaceTextFile,
  { requested, radiusKm, split, areFeatures }: JsonSourceOptions,
): Promise<PlaceSource> {
  const readRow = areFeatures ? readFeature : readObject;
  const survey = await surveyRows(split(readMarkedFileText(file)), readRow);
  const hasGeometry = areFeatures && requested.latitude === undefined && requested.longitude === undefined;
  const { layout, memberNames } = layoutOf(survey, { requested, radiusKm, hasGeometry });
  const valuesOf = rowValues(layout, memberNames);
  return {
    columns: placeColumnsOf(layout),
    positions: placePositionsOf(layout),
    keptColumns: layout.keptColumns,
    omittedColumns: [],
    rowCount: survey.rowCount,
    sizeBytes: file.sizeBytes,
    blocks: ({ isWanted, ...options }) =>
      readBlocks(split(readMarkedFileText(file, options)), {
        assembler: new BlockAssembler(layout, isWanted),
        valuesOf: (record, row) => valuesOf(readRow(record, !survey.invalidRows.has(row))),
      }),
    close: () => Promise.resolve(),
  };
}

interface JsonSurvey {
  readonly rowCount: number;
  /** Rows that cannot be read. */
  readonly invalidRows: ReadonlySet<number>;
  readonly memberColumns: readonly KeptColumn[];
  /** Column of the `id` of features, if any feature has one. */
  readonly idColumn: KeptColumn | undefined;
}

async function surveyRows(batches: RecordBatches, readRow: ReadRow): Promise<JsonSurvey> {
  const members = new MemberColumns();
  const ids = new MemberColumns();
  const invalidRows = new Set<number>();
  let rowCount = 0;
  for await (const batch of batches) {
    for (const record of batch) {
      const row = readRow(record, false);
      rowCount++;
      if (row.error !== undefined) {
        invalidRows.add(rowCount - 1);
        continue;
      }
      members.add(row.members);
      if (row.id !== undefined) ids.add({ id: row.id });
    }
  }
  return { rowCount, invalidRows, memberColumns: members.columns, idColumn: ids.columns[0] };
}

/** Returns the columns: the identifier of features, their members, and the coordinates of their geometry. */
function layoutOf(
  { memberColumns, idColumn }: JsonSurvey,
  { requested, radiusKm, hasGeometry }: SourceOptions & { readonly hasGeometry: boolean },
): { readonly layout: PlaceLayout; readonly memberNames: readonly string[] } {
  const memberNames = memberColumns.map(({ name }) => name);
  const idName = featureIdName(memberNames);
  const columns = [...(idColumn === undefined ? [] : [{ ...idColumn, name: idName }]), ...memberColumns];
  const names = columns.map(({ name }) => name);
  const indices = findPlaceColumns(names, { requested, hasGeometry });
  if (!hasGeometry) return { layout: { keptColumns: columns, indices, radiusKm }, memberNames };
  const coordinates = geometryColumnNames(names).map((name): KeptColumn => ({ name, type: "number" }));
  const geometry = { name: "geometry", latitude: columns.length, longitude: columns.length + 1 };
  return { layout: { keptColumns: [...columns, ...coordinates], indices, radiusKm, geometry }, memberNames };
}

interface RowValues {
  readonly values: readonly KeptValue[];
  readonly error?: RowError;
}

/** Returns a function that orders the values of a row by column. */
function rowValues(
  { keptColumns, geometry }: PlaceLayout,
  memberNames: readonly string[],
): (row: JsonRow) => RowValues {
  const coordinateCount = geometry === undefined ? 0 : 2;
  const idCount = keptColumns.length - memberNames.length - coordinateCount;
  const indices = new Map(memberNames.map((name, index) => [name, index + idCount]));
  return (row) => {
    if (row.error !== undefined) return { values: [], error: row.error };
    const values: KeptValue[] = keptColumns.map(() => null);
    if (idCount > 0) values[0] = keptValueOf(row.id, keptColumns[0]?.type ?? "text");
    for (const name of Object.keys(row.members)) {
      const index = indices.get(name);
      if (index !== undefined) values[index] = keptValueOf(row.members[name], keptColumns[index]?.type ?? "text");
    }
    if (geometry === undefined) return { values };
    const point = readPoint(row.geometry);
    if ("error" in point) return { values, error: point.error };
    values[geometry.latitude] = point.latitude;
    values[geometry.longitude] = point.longitude;
    return { values };
  };
}

async function* readBlocks(
  batches: RecordBatches,
  {
    assembler,
    valuesOf,
  }: { readonly assembler: BlockAssembler; readonly valuesOf: (record: JsonRecord, row: number) => RowValues },
): AsyncGenerator<PlaceBlock> {
  let nextRow = 0;
  for await (const batch of batches) {
    for (const record of batch) {
      const row = nextRow++;
      if (!assembler.wantsRow) {
        assembler.skip(record.text.length);
        continue;
      }
      const { values, error } = valuesOf(record, row);
      const block = assembler.add(values, record.text.length, error);
      if (block !== undefined) yield block;
    }
  }
  const last = assembler.end();
  if (last !== undefined) yield last;
}
