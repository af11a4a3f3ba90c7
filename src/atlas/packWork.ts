/** The unfinished files of a pack and the journal of their synced sizes. */
import { type FileHandle, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound, syncFolder, withPathInErrors, writeSynced } from "../files/files.ts";
import type { PackEntry } from "./catalog.ts";

/** The entry of one pyramid tile in the root. */
export interface RootRow {
  readonly state: number;
  readonly offset: number;
  readonly headerSize: number;
  readonly headerChecksum: number;
  readonly bounds: readonly number[];
}

/** Progress of a pack. */
export interface Journal {
  /**
   * Number of finished rows of tiles, including those of the pyramid row in progress, which are in the `partial` file.
   */
  readonly tileRowsDone: number;
  readonly tilesSize: number;
  readonly pyramidSize: number;
  readonly partialSize: number;
  readonly rows: RootRow[];
  readonly checkpoint: unknown;
}

const JOURNAL_NAME = "journal.json";
const NOTHING_DONE = { tileRowsDone: 0, tilesSize: 0, pyramidSize: 0, partialSize: 0, checkpoint: undefined } as const;

interface WorkFiles {
  readonly tiles: GrowingFile;
  readonly pyramid: GrowingFile;
  readonly partial: GrowingFile;
}

/**
 * The growing files of a pack and their journal. `tiles` and `pyramid` become files of the atlas unchanged. `partial`
 * holds the finished rows of tiles of the pyramid row in progress; they cannot be appended to `tiles` yet, because the
 * tiles of one pyramid tile are contiguous there.
 */
export class PackWork {
  journal: Journal;
  readonly #folder: string;
  readonly #files: WorkFiles;

  private constructor(folder: string, files: WorkFiles, journal: Journal) {
    this.#folder = folder;
    this.#files = files;
    this.journal = journal;
  }

  /** Opens or creates the files and truncates them to the sizes in the journal. */
  static async open(folder: string): Promise<PackWork> {
    const opened: GrowingFile[] = [];
    const grow = async (name: string): Promise<GrowingFile> => {
      const file = await GrowingFile.open(join(folder, name));
      opened.push(file);
      return file;
    };
    try {
      const files = { tiles: await grow("tiles"), pyramid: await grow("pyramid"), partial: await grow("partial") };
      const { tiles, pyramid, partial } = files;
      let journal = await readJournal(folder);
      // A file shorter than in the journal was already renamed to its final name before the writer was interrupted.
      // The remaining files cannot be verified, so the pack is written again from the start.
      if (
        (await tiles.size()) < journal.tilesSize ||
        (await pyramid.size()) < journal.pyramidSize ||
        (await partial.size()) < journal.partialSize
      ) {
        await rm(join(folder, JOURNAL_NAME));
        await syncFolder(folder);
        journal = { ...NOTHING_DONE, rows: [] };
      }
      await tiles.truncate(journal.tilesSize);
      await pyramid.truncate(journal.pyramidSize);
      await partial.truncate(journal.partialSize);
      return new PackWork(folder, files, journal);
    } catch (error) {
      for (const file of opened) await file.close();
      throw error;
    }
  }

  /** Appends bytes and returns their offset. */
  async appendTiles(bytes: Uint8Array): Promise<number> {
    const offset = this.journal.tilesSize;
    await this.#files.tiles.append(bytes);
    this.journal = { ...this.journal, tilesSize: offset + bytes.length };
    return offset;
  }

  /** Appends bytes and returns their offset. */
  async appendPyramid(bytes: Uint8Array): Promise<number> {
    const offset = this.journal.pyramidSize;
    await this.#files.pyramid.append(bytes);
    this.journal = { ...this.journal, pyramidSize: offset + bytes.length };
    return offset;
  }

  /** Adds a finished row of tiles to the pyramid row in progress. */
  async appendPartial(bytes: Uint8Array): Promise<void> {
    await this.#files.partial.append(bytes);
    this.journal = { ...this.journal, partialSize: this.journal.partialSize + bytes.length };
  }

