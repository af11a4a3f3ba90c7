import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Fault, isFault } from "../errors.ts";
import type { Grid } from "../kernel/grid.ts";
import type { Kernel } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import {
  CATALOG_NAME,
  type Catalog,
  decodeCatalog,
  encodeCatalog,
  type FileEntry,
  FORMAT_VERSION,
  type GroupEntry,
  gridFault,
  type PackEntry,
} from "./catalog.ts";
import { hashOfFile, isMissing, syncFolder, writeSynced } from "./files.ts";
import { encodeRoot } from "./packEncoding.ts";
import { PackWork } from "./packWork.ts";
import { PyramidRow } from "./pyramidRow.ts";
import { type Band, PYRAMID_SIZE, tilingOf } from "./tile.ts";

/** The prefix of work folders and files; readers never look into them. */
export const WORK_PREFIX = ".writing-";
/** Half a percent of the time goes into checkpoints so, and no kill takes more than it and the step in work. */
const CHECKPOINT_INTERVAL_MS = 2000;

/** What a pack is made from. */
export interface PackInput {
  readonly hazard: string;
  readonly grid: Grid;
  readonly groups: readonly Pick<GroupEntry, "scenario" | "year" | "layers">[];
  /**
   * Returns the cells of one row of tiles (64 rows, fewer at the grid's south edge): for each group
   * u16[rowCount][columnCount][layerCount]. Called north to south, for each band once.
   */
  readBand(band: Band, steps: WorkSteps): Promise<readonly Uint16Array[]>;
  /** Names the inputs: an interrupted write with the same key continues where it stopped. */
  readonly resumeKey: string;
  /** False where nothing proves that the inputs will still be the same: an interrupted write leaves nothing. Default true. */
  readonly isResumable?: boolean;
  readonly checkpoint?: {
    /** Returns what the reader of bands must remember across an interruption, as JSON. */
    save(): unknown;
    restore(state: unknown): void;
    /** Called when so many rows of cells are safe, so that nothing kept for them is needed any more. */
    committed?(rowsDone: number): Promise<void>;
  };
  /** Time between two checkpoints, at least: so much work a kill can cost, beside the step in work. Default 2000. */
  readonly checkpointMs?: number;
  /** Called when all bands are written and before any file gets its final name. @returns why not to go on, if so */
  beforeFinish?(): Promise<Stopped | undefined>;
  /** Stops the work between two bands, with the signal's reason; it can be continued later. */
  readonly signal?: AbortSignal;
  /** Rows done, of all. */
  readonly onProgress?: (rowsDone: number, rowCount: number) => void;
}

/** Why a write ends before its end. */
export interface Stopped {
  readonly fault: Fault;
  /** Whether what is written can be continued later. */
  readonly keepsWork: boolean;
}

/** How a reader of bands whose work takes long saves steps of it between the writer's own checkpoints. */
export interface WorkSteps {
  /** The folder of the unfinished pack; files of the reader's own go there, and are gone with it. */
  readonly folder: string;
  /** Whether the last checkpoint is so long ago that it is time for the next. */
  isDue(): boolean;
  /** Reports that a step was saved. */
  saved(): void;
}

/**
 * Writes a pack into an atlas folder: work files first, synced, renamed to names that their content gives.
 * No reader sees it until `publish` names it. Memory: one row of tiles as cells, eight compressed.
 * Two writers of one folder would append to the same files: keep them apart by `withWriteLock`.
 *
 * A write that was stopped or killed continues after the last checkpoint, and the finished files are the same to the byte.
 */
export async function writePack(
  kernel: Kernel,
  folder: string,
  input: PackInput,
): Promise<Pick<PackEntry, "id" | "files">> {
  const why = gridFault(input.grid);
  if (why !== undefined) throw new Fault("source_invalid", `The grid of ${input.hazard} cannot be: ${why}`);
  const key = createHash("sha256")
    .update(JSON.stringify([FORMAT_VERSION, input.resumeKey, input.hazard, input.grid, input.groups]))
    .digest("hex");
  const workFolder = join(folder, WORK_PREFIX + key.slice(0, 16));
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
    // An input that is refused will be refused again: only what was interrupted can be continued.
    const isRefused = isFault(error) && input.signal?.aborted !== true && !isBySystem(error);
    if (isRefused || input.isResumable === false) await rm(workFolder, { recursive: true, force: true });
    throw error;
  } finally {
    await work.close();
  }
  return finishPack(folder, workFolder, { input, work });
}

