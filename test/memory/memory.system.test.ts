/**
 * Memory use of bulk work as seen by the operating system: the built package in its own process samples the same locations
 * in several rounds with a cache that is far too small for them. The full run sets ISOTHERM_MEMORY_ROUNDS=10 and
 * ISOTHERM_MEMORY_PLACES=1000000.
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

const ROUNDS = Number(process.env["ISOTHERM_MEMORY_ROUNDS"] ?? 2);
const LOCATION_COUNT = Number(process.env["ISOTHERM_MEMORY_PLACES"] ?? 20_000);
const MIB = 2 ** 20;
const CACHE_BYTES = 64 * MIB;
/** Limit of everything except the cache: the program, its heap, a million locations and their results. */
const OVERHEAD_BYTES_MAX = 200 * MIB;
/**
 * Allowed variation from round to round due to garbage collection, of resident memory and of memory still referenced.
 * In a short run the process is still growing to its working size, so a leak shows in the referenced memory.
 */
const RESIDENT_SLACK_BYTES = (ROUNDS < 10 ? 48 : 12) * MIB;
const REFERENCED_SLACK_BYTES = 2 * MIB;

const GRID: Grid = {
  northDeg: 90,
  westDeg: -180,
  cellSizeLatDeg: 0.1,
  cellSizeLonDeg: 0.1,
  rowCount: 1800,
  columnCount: 3600,
};

interface Round {
  readonly foundCount: number;
  readonly seconds: number;
  readonly referencedBytes: number;
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
  const argument = JSON.stringify({ ...work, cacheBytes: CACHE_BYTES, rounds: ROUNDS, locationCount: LOCATION_COUNT });
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program, argument]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Round);
}

const largest = (values: readonly number[]): number => Math.max(...values);
const smallest = (values: readonly number[]): number => Math.min(...values);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  const cells = patchyCells(GRID, { layerCount: 4, seed: 71 });
  const groups = [{ scenario: "rcp4p5", year: 2030, layers: FLOOD_LAYERS, cells }];
  await makeAtlas(await Kernel.load(), folder, [{ hazard: "riverine_floods", grid: GRID, groups }]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe(`${ROUNDS} rounds of ${LOCATION_COUNT.toLocaleString("en")} locations stay within the cache size plus 200 MiB and do not grow`, () => {
  const points = { radiusKm: 0, method: "max" } as const;
  const circles = { radiusKm: 10, method: "max" } as const;
  const means = { radiusKm: 10, method: "mean" } as const;
  test.each([
    ["the demo, points", { address: "demo", workers: 0, ...points }],
    ["the demo, circles of 10 km", { address: "demo", workers: 0, ...circles }],
    ["an atlas of files, points", { workers: 0, ...points }],
    ["an atlas of files, circles of 10 km", { workers: 0, ...circles }],
    ["an atlas of files, means of 10 km", { workers: 0, ...means }],
    ["an atlas of files, means of 10 km with two workers", { workers: 2, ...means }],
  ] as const)(
    "%s",
    async (name, work) => {
      const rounds = await run({ address: folder, ...work });
      expect(rounds).toHaveLength(ROUNDS);
      const halfCount = rounds.length >> 1;
      const resident = rounds.map(({ rssBytes }) => rssBytes);
      const [firstHalf, secondHalf] = [resident.slice(0, halfCount), resident.slice(halfCount)];
      const peak = largest(rounds.map(({ peakRssBytes }) => peakRssBytes));
      const inMiB = (bytes: number): number => Math.round(bytes / MIB);
      console.info(
        `memory: ${JSON.stringify({
          name,
          cacheMiB: inMiB(CACHE_BYTES),
          peakMiB: inMiB(peak),
          afterRoundsMiB: resident.map(inMiB),
          referencedMiB: rounds.map(({ referencedBytes }) => inMiB(referencedBytes)),
          arrayBuffersMiB: inMiB(largest(rounds.map(({ arrayBuffersBytes }) => arrayBuffersBytes))),
          secondsPerRound: Number(smallest(rounds.map(({ seconds }) => seconds)).toFixed(2)),
        })}`,
      );
      expect(new Set(rounds.map(({ foundCount }) => foundCount)).size).toBe(1);
      expect(rounds[0]?.foundCount).toBeGreaterThan(LOCATION_COUNT / 10);
      expect(peak).toBeLessThan(CACHE_BYTES + OVERHEAD_BYTES_MAX);
      expect(smallest(secondHalf)).toBeLessThan(largest(firstHalf) + RESIDENT_SLACK_BYTES);
      const referenced = rounds.map(({ referencedBytes }) => referencedBytes);
      expect(smallest(referenced.slice(halfCount))).toBeLessThan(
        smallest(referenced.slice(0, halfCount)) + REFERENCED_SLACK_BYTES,
      );
    },
    60_000 + ROUNDS * (10_000 + LOCATION_COUNT / 10),
  );
});
