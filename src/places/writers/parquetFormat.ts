/** Parquet with one row group per block, and GeoParquet 1.1.0. Each row group is followed by its trailer. */
import type { KeyValue, SchemaElement } from "hyparquet";
import type { ScoredBlock } from "../scores/placeBlock.ts";
import type { FooterEncoder, SegmentContent, SegmentFormat } from "../segmentFormat.ts";
import { timestampOf } from "../timestamps.ts";
import { type OutputColumn, outputColumns, type OutputPlan } from "./outputColumns.ts";
import { type ChunkDescription, type ParquetFunctions, writeChunk } from "./parquetChunk.ts";
import { parquetColumns } from "./parquetColumns.ts";
import { footerEncoder, PARQUET_MAGIC } from "./parquetFooter.ts";
import { rowGroupTrailer } from "./rowGroupTrailer.ts";

/** What the schema and the metadata of a file depend on. */
interface ParquetLayout {
  readonly columns: readonly Pick<OutputColumn, "name" | "type">[];
  /** Metadata of the file, besides that of GeoParquet. */
  readonly keyValues: readonly KeyValue[];
}

/** Returns a format that writes Parquet. Loads hyparquet-writer. */
export async function parquetFormat(plan: OutputPlan, keyValues: readonly KeyValue[]): Promise<SegmentFormat> {
  const [{ ByteWriter }, { writePageHeader }, { snappyCompress }] = await Promise.all([
    import("hyparquet-writer"),
    import("hyparquet-writer/src/datapage.js"),
    import("hyparquet-writer/src/snappy.js"),
  ]);
  const functions: ParquetFunctions = { ByteWriter, writePageHeader, snappyCompress };
  const columns = outputColumns(plan);
  const columnsOf = parquetColumns(plan, columns);
  return {
    header: PARQUET_MAGIC,
    *encode(block: ScoredBlock): Generator<Uint8Array, SegmentContent> {
      const writer = new ByteWriter(1 << 20);
      const { rowCount, data } = columnsOf(block);
      const chunks: ChunkDescription[] = [];
      for (const column of data) chunks.push(writeChunk(writer, column, functions));
      writer.appendBytes(rowGroupTrailer(chunks));
      yield writer.getBytes();
      return { rowCount };
    },
    footer: await parquetFooter({ columns, keyValues }),
  };
}

/** Returns a function that writes the footer of a file with these columns. Loads hyparquet-writer. */
export async function parquetFooter({ columns, keyValues }: ParquetLayout): Promise<FooterEncoder> {
  const hasGeometry = columns.some(({ type }) => type === "geometry");
  return await footerEncoder({
    schema: columns.map(schemaElementOf),
    keyValues: hasGeometry ? [...keyValues, GEO_METADATA] : keyValues,
  });
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
