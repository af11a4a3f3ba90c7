/** Kills an ingest at random moments and resumes it, and compares the atlas with that of an uninterrupted ingest. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { randomFrom } from "../test/seededRandom.ts";

const SEED = 31;

/**
 * Ingests with kills.
 * @param command ingests into the atlas `out`
 * @param durationMs of an uninterrupted ingest; each start is killed after at most half of it
 * @returns the numbers of kills, and of files that differ from those of the atlas `expected`
 */
export async function ingestWithKills(
  command: readonly string[],
  {
    out,
    expected,
    killCount,
    durationMs,
  }: { readonly out: string; readonly expected: string; readonly killCount: number; readonly durationMs: number },
): Promise<{ readonly killCount: number; readonly differentFileCount: number }> {
  const random = randomFrom(SEED);
  let kills = 0;
  for (let isDone = false; !isDone;) {
    const delayMs = kills < killCount ? (0.1 + 0.4 * random.next()) * durationMs : undefined;
    isDone = await run(command, delayMs);
    if (!isDone) kills++;
  }
  const [ours, theirs] = [await hashesOf(out), await hashesOf(expected)];
  const names = new Set([...ours.keys(), ...theirs.keys()]);
  const differentFileCount = [...names].filter((name) => ours.get(name) !== theirs.get(name)).length;
  return { killCount: kills, differentFileCount };
}

/** Runs a program, which is killed after a time if one is given. Returns whether it finished before. */
function run([program = "", ...args]: readonly string[], killAfterMs: number | undefined): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      if (code !== 0 && signal !== "SIGKILL") reject(new Error(`The ingest failed with code ${code}.`));
      else resolve(code === 0);
    });
  });
}

/** Returns the hashes of the files of an atlas, except of the catalog, which contains the time. */
async function hashesOf(atlas: string): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>();
  for (const name of await readdir(atlas)) {
    if (name === "atlas.json") continue;
    const bytes = await readFile(join(atlas, name));
    hashes.set(name, createHash("sha256").update(bytes).digest("hex"));
  }
  return hashes;
}
