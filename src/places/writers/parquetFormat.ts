/**
 * Parquet with one row group per block, and GeoParquet 1.1.0. Each segment is a Parquet file of its own, so that worker threads
 * encode them and a run resumes after any of them; the footer of the output refers to their row groups. Readers do not see the
 * footers of the segments.
 */
import type { ColumnChunk, KeyValue, RowGroup, SchemaElement } from "hyparquet";
import type { ScoredBlock } from "../scores/placeBlock.ts";
import type { FooterEncoder, SegmentContent, SegmentFormat } from "../segmentFormat.ts";
import { timestampOf } from "../timestamps.ts";
import { version } from "../../version.ts";
import { type OutputColumn, outputColumns, type OutputPlan } from "./outputColumns.ts";
import { writeChunk } from "./parquetChunk.ts";
import { parquetColumns } from "./parquetColumns.ts";

const MAGIC = new TextEncoder().encode("PAR1");
/** Size of the length of the metadata and of the magic number, which are last in a Parquet file. */
const END_SIZE_BYTES = 8;
const CREATED_BY = `isotherm version ${version}`;

/** What the schema and the metadata of a file depend on. */
interface ParquetLayout {
  readonly columns: readonly Pick<OutputColumn, "name" | "type">[];
  /** Metadata of the file, besides that of GeoParquet. */
  readonly keyValues: readonly KeyValue[];
}

/** Returns a format that writes Parquet. Loads hyparquet-writer. */
export async function parquetFormat(plan: OutputPlan, keyValues: readonly KeyValue[]): Promise<SegmentFormat> {
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
  const columns = outputColumns(plan);
  const schema = schemaOf(columns);
  const columnsOf = parquetColumns(plan, columns);
  return {
    header: MAGIC,
    *encode(block: ScoredBlock): Generator<Uint8Array, SegmentContent> {
      const writer = new ByteWriter(1 << 20);
      const file = new ParquetWriter({ writer, schema, createdBy: CREATED_BY });
      const { rowCount, data } = columnsOf(block);
      const chunks: ColumnChunk[] = [];
      for (const column of data) {
        const element = schema[1 + chunks.length] as SchemaElement;
        chunks.push(writeChunk(writer, column, { element, compress: file.compressors.SNAPPY }));
      }
      file.row_groups.push({
        columns: chunks,
        total_byte_size: chunks.reduce((size, { meta_data }) => size + (meta_data?.total_uncompressed_size ?? 0n), 0n),
        total_compressed_size: BigInt(writer.offset - MAGIC.length),
        num_rows: BigInt(rowCount),
      });
      file.num_rows = BigInt(rowCount);
      void file.finish();
      yield writer.getBytes();
      return { rowCount };
    },
    footer: await parquetFooter({ columns, keyValues }),
  };
}

/** Returns a function that writes the footer of a file with these columns. Loads hyparquet and hyparquet-writer. */
export async function parquetFooter({ columns, keyValues }: ParquetLayout): Promise<FooterEncoder> {
  const [{ parquetMetadata }, { ByteWriter, ParquetWriter }] = await Promise.all([
    import("hyparquet"),
    import("hyparquet-writer"),
  ]);
  const hasGeometry = columns.some(({ type }) => type === "geometry");
  const kvMetadata = hasGeometry ? [...keyValues, GEO_METADATA] : [...keyValues];
  return async function* encodeFooter({ segments, read }) {
    const writer = new ByteWriter();
    const file = new ParquetWriter({ writer, schema: schemaOf(columns), createdBy: CREATED_BY, kvMetadata });
    let offset = MAGIC.length;
    for (const { sizeBytes } of segments) {
      const end = offset + sizeBytes;
      const { buffer, byteOffset } = await read(end - END_SIZE_BYTES, END_SIZE_BYTES);
      const metadataSizeBytes = new DataView(buffer, byteOffset).getUint32(0, true);
      const footerSizeBytes = metadataSizeBytes + END_SIZE_BYTES;
      const footer = await read(end - footerSizeBytes, footerSizeBytes);
      const { row_groups: groups, num_rows: rowCount } = parquetMetadata(footer, { geoparquet: false });
      for (const group of groups) file.row_groups.push(movedGroup(group, BigInt(offset)));
      file.num_rows += rowCount;
      offset = end;
    }
    void file.finish();
    yield writer.getBytes().subarray(MAGIC.length);
  };
}

/** Returns a row group of a segment with its positions in the output. */
function movedGroup({ columns, ...group }: RowGroup, segmentStart: bigint): RowGroup {
  const moved = columns.map(({ meta_data, file_offset, ...column }) => {
    if (meta_data === undefined) throw new Error("A column of a segment has no metadata.");
    const { data_page_offset, dictionary_page_offset: dictionary } = meta_data;
    return {
      ...column,
      file_offset: file_offset + segmentStart,
      meta_data: {
        ...meta_data,
        data_page_offset: data_page_offset + segmentStart,
        ...(dictionary === undefined ? {} : { dictionary_page_offset: dictionary + segmentStart }),
      },
    };
  });
  return { ...group, columns: moved };
}

function schemaOf(columns: ParquetLayout["columns"]): SchemaElement[] {
  return [{ name: "schema", num_children: columns.length }, ...columns.map(schemaElementOf)];
}

/** Places are points in longitude and latitude; without a `crs`, that is OGC:CRS84. */
const GEO_METADATA: KeyValue = {
  key: "geo",
  value: JSON.stringify({
    version: "1.1.0",
    primary_column: "geometry",
    columns: { geometry: { encoding: "WKB", geometry_types: ["Point"] } },
  }),
};

/** Every column may have missing values: invalid rows have no scores. */
function schemaElementOf({ name, type }: Pick<OutputColumn, "name" | "type">): SchemaElement {
  return { name, repetition_type: "OPTIONAL", ...(timestampElement(type) ?? TYPES[type as keyof typeof TYPES]) };
}

function timestampElement(type: OutputColumn["type"]): Omit<SchemaElement, "name"> | undefined {
  const timestamp = timestampOf(type);
  if (timestamp === undefined) return undefined;
  const { unit, isUtc } = timestamp;
  return {
    type: "INT64",
    // The older annotation, which has no nanoseconds and does not distinguish local times.
    ...(unit === "NANOS" ? {} : { converted_type: `TIMESTAMP_${unit}` }),
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: isUtc, unit },
  };
}

const TYPES: Readonly<Record<Exclude<OutputColumn["type"], `timestamp${string}`>, Omit<SchemaElement, "name">>> = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  number: { type: "DOUBLE" },
  integer: { type: "INT64" },
  boolean: { type: "BOOLEAN" },
  year: { type: "INT32" },
  geometry: { type: "BYTE_ARRAY" },
};
