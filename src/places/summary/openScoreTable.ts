import { extname } from "node:path";
import { Fault } from "../../errors.ts";
import { quote } from "../../validation/schemaErrors.ts";
import type { PlaceTextFile } from "../readers/fileText.ts";
import type { ScoreTable } from "./scoreTable.ts";
import type { StatedRun } from "./statedRun.ts";
import { openCsvTable } from "./tables/csvTable.ts";
import { openNdjsonTable } from "./tables/ndjsonTable.ts";
import { openParquetTable } from "./tables/parquetTable.ts";

const CHUNK_SIZE_BYTES = 1 << 20;

type OpenTable = (file: PlaceTextFile, statedColumnNames: readonly string[]) => Promise<ScoreTable>;

const OPENERS: Readonly<Record<string, OpenTable>> = {
  ".csv": openCsvTable,
  ".ndjson": openNdjsonTable,
  ".jsonl": openNdjsonTable,
  ".parquet": openParquetTable,
  ".geoparquet": openParquetTable,
};

/**
 * Opens an output of `isotherm portfolio`.
 *
 * @param file.stated what the manifest states; without a format, the extension determines it. NDJSON without rows has the
 *   stated columns.
 * @throws Fault `configuration_invalid` if the extension is not that of an output, `invalid_request` if the file is damaged
 */
export async function openScoreTable({
  path,
  sizeBytes,
  stated,
}: {
  readonly path: string;
  readonly sizeBytes: number;
  readonly stated: Pick<StatedRun, "outputFormat" | "columnNames"> | undefined;
}): Promise<ScoreTable> {
  const format = stated?.outputFormat;
  // Every format has the name of an extension.
  const extension = format === undefined ? extname(path).toLowerCase() : `.${format}`;
  const open = Object.hasOwn(OPENERS, extension) ? OPENERS[extension] : undefined;
  if (open !== undefined) {
    return await open({ path, sizeBytes, chunkSizeBytes: CHUNK_SIZE_BYTES }, stated?.columnNames ?? []);
  }
  const accepted = Object.keys(OPENERS).join(", ");
  if (format !== undefined) {
    const message = `the manifest states the format ${quote(format)}, which is not supported; the formats are named as the extensions ${accepted}.`;
    throw new Fault("invalid_request", message);
  }
  const what = extension === "" ? "the name has no extension" : `the extension ${extname(path)} is not supported`;
  throw new Fault("configuration_invalid", `${what}; an output without a manifest ends in ${accepted}.`);
}
