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
import { describe, test } from "vitest";
import { withTempFolder } from "../atlas/makeAtlas.ts";
import { expectFile, randomPlaces, writePlaces } from "../placeFiles/run/placeRuns.ts";
import { randomFrom } from "../seededRandom.ts";

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const PLACES = Number(process.env["ISOTHERM_PORTFOLIO_PLACES"] ?? 40_000);
const KILLS = Number(process.env["ISOTHERM_PORTFOLIO_KILLS"] ?? 2);
const FLAGS = ["--atlas", "demo", "--hazards", "riverine_floods,cyclones", "--years", "2050", "--scenarios", "rcp8p5"];
const TIMEOUT_MS = 300_000 + PLACES;

function start(...words: readonly string[]): ChildProcess {
  return spawn(process.execPath, [CLI, "portfolio", ...words], { stdio: ["ignore", "ignore", "pipe"] });
}

async function run(...words: readonly string[]): Promise<void> {
  const child = start(...words);
  let errors = "";
  child.stderr?.on("data", (text: Buffer) => (errors += text.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`isotherm portfolio ${words.join(" ")} ended with ${code}: ${errors}`);
}

/** Starts a run and kills it when it has finished so many segments, unless it has ended before. */
async function killAfter(segmentCount: number, output: string, ...words: readonly string[]): Promise<void> {
  const child = start(...words);
  const ended = once(child, "close");
  const list = join(`${output}.partial`, "segments.ndjson");
  const finishedCount = (): number => (existsSync(list) ? readFileSync(list, "utf8").split("\n").length - 1 : 0);
  while (child.exitCode === null && child.signalCode === null && finishedCount() < segmentCount) await delay(5);
  child.kill("SIGKILL");
  await ended;
}

/** Runs `act` with a file of places and the output of a single run. */
async function withScores(
  act: (files: { folder: string; input: string; whole: Buffer }) => Promise<void>,
): Promise<void> {
  await withTempFolder(async (folder) => {
    const input = await writePlaces(folder, randomPlaces(PLACES, 4));
    const output = join(folder, "whole.csv");
    await run(input, output, ...FLAGS, "--workers", "1");
    await act({ folder, input, whole: await readFile(output) });
  });
}

const blockCount = Math.ceil(PLACES / 8192);

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
    "joins eight shards, two of which were killed and restarted",
    async () => {
      await withScores(async ({ folder, input, whole }) => {
        const words = (shard: number): readonly string[] => {
          const output = join(folder, `part-${shard}.csv`);
          return [input, output, ...FLAGS, "--workers", "0", "--shard", `${shard}/8`];
        };
        const shards = [1, 2, 3, 4, 5, 6, 7, 8];
        const killed = [2, 5];
        await Promise.all(killed.map((shard) => killAfter(0, join(folder, `part-${shard}.csv`), ...words(shard))));
        for (const shard of shards) await run(...words(shard));
        const merged = join(folder, "merged.csv");
        await run("merge", merged, ...shards.map((shard) => join(folder, `part-${shard}.csv`)));
        await expectFile(merged, whole);
      });
    },
    TIMEOUT_MS * 2,
  );
});
