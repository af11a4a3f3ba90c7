import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Fault, isFault } from "../errors.ts";
import type { Grid } from "../kernel/grid.ts";
import type { Kernel } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import {
  type Catalog,
  CATALOG_NAME,
  decodeCatalog,
  encodeCatalog,
  type FileEntry,
  FORMAT_VERSION,
  gridFault,
  type GroupEntry,
  type PackEntry,
} from "./catalog.ts";
import { finishPack, PACK_FILES, PackWork, readFinishedPack, removeFinishedWork, WORK_PREFIX } from "./packWork.ts";
import { hashFile, isNotFound, syncFolder, writeSynced } from "../files/files.ts";
import { encodeRoot } from "./packEncoding.ts";
import { type BandContent, PyramidRow } from "./pyramidRow.ts";
import { type Band, PYRAMID_SIZE, tilingOf } from "./tile.ts";
import { withFolderLock } from "../files/folderLock.ts";

/**
 * If the process is killed, at most this much work and the current step are lost. In an ingest of 27 maps, checkpoints at
 * this interval took 1 % more processor time (medians of three runs), less than the difference between two runs.
 */
const CHECKPOINT_INTERVAL_MS = 2000;

/** Input of a pack. */
export interface PackInput {
  readonly hazard: string;
  readonly grid: Grid;
  readonly groups: readonly Pick<GroupEntry, "scenario" | "year" | "layers">[];
  /**
   * Returns one row of tiles (64 rows, or fewer at the south edge of the grid) of each group: its cells, or its encoded
   * tiles. Called once per band, north to south.
   */
  readBand(band: Band, steps: WorkSteps): Promise<readonly BandContent[]>;
  /** Identifies the inputs: an interrupted write with the same key is resumed. */
  readonly resumeKey: string;
  /**
   * False if it cannot be verified that the inputs are unchanged: the work of an interrupted write is then discarded.
   * Default true.
   */
  readonly isResumable?: boolean;
  readonly checkpoint?: {
    /** Returns the state of the band reader that must survive an interruption, as a value that JSON can represent. */
    save(): unknown;
    restore(state: unknown): void;
    /** Called when this many rows of cells are durable; data kept for them can be deleted. */
    committed?(rowsDone: number): Promise<void>;
  };
  /**
   * Minimum time between two checkpoints. If the process is killed, at most this much work and the current step are
   * lost. Default 2000.
   */
  readonly checkpointMs?: number;
  /** Called after all bands are written and before any file gets its final name. May return a reason to stop. */
  beforeFinish?(): Promise<Stopped | undefined>;
  /** Stops the write between two bands, with the signal's reason. It can be resumed later. */
  readonly signal?: AbortSignal;
  /** Called with the number of rows done and the total. */
  readonly onProgress?: (rowsDone: number, rowCount: number) => void;
}

/** Reason to stop a write before it is finished. */
export interface Stopped {
  readonly fault: Fault;
  /** Whether the write can be resumed later. */
  readonly keepsWork: boolean;
}

/** Lets a slow band reader save intermediate steps between the writer's checkpoints. */
export interface WorkSteps {
  /** The folder of the unfinished pack. Files that the reader saves there are removed with it. */
  readonly folder: string;
  /** Returns whether the next checkpoint is due. */
  isDue(): boolean;
  /** Reports that a step was saved. */
  saved(): void;
}

/**
 * Writes a pack into an atlas folder. The work files are synced and then renamed to content-based names. Readers do not
 * see the pack until `publish` adds it to the catalog. Holds the cells of one row of tiles and eight compressed rows of
 * tiles in memory. Requires `withWriteLock`: two writers of one folder would append to the same files.
 *
 * A write that was stopped or killed resumes after the last checkpoint; the finished files are byte-identical.
 * A finished pack is not written again until `publish` adds it to the catalog.
 *
 * @throws Fault `source_invalid` if the grid is invalid
 */
