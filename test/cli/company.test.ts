import { once } from "node:events";
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { companyCommand } from "../../src/cli/company.ts";
import { COMPANY_COLUMN_NAMES, openCompanies } from "../../src/cli/companyFiles.ts";
import type { EntityFormat } from "../../src/cli/fileFormats.ts";
import type { CompanyAnswer } from "../../src/company/answer.ts";
import { totalClimateRisk } from "../../src/company/report.ts";
import { CompanyRequestSchema } from "../../src/company/request.ts";
import { type Fault, isFault } from "../../src/errors.ts";

let folder: string;
let printed: string;
let told: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-company-"));
  [printed, told] = ["", ""];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    told += String(text);
    return true;
  });
  vi.spyOn(process.stdout, "write").mockImplementation((text: unknown, ...rest: readonly unknown[]) => {
    printed += String(text);
    const done = rest.find((argument) => typeof argument === "function");
    if (done !== undefined) (done as () => void)();
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
  rmSync(folder, { recursive: true });
});

const COMPANY = {
  name: "Cement, India",
  country: "India",
  industry: "Cement and lime",
  revenue: "7870000000",
  total_assets: "11400000000",
  ebitda: "1380000000",
  total_debt: "1230000000",
  transition_scenarios: ["NGFS Net Zero 2050", "NGFS_CURRENT_POLICIES"],
  assessment_years: [2030, 2050],
};
const inFolder = (name: string): string => join(folder, name);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const answerTo = (company: object): unknown =>
  plain(totalClimateRisk(company as Parameters<typeof totalClimateRisk>[0]));

async function run(name: string, text: string | Uint8Array, ...more: readonly string[]): Promise<void> {
  writeFileSync(inFolder(name), text);
  await companyCommand().parseAsync([inFolder(name), ...more], { from: "user" });
}

async function refusal(name: string, text: string | Uint8Array, ...more: readonly string[]): Promise<Fault> {
  const error: unknown = await run(name, text, ...more).catch((thrown: unknown) => thrown);
  expect(readdirSync(folder)).toStrictEqual([name]);
  if (!isFault(error)) throw new Error(`No fault: ${String(error)}`, { cause: error });
  return error;
}

