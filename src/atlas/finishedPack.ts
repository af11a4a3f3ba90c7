/**
 * The record of a finished pack, which remains in the work folder until a catalog names the pack. If the writer is killed
 * while it renames the files, or while it writes the pack of another hazard, the next run continues from this record.
 */
import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { PackEntry } from "./catalog.ts";
import { isNotFound, syncFolder, writeSynced } from "../files/files.ts";

/** Name prefix of work folders, which readers ignore. */
export const WORK_PREFIX = ".writing-";
const RECORD_NAME = "finished.json";
export const PACK_PARTS = ["root", "pyramid", "tiles"] as const;

type Pack = Pick<PackEntry, "id" | "files">;

export interface FinishedPack {
  readonly pack: Pack;
  /** State that the band reader saved with the last checkpoint. */
  readonly checkpoint: unknown;
}

/** Records the pack, then moves its files from the work folder to their final names. */
export async function finishPack(folder: string, workFolder: string, finished: FinishedPack): Promise<void> {
  await writeSynced(join(workFolder, RECORD_NAME), new TextEncoder().encode(JSON.stringify(finished)));
  await syncFolder(workFolder);
  await moveParts(folder, workFolder, finished.pack);
}

/**
 * Returns the pack that was finished in a work folder, with all files under their final names, or undefined if none was
 * finished or one of its files is missing.
 */
export async function readFinishedPack(folder: string, workFolder: string): Promise<FinishedPack | undefined> {
  const finished = await readFinishedRecord(workFolder);
  if (finished === undefined) return undefined;
  await moveParts(folder, workFolder, finished.pack);
  for (const part of PACK_PARTS) {
    const { name, size_bytes } = finished.pack.files[part];
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

async function moveParts(folder: string, workFolder: string, { files }: Pack): Promise<void> {
  for (const part of PACK_PARTS) {
    try {
      await rename(join(workFolder, part), join(folder, files[part].name));
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