export async function writePack(
  kernel: Kernel,
  folder: string,
  input: PackInput,
): Promise<Pick<PackEntry, "id" | "files">> {
  const problem = gridFault(input.grid);
  if (problem !== undefined) throw new Fault("source_invalid", `The grid of ${input.hazard} is invalid: ${problem}`);
  const key = createHash("sha256")
    .update(JSON.stringify([FORMAT_VERSION, input.resumeKey, input.hazard, input.grid, input.groups]))
    .digest("hex");
  const workFolder = join(folder, WORK_PREFIX + key.slice(0, 16));
  const finished = input.isResumable === false ? undefined : await readFinishedPack(folder, workFolder);
  if (finished !== undefined) {
    input.checkpoint?.restore(finished.checkpoint);
    input.onProgress?.(input.grid.rowCount, input.grid.rowCount);
    return finished.pack;
  }
  await mkdir(workFolder, { recursive: true });
  const work = await PackWork.open(workFolder);
  try {
    await writeBands(kernel, work, input, workFolder);
    const stopped = await input.beforeFinish?.();
    if (stopped !== undefined) {
      if (!stopped.keepsWork) await rm(workFolder, { recursive: true, force: true });
      throw new StoppedError(stopped.fault);
    }
  } catch (error) {
    if (error instanceof StoppedError) throw error.fault;
    // An invalid input would fail again, so the work is kept only after an interruption.
    const isInputInvalid = isFault(error) && input.signal?.aborted !== true && !hasSystemCause(error);
    if (isInputInvalid || input.isResumable === false) await rm(workFolder, { recursive: true, force: true });
    throw error;
  } finally {
    await work.close();
  }
  const pack = await describePack(workFolder, { input, work });
  await finishPack(folder, workFolder, { pack, checkpoint: work.journal.checkpoint });
  if (input.isResumable === false) await rm(workFolder, { recursive: true, force: true });
  return pack;
}

/** Returns whether a failed system call, such as a lost connection, caused the error, so that a retry may succeed. */
function hasSystemCause(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (syscall !== undefined || (typeof code === "string" && /^(?:E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(code))) return true;
  }
  return false;
}

class StoppedError extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Writes the remaining bands, with checkpoints when due and when the write is stopped. */
async function writeBands(kernel: Kernel, work: PackWork, input: PackInput, workFolder: string): Promise<void> {
  const { grid, groups, signal, checkpointMs = CHECKPOINT_INTERVAL_MS } = input;
  const shape = { grid, layerCounts: groups.map(({ layers }) => layers.length) };
  const { tileRowCount } = tilingOf(grid);
  if (work.journal.checkpoint !== undefined) input.checkpoint?.restore(work.journal.checkpoint);
  let row = await PyramidRow.restore(shape, work);
  let rowsDone = work.journal.tileRowsDone;
  /** State after the last finished row; while a band is being read, the reader's state is intermediate. */
  let state = structuredClone(input.checkpoint?.save());
  // The first checkpoint is immediate, so that a write that is killed repeatedly still makes progress.
  let savedMs = -Infinity;
  let hasSteps = false;
  let isCommitting = false;
  const steps: WorkSteps = {
    folder: workFolder,
    isDue: () => performance.now() - savedMs >= checkpointMs,
    saved() {
      hasSteps = true;
      savedMs = performance.now();
    },
  };
  const commit = async ({ isRowDone }: { readonly isRowDone: boolean }): Promise<void> => {
    isCommitting = true;
    if (isRowDone) {
      await row.finish(kernel, work);
      await work.commitPyramidRow(rowsDone, state);
      row = new PyramidRow(shape, Math.ceil(rowsDone / PYRAMID_SIZE));
    } else {
      await row.save(work);
      await work.commit(rowsDone, state);
    }
    isCommitting = false;
    hasSteps = false;
    savedMs = performance.now();
    await input.checkpoint?.committed?.(Math.min(rowsDone * TILE_SIZE, grid.rowCount));
  };

  try {
    while (rowsDone < tileRowCount) {
      const firstRow = rowsDone * TILE_SIZE;
      input.onProgress?.(firstRow, grid.rowCount);
      signal?.throwIfAborted();
      const band = { firstRow, rowCount: Math.min(TILE_SIZE, grid.rowCount - firstRow) };
      const content = await input.readBand(band, steps);
      checkBand(content, input, band);
      row.add(content, band);
      rowsDone++;
      state = structuredClone(input.checkpoint?.save());
      const isRowDone = rowsDone % PYRAMID_SIZE === 0 || rowsDone === tileRowCount;
      if (isRowDone || hasSteps || steps.isDue()) await commit({ isRowDone });
    }
    input.onProgress?.(grid.rowCount, grid.rowCount);
  } catch (error) {
    const isBetweenCommits = !isCommitting && rowsDone > work.journal.tileRowsDone;
    if ((signal?.aborted === true || hasSystemCause(error)) && isBetweenCommits) await commit({ isRowDone: false });
    throw error;
  }
}

