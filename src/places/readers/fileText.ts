import { readChunks } from "../../files/files.ts";
import { decodeMarkedUtf8, decodeUtf8 } from "../../text/utf8Text.ts";
import type { PlaceSource } from "../placeSource.ts";

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
