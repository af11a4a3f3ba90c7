import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createProgram, runProgram } from "../../src/cli/program.ts";
import { timeLeft } from "../../src/cli/progress.ts";
import { endOnOutputError } from "../../src/cli/errorReport.ts";
import { type ingestLayers } from "../../src/ingest/ingest.ts";
import * as ingest from "../../src/ingest/ingest.ts";
import { useCapturedOutput } from "./capturedOutput.ts";

vi.mock("../../src/ingest/ingest.ts", () => ({ ingestLayers: vi.fn<typeof ingestLayers>() }));

const HEADER = "name,asset_type,baseline_year,baseline_scope1,year,scope1";
const CSV = `${HEADER}\nA,equity,2023,5,2030,4\n`;

const printed = useCapturedOutput();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-program-"));
  mkdirSync(join(folder, "folder.csv"));
  for (const [name, text] of Object.entries({
    "in.csv": CSV,
    "in.parquet": CSV,
    "in.csv.gz": CSV,
    in: CSV,
    "in.json": "[]",
    "empty.csv": "",
    "empty.json": "",
    "wrong.csv": CSV.replace("2023", "x").replace("2030", "y"),
  })) {
    writeFileSync(join(folder, name), text);
  }
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Runs a command line; arguments that begin with @ are paths in the test folder. */
const run = (...words: readonly string[]): Promise<number | undefined> =>
  runProgram(words.map((word) => (word.startsWith("@") ? join(folder, word.slice(1)) : word)));
const lines = (): readonly string[] => printed.stderr.replaceAll(`${folder}/`, "").trimEnd().split("\n");

const QUERY = ["query", "--atlas=demo", "--lat=1", "--lon=2", "--hazards=wildfire", "--scenarios=rcp8p5"];

test("the help of the program is the same before its commands are loaded", async () => {
  expect((await createProgram(() => false)).helpInformation()).toBe((await createProgram()).helpInformation());
});

describe("a file name", () => {
  test.each([
    [
      "align",
      "@in.csv",
      "@out.parquet",
      "out.parquet: the extension .parquet is not supported; OUT must end in .csv, .json",
    ],
    ["align", "@in.csv", "@out", "out: the name has no extension; OUT must end in .csv"],
    ["align", "@in.csv", "@out.csv.gz", "out.csv.gz: compressed output is not supported"],
    ["align", "@in.csv", "@out.txt", "out.txt: the extension .txt is not supported"],
    ["align", "@in.csv", "@out.json", "--to=csv", "out.json: the extension means JSON, but the options request CSV"],
    ["align", "@in.csv", "@none/out.csv", "none/out.csv: the folder none does not exist"],
    ["align", "@in.csv", "@in.csv", "in.csv is also the input"],
    ["align", "@in.csv", "@folder.csv", "folder.csv is a folder"],
    ["align", "@in.parquet", "in.parquet: the extension .parquet is not supported; IN must end in .csv, .json"],
    ["align", "@in.csv.gz", "decompress it first"],
    ["align", "@in", "in: the name has no extension"],
    ["align", "-", "--format is required for standard input: one of csv, json, ndjson."],
    ["align", "@none.csv", "none.csv: no such file."],
    ["align", "@in.csv/none.csv", "in.csv/none.csv: no such file."],
    ["align", "@folder.csv", "folder.csv is a folder; give the name of a file."],
    ["align", "@empty.json", "empty.json: the file is empty."],
    [
      "company",
      "@in.csv",
      "@out.csv",
      "out.csv: this command does not write CSV; OUT must end in .json, .ndjson, .jsonl.",
    ],
    ["company", "@in.csv", "@out.parquet", "out.parquet: the extension .parquet is not supported"],
    ["company", "@in.json", "@out.csv", "--to=json", "out.csv: this command does not write CSV"],
    ["company", "@in.csv", "@out.json", "--to=ndjson", "the extension means JSON, but the options request NDJSON"],
    ["company", "@in.parquet", "IN must end in .csv, .json"],
    ["company", "@empty.csv", "empty.csv: the file is empty."],
    ["company", "@folder.csv", "folder.csv is a folder"],
    ["company", "@none.json", "none.json: no such file."],
  ])("is rejected in %s %s %s, and nothing is written", async (...words) => {
    const before = readdirSync(folder);
    expect(await run(...words.slice(0, -1))).toBe(1);
    expect(lines()[0]).toContain(words.at(-1));
    expect(lines()[0]?.startsWith("isotherm: ")).toBe(true);
    expect(printed.stdout).toBe("");
    expect(readdirSync(folder)).toEqual(before);
  });

  test.each([["@OUT.CSV"], ["@out.odd", "--to", "csv"], ["@in.json"]])("is accepted as %s", async (...words) => {
    expect(await run("align", "@in.csv", ...words)).toBeUndefined();
    const out = readFileSync(join(folder, words[0]?.slice(1) ?? ""), "utf8");
    expect(out.startsWith(words[0] === "@in.json" ? "{" : HEADER)).toBe(true);
  });

  test("may have any extension with --format", async () => {
    expect(await run("align", "@in.parquet", "--format", "csv")).toBeUndefined();
    expect(printed.stdout.startsWith(HEADER)).toBe(true);
  });

  test("of a file that is rejected causes no output on standard output", async () => {
    expect(await run("align", "@in.json")).toBe(1);
    expect(printed.stdout).toBe("");
  });
});

