/**
 * What memory bulk work takes, as the system sees it: the built package in a process of its own, asked the same places
 * round after round with a cache that is far too small for them. ISOTHERM_MEMORY_ROUNDS=10 and
 * ISOTHERM_MEMORY_PLACES=1000000 are the whole of it.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { FLOOD_LAYERS, makeAtlas, patchyCells } from "../atlas/makeAtlas.ts";

const ROUNDS = Number(process.env["ISOTHERM_MEMORY_ROUNDS"] ?? 4);
const PLACES = Number(process.env["ISOTHERM_MEMORY_PLACES"] ?? 20_000);
const MIB = 2 ** 20;
const CACHE_BYTES = 64 * MIB;
/** What a run may take beside the cache: the program, its heap, a million places and their answers. */
const BESIDE_BYTES = 200 * MIB;
/**
 * What may differ from round to round, as collectors come and go: of what the system has lent, and of what is held. Of few
 * rounds the first ones are still those in which a process grows to its size; what it holds tells a leak in these.
 */
const UNSTEADY_BYTES = (ROUNDS < 10 ? 48 : 12) * MIB;
const HELD_UNSTEADY_BYTES = 2 * MIB;

const GRID: Grid = {
  northDeg: 90,
  westDeg: -180,
  cellSizeLatDeg: 0.1,
  cellSizeLonDeg: 0.1,
  rowCount: 1800,
  columnCount: 3600,
};

interface Round {
  readonly found: number;
  readonly seconds: number;
  readonly heldBytes: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  readonly arrayBuffersBytes: number;
}

interface Work {
  readonly address: string;
  readonly workers: number;
  readonly radiusKm: number;
  readonly method: "max" | "mean";
}

async function run(work: Work): Promise<readonly Round[]> {
  const program = fileURLToPath(new URL("rounds.mjs", import.meta.url));
  const what = JSON.stringify({ ...work, cacheBytes: CACHE_BYTES, rounds: ROUNDS, placeCount: PLACES });
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program, what]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Round);
}

const largest = (values: readonly number[]): number => Math.max(...values);
const least = (values: readonly number[]): number => Math.min(...values);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  const cells = patchyCells(GRID, { layerCount: 4, seed: 71 });
  const groups = [{ scenario: "rcp4p5", year: 2030, layers: FLOOD_LAYERS, cells }];
  await makeAtlas(await Kernel.load(), folder, [{ hazard: "riverine_floods", grid: GRID, groups }]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe(`${ROUNDS} rounds of ${PLACES.toLocaleString("en")} places take the cache and 200 MiB, and do not grow`, () => {
  const points = { radiusKm: 0, method: "max" } as const;
  const circles = { radiusKm: 10, method: "max" } as const;
  const means = { radiusKm: 10, method: "mean" } as const;
  test.each([
    ["the demo, points", { address: "demo", workers: 0, ...points }],
    ["the demo, circles of 10 km", { address: "demo", workers: 0, ...circles }],
    ["an atlas of files, points", { workers: 0, ...points }],
    ["an atlas of files, circles of 10 km", { workers: 0, ...circles }],
    ["an atlas of files, means of 10 km", { workers: 0, ...means }],
    ["an atlas of files, means of 10 km by two workers", { workers: 2, ...means }],
  ] as const)(
    "%s",
    async (name, work) => {
      const rounds = await run({ address: folder, ...work });
      expect(rounds).toHaveLength(ROUNDS);
      const half = rounds.length >> 1;
      const resident = rounds.map(({ rssBytes }) => rssBytes);
      const [first, second] = [resident.slice(0, half), resident.slice(half)];
      const peak = largest(rounds.map(({ peakRssBytes }) => peakRssBytes));
      const inMiB = (bytes: number): number => Math.round(bytes / MIB);
      console.info(
        `memory: ${JSON.stringify({
          name,
          cacheMiB: inMiB(CACHE_BYTES),
          peakMiB: inMiB(peak),
          afterRoundsMiB: resident.map(inMiB),
          heldMiB: rounds.map(({ heldBytes }) => inMiB(heldBytes)),
          arrayBuffersMiB: inMiB(largest(rounds.map(({ arrayBuffersBytes }) => arrayBuffersBytes))),
          secondsARound: Number(least(rounds.map(({ seconds }) => seconds)).toFixed(2)),
        })}`,
      );
      expect(new Set(rounds.map(({ found }) => found)).size).toBe(1);
      expect(rounds[0]?.found).toBeGreaterThan(PLACES / 10);
      expect(peak).toBeLessThan(CACHE_BYTES + BESIDE_BYTES);
      expect(least(second)).toBeLessThan(largest(first) + UNSTEADY_BYTES);
      const held = rounds.map(({ heldBytes }) => heldBytes);
      expect(least(held.slice(half))).toBeLessThan(least(held.slice(0, half)) + HELD_UNSTEADY_BYTES);
    },
    60_000 + ROUNDS * (10_000 + PLACES / 10),
  );
});
