/**
 * `isotherm portfolio` as processes: workers, kills and shards. A full run has ISOTHERM_PORTFOLIO_PLACES=1000000 places and
 * ISOTHERM_PORTFOLIO_KILLS=10 kills.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { PlaceReport } from "../../src/places/run/placeReport.ts";
import { ROWS_PER_BLOCK } from "../../src/places/scores/placeBlock.ts";
import { withTempFolder } from "../atlas/makeAtlas.ts";
import { expectFile, randomPlaces, writePlaces } from "../places/run/placeRuns.ts";
import { randomFrom } from "../seededRandom.ts";

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const HELD_PORTFOLIO = fileURLToPath(new URL("../faults/heldPortfolio.mjs", import.meta.url));
const PLACES = Number(process.env["ISOTHERM_PORTFOLIO_PLACES"] ?? 40_000);
const KILLS = Number(process.env["ISOTHERM_PORTFOLIO_KILLS"] ?? 1);
const FLAGS = ["--atlas", "demo", "--hazards", "riverine_floods,cyclones", "--years", "2050", "--scenarios", "rcp8p5"];
const TIMEOUT_MS = 300_000 + PLACES;

function start(...words: readonly string[]): ChildProcess {
  return spawn(process.execPath, [CLI, "portfolio", ...words], { stdio: ["ignore", "pipe", "pipe"] });
}

/** Waits for the end of a process. */
async function outcomeOf(child: ChildProcess) {
  let [printed, errors] = ["", ""];
  child.stdout?.on("data", (text: Buffer) => (printed += text.toString()));
  child.stderr?.on("data", (text: Buffer) => (errors += text.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, printed, errors };
}

/** Returns what the command prints. */
async function run(...words: readonly string[]): Promise<string> {
  const { code, printed, errors } = await outcomeOf(start(...words));
  if (code !== 0) throw new Error(`isotherm portfolio ${words.join(" ")} ended with ${code}: ${errors}`);
  return printed;
}

/** Starts a run and kills it when it has finished so many segments, unless it has ended before. */
async function killAfter(segmentCount: number, output: string, ...words: readonly string[]): Promise<void> {
  const child = start(...words);
  child.stdout?.resume();
  child.stderr?.resume();
  const ended = once(child, "close");
  const list = join(`${output}.partial`, "segments.ndjson");
  const finishedCount = (): number => (existsSync(list) ? readFileSync(list, "utf8").split("\n").length - 1 : 0);
  while (child.exitCode === null && child.signalCode === null && finishedCount() < segmentCount) await delay(5);
  child.kill("SIGKILL");
  await ended;
}

/** Runs a command until it has finished so many segments, then sends it a signal. Returns its outcome. */
async function signalAfter(segmentCount: number, signal: "SIGINT" | "SIGKILL", ...words: readonly string[]) {
  const child = spawn(process.execPath, [HELD_PORTFOLIO, String(segmentCount), ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const outcome = outcomeOf(child);
  await Promise.race([once(child.stdout, "data"), outcome]);
  child.kill(signal);
  return await outcome;
}

/** Runs `act` with a file of places and the output of a single run. */
async function withScores(
  act: (files: { folder: string; input: string; whole: Buffer }) => Promise<void>,
  placeCount = PLACES,
): Promise<void> {
  await withTempFolder(async (folder) => {
    const input = await writePlaces(folder, randomPlaces(placeCount, 4));
    const output = join(folder, "whole.csv");
    await run(input, output, ...FLAGS, "--workers", "1");
    await act({ folder, input, whole: await readFile(output) });
  });
}

const blockCount = Math.ceil(PLACES / ROWS_PER_BLOCK);

describe("isotherm portfolio", () => {
  test(
    "writes the same bytes with 0, 2 and 7 workers",
    async () => {
      await withScores(async ({ folder, input, whole }) => {
        for (const workers of ["0", "2", "7"]) {
          const output = join(folder, `workers-${workers}.csv`);
          await run(input, output, ...FLAGS, "--workers", workers);
          await expectFile(output, whole);
        }
      });
    },
    TIMEOUT_MS,
  );

  test(
    "writes the same bytes after kills",
    async () => {
      await withScores(async ({ folder, input, whole }) => {
        const output = join(folder, "killed.csv");
        const random = randomFrom(6);
        for (let kill = 0; kill < KILLS; kill++) {
          await killAfter(random.below(blockCount), output, input, output, ...FLAGS, "--workers", "2");
        }
        await run(input, output, ...FLAGS);
        await expectFile(output, whole);
      });
    },
    TIMEOUT_MS * (1 + KILLS),
  );

  test(
    "stops after SIGINT with the exit code 130, and is continued by the same command",
    async () => {
      await withScores(
        async ({ folder, input, whole }) => {
          const output = join(folder, "stopped.csv");
          const words = [input, output, ...FLAGS, "--workers", "2"];
          expect(await signalAfter(1, "SIGINT", ...words)).toEqual({
            code: 130,
            printed: "held\n",
            errors: `Stopped. Run the same command again to continue; ${output}.partial has the finished part.\n`,
          });
          expect(existsSync(output)).toBe(false);
          const report = JSON.parse(await run(...words, "--json")) as PlaceReport;
          const { resumed_place_count: resumedCount } = report.timing;
          expect(resumedCount).toBeGreaterThanOrEqual(ROWS_PER_BLOCK);
          expect(resumedCount).toBeLessThan(report.place_count);
          await expectFile(output, whole);
        },
        Math.max(PLACES, 12 * ROWS_PER_BLOCK),
      );
    },
    TIMEOUT_MS,
  );

  test(
    "joins eight shards, two of which were killed after their first segment and restarted",
    async () => {
      await withScores(
        async ({ folder, input, whole }) => {
          const shards = [1, 2, 3, 4, 5, 6, 7, 8];
          const outputOf = (shard: number): string => join(folder, `part-${shard}.csv`);
          const killed = [2, 5];
          const flags = [...FLAGS, "--workers", "0"];
          const wordsOf = (shard: number): readonly string[] => {
            return [input, outputOf(shard), ...flags, "--shard", `${shard}/8`];
          };
          for (const shard of killed) {
            expect(await signalAfter(1, "SIGKILL", ...wordsOf(shard))).toEqual({
              code: null,
              printed: "held\n",
              errors: "",
            });
          }
          for (const shard of shards) {
            const words = wordsOf(shard);
            const report = JSON.parse(await run(...words, "--json")) as PlaceReport;
            expect(report.timing.resumed_place_count).toBe(killed.includes(shard) ? ROWS_PER_BLOCK : 0);
            expect(report.place_count).toBeGreaterThan(2 * ROWS_PER_BLOCK);
          }
          const merged = join(folder, "merged.csv");
          await run("merge", merged, ...shards.map(outputOf));
          await expectFile(merged, whole);
        },
        Math.max(PLACES, 8 * 3 * ROWS_PER_BLOCK),
      );
    },
    TIMEOUT_MS * 2,
  );
});