/** Whether a failed call of the system is behind an error, such as a lost connection: tried again it may well succeed. */
function isBySystem(error: unknown): boolean {
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

/** Writes all bands that are not done, with a checkpoint whenever one is due, and one when the work is stopped. */
async function writeBands(kernel: Kernel, work: PackWork, input: PackInput, workFolder: string): Promise<void> {
  const { grid, groups, signal, checkpointMs = CHECKPOINT_INTERVAL_MS } = input;
  const shape = { grid, layerCounts: groups.map(({ layers }) => layers.length) };
  const { tileRowCount } = tilingOf(grid);
  if (work.journal.checkpoint !== undefined) input.checkpoint?.restore(work.journal.checkpoint);
  let row = await PyramidRow.restored(shape, work);
  let rowsDone = work.journal.tileRowsDone;
  /** As it was when the last row was done: while a band is read the reader's own state is in between. */
  let state = structuredClone(input.checkpoint?.save());
  let savedMs = performance.now();
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
      const cells = await input.readBand(band, steps);
      checkBand(cells, input, band);
      await row.add(cells, band);
      rowsDone++;
      state = structuredClone(input.checkpoint?.save());
      const isRowDone = rowsDone % PYRAMID_SIZE === 0 || rowsDone === tileRowCount;
      if (isRowDone || hasSteps || steps.isDue()) await commit({ isRowDone });
    }
    input.onProgress?.(grid.rowCount, grid.rowCount);
  } catch (error) {
    const isBetweenCommits = !isCommitting && rowsDone > work.journal.tileRowsDone;
    if ((signal?.aborted === true || isBySystem(error)) && isBetweenCommits) await commit({ isRowDone: false });
    throw error;
  }
}

/** Gives the files of a pack the names that their content gives. */
async function finishPack(
  folder: string,
  workFolder: string,
  { input, work }: { readonly input: PackInput; readonly work: PackWork },
): Promise<Pick<PackEntry, "id" | "files">> {
  const root = encodeRoot(input, work.journal.rows);
  await writeSynced(join(workFolder, "root"), root);
  const id = `${input.hazard}-${createHash("sha256").update(root).digest("hex").slice(0, 16)}`;
  const files = { root: "root", pyramid: "pyramid", tiles: "tiles" } as const;
  const entries: Record<string, FileEntry> = {};
  for (const part of Object.values(files)) {
    const from = join(workFolder, part);
    const name = `${id}.${part}`;
    entries[part] = { name, size_bytes: (await stat(from)).size, sha256: await hashOfFile(from) };
  }
  for (const part of Object.values(files)) await rename(join(workFolder, part), join(folder, `${id}.${part}`));
  await syncFolder(folder);
  await rm(workFolder, { recursive: true, force: true });
  return { id, files: entries as PackEntry["files"] };
}

/**
 * Switches the catalog of an atlas folder: what `change` makes of the current one (undefined where there is
 * none) replaces it in one step. A reader sees the old atlas or the new one. Of two that publish at the same time one
 * would be lost: keep them apart by `withWriteLock`.
 * @throws Fault `atlas_unavailable` when the current catalog is damaged: it is left as it is
 */
export async function publish(
  folder: string,
  change: (current: Catalog | undefined) => Omit<Catalog, "sha256">,
): Promise<Catalog> {
  await mkdir(folder, { recursive: true });
  const bytes = await encodeCatalog(change(await readCatalog(folder)));
  const catalog = await decodeCatalog(bytes); // never publish what we would refuse to read
  const aside = join(folder, `.${CATALOG_NAME}.${randomUUID()}`);
  try {
    await writeSynced(aside, bytes);
    await rename(aside, join(folder, CATALOG_NAME));
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
  await syncFolder(folder);
  return catalog;
}

/** The catalog of an atlas folder. @returns undefined where there is none */
export async function readCatalog(folder: string): Promise<Catalog | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(join(folder, CATALOG_NAME));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return decodeCatalog(bytes, folder);
}

function checkBand(cells: readonly Uint16Array[], { groups, grid }: PackInput, band: Band): void {
  const wrong = groups.findIndex(
    ({ layers }, i) => cells[i]?.length !== band.rowCount * grid.columnCount * layers.length,
  );
  if (cells.length !== groups.length || wrong >= 0) {
    throw new RangeError(`The band at row ${band.firstRow} does not hold all cells of all ${groups.length} groups.`);
  }
}
