/**
 * The unfinished output of a run, in the folder OUT.partial next to OUT. The process can end at any moment: the segments in
 * the list were flushed to disk before they were listed, and what follows them is discarded by the next run.
 */
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open as openFile, readFile, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../errors.ts";
import { withFolderLock } from "../../folderLock.ts";
import { isNotFound, syncFolder, withPathInErrors, writeSynced } from "../../files.ts";
import { findJobDifferences, type PlaceJob } from "./placeJob.ts";
import { parseSegmentRecords, type SegmentRecord } from "./segmentRecord.ts";

const JOB_NAME = "job.json";
const ROWS_NAME = "rows";
const SEGMENTS_NAME = "segments.ndjson";
const MANIFEST_NAME = "manifest.json";
const REPORT_NAME = "report.json";

/** Returns the folder of the unfinished output. */
export function workFolderOf(output: string): string {
  return `${output}.partial`;
}

export function manifestPathOf(output: string): string {
  return `${output}.manifest.json`;
}

export function reportPathOf(output: string): string {
  return `${output}.report.json`;
}

/** Opens files. Tests replace it to inject faults. */
export type OpenFile = typeof openFile;

interface WorkOptions {
  readonly output: string;
  readonly job: PlaceJob;
  readonly header: Uint8Array;
  /** Whether the unfinished output of another job is discarded; otherwise it is an error. */
  readonly restart: boolean;
  readonly open?: OpenFile | undefined;
}

/**
 * Runs `work` as the only process that writes an output.
 * @throws Fault `configuration_invalid` if another process is writing it
 */
export async function withWorkFolder<T>(output: string, work: () => Promise<T>): Promise<T> {
  const folder = workFolderOf(output);
  try {
    return await withFolderLock(folder, "configuration_invalid", work);
  } finally {
    // The folder is empty if the work is finished, unless another process has begun.
    await rmdir(folder).catch(() => undefined);
  }
}

/** The rows of an unfinished output and the list of its segments. Requires `withWorkFolder`. */
export class PartialOutput {
  /** The finished segments, in order. */
  readonly records: SegmentRecord[] = [];
  readonly #output: string;
  readonly #folder: string;
  readonly #header: Uint8Array;
  readonly #rows: FileHandle;
  readonly #list: FileHandle;
  #hash: Hash = createHash("sha256");
  #rowsEndBytes = 0;
  #listEndBytes = 0;

  private constructor({ output, header }: WorkOptions, rows: FileHandle, list: FileHandle) {
    this.#output = output;
    this.#folder = workFolderOf(output);
    this.#header = header;
    this.#rows = rows;
    this.#list = list;
  }

  /**
   * Opens the output of an earlier run of the same job, or begins a new one.
   * @throws Fault `configuration_invalid` with all differences if the earlier run had another job
   */
  static async open(options: WorkOptions): Promise<PartialOutput> {
    const { output, job, restart, open = openFile } = options;
    const folder = workFolderOf(output);
    const earlier = restart ? undefined : await readJob(folder);
    if (earlier === undefined) {
      await removeFiles(folder);
      await writeSynced(join(folder, JOB_NAME), `${JSON.stringify(job, undefined, 2)}\n`);
    } else {
      const differences = findJobDifferences(earlier, job);
      if (differences.length > 0) throw differentJobFault(folder, differences);
    }
    const rows = await openOrCreate(join(folder, ROWS_NAME), open);
    const list = await openOrCreate(join(folder, SEGMENTS_NAME), open);
    const partial = new PartialOutput(options, rows, list);
    await partial.#resume();
    return partial;
  }

  get headerSizeBytes(): number {
    return this.#header.length;
  }

  /** Appends a part of the next segment. */
  async append(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    await this.#write(this.#rows, bytes, this.#rowsEndBytes);
    this.#rowsEndBytes += bytes.length;
  }

  /** Flushes the appended segment to disk, then lists it. */
  async commit(record: SegmentRecord): Promise<void> {
    await this.#whileWriting(this.#rows.datasync());
    const line = Buffer.from(`${JSON.stringify(record)}\n`);
    await this.#write(this.#list, line, this.#listEndBytes);
    await this.#whileWriting(this.#list.datasync());
    this.#listEndBytes += line.length;
    this.records.push(record);
  }

