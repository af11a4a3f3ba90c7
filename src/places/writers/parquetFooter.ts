/** Writes the footer of a Parquet file row group by row group, because that of a large file takes hundreds of megabytes. */
import type { KeyValue, SchemaElement } from "hyparquet";
import type { ByteWriter } from "hyparquet-writer";
import { Fault } from "../../errors.ts";
import { version } from "../../version.ts";
import type { FooterEncoder, SegmentEntry } from "../segmentFormat.ts";
import type { ChunkDescription } from "./parquetChunk.ts";
import { readRowGroupTrailer, rowGroupTrailerSizeBytes } from "./rowGroupTrailer.ts";

export const PARQUET_MAGIC = new TextEncoder().encode("PAR1");

/** Chunks of the footer are at least this large. */
const CHUNK_SIZE_BYTES = 1 << 20;
/** Sizes are 32-bit integers in Parquet. */
const FOOTER_SIZE_BYTES_MAX = 2 ** 31 - 1;

/** Numbers of the Thrift definition of Parquet. */
const PHYSICAL_TYPES = ["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY"];
const [PLAIN, RLE, RLE_DICTIONARY] = [0, 3, 8];
const [UNCOMPRESSED, SNAPPY] = [0, 1];
/** Header of field 4, a list, after field 3 in the compact protocol, and a list of structures. */
const [LIST_FIELD, STRUCTURES, LONG_LIST] = [0x19, 0x0c, 0xf0];
const LONG_LIST_COUNT_MIN = 15;

/** Returns a function that writes the footer of a file with these columns. Loads hyparquet-writer. */
export async function footerEncoder({
  schema,
  keyValues,
}: {
  readonly schema: readonly SchemaElement[];
  readonly keyValues: readonly KeyValue[];
}): Promise<FooterEncoder> {
  const [{ ByteWriter }, { writeMetadata }, { serializeTCompactProtocol }] = await Promise.all([
    import("hyparquet-writer"),
    import("hyparquet-writer/src/metadata.js"),
    import("hyparquet-writer/src/thrift.js"),
  ]);

  /** Returns the metadata before and after the list of row groups. */
  const frame = (rowCount: number): readonly [Uint8Array, Uint8Array] => {
    const writer = new ByteWriter();
    const created_by = `isotherm version ${version}`;
    writeMetadata(writer, {
      version: 2,
      created_by,
      schema: [{ name: "schema", num_children: schema.length }, ...schema],
      num_rows: BigInt(rowCount),
      row_groups: [],
      metadata_length: 0,
      key_value_metadata: [...keyValues],
    });
    const bytes = writer.getBytes().subarray(0, -4); // without the length
    // The fields after the list have the same size if they are written alone.
    const end = new ByteWriter();
    serializeTCompactProtocol(end, {
      field_5: keyValues.map(({ key, value }) => ({ field_1: key, field_2: value })),
      field_6: created_by,
      field_7: schema.map(() => ({ field_1: {} })),
    });
    const endStart = bytes.length - end.offset;
    return [bytes.subarray(0, endStart - 2), bytes.subarray(endStart)];
  };

  return async function* encodeFooter({ segments, read }) {
    const [start, end] = frame(segments.reduce((count, segment) => count + segment.rowCount, 0));
    const trailerSizeBytes = rowGroupTrailerSizeBytes(schema.length);
    let writer = new ByteWriter(2 * CHUNK_SIZE_BYTES);
    let sizeBytes = 0;
    writer.appendBytes(start);
    writeListHeader(writer, segments.length);
    let offset = PARQUET_MAGIC.length;
    for (const segment of segments) {
      const segmentEnd = offset + segment.sizeBytes;
      const chunks = readRowGroupTrailer(await read(segmentEnd - trailerSizeBytes, trailerSizeBytes));
      serializeTCompactProtocol(writer, rowGroupOf(chunks, { segment, schema, offset }));
      offset = segmentEnd;
      if (writer.offset < CHUNK_SIZE_BYTES) continue;
      sizeBytes += writer.offset;
      yield writer.getBytes();
      writer = new ByteWriter(2 * CHUNK_SIZE_BYTES);
    }
    writer.appendBytes(end);
    sizeBytes += writer.offset;
    if (sizeBytes > FOOTER_SIZE_BYTES_MAX) throw tooLargeFault(sizeBytes);
    writer.appendUint32(sizeBytes);
    writer.appendBytes(PARQUET_MAGIC);
    yield writer.getBytes();
  };
}

function tooLargeFault(sizeBytes: number): Fault {
  const message =
    `The footer of the Parquet file would have ${sizeBytes} bytes, and Parquet allows ${FOOTER_SIZE_BYTES_MAX}; write ` +
    "CSV or NDJSON, use --layout long, or leave the parts of --shard unmerged.";
  return new Fault("invalid_request", message);
}

function writeListHeader(writer: ByteWriter, count: number): void {
  writer.appendUint8(LIST_FIELD);
  if (count < LONG_LIST_COUNT_MIN) writer.appendUint8(count === 0 ? 0 : (count << 4) | STRUCTURES);
  else {
    writer.appendUint8(LONG_LIST | STRUCTURES);
    writer.appendVarInt(count);
  }
}

/** Returns a row group with the field numbers of `RowGroup` in the Thrift definition. */
function rowGroupOf(
  chunks: readonly ChunkDescription[],
  {
    segment,
    schema,
    offset,
  }: { readonly segment: SegmentEntry; readonly schema: readonly SchemaElement[]; readonly offset: number },
) {
  let chunkOffset = offset;
  const columns = chunks.map((chunk, i) => {
    const column = columnChunkOf(chunk, { element: schema[i], rowCount: segment.rowCount, offset: chunkOffset });
    chunkOffset += chunk.sizeBytes;
    return column;
  });
  return {
    field_1: columns,
    field_2: BigInt(chunks.reduce((size, chunk) => size + chunk.uncompressedSizeBytes, 0)),
    field_3: BigInt(segment.rowCount),
    field_6: BigInt(chunkOffset - offset),
  };
}

/** Returns a column chunk with the field numbers of `ColumnChunk`, `ColumnMetaData` and `Statistics`. */
function columnChunkOf(
  chunk: ChunkDescription,
  {
    element,
    rowCount,
    offset,
  }: { readonly element: SchemaElement | undefined; readonly rowCount: number; readonly offset: number },
) {
  const { dictionarySizeBytes, sizeBytes, uncompressedSizeBytes, isCompressed, nullCount, min, max } = chunk;
  const hasDictionary = dictionarySizeBytes > 0;
  return {
    field_2: BigInt(offset),
    field_3: {
      field_1: PHYSICAL_TYPES.indexOf(element?.type ?? ""),
      field_2: hasDictionary ? [PLAIN, RLE, RLE_DICTIONARY] : [PLAIN, RLE],
      field_3: [element?.name ?? ""],
      field_4: isCompressed ? SNAPPY : UNCOMPRESSED,
      field_5: BigInt(rowCount),
      field_6: BigInt(uncompressedSizeBytes),
      field_7: BigInt(sizeBytes),
      field_9: BigInt(offset + dictionarySizeBytes),
      field_11: hasDictionary ? BigInt(offset) : undefined,
      field_12: {
        field_3: BigInt(nullCount),
        field_5: max === undefined ? undefined : doubleBytes(max),
        field_6: min === undefined ? undefined : doubleBytes(min),
      },
    },
  };
}

function doubleBytes(number: number): Uint8Array {
  return new Uint8Array(Float64Array.of(number).buffer);
}
