/** The example of docs/data.md, with the maps of Djibouti from which its figures are. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { ingestAqueductFloods } from "../../src/ingest/ingest.ts";
import { describeIfShared, SHARED_FOLDER } from "../sharedFolder.ts";
import { useCapturedOutput } from "./capturedOutput.ts";

const MAPS = [2, 5, 10, 25, 50, 100, 250, 500, 1000].map(
  (years) =>
    `data/hazard/aqueduct/djibouti_inunriver_rcp4p5_MIROC-ESM-CHEM_2030_rp${String(years).padStart(5, "0")}.tif`,
);
const PAGE = readFileSync(fileURLToPath(new URL("../../docs/data.md", import.meta.url)), "utf8");

const printed = useCapturedOutput();

describeIfShared(MAPS)("the example of docs/data.md", () => {
  let out: string;
  beforeAll(async () => {
    out = await mkdtemp(join(tmpdir(), "isotherm-data-page-"));
    await ingestAqueductFloods({ sources: MAPS.map((map) => SHARED_FOLDER + map), out, keepCurves: true });
  });
  afterAll(() => rm(out, { recursive: true, force: true }));

  /** Runs the first query of the page whose words contain this one. */
  const runQuery = async (word: string): Promise<void> => {
    const lines = PAGE.replaceAll(/\\\n\s*/g, "").split("\n");
    const line = lines.find((each) => each.startsWith("npx isotherm query ") && each.includes(word)) ?? "";
    const words = line.replace("data/atlas", out).split(" ").slice(2);
    expect(await runProgram(words)).toBeUndefined();
  };

  test("has the stated depth", async () => {
    await runQuery("--years");
    const [, depthM = "no depth"] = /depth of ([0-9.]+) m with a return period of 100 years/.exec(PAGE) ?? [];
    expect(printed.stdout).toContain(` ${depthM} │`);
  });

  test("has the printed curve", async () => {
    await runQuery("--curve");
    const [, tables = "no tables"] = /```text\n([\s\S]*?)```/.exec(PAGE) ?? [];
    expect(printed.stdout).toContain(tables);
  });
});
