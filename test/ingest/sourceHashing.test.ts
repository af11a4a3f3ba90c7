/** Hashing of large sources across interruptions. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { KNOWN_HASHES_NAME, SourceVersions } from "../../src/ingest/sourceVersions.ts";

const MIB = 1 << 20;
let folder: string;
let file: string;
let bytes: Buffer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  file = join(folder, "map.tif");
  bytes = randomBytes(20 * MIB);
  await writeFile(file, bytes);
  // Hashes are saved only for files that have not changed for a few seconds.
  vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ["Date"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true, force: true });
});

interface SavedHash {
  hashedBytes?: number;
  state?: string;
  sha256?: string;
}

async function savedHash(): Promise<readonly [string, SavedHash][]> {
  return JSON.parse(await readFile(join(folder, KNOWN_HASHES_NAME), "utf8")) as [string, SavedHash][];
}

/** Aborts the hashing after its first saved state, as killing the process then would. */
async function interruptHashing(): Promise<SavedHash> {
  const stopping = new AbortController();
  let pollCount = 0;
  const signal = new Proxy(stopping.signal, {
    get(target, name) {
      if (name === "throwIfAborted" && ++pollCount === 2) stopping.abort(new Error("enough"));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  await expect(new SourceVersions({ folder, signal }).identify([file])).rejects.toThrow("enough");
  const [, saved] = (await savedHash())[0] ?? [];
  if (saved === undefined) throw new Error("no state was saved");
  return saved;
}

async function resumeHashing(): Promise<string | undefined> {
  const sources = new SourceVersions({ folder });
  await sources.identify([file]);
  return sources.versionOf(file).sha256;
}

const sha256 = (data: Buffer): string => createHash("sha256").update(data).digest("hex");

test("continues from the saved state and gives the SHA-256 of the whole file", async () => {
  expect((await interruptHashing()).hashedBytes).toBe(4 * MIB);
  expect(await resumeHashing()).toBe(sha256(bytes));
  expect((await savedHash())[0]?.[1]).toMatchObject({ sha256: sha256(bytes) });
});

test("does not read the bytes before the saved state again", async () => {
  const saved = await interruptHashing();
  const [[path]] = (await savedHash()) as [[string, SavedHash]];
  const skippingState = { ...saved, hashedBytes: 8 * MIB };
  await writeFile(join(folder, KNOWN_HASHES_NAME), JSON.stringify([[path, skippingState]]));
  const expected = sha256(Buffer.concat([bytes.subarray(0, 4 * MIB), bytes.subarray(8 * MIB)]));
  expect(await resumeHashing()).toBe(expected);
});

test("starts over if the file changed during hashing", async () => {
  await interruptHashing();
  bytes = randomBytes(20 * MIB);
  vi.useRealTimers();
  await writeFile(file, bytes);
  vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ["Date"] });
  expect(await resumeHashing()).toBe(sha256(bytes));
});
