import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { csvLine, parseCsvRows } from "../text/csv.ts";
import { Fault } from "../errors.ts";
import { hashFile, isNotFound, readChunks } from "../files/files.ts";
import type { ArchiveContent, ArchivedEvent } from "../ledger/chainReport.ts";
import { decodeUtf8 } from "../text/utf8Text.ts";
import { EVENT_COLUMNS } from "./usageEvents.ts";

/** Columns of an archive: those of the events, and the batch of each event. */
const ARCHIVE_COLUMNS = [...EVENT_COLUMNS, "batch", "batch_hash"] as const;
/** The first line of an archive. */
export const ARCHIVE_HEADER = csvLine(ARCHIVE_COLUMNS);

/** Reads an archive that `isotherm usage prune` has written. @returns undefined if the folder has no such file */
export async function readArchive(folder: string, name: string): Promise<ArchiveContent | undefined> {
  // The name comes from the ledger, which somebody may have changed.
  if (basename(name) !== name) return undefined;
  const path = join(folder, name);
  const stats = await stat(path).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (stats?.isFile() !== true) return undefined;
  return { sha256: await hashFile(path), events: readEvents(path) };
}

/** @throws Fault `invalid_request` if the file is not an archive */
async function* readEvents(path: string): AsyncGenerator<ArchivedEvent> {
  let isHeader = true;
  for await (const rows of parseCsvRows(decodeUtf8(readChunks(path)))) {
    for (const { cells, line } of rows) {
      if (cells.length !== ARCHIVE_COLUMNS.length || (isHeader && csvLine(cells) !== ARCHIVE_HEADER)) {
        throw new Fault("invalid_request", `line ${line} does not have the columns of an archive`);
      }
      if (!isHeader) yield archivedEvent(cells);
      isHeader = false;
    }
  }
}

function archivedEvent(cells: readonly string[]): ArchivedEvent {
  const cell = (name: (typeof ARCHIVE_COLUMNS)[number]): string => cells[ARCHIVE_COLUMNS.indexOf(name)] ?? "";
  const release = cell("atlas_release");
  return {
    batch: Number(cell("batch")),
    hash: cell("batch_hash"),
    event: {
      seq: Number(cell("seq")),
      receipt: cell("receipt"),
      account_id: cell("account_id"),
      customer_id: cell("customer_id"),
      key_id: cell("key_id"),
      meter: cell("meter"),
      units: Number(cell("units")),
      recorded_at: cell("recorded_at"),
      route: cell("route"),
      atlas_release: release === "" ? null : release,
    },
  };
}
