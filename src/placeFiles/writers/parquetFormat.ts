/** Parquet with one row group per block, and GeoParquet 1.1.0. */
import type { KeyValue, SchemaElement } from "hyparquet";
import type { ScoredBlock } from "../../places/placeBlock.ts";
import { version } from "../../version.ts";
import type { SegmentContent, SegmentEntry, SegmentFormat } from "../segmentFormat.ts";
import { type OutputColumn, outputColumns, type OutputPlan } from "./outputColumns.ts";
import { type ChunkDescription, columnChunkOf, type ParquetFunctions, writeChunk } from "./parquetChunk.ts";
import { parquetColumns } from "./parquetColumns.ts";

const MAGIC = new TextEncoder().encode("PAR1");

/** What the footer needs to know of a row group. */
interface RowGroupDescription {
  readonly chunks: readonly ChunkDescription[];
}

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
    header: MAGIC,
    *encode(block: ScoredBlock): Generator<Uint8Array, SegmentContent> {
      const writer = new ByteWriter(1 << 20);
      const { rowCount, data } = columnsOf(block);
      const chunks: ChunkDescription[] = [];
      for (const column of data) chunks.push(writeChunk(writer, column, functions));
      yield writer.getBytes();
      return { rowCount, description: { chunks } satisfies RowGroupDescription };
    },
    footer: await parquetFooter({ columns, keyValues }),
  };
}

/** Returns a function that writes the footer of a file with these segments. Loads hyparquet-writer. */
export async function parquetFooter({ columns, keyValues }: ParquetLayout): Promise<SegmentFormat["footer"]> {
  const [{ ByteWriter }, { writeMetadata }] = await Promise.all([
    import("hyparquet-writer"),
    import("hyparquet-writer/src/metadata.js"),
  ]);
  const schema = columns.map(schemaElementOf);
  const hasGeometry = columns.some(({ type }) => type === "geometry");
  const metadata = hasGeometry ? [...keyValues, GEO_METADATA] : [...keyValues];
  return (segments) => {
    const writer = new ByteWriter(1 << 20);
    writeMetadata(writer, {
      version: 2,
      created_by: `isotherm version ${version}`,
      schema: [{ name: "schema", num_children: schema.length }, ...schema],
      num_rows: BigInt(segments.reduce((count, segment) => count + segment.rowCount, 0)),
      row_groups: rowGroupsOf(segments, schema),
      metadata_length: 0, // computed by the writer
      key_value_metadata: metadata,
    });
    writer.appendBytes(MAGIC);
    return writer.getBytes();
  };
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

function rowGroupsOf(segments: readonly SegmentEntry[], schema: readonly SchemaElement[]) {
  let segmentOffset = MAGIC.length;
  return segments.map(({ sizeBytes, rowCount, description }) => {
    const { chunks } = description as RowGroupDescription;
    const rowGroup = {
      columns: chunks.map((chunk, i) => {
        const { name, type = "BYTE_ARRAY" } = schema[i] ?? { name: "" };
        return columnChunkOf(chunk, { name, type, rowCount, segmentOffset });
      }),
      total_byte_size: BigInt(chunks.reduce((size, chunk) => size + chunk.uncompressedSizeBytes, 0)),
      total_compressed_size: BigInt(sizeBytes),
      num_rows: BigInt(rowCount),
    };
    segmentOffset += sizeBytes;
    return rowGroup;
  });
}

/** Every column may have missing values: invalid rows have no scores. */
function schemaElementOf({ name, type }: Pick<OutputColumn, "name" | "type">): SchemaElement {
  return { name, repetition_type: "OPTIONAL", ...TYPES[type] };
}

const TYPES: Readonly<Record<OutputColumn["type"], Omit<SchemaElement, "name">>> = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  number: { type: "DOUBLE" },
  integer: { type: "INT64" },
  boolean: { type: "BOOLEAN" },
  timestamp: {
    type: "INT64",
    converted_type: "TIMESTAMP_MILLIS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
  },
  year: { type: "INT32" },
  geometry: { type: "BYTE_ARRAY" },
};