describe("one company", () => {
  test("is answered by a report to read", async () => {
    await run("one.json", JSON.stringify(COMPANY));
    const lines = printed.split("\n");
    expect(lines[0]).toBe("Cement, India: Cement and lime, India");
    expect(printed).toContain("Worst: 101.9% in 2050 under NGFS_NET_ZERO_2050, score 80.3 of 100, rating E.");
    expect(printed).toMatch(/NGFS_NET_ZERO_2050 +│ 2030 │ 1\.404B │ +101\.8% │/);
    expect(printed).toMatch(/NGFS_NET_ZERO_2050 +│ +11\.25B │ +101\.8% │ +0 │ +0\.0248% │ +100% │/);
    expect(printed).toMatch(/NGFS_NET_ZERO_2050 +│ 2030 │ +0\.89 to - │ +22\.44 to -0\.40 │/);
    expect(printed).toContain("loss of the whole EBITDA");
    expect(printed).toContain("no shock beyond current policies");
    expect(printed).toMatch(/scope 1, direct +│ modelled │ 72\.95M │ 36\.48M to 145\.9M/);
    for (const title of ["To be wary of", "How far to trust it", "Taken for granted", "Sources"]) {
      expect(lines.some((line) => line.startsWith(title))).toBe(true);
    }
    expect(told).toBe("");
    expect(process.exitCode).toBeUndefined();
  });

  test("says by what percent are measured where there is no EBITDA, and what a bank lends", async () => {
    await run("loss.json", JSON.stringify({ ...COMPANY, ebitda: -1, total_debt: 0 }));
    expect(printed).toContain("for which 16% of revenue stands");
    expect(printed).toContain("- to -");
    printed = "";
    await run("bank.json", JSON.stringify({ ...COMPANY, industry: "major_banks", damage_function: "ngfs5_kotz" }));
    expect(printed).toMatch(/│ +loans │/);
    expect(printed).toContain("scope 3, financed");
    expect(printed).toMatch(/RETRACTED in December 2025/);
  });

  test("with --json, or into a .json file, by the answer itself", async () => {
    await run("one.json", ` \n${JSON.stringify(COMPANY)}\n`, "--json");
    expect(JSON.parse(printed)).toStrictEqual(answerTo(COMPANY));
    await run("one.json", JSON.stringify(COMPANY), inFolder("answer.json"));
    expect(JSON.parse(readFileSync(inFolder("answer.json"), "utf8"))).toStrictEqual(answerTo(COMPANY));
  });

  test("into an .ndjson file, or with --to, by the answer on one line", async () => {
    await run("one.json", JSON.stringify(COMPANY), inFolder("answer.ndjson"));
    const lines = readFileSync(inFolder("answer.ndjson"), "utf8").split("\n");
    expect(lines.map((line) => line !== "")).toEqual([true, false]);
    expect(JSON.parse(lines[0] ?? "")).toStrictEqual(answerTo(COMPANY));
    await run("one.json", JSON.stringify(COMPANY), "--to", "ndjson");
    expect(JSON.parse(printed)).toStrictEqual(answerTo(COMPANY));
  });

  test("takes scenarios and years from the command line where it names none", async () => {
    const { transition_scenarios: _, assessment_years: __, ...rest } = COMPANY;
    const flags = ["--scenarios", "IPCC_C3,ngfs ndc", "--years", "2040, 2030", "--json"];
    await run("one.json", JSON.stringify(rest), ...flags);
    const expected = { ...rest, transition_scenarios: ["IPCC_C3", "NGFS_NDC"], assessment_years: [2030, 2040] };
    expect(JSON.parse(printed)).toStrictEqual(answerTo(expected));
    printed = "";
    await run("two.json", JSON.stringify(COMPANY), ...flags);
    expect(JSON.parse(printed)).toStrictEqual(answerTo(COMPANY));
  });

  test("is refused with all that is wrong, and no file is left", async () => {
    const wrong = { ...COMPANY, country: "Atlantis", revenue: "1,000" };
    const fault = await refusal("one.json", JSON.stringify(wrong), inFolder("out.json"));
    expect(fault.code).toBe("invalid_request");
    expect(fault.message).toMatch(/one\.json: 2 errors in the request/);
    expect(fault.items.map(({ pointer }) => pointer)).toEqual(["/country", "/revenue"]);
  });
});