  /** Returns the finished rows of tiles of the pyramid row in progress, concatenated in the order of appending. */
  readPartial(): Promise<Uint8Array> {
    return readFile(join(this.#folder, "partial"));
  }

  /** Adds the root's entry for the next pyramid tile. */
  addRow(row: RootRow): void {
    this.journal.rows.push(row);
  }

  /** Syncs the appended bytes, then records in the journal that this many rows of tiles are done. */
  async commit(tileRowsDone: number, checkpoint: unknown): Promise<void> {
    await this.#write({ ...this.journal, tileRowsDone, checkpoint });
  }

  /** Commits at the end of a pyramid row and empties the `partial` file. */
  async commitPyramidRow(tileRowsDone: number, checkpoint: unknown): Promise<void> {
    await this.#write({ ...this.journal, tileRowsDone, checkpoint, partialSize: 0 });
    await this.#files.partial.truncate(0); // after the journal is written: until then, only this file has the rows
  }

  async #write(journal: Journal): Promise<void> {
    for (const file of Object.values(this.#files) as GrowingFile[]) await file.sync();
    const temporaryPath = join(this.#folder, `${JOURNAL_NAME}.tmp`);
    await writeSynced(temporaryPath, new TextEncoder().encode(JSON.stringify(journal)));
    await rename(temporaryPath, join(this.#folder, JOURNAL_NAME));
    this.journal = journal;
  }

  async close(): Promise<void> {
    for (const file of Object.values(this.#files) as GrowingFile[]) await file.close();
  }
}

/** Returns the journal, or an empty one if there is none or it cannot be parsed. */
async function readJournal(folder: string): Promise<Journal> {
  let text: string;
  try {
    text = await readFile(join(folder, JOURNAL_NAME), "utf8");
  } catch (error) {
    if (isNotFound(error)) return { ...NOTHING_DONE, rows: [] };
    throw error;
  }
  try {
    const journal = JSON.parse(text) as Journal;
    if (Number.isInteger(journal.tileRowsDone)) return journal;
  } catch {
    // An unreadable journal is treated as missing.
  }
  return { ...NOTHING_DONE, rows: [] };
}

/** An append-only file. Its errors include the path, unlike errors of a file handle. */
class GrowingFile {
  readonly #path: string;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  static async open(path: string): Promise<GrowingFile> {
    return new GrowingFile(path, await open(path, "a+"));
  }

  async size(): Promise<number> {
    return (await withPathInErrors(this.#path, this.#handle.stat())).size;
  }

  append(bytes: Uint8Array): Promise<void> {
    return withPathInErrors(this.#path, this.#handle.appendFile(bytes));
  }

  truncate(sizeBytes: number): Promise<void> {
    return withPathInErrors(this.#path, this.#handle.truncate(sizeBytes));
  }

  sync(): Promise<void> {
    return withPathInErrors(this.#path, this.#handle.sync());
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Name prefix of work folders, which readers ignore. */
export const WORK_PREFIX = ".writing-";
const RECORD_NAME = "finished.json";
export const PACK_FILES = ["root", "pyramid", "tiles"] as const;

type Pack = Pick<PackEntry, "id" | "files">;

/**
 * The record of a finished pack, which remains in the work folder until a catalog names the pack. If the writer is killed
 * while it renames the files, or while it writes the pack of another hazard, the next run continues from this record.
 */
export interface FinishedPack {
  readonly pack: Pack;
  /** State that the band reader saved with the last checkpoint. */
  readonly checkpoint: unknown;
}

/** Records the pack, then moves its files from the work folder to their final names. */
export async function finishPack(folder: string, workFolder: string, finished: FinishedPack): Promise<void> {
  await writeSynced(join(workFolder, RECORD_NAME), new TextEncoder().encode(JSON.stringify(finished)));
  await syncFolder(workFolder);
  await moveFiles(folder, workFolder, finished.pack);
}

/**
 * Returns the pack that was finished in a work folder, with all files under their final names, or undefined if none was
 * finished or one of its files is missing.
 */
export async function readFinishedPack(folder: string, workFolder: string): Promise<FinishedPack | undefined> {
  const finished = await readFinishedRecord(workFolder);
  if (finished === undefined) return undefined;
  await moveFiles(folder, workFolder, finished.pack);
  for (const file of PACK_FILES) {
    const { name, size_bytes } = finished.pack.files[file];
    if ((await fileSize(join(folder, name))) === size_bytes) continue;
    await rm(workFolder, { recursive: true, force: true });
    return undefined;
  }
  return finished;
}

/** Removes the work folders of finished packs that a catalog names. */
export async function removeFinishedWork(folder: string, packIds: ReadonlySet<string>): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((name) => name.startsWith(WORK_PREFIX))) {
    const finished = await readFinishedRecord(join(folder, name));
    if (finished !== undefined && packIds.has(finished.pack.id)) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

async function moveFiles(folder: string, workFolder: string, { files }: Pack): Promise<void> {
  for (const file of PACK_FILES) {
    try {
      await rename(join(workFolder, file), join(folder, files[file].name));
    } catch (error) {
      if (!isNotFound(error)) throw error; // the file was moved before the writer was interrupted
    }
  }
  await syncFolder(folder);
}

async function readFinishedRecord(workFolder: string): Promise<FinishedPack | undefined> {
  try {
    return JSON.parse(await readFile(join(workFolder, RECORD_NAME), "utf8")) as FinishedPack;
  } catch (error) {
    // An incomplete record is treated as missing.
    if (isNotFound(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function fileSize(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
