import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PortfolioAnswer } from "../src/contract/wireTypes.ts";
import { runProgram } from "../src/cli/program.ts";
import { openAtlas } from "../src/openAtlas.ts";
import { readManifest } from "../src/ingest/recipes/layersManifest.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const EXAMPLES = join(ROOT, "examples");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-examples-"));
  vi.spyOn(process.stdout, "write").mockImplementation((_text: unknown, ...rest: readonly unknown[]) => {
    const done = rest.find((argument) => typeof argument === "function");
    if (done !== undefined) (done as () => void)();
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

describe("the example files", () => {
  test.each(["csv", "json", "ndjson"])(
    "portfolio.%s has the companies of the other formats and a temperature for every year",
    async (format) => {
      const out = join(folder, "out.csv");
      expect(await runProgram(["align", join(EXAMPLES, `portfolio.${format}`), out, "--to", "csv"])).toBeUndefined();
      const rows: Record<string, string>[] = parse(readFileSync(out), { columns: true });
      const given: Record<string, string>[] = parse(read("examples/portfolio.csv"), { columns: true });
      expect(rows).toMatchObject(given);
      expect(rows.every(({ temperature_alignment }) => Number(temperature_alignment) > 0)).toBe(true);
    },
  );

  test("holdings.csv is a portfolio of the companies of portfolio.csv", async () => {
    const out = join(folder, "out.json");
    const words = ["align", join(EXAMPLES, "portfolio.csv"), out, "--portfolio", join(EXAMPLES, "holdings.csv")];
    expect(await runProgram(words)).toBeUndefined();
    const { results, entities } = JSON.parse(readFileSync(out, "utf8")) as PortfolioAnswer;
    expect(results).toMatchObject([{ method: "WATS", coverage: { holdings: 1, value: 1 }, uncovered: [] }]);
    expect(entities.map(({ id }) => id)).toEqual(["Invented Oil plc", "Invented Airline share"]);
  });

  test("company.json has a result for each scenario and year", async () => {
    const out = join(folder, "out.json");
    expect(await runProgram(["company", join(EXAMPLES, "company.json"), out])).toBeUndefined();
    expect((JSON.parse(readFileSync(out, "utf8")) as { results: unknown[] }).results).toHaveLength(4);
  });

  test("hazard-batch.json returns a result for every query", async () => {
    const atlas = await openAtlas("demo");
    try {
      const batch = JSON.parse(read("examples/hazard-batch.json")) as Parameters<typeof atlas.hazardRiskBatch>[0];
      const results = await atlas.hazardRiskBatch(batch);
      expect(results).toHaveLength(2);
      expect(JSON.stringify(results)).not.toContain('"error"');
    } finally {
      await atlas.close();
    }
  });

  test("ingest-manifest.json is a valid manifest", async () => {
    await expect(readManifest(join(EXAMPLES, "ingest-manifest.json"))).resolves.toHaveProperty("hazard", "cyclones");
  });

  test("places.csv has valid places with different numbers", () => {
    const places: Record<string, string>[] = parse(read("examples/places.csv"), { columns: true });
    expect(new Set(places.map(({ id }) => id)).size).toBe(20);
    for (const { latitude, longitude } of places) {
      expect(Math.abs(Number(latitude))).toBeLessThan(90);
      expect(Math.abs(Number(longitude))).toBeLessThan(180);
    }
  });

  test("state that their values are invented, unless they have none", () => {
    for (const name of readdirSync(EXAMPLES).filter((each) => !["hazard-batch.json", "places.csv"].includes(each))) {
      expect([name, /invented/i.test(read(`examples/${name}`))]).toEqual([name, true]);
    }
  });

  test("are packaged and are the only input files named in the documentation", () => {
    expect((JSON.parse(read("package.json")) as { files: string[] }).files).toContain("examples");
    for (const page of [
      "README.md",
      "docs/align-files.md",
      "docs/portfolio-files.md",
      "docs/places.md",
      "examples/README.md",
    ]) {
      const named = [...read(page).matchAll(/^(?:.*`)?(?:cat |isotherm (?:align|company) )(\S+)/gm)].map(
        ([, name = ""]) => name,
      );
      for (const name of named.filter((each) => /\.(csv|json|ndjson)$/.test(each))) {
        expect(readdirSync(EXAMPLES).map((each) => `examples/${each}`)).toContain(name);
      }
    }
    expect(read("README.md")).toContain("examples/portfolio.csv");
  });
});