/** Writes the root of a pack and returns the pack's id and files under their final names. */
async function describePack(
  workFolder: string,
  { input, work }: { readonly input: PackInput; readonly work: PackWork },
): Promise<Pick<PackEntry, "id" | "files">> {
  const root = encodeRoot(input, work.journal.rows);
  await writeSynced(join(workFolder, "root"), root);
  const id = `${input.hazard}-${createHash("sha256").update(root).digest("hex").slice(0, 16)}`;
  const entries: Record<string, FileEntry> = {};
  for (const file of PACK_FILES) {
    const path = join(workFolder, file);
    entries[file] = { name: `${id}.${file}`, size_bytes: (await stat(path)).size, sha256: await hashFile(path) };
  }
  return { id, files: entries as PackEntry["files"] };
}

/**
 * Atomically replaces the catalog of an atlas folder with the result of `change`, which receives the current catalog
 * (undefined if there is none). Readers see either the old or the new atlas. Requires `withWriteLock`: of two concurrent calls, one
 * update would be lost.
 * @throws Fault `atlas_unavailable` if the current catalog is damaged; it is left unchanged
 */
export async function publish(
  folder: string,
  change: (current: Catalog | undefined) => Omit<Catalog, "sha256">,
): Promise<Catalog> {
  await mkdir(folder, { recursive: true });
  const bytes = await encodeCatalog(change(await readCatalog(folder)));
  const catalog = await decodeCatalog(bytes); // never publish a catalog that cannot be read
  const temporaryPath = join(folder, `.${CATALOG_NAME}.${randomUUID()}`);
  try {
    await writeSynced(temporaryPath, bytes);
    await rename(temporaryPath, join(folder, CATALOG_NAME));
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  }
  await syncFolder(folder);
  await removeFinishedWork(folder, new Set(catalog.hazards.flatMap(({ packs }) => packs.map(({ id }) => id))));
  return catalog;
}

/** Returns the catalog of an atlas folder, or undefined if there is none. */
export async function readCatalog(folder: string): Promise<Catalog | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(join(folder, CATALOG_NAME));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  return decodeCatalog(bytes, folder);
}

function checkBand(content: readonly BandContent[], { groups, grid }: PackInput, band: Band): void {
  const { tileColumnCount } = tilingOf(grid);
  const invalid = groups.findIndex(({ layers }, i) => {
    const ofGroup = content[i];
    const cellCount = band.rowCount * grid.columnCount;
    return ofGroup?.length !== (ofGroup instanceof Uint16Array ? cellCount * layers.length : tileColumnCount);
  });
  if (content.length !== groups.length || invalid >= 0) {
    throw new RangeError(`The band at row ${band.firstRow} must contain all cells of all ${groups.length} groups.`);
  }
}

/** A catalog before it takes its name; see `publish`. */
const UNPUBLISHED_CATALOG_NAME = /^\.atlas\.json\.[0-9a-f-]{36}$/;

/**
 * Runs `write` as the only writer of an atlas folder. Creates the folder if it does not exist.
 * @throws Fault `atlas_unavailable` as `withFolderLock` does
 */
export async function withWriteLock<T>(folder: string, write: () => Promise<T>): Promise<T> {
  return await withFolderLock(folder, "atlas_unavailable", async () => {
    await removeUnpublishedCatalogs(folder);
    return await write();
  });
}

/** Removes the catalogs that writers left when they were killed. Requires the lock. */
async function removeUnpublishedCatalogs(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => UNPUBLISHED_CATALOG_NAME.test(name));
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })));
}