describe("many companies", () => {
  const companies = Array.from({ length: 7 }, (_, i) => ({ ...COMPANY, name: `Company ${i}`, revenue: 1e9 * (i + 1) }));
  const expected = companies.map(answerTo);

  test.each([
    ["json", JSON.stringify(companies)],
    ["ndjson", companies.map((company) => `${JSON.stringify(company)}\n`).join("\n")],
    ["jsonl", companies.map((company) => JSON.stringify(company)).join("\r\n")],
  ])("from .%s: each is answered, in order", async (extension, text) => {
    await run(`in.${extension}`, text, inFolder("out.ndjson"));
    const lines = readFileSync(inFolder("out.ndjson"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toStrictEqual(expected);
    expect(printed).toMatch(/^28 results of 7 companies in [0-9.]+ s\n$/);
    await run(`in.${extension}`, text, inFolder("out.json"));
    expect(JSON.parse(readFileSync(inFolder("out.json"), "utf8"))).toStrictEqual({ results: expected });
  });

  test("to standard output, the tally on standard error", async () => {
    await run("in.json", JSON.stringify(companies), "--json");
    expect(JSON.parse(printed)).toStrictEqual({ results: expected });
    expect(JSON.parse(told)).toMatchObject({ companies: 7, results: 28, refused: 0 });
    expect(process.exitCode).toBeUndefined();
  });

  test("from CSV, with columns of its own, empty cells and lists", async () => {
    const csv =
      "id,name,country,industry,revenue,total_assets,ebitda,total_debt,scope1,transition_scenarios,assessment_years,iam\r\n" +
      '1,"Cement, India",India,Cement and lime,7870000000,11400000000,1380000000,1230000000,,NGFS Net Zero 2050; NGFS_CURRENT_POLICIES,2050;2030,\r\n' +
      "2,Other,US,software, 1e9 ,2e9,-5,0,1000,NGFS_BELOW_2C,2030,gcam\r\n";
    await run("in.csv", csv, inFolder("out.ndjson"));
    const lines = readFileSync(inFolder("out.ndjson"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toStrictEqual([
      answerTo(COMPANY),
      answerTo({
        name: "Other",
        country: "US",
        industry: "software",
        revenue: 1e9,
        total_assets: 2e9,
        ebitda: -5,
        total_debt: 0,
        scope1: 1000,
        transition_scenarios: ["NGFS_BELOW_2C"],
        assessment_years: [2030],
        iam: "gcam",
      }),
    ]);
  });

  test("one that is wrong costs nobody else the answer: it is told in its place, and the exit code is 2", async () => {
    const lines = [
      JSON.stringify(companies[0]),
      JSON.stringify({ ...COMPANY, country: "Atlantis" }),
      "{ not json",
      "[]",
      JSON.stringify(companies[1]),
    ];
    await run("in.ndjson", lines.join("\n"), inFolder("out.ndjson"));
    const answers = readFileSync(inFolder("out.ndjson"), "utf8").trimEnd().split("\n");
    expect(JSON.parse(answers[0] ?? "")).toStrictEqual(expected[0]);
    expect(JSON.parse(answers[4] ?? "")).toStrictEqual(expected[1]);
    const [unknown, malformed, list] = answers.slice(1, 4).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(unknown).toMatchObject({
      line: 2,
      error: { code: "country_unknown", errors: [{ pointer: "/country", nearest: expect.any(Array) }] },
    });
    expect(malformed).toMatchObject({
      line: 3,
      error: { code: "json_malformed", detail: expect.stringMatching(/^Line 3/) },
    });
    expect(list).toMatchObject({ line: 4, error: { code: "invalid_request" } });
    expect(printed).toMatch(/^8 results of 5 companies in [0-9.]+ s; 3 refused, each with its error\n$/);
    expect(process.exitCode).toBe(2);
  });

  test("a row of CSV that lacks a cell, and a list that does not read", async () => {
    const head = "name,country,industry,revenue,total_assets,ebitda,total_debt,transition_scenarios,assessment_years\n";
    const csv = `${head}A,US,software,1,1,1,1,IPCC_C1\nB,US,software,1,1,1,1,IPCC_C1,2030;soon\n\nC,US,software,1,1,,1,IPCC_C1,2030\n`;
    await run("in.csv", csv, inFolder("out.ndjson"));
    const answers = readFileSync(inFolder("out.ndjson"), "utf8").trimEnd().split("\n");
    expect(answers.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { line: 2, error: { detail: "The row has 8 cells, the header 9." } },
      { line: 3, error: { errors: [{ pointer: "/assessment_years/1", code: "wrong_type" }] } },
      { line: 5, error: { errors: [{ pointer: "/ebitda", code: "missing" }] } },
    ]);
  });

  test("lines are counted through lists of JSON", async () => {
    const text = `[\n${JSON.stringify(companies[0])},\n\n  ${JSON.stringify({ ...COMPANY, revenue: 0 })}\n]`;
    await run("in.json", text, inFolder("out.json"));
    const { results } = JSON.parse(readFileSync(inFolder("out.json"), "utf8")) as { results: readonly unknown[] };
    expect(results[1]).toMatchObject({ line: 4, error: { code: "invalid_request" } });
  });

  test("come as they are asked for: a file of any length needs the memory of a piece", async () => {
    let givenCount = 0;
    const line = Buffer.from(`${JSON.stringify(COMPANY)}\n`);
    const pieces = Readable.from(
      (function* () {
        for (; givenCount < 10_000; givenCount++) yield { bytes: line, text: line.toString() };
      })(),
      { highWaterMark: 1 },
    );
    const file = await openCompanies(pieces, "ndjson");
    if (file.kind !== "many") throw new Error("It is one company.");
    const entries = file.entries[Symbol.asyncIterator]();
    for (let i = 0; i < 5; i++) await entries.next();
    expect(givenCount).toBeLessThan(20);
  });
});

describe("what cannot be done at all", () => {
  test.each([
    ["in.json", "", "invalid_request"],
    ["in.json", "[]", "invalid_request"],
    ["in.json", "7", "json_malformed"],
    ["in.json", '{"name": ', "json_malformed"],
    ["in.json", `[${JSON.stringify(COMPANY)}`, "json_malformed"],
    ["in.ndjson", "\n \n", "invalid_request"],
    ["in.csv", "", "invalid_request"],
    ["in.csv", "name;country\n", "invalid_request"],
    ["in.csv", "name,contry,industry\n", "invalid_request"],
    ["in.csv", "name,name,country\n", "invalid_request"],
  ])("%s holding %j: %s", async (name, text, code) => {
    expect((await refusal(name, text, inFolder("out.json"))).code).toBe(code);
  });

  test.each([
    ["name,contry,industry\n", "line 1, column contry: there is no such column; is it country?"],
    ["name,name,country\n", "line 1, column name: the column stands there twice."],
  ])("a header %j is refused for its column", async (text, detail) => {
    const [item, ...others] = (await refusal("in.csv", text, inFolder("out.json"))).items;
    expect(item?.detail).toContain(detail);
    expect(others).toEqual([]);
  });

  test("bytes that are not UTF-8", async () => {
    expect((await refusal("in.json", Uint8Array.of(0x7b, 0xff), inFolder("out.json"))).message).toContain("not UTF-8");
  });

  test("OUT that is IN, OUT that would be CSV, and an IN of no known kind", async () => {
    const text = JSON.stringify([COMPANY]);
    expect((await refusal("in.json", text, inFolder("in.json"))).message).toContain("is also the input");
    expect((await refusal("in.json", text, inFolder("out.csv"))).message).toContain("does not write CSV");
    rmSync(inFolder("in.json"));
    expect((await refusal("in.txt", text)).message).toContain("--format csv, json, ndjson");
    await run("in.txt", text, "--format", "json", "--to", "ndjson");
    expect((JSON.parse(printed) as CompanyAnswer).company.name).toBe("Cement, India");
  });
});

describe("an OUT that would be lost", () => {
  const text = JSON.stringify(COMPANY);
  const refusalInto = async (output: string): Promise<string> => {
    const error: unknown = await run("in.json", text, output).catch((thrown: unknown) => thrown);
    if (!isFault(error)) throw new Error(`No fault: ${String(error)}`, { cause: error });
    expect(error.code).toBe("configuration_invalid");
    expect(readFileSync(inFolder("in.json"), "utf8")).toBe(text);
    return error.message;
  };

  test.each([
    ["a symbolic link to IN", symlinkSync],
    ["another name of IN", linkSync],
  ])("%s", async (_, link) => {
    writeFileSync(inFolder("in.json"), text);
    link(inFolder("in.json"), inFolder("other.json"));
    expect(await refusalInto(inFolder("other.json"))).toContain("is also the input");
    expect(readdirSync(folder).toSorted()).toEqual(["in.json", "other.json"]);
  });

  // A file put in its place would end it: for root, even a device would be gone.
  test("a folder, and what else is no file", async () => {
    mkdirSync(inFolder("folder"));
    expect(await refusalInto(inFolder("folder"))).toContain("is a folder");
    const server = createServer().listen(inFolder("socket"));
    await once(server, "listening");
    try {
      expect(await refusalInto(inFolder("socket"))).toContain("is not a regular file");
      expect(readdirSync(folder).toSorted()).toEqual(["folder", "in.json", "socket"]);
      expect(lstatSync(inFolder("socket")).isSocket()).toBe(true);
    } finally {
      server.close();
    }
  });

  test("a file that is there is replaced", async () => {
    writeFileSync(inFolder("out.json"), "old");
    await run("in.json", text, inFolder("out.json"));
    expect(JSON.parse(readFileSync(inFolder("out.json"), "utf8"))).toStrictEqual(answerTo(COMPANY));
  });
});

test("the columns of CSV are the members of a request", () => {
  expect([...COMPANY_COLUMN_NAMES].toSorted()).toEqual(Object.keys(CompanyRequestSchema.properties).toSorted());
});

test("--help has an example of each kind", () => {
  const formats: readonly EntityFormat[] = ["json", "ndjson", "csv"];
  const help = vi.spyOn(process, "exit").mockImplementation((() => undefined) as unknown as typeof process.exit);
  companyCommand().exitOverride().outputHelp();
  for (const format of formats) expect(printed).toContain(`.${format}`);
  expect(printed).toContain("isotherm company examples/company.json --json");
  help.mockRestore();
});