  /** Appends the footer and returns what the manifest states about the complete file. */
  async complete(footer: Uint8Array): Promise<{ readonly sizeBytes: number; readonly sha256: string }> {
    await this.append(footer);
    await this.#whileWriting(this.#rows.sync());
    return { sizeBytes: this.#rowsEndBytes, sha256: this.#hash.copy().digest("hex") };
  }

  /** Gives the complete file and its documents their names. The file is last. */
  async publish(documents: { readonly manifest: string; readonly report: string }): Promise<void> {
    await this.close();
    const inFolder = (name: string): string => join(this.#folder, name);
    await this.#whileWriting(writeSynced(inFolder(MANIFEST_NAME), documents.manifest));
    await this.#whileWriting(writeSynced(inFolder(REPORT_NAME), documents.report));
    // An interruption between the renames must not leave an earlier output with the manifest of this one.
    await rm(this.#output, { force: true });
    await rename(inFolder(MANIFEST_NAME), manifestPathOf(this.#output));
    await rename(inFolder(REPORT_NAME), reportPathOf(this.#output));
    await rename(inFolder(ROWS_NAME), this.#output);
    await syncFolder(dirname(this.#output));
    await removeFiles(this.#folder);
  }

  async close(): Promise<void> {
    await this.#rows.close();
    await this.#list.close();
  }

  /** Reads the list and discards what follows the last segment that is complete. */
  async #resume(): Promise<void> {
    const [rows, list] = [await this.#rows.stat(), await this.#list.stat()];
    const text = list.size === 0 ? "" : await readFile(join(this.#folder, SEGMENTS_NAME), "utf8");
    let rowsEndBytes = this.#header.length;
    for (const { record, sizeBytes } of parseSegmentRecords(text)) {
      if (rowsEndBytes + record.sizeBytes > rows.size) break;
      rowsEndBytes += record.sizeBytes;
      this.#listEndBytes += sizeBytes;
      this.records.push(record);
    }
    const isNew = this.records.length === 0;
    await this.#whileWriting(this.#list.truncate(this.#listEndBytes));
    await this.#whileWriting(this.#rows.truncate(isNew ? 0 : rowsEndBytes));
    if (isNew) await this.append(this.#header);
    else {
      for await (const chunk of createReadStream(join(this.#folder, ROWS_NAME))) this.#hash.update(chunk as Uint8Array);
      this.#rowsEndBytes = rowsEndBytes;
    }
  }

  async #write(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      const { bytesWritten } = await this.#whileWriting(
        file.write(bytes, written, bytes.length - written, position + written),
      );
      written += bytesWritten;
    }
  }

  /** Explains in errors of the disk that the finished part is kept. */
  async #whileWriting<T>(operation: Promise<T>): Promise<T> {
    try {
      return await withPathInErrors(this.#folder, operation);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const what = DISK_ERRORS[code ?? ""];
      if (what === undefined) throw error;
      throw new Fault(
        "configuration_invalid",
        `${this.#output} cannot be written: ${what} (${message}). The ${this.records.length} segments that are finished are ` +
          `kept in ${this.#folder}; run the same command again to continue.`,
        { cause: error, details: { code } },
      );
    }
  }
}

const DISK_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file system does not support files of this size",
  EIO: "the disk reports an error",
  EROFS: "the file system is read-only",
};

async function readJob(folder: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(folder, JOB_NAME), "utf8"));
  } catch (error) {
    // A job that was not written completely has no rows.
    if (isNotFound(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function differentJobFault(folder: string, differences: readonly string[]): Fault {
  const message =
    `${folder} has the unfinished output of a run that was different: ${differences.join("; ")}. Run the command as before ` +
    "to continue it, or add --restart to discard it.";
  return new Fault("configuration_invalid", message, { details: { differences } });
}

async function removeFiles(folder: string): Promise<void> {
  for (const name of [JOB_NAME, ROWS_NAME, SEGMENTS_NAME, MANIFEST_NAME, REPORT_NAME]) {
    await rm(join(folder, name), { force: true });
  }
}

/** Opens a file to read and write it, without truncating it. */
async function openOrCreate(path: string, open: OpenFile): Promise<FileHandle> {
  try {
    return await open(path, "r+");
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return await open(path, "wx+");
  }
}