describe("invalid options", () => {
  test("are reported together: missing required options and unknown ones", async () => {
    expect(await run("query", "--year", "2050")).toBe(1);
    expect(lines().map((line) => line.trim().split(":")[0])).toEqual([
      "isotherm",
      "--atlas <folder>",
      "--lat <degrees>",
      "--lon <degrees>",
      "--hazards <list>",
      "--years <list>",
      "--scenarios <list>",
      "unknown option --year",
      "See isotherm query --help.",
    ]);
    printed.stderr = "";
    expect(await run("ingest", "layers")).toBe(1);
    expect(lines().map((line) => line.trim().split(":")[0])).toEqual([
      "isotherm",
      "<manifest>",
      "--out <folder>",
      "See isotherm ingest layers --help.",
    ]);
  });

  test.each([
    [["nothing"], "unknown command 'nothing'", "isotherm --help"],
    [["align", "@in.csv", "--nope"], "unknown option '--nope'", "isotherm align --help"],
    [["align", "@in.csv", "@out.csv", "more"], "too many arguments", "isotherm align --help"],
    [["serve", "--port", "x"], "It must be an integer from 0 to 65535", "isotherm serve --help"],
    [
      ["company", "@in.csv", "--years", "2050,x"],
      '"x" is not a whole year from 2025 to 2100',
      "isotherm company --help",
    ],
    [["company", "@in.csv", "--scenarios", "x"], 'Unknown scenario "x"; the nearest are', "isotherm company --help"],
    [["ingest", "layers", "x", "--out", "y", "--nodata", "x"], "It must be a number", "isotherm ingest layers --help"],
  ])("of %j are reported as %s, with a reference to the help", async (words, message, help) => {
    expect(await run(...words)).toBe(1);
    expect(printed.stderr).toContain(message);
    expect(lines().at(-1)).toBe(`  See ${help}.`);
    expect(printed.stderr).not.toContain("error:");
  });

  test("in a query are named by their option, each once", async () => {
    expect(await run(...QUERY, "--years=2050,x", "--radius=999")).toBe(1);
    expect(lines()).toEqual([
      "isotherm: 2 errors in the query.",
      expect.stringMatching(/^ {2}--years must be an integer \(got "x"\)\.$/),
      expect.stringMatching(/^ {2}--radius must be between 0 and 100 \(got 999\)\.$/),
    ]);
    printed.stderr = "";
    expect(await run(...QUERY, "--years=2051")).toBe(1);
    expect(lines()[0]).toMatch(/^isotherm: --years: wildfire has no analysis year 2051/);
    expect(printed.stderr).not.toContain("analysis_years");
  });

  test("are not mentioned in errors of a file, which name its columns", async () => {
    expect(await run("align", "@wrong.csv")).toBe(1);
    expect(lines().map((line) => line.split(": ").slice(0, 2).join(": "))).toEqual([
      "isotherm: wrong.csv",
      '  line 2, column baseline_year: year must be an integer between 1900 and 2200 (got "x").',
      '  line 2, column year: year must be an integer between 1900 and 2200 (got "y").',
    ]);
  });

  test.each([
    ["Infinity", Infinity],
    ["-inf", -Infinity],
    ["-9999", -9999],
  ])("accepts --nodata %s", async (text, nodata) => {
    vi.mocked(ingest.ingestLayers).mockRejectedValue(new Error("reached"));
    await expect(run("ingest", "layers", "x.json", "--out", "y", "--nodata", text)).rejects.toThrow("reached");
    expect(vi.mocked(ingest.ingestLayers).mock.lastCall?.[0]).toMatchObject({ nodata });
  });
});

describe("standard output", () => {
  const mockExit = () =>
    vi.spyOn(process, "exit").mockImplementation((code) => {
      throw new Error(`exit ${code}`);
    });

  test("exits with 141 and no message if the reader has closed the pipe", () => {
    mockExit();
    const error = Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write", errno: -32 });
    expect(() => endOnOutputError(error)).toThrow("exit 141");
    expect(printed.stderr).toBe("");
  });

  test("exits with 1 and a message if the disk is full", () => {
    mockExit();
    const error = Object.assign(new Error("ENOSPC"), { code: "ENOSPC", syscall: "write", errno: -28 });
    expect(() => endOnOutputError(error)).toThrow("exit 1");
    expect(printed.stderr).toMatch(/^isotherm: cannot write to standard output: no space left on device/);
  });
});

test("help marks required options and lists the exit codes", async () => {
  expect(await run("query", "--help")).toBe(0);
  expect(printed.stdout).toMatch(/--lat <degrees> +\(required\) latitude/);
  printed.stdout = "";
  expect(await run("--help")).toBe(0);
  expect(printed.stdout).toMatch(/Exit codes: 0 success; 1 error/);
  expect(await run("--version")).toBe(0);
  expect(await run()).toBe(1);
});

test.each([
  ["INF", "unknown time"],
  ["NULL", "unknown time"],
  ["0", "unknown time"],
  [Infinity, "unknown time"],
  [NaN, "unknown time"],
  [0, "0 s"],
  [59, "59 s"],
  [61, "2 min"],
  [7260, "2 h 1 min"],
])("timeLeft formats %s seconds as %s", (leftS, text) => {
  expect(timeLeft(leftS)).toBe(text);
});
