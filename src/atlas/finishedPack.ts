/**
 * The record of a finished pack, kept in its work folder until a catalog names the pack. A writer killed while it gives
 * the files their final names, or while it writes the pack of another hazard, continues from it.
 */
import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { PackEntry } from "./catalog.ts";
import { isMissing, syncFolder, writeSynced } from "./files.ts";

/** Name prefix of work folders, which readers ignore. */
export const WORK_PREFIX = ".writing-";
const RECORD_NAME = "finished.json";
export const PACK_PARTS = ["root", "pyramid", "tiles"] as const;

type Pack = Pick<PackEntry, "id" | "files">;

export interface FinishedPack {
  readonly pack: Pack;
  /** State that the reader of bands saved with the last checkpoint. */
  readonly checkpoint: unknown;
}

/** Records the pack, then moves its files from the work folder to their final names. */
export async function finishPack(folder: string, workFolder: string, finished: FinishedPack): Promise<Pack> {
  await writeSynced(join(workFolder, RECORD_NAME), new TextEncoder().encode(JSON.stringify(finished)));
  await syncFolder(workFolder);
  await moveParts(folder, workFolder, finished.pack);
  return finished.pack;
}

/**
 * Returns the pack that was finished in a work folder, with all files under their final names, or undefined if none was
 * finished or one of its files is gone.
 */
export async function readFinishedPack(folder: string, workFolder: string): Promise<FinishedPack | undefined> {
  const finished = await readRecord(workFolder);
  if (finished === undefined) return undefined;
  await moveParts(folder, workFolder, finished.pack);
  for (const part of PACK_PARTS) {
    const { name, size_bytes } = finished.pack.files[part];
    if ((await sizeOf(join(folder, name))) === size_bytes) continue;
    await rm(workFolder, { recursive: true, force: true });
    return undefined;
  }
  return finished;
}

/** Removes the work folders of finished packs that a catalog names. */
export async function removeFinishedWork(folder: string, packIds: ReadonlySet<string>): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((each) => each.startsWith(WORK_PREFIX))) {
    const finished = await readRecord(join(folder, name));
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
      if (!isMissing(error)) throw error; // moved before the writer was interrupted
    }
  }
  await syncFolder(folder);
}

async function readRecord(workFolder: string): Promise<FinishedPack | undefined> {
  try {
    return JSON.parse(await readFile(join(workFolder, RECORD_NAME), "utf8")) as FinishedPack;
  } catch (error) {
    // A record that was not written completely counts as none.
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
