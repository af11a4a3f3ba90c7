/**
 * The unfinished output of a run, in the folder OUT.partial next to OUT. The process can end at any moment: the segments in
 * the list were flushed to disk before they were listed, and what follows them is discarded by the next run.
 */
import { createHash, type Hash } from "node:crypto";
import { type FileHandle, readFile, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../errors.ts";
import { isNotFound, readChunks, readFully, withPathInErrors } from "../../files/files.ts";
import type { WrittenSegments } from "../segmentFormat.ts";
import { OUTPUT_DISK, type OutputDisk, withDiskAdvice } from "./outputDisk.ts";
import { findJobDifferences, type JobDifference, type PlaceJob } from "./placeJob.ts";
import {
  addCounts,
  LISTED_INVALID_ROW_COUNT_MAX,
  NO_COUNTS,
  parseSegmentLines,
  type RowCounts,
  type SegmentLine,
  type SegmentRecord,
} from "./segmentRecord.ts";

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

interface WorkOptions {
  readonly output: string;
  readonly job: PlaceJob;
  readonly header: Uint8Array;
  /** Whether the unfinished output of another job is discarded; otherwise it is an error. */
  readonly restart: boolean;
  /** Whether only segments with counts are resumed. A merge commits segments without them, for the same job as a run. */
  readonly needsCounts: boolean;
  readonly disk?: OutputDisk | undefined;
}

/**
 * Runs `work` as the only process that writes an output.
 * @throws Fault `configuration_invalid` if another process is writing it, or if the disk is full or reports another error
 */
export async function withWorkFolder<T>(
  { output, disk = OUTPUT_DISK }: { readonly output: string; readonly disk?: OutputDisk | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const folder = workFolderOf(output);
  try {
    return await withDiskAdvice({ output, folder }, () => disk.lockFolder(folder, "configuration_invalid", work));
  } finally {
    // The folder is empty if the work is finished, unless another process has begun.
    await rmdir(folder).catch(() => undefined);
  }
}

/** The rows of an unfinished output and the list of its segments. Requires `withWorkFolder`. */
export class PartialOutput {
  /** The finished segments, in order. */
  readonly segments: SegmentRecord[] = [];
  readonly #output: string;
  readonly #folder: string;
  readonly #header: Uint8Array;
  readonly #disk: OutputDisk;
  readonly #rows: FileHandle;
  readonly #list: FileHandle;
  #counts = NO_COUNTS;
  #hash: Hash = createHash("sha256");
  #rowsEndBytes = 0;
  #listEndBytes = 0;

  private constructor({ output, header, disk = OUTPUT_DISK }: WorkOptions, rows: FileHandle, list: FileHandle) {
    this.#output = output;
    this.#folder = workFolderOf(output);
    this.#header = header;
    this.#disk = disk;
    this.#rows = rows;
    this.#list = list;
  }

  /**
   * Opens the output of an earlier run of the same job, or begins a new one.
   * @throws Fault `configuration_invalid` with all differences if the earlier run had another job
   */
  static async open(options: WorkOptions): Promise<PartialOutput> {
    const { output, job, restart, disk = OUTPUT_DISK } = options;
    const folder = workFolderOf(output);
    const earlier = restart ? undefined : await readJob(folder);
    if (earlier === undefined) {
      await removeFiles(folder, disk);
      // Otherwise a power failure could leave the rows of another job with the description of this one.
      await disk.syncFolder(folder);
      await disk.writeSynced(join(folder, JOB_NAME), `${JSON.stringify(job, undefined, 2)}\n`);
    } else {
      const differences = findJobDifferences(earlier, job);
      if (differences.length > 0) throw differentJobFault(folder, differences);
    }
    const files: FileHandle[] = [];
    try {
      for (const name of [ROWS_NAME, SEGMENTS_NAME]) files.push(await openOrCreate(join(folder, name), disk));
      const [rows, list] = files as [FileHandle, FileHandle];
      const partial = new PartialOutput(options, rows, list);
      await partial.#resume(options);
      return partial;
    } catch (error) {
      for (const file of files) await file.close();
      throw error;
    }
  }

  get headerSizeBytes(): number {
    return this.#header.length;
  }

  /** Counts of the finished segments that were committed with counts. */
  get counts(): RowCounts {
    return this.#counts;
  }

  /** Appends a part of the next segment, or of the footer. */
  async append(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    await this.#write(ROWS_NAME, bytes, this.#rowsEndBytes);
    this.#rowsEndBytes += bytes.length;
  }

  /**
   * Flushes the appended segment to disk, then lists it.
   * @param counts absent if the segment was copied from a part
   */
  async commit(record: SegmentRecord, counts?: RowCounts): Promise<void> {
    await this.#inFile(ROWS_NAME, this.#rows.datasync());
    const listed = counts?.listedInvalidRows.slice(0, this.#unlistedRowCount()) ?? [];
    const ofLine = counts === undefined ? {} : { counts: { ...counts, listedInvalidRows: listed } };
    const line = Buffer.from(`${JSON.stringify({ ...record, ...ofLine } satisfies SegmentLine)}\n`);
    await this.#write(SEGMENTS_NAME, line, this.#listEndBytes);
    await this.#inFile(SEGMENTS_NAME, this.#list.datasync());
    this.#add(record, counts, line.length);
  }

  /** Gives the footer access to the segments that are written. */
  written(): WrittenSegments {
    return {
      segments: this.segments,
      read: async (startBytes, sizeBytes) => {
        const bytes = new Uint8Array(sizeBytes);
        await this.#inFile(ROWS_NAME, readFully(this.#rows, bytes, startBytes));
        return bytes;
      },
    };
  }

  /** Flushes the complete file. Returns what the manifest states about it. */
  async complete(): Promise<{ readonly sizeBytes: number; readonly sha256: string }> {
    await this.#inFile(ROWS_NAME, this.#rows.sync());
    return { sizeBytes: this.#rowsEndBytes, sha256: this.#hash.copy().digest("hex") };
  }

  /** Gives the complete file and its documents their names. The file is last. */
  async publish(documents: { readonly manifest: string; readonly report: string }): Promise<void> {
    await this.close();
    const disk = this.#disk;
    const inFolder = (name: string): string => join(this.#folder, name);
    await disk.writeSynced(inFolder(MANIFEST_NAME), documents.manifest);
    await disk.writeSynced(inFolder(REPORT_NAME), documents.report);
    // An interruption between the renames must not leave an earlier output with the manifest of this one.
    await disk.rm(this.#output, { force: true });
    await disk.rename(inFolder(MANIFEST_NAME), manifestPathOf(this.#output));
    await disk.rename(inFolder(REPORT_NAME), reportPathOf(this.#output));
    await disk.rename(inFolder(ROWS_NAME), this.#output);
    await disk.syncFolder(dirname(this.#output));
    await removeFiles(this.#folder, disk);
  }

  async close(): Promise<void> {
    await this.#rows.close();
    await this.#list.close();
  }

  /** Reads the list and discards what follows the last segment that is complete and has the counts it needs. */
  async #resume({ needsCounts }: WorkOptions): Promise<void> {
    const rows = await this.#rows.stat();
    const list = readChunks(join(this.#folder, SEGMENTS_NAME));
    let rowsEndBytes = this.#header.length;
    for await (const { line, sizeBytes } of parseSegmentLines(list)) {
      if (rowsEndBytes + line.sizeBytes > rows.size) break;
      if (needsCounts && line.counts === undefined) break;
      rowsEndBytes += line.sizeBytes;
      const { counts, ...record } = line;
      this.#add(record, counts, sizeBytes);
    }
    const isNew = this.segments.length === 0;
    await this.#inFile(SEGMENTS_NAME, this.#list.truncate(this.#listEndBytes));
    await this.#inFile(ROWS_NAME, this.#rows.truncate(isNew ? 0 : rowsEndBytes));
    if (isNew) await this.append(this.#header);
    else {
      for await (const chunk of readChunks(join(this.#folder, ROWS_NAME))) this.#hash.update(chunk);
      this.#rowsEndBytes = rowsEndBytes;
    }
  }

  #unlistedRowCount(): number {
    return LISTED_INVALID_ROW_COUNT_MAX - this.#counts.listedInvalidRows.length;
  }

  #add(record: SegmentRecord, counts: RowCounts | undefined, lineSizeBytes: number): void {
    this.segments.push(record);
    if (counts !== undefined) this.#counts = addCounts(this.#counts, counts);
    this.#listEndBytes += lineSizeBytes;
  }

  async #write(name: typeof ROWS_NAME | typeof SEGMENTS_NAME, bytes: Uint8Array, position: number): Promise<void> {
    const file = name === ROWS_NAME ? this.#rows : this.#list;
    for (let written = 0; written < bytes.length;) {
      const { bytesWritten } = await this.#inFile(
        name,
        file.write(bytes, written, bytes.length - written, position + written),
      );
      written += bytesWritten;
    }
  }

  /** Adds the path to errors of the disk. */
  async #inFile<T>(name: string, operation: Promise<T>): Promise<T> {
    return await withPathInErrors(join(this.#folder, name), operation);
  }
}

async function readJob(folder: string): Promise<unknown> {
  try {
    const path = join(folder, JOB_NAME);
    return JSON.parse(await withPathInErrors(path, readFile(path, "utf8")));
  } catch (error) {
    // A job that was not written completely has no rows.
    if (isNotFound(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function differentJobFault(folder: string, differences: readonly JobDifference[]): Fault {
  const texts = differences.map(({ name, before, now }) => `${name}: ${before} before, ${now} now`);
  const message =
    `${folder} has the unfinished output of a run that was different (${texts.join("; ")}). Run the command as before ` +
    "to continue it, or add --restart to discard it.";
  return new Fault("configuration_invalid", message, { details: { differences } });
}

async function removeFiles(folder: string, disk: OutputDisk): Promise<void> {
  for (const name of [JOB_NAME, ROWS_NAME, SEGMENTS_NAME, MANIFEST_NAME, REPORT_NAME]) {
    await disk.rm(join(folder, name), { force: true });
  }
}

/** Opens a file to read and write it, without truncating it. */
async function openOrCreate(path: string, { open }: OutputDisk): Promise<FileHandle> {
  try {
    return await open(path, "r+");
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return await open(path, "wx+");
  }
}
