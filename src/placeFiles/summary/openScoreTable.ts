import { extname } from "node:path";
import { Fault } from "../../errors.ts";
import type { PlaceTextFile } from "../readers/fileText.ts";
import type { ScoreTable } from "./scoreTable.ts";
import { openCsvTable } from "./tables/csvTable.ts";
import { openNdjsonTable } from "./tables/ndjsonTable.ts";
import { openParquetTable } from "./tables/parquetTable.ts";

const CHUNK_SIZE_BYTES = 1 << 20;

const OPENERS: Readonly<Record<string, (file: PlaceTextFile) => Promise<ScoreTable>>> = {
  ".csv": openCsvTable,
  ".ndjson": openNdjsonTable,
  ".jsonl": openNdjsonTable,
  ".parquet": openParquetTable,
  ".geoparquet": openParquetTable,
};

/**
 * Opens an output of `isotherm portfolio`. Its extension determines the format.
 *
 * @throws Fault `configuration_invalid` if the extension is not that of an output, `invalid_request` if the file is damaged
 */
export async function openScoreTable(path: string, sizeBytes: number): Promise<ScoreTable> {
  const extension = extname(path).toLowerCase();
  const open = Object.hasOwn(OPENERS, extension) ? OPENERS[extension] : undefined;
  if (open === undefined) {
    const what = extension === "" ? "the name has no extension" : `the extension ${extname(path)} is not supported`;
    throw new Fault("configuration_invalid", `${what}; an output ends in ${Object.keys(OPENERS).join(", ")}.`);
  }
  return await open({ path, sizeBytes, chunkSizeBytes: CHUNK_SIZE_BYTES });
}
