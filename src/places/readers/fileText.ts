import { readChunks, withPathInErrors } from "../../files/files.ts";
import { decodeMarkedUtf8, decodeUtf8 } from "../../text/utf8Text.ts";
import type { PlaceSource } from "./blockAssembler.ts";
import { open } from "node:fs/promises";
import { Fault } from "../../errors.ts";

/** A file of places that is read as text. */
export interface PlaceTextFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Size of the pieces in which the file is read. The blocks do not depend on it. */
  readonly chunkSizeBytes: number;
}

type ReadOptions = Omit<Parameters<PlaceSource["blocks"]>[0], "isWanted">;

/**
 * Reads a file as UTF-8.
 * @throws Fault `invalid_request` naming the line of the first byte that is not UTF-8
 */
export function readFileText(file: PlaceTextFile, options: ReadOptions = {}): AsyncGenerator<string> {
  return decodeUtf8(readFileBytes(file, options));
}

/** As `readFileText`, but marks invalid bytes (`INVALID_UTF8_MARK`), so that they concern only their row. */
export function readMarkedFileText(file: PlaceTextFile, options: ReadOptions = {}): AsyncGenerator<string> {
  return decodeMarkedUtf8(readFileBytes(file, options));
}

async function* readFileBytes(file: PlaceTextFile, { onBytes, signal }: ReadOptions): AsyncGenerator<Buffer> {
  for await (const chunk of readChunks(file.path, file.chunkSizeBytes)) {
    signal?.throwIfAborted();
    yield chunk;
    onBytes?.(chunk.length);
  }
}

const UTF16 = { what: "text in UTF-16", advice: "save it as UTF-8" };
/** Kinds of files that are often given instead of one with places, by their first bytes. */
const KINDS: readonly { readonly signature: string; readonly what: string; readonly advice: string }[] = [
  { signature: "\u001f\u008b", what: "compressed with gzip", advice: "decompress it first" },
  { signature: "\u0028\u00b5\u002f\u00fd", what: "compressed with Zstandard", advice: "decompress it first" },
  { signature: "BZh", what: "compressed with bzip2", advice: "decompress it first" },
  { signature: "\u00fd7zXZ\0", what: "compressed with xz", advice: "decompress it first" },
  {
    signature: "PK\u0003\u0004",
    what: "a zip archive or an Excel workbook",
    advice: "extract the file in it, or save the sheet as CSV in UTF-8",
  },
  {
    signature: "\u00d0\u00cf\u0011\u00e0",
    what: "an Excel workbook of the older format",
    advice: "save the sheet as CSV in UTF-8",
  },
  { signature: "SQLite format 3\0", what: "a GeoPackage or SQLite database", advice: "export it as GeoJSON or CSV" },
  { signature: "\u00ff\u00fe", ...UTF16 },
  { signature: "\u00fe\u00ff", ...UTF16 },
];
const PARQUET = { signature: "PAR1", what: "a Parquet file", advice: "set --from to parquet" };
const HEAD_SIZE_BYTES = 16;
/**
 * Rejects a file that begins like another kind of file.
 * @throws Fault `invalid_request` with what the file is and what to do
 */
export async function checkContentKind(path: string, format: string): Promise<void> {
  const head = await readHead(path);
  const kinds = format === "parquet" ? KINDS : [...KINDS, PARQUET];
  const kind =
    kinds.find(({ signature }) => head.startsWith(signature)) ??
    // Text without a mark begins with a character of ASCII, which has a byte 0 in either order.
    ((head[0] === "\0") === (head[1] === "\0") ? undefined : UTF16);
  if (kind === undefined) return;
  throw new Fault("invalid_request", `The file is ${kind.what}; ${kind.advice}.`);
}

/** Returns the first bytes, each as the character with its number. */
async function readHead(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await withPathInErrors(
      path,
      file.read(Buffer.alloc(HEAD_SIZE_BYTES), 0, HEAD_SIZE_BYTES, 0),
    );
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await file.close();
  }
}
