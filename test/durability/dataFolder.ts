import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/**
 * Creates a folder for the data of a service before each test, and removes it afterwards.
 * @param purpose part of the folder's name
 * @returns a function that returns the folder of the current test
 */
export function dataFolder(purpose: string): () => string {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), `isotherm-${purpose}-`));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  return () => folder;
}
