/** Exclusive write lock on an atlas folder. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { withFolderLock } from "../files/folderLock.ts";

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
