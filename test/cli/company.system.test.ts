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
import type { EntityFormat } from "../../src/cli/fileIo.ts";
import { totalClimateRisk } from "../../src/company/report.ts";
import { type Fault, isFault } from "../../src/errors.ts";
import type { CompanyAnswer } from "../../src/contract/wireTypes.ts";
import { CompanyRequestSchema } from "../../src/contract/companyRequest.ts";

let folder: string;
let stdoutText: string;
let stderrText: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-company-"));
  [stdoutText, stderrText] = ["", ""];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderrText += String(text);
    return true;
  });
  vi.spyOn(process.stdout, "write").mockImplementation((text: unknown, ...rest: readonly unknown[]) => {
    stdoutText += String(text);
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
const jsonRoundTrip = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const resultFor = (company: object): unknown =>
  jsonRoundTrip(totalClimateRisk(company as Parameters<typeof totalClimateRisk>[0]));

async function run(name: string, text: string | Uint8Array, ...more: readonly string[]): Promise<void> {
  writeFileSync(inFolder(name), text);
  await companyCommand().parseAsync([inFolder(name), ...more], { from: "user" });
}

async function faultOf(name: string, text: string | Uint8Array, ...more: readonly string[]): Promise<Fault> {
  const error: unknown = await run(name, text, ...more).catch((thrown: unknown) => thrown);
  expect(readdirSync(folder)).toStrictEqual([name]);
  if (!isFault(error)) throw new Error(`expected a Fault (got ${String(error)})`, { cause: error });
  return error;
}

describe("the result of one company", () => {
  test("is printed as a text report", async () => {
    await run("one.json", JSON.stringify(COMPANY));
    const lines = stdoutText.split("\n");
    expect(lines[0]).toBe("Cement, India: Cement and lime, India");
    const { headline, results, valuation, emissions } = totalClimateRisk(COMPANY);
    const [first, value] = [results[0], valuation[0]];
    if (first === undefined || value === undefined) throw new Error("no results");
    const percent = (share: number): string => `${share.toFixed(1)}%`;
    const { scenario, year, score, pct_of_ebitda } = headline.max;
    expect(lines).toContainEqual(
      expect.stringMatching(
        `^Worst: ${percent(pct_of_ebitda)} in ${year} under ${scenario}, score ${score.toFixed(1)} of 100, rating [A-E]\\.$`,
      ),
    );
    const row = (...cells: readonly string[]): RegExp => new RegExp(cells.join(" +│ +"));
    const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });
    expect(stdoutText).toMatch(
      row("NGFS_NET_ZERO_2050", "2030", compact.format(first.total.loss), percent(first.total.pct_of_ebitda)),
    );
    expect(stdoutText).toMatch(
      row("NGFS_NET_ZERO_2050", compact.format(value.npv_of_losses), percent(value.value_at_risk_pct)),
    );
    expect(stdoutText).toMatch(row("NGFS_NET_ZERO_2050", "2030", "0\\.89 to [0-9.]+", "22\\.44 to [0-9.]+"));
    expect(stdoutText).toContain(`${compact.format(first.transition.uncapped)} without closures`);
    expect(stdoutText).toContain("no shock beyond current policies");
    expect(stdoutText).toMatch(row("scope 1, direct", "modelled", compact.format(emissions.scope1.value)));
    for (const title of ["Warnings", "Data quality", "Assumptions", "Sources"]) {
      expect(lines.some((line) => line.startsWith(title))).toBe(true);
    }
    expect(stderrText).toBe("");
    expect(process.exitCode).toBeUndefined();
  });

  test("shows normal EBITDA, estimates, assumptions and expected losses if they apply", async () => {
    const { total_assets: _, ...withoutAssets } = COMPANY;
    const special = { ebitda: -1, total_debt: 0, exposure: 1e6, pd: 0.01, assumptions: { pass_through: 0.5 } };
    await run("loss.json", JSON.stringify({ ...withoutAssets, ...special }));
    expect(stdoutText).toMatch(/losses are measured by normal EBITDA, [0-9.]+M/);
    expect(stdoutText).toContain("estimated: total_assets.");
    expect(stdoutText).toContain("pass-through 50.0%");
    expect(stdoutText).toMatch(/expected loss, USD/);
    expect(stdoutText).toMatch(/4\.5K to [0-9.]+K/);
    expect(stdoutText).toContain("- to -");
  });

  test("shows the loans of a bank", async () => {
    await run("bank.json", JSON.stringify({ ...COMPANY, industry: "major_banks", damage_function: "ngfs5_kotz" }));
    expect(stdoutText).toMatch(/│ +loans │/);
    expect(stdoutText).toContain("scope 3, financed");
    expect(stdoutText).toMatch(/RETRACTED in December 2025/);
  });

  test("is written as JSON with --json or to a .json file", async () => {
    await run("one.json", ` \n${JSON.stringify(COMPANY)}\n`, "--json");
    expect(JSON.parse(stdoutText)).toStrictEqual(resultFor(COMPANY));
    await run("one.json", JSON.stringify(COMPANY), inFolder("answer.json"));
    expect(JSON.parse(readFileSync(inFolder("answer.json"), "utf8"))).toStrictEqual(resultFor(COMPANY));
  });

  test("is written on one line to an .ndjson file or with --to", async () => {
    await run("one.json", JSON.stringify(COMPANY), inFolder("answer.ndjson"));
    const lines = readFileSync(inFolder("answer.ndjson"), "utf8").split("\n");
    expect(lines.map((line) => line !== "")).toEqual([true, false]);
    expect(JSON.parse(lines[0] ?? "")).toStrictEqual(resultFor(COMPANY));
    await run("one.json", JSON.stringify(COMPANY), "--to", "ndjson");
    expect(JSON.parse(stdoutText)).toStrictEqual(resultFor(COMPANY));
  });

  test("uses the scenarios and years of the command line if the company names none", async () => {
    const { transition_scenarios: _, assessment_years: __, ...rest } = COMPANY;
    const flags = ["--scenarios", "IPCC_C3,ngfs ndc", "--years", "2040, 2030", "--json"];
    await run("one.json", JSON.stringify(rest), ...flags);
    const expected = { ...rest, transition_scenarios: ["IPCC_C3", "NGFS_NDC"], assessment_years: [2030, 2040] };
    expect(JSON.parse(stdoutText)).toStrictEqual(resultFor(expected));
    stdoutText = "";
    await run("two.json", JSON.stringify(COMPANY), ...flags);
    expect(JSON.parse(stdoutText)).toStrictEqual(resultFor(COMPANY));
  });

  test("has the industry that the map of --industry-map gives to a code", async () => {
    writeFileSync(inFolder("map.csv"), "system,code,industry\ngics,15102010,Cement and lime\n");
    const flags = [inFolder("out.json"), "--industry-map", inFolder("map.csv")];
    await run("one.json", JSON.stringify({ ...COMPANY, industry: "15102010" }), ...flags);
    expect(JSON.parse(readFileSync(inFolder("out.json"), "utf8"))).toStrictEqual(resultFor(COMPANY));
    const unmapped = run("two.json", JSON.stringify({ ...COMPANY, industry: "99" }), ...flags);
    await expect(unmapped).rejects.toMatchObject({ code: "industry_unknown" });
  });

  test("is not computed if the map of --industry-map is invalid", async () => {
    writeFileSync(inFolder("map.csv"), "code,industry\n1,Airlnes\n1,Steel\n");
    const flags = [inFolder("out.json"), "--industry-map", inFolder("map.csv")];
    await expect(run("one.json", JSON.stringify(COMPANY), ...flags)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/^[^:]*map\.csv: 1 error/),
    });
    expect(readdirSync(folder).toSorted()).toStrictEqual(["map.csv", "one.json"]);
  });

  test("is replaced by all errors of an invalid company, without an output file", async () => {
    const invalid = { ...COMPANY, country: "Atlantis", revenue: "1,000" };
    const fault = await faultOf("one.json", JSON.stringify(invalid), inFolder("out.json"));
    expect(fault.code).toBe("invalid_request");
    expect(fault.message).toMatch(/one\.json: 2 errors in the request/);
    expect(fault.items.map(({ pointer }) => pointer)).toEqual(["/country", "/revenue"]);
  });
});

describe("a list of companies", () => {
  const companies = Array.from({ length: 7 }, (_, i) => ({ ...COMPANY, name: `Company ${i}`, revenue: 1e9 * (i + 1) }));
  const expected = companies.map(resultFor);

  test.each([
    ["json", JSON.stringify(companies)],
    ["ndjson", companies.map((company) => `${JSON.stringify(company)}\n`).join("\n")],
    ["jsonl", companies.map((company) => JSON.stringify(company)).join("\r\n")],
  ])("is processed in order from .%s", async (extension, text) => {
    await run(`in.${extension}`, text, inFolder("out.ndjson"));
    const lines = readFileSync(inFolder("out.ndjson"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toStrictEqual(expected);
    expect(stdoutText).toMatch(/^28 results for 7 companies in [0-9.]+ s\n$/);
    await run(`in.${extension}`, text, inFolder("out.json"));
    expect(JSON.parse(readFileSync(inFolder("out.json"), "utf8"))).toStrictEqual({ results: expected });
  });

  test("writes results to standard output and the summary to standard error with --json", async () => {
    await run("in.json", JSON.stringify(companies), "--json");
    expect(JSON.parse(stdoutText)).toStrictEqual({ results: expected });
    expect(JSON.parse(stderrText)).toMatchObject({ companies: 7, results: 28, refused: 0 });
    expect(process.exitCode).toBeUndefined();
  });

  test("is read from CSV with unknown columns, empty cells and lists", async () => {
    const csv =
      "id,name,country,industry,revenue,total_assets,ebitda,total_debt,scope1,transition_scenarios,assessment_years,iam\r\n" +
      '1,"Cement, India",India,Cement and lime,7870000000,11400000000,1380000000,1230000000,,NGFS Net Zero 2050; NGFS_CURRENT_POLICIES,2050;2030,\r\n' +
      "2,Other,US,software, 1e9 ,2e9,-5,0,1000,NGFS_BELOW_2C,2030,gcam\r\n";
    await run("in.csv", csv, inFolder("out.ndjson"));
    const lines = readFileSync(inFolder("out.ndjson"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toStrictEqual([
      resultFor(COMPANY),
      resultFor({
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

  test("reads scope 3 by direction, credit and assumptions from CSV", async () => {
    const csv =
      "name,country,industry,revenue,scope3_upstream,scope3_downstream,pd,exposure,lgd,discount_rate,shock_year,pass_through,transition_scenarios,assessment_years\n" +
      "Other,US,software,1e9,5000,0,0.01,1e6,0.6,0.05,2030,0.5,NGFS_BELOW_2C,2030\n";
    await run("in.csv", csv, inFolder("out.ndjson"));
    expect(JSON.parse(readFileSync(inFolder("out.ndjson"), "utf8"))).toStrictEqual(
      resultFor({
        name: "Other",
        country: "US",
        industry: "software",
        revenue: 1e9,
        scope3_upstream: 5000,
        scope3_downstream: 0,
        pd: 0.01,
        exposure: 1e6,
        lgd: 0.6,
        assumptions: { discount_rate: 0.05, shock_year: 2030, pass_through: 0.5 },
        transition_scenarios: ["NGFS_BELOW_2C"],
        assessment_years: [2030],
      }),
    );
  });

  test("reports invalid companies in place, completes the others and exits with 2", async () => {
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
    expect(stdoutText).toMatch(
      /^8 results for 5 companies in [0-9.]+ s; 3 rejected, see their errors in the output\n$/,
    );
    expect(process.exitCode).toBe(2);
  });

  test("reports a CSV row with a missing cell and an invalid list", async () => {
    const head = "name,country,industry,revenue,total_assets,ebitda,total_debt,transition_scenarios,assessment_years\n";
    const csv = `${head}A,US,software,1,1,1,1,IPCC_C1\nB,US,software,1,1,1,1,IPCC_C1,2030;soon\n\nC,US,software,,1,1,1,IPCC_C1,2030\n`;
    await run("in.csv", csv, inFolder("out.ndjson"));
    const answers = readFileSync(inFolder("out.ndjson"), "utf8").trimEnd().split("\n");
    expect(answers.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { line: 2, error: { detail: "The row has 8 cells, but the header has 9." } },
      { line: 3, error: { errors: [{ pointer: "/assessment_years/1", code: "wrong_type" }] } },
      { line: 5, error: { errors: [{ pointer: "/revenue", code: "missing" }] } },
    ]);
  });

  test("counts lines across a JSON list", async () => {
    const text = `[\n${JSON.stringify(companies[0])},\n\n  ${JSON.stringify({ ...COMPANY, revenue: 0 })}\n]`;
    await run("in.json", text, inFolder("out.json"));
    const { results } = JSON.parse(readFileSync(inFolder("out.json"), "utf8")) as { results: readonly unknown[] };
    expect(results[1]).toMatchObject({ line: 4, error: { code: "invalid_request" } });
  });

  test("is read lazily, so that memory does not grow with the file", async () => {
    let readCount = 0;
    const line = `${JSON.stringify(COMPANY)}\n`;
    const chunks = Readable.from(
      (function* () {
        for (; readCount < 10_000; readCount++) yield line;
      })(),
      { highWaterMark: 1 },
    );
    const file = await openCompanies(chunks, "ndjson");
    if (file.kind !== "list") throw new Error("expected a list");
    const entries = file.entries[Symbol.asyncIterator]();
    for (let i = 0; i < 5; i++) await entries.next();
    expect(readCount).toBeLessThan(20);
  });
});

describe("an invalid input file", () => {
  test.each([
    ["in.json", "", "invalid_request"],
    ["in.json", "[]", "invalid_request"],
    ["in.json", "7", "invalid_request"],
    ["in.json", '{"name": ', "json_malformed"],
    ["in.json", `[${JSON.stringify(COMPANY)}`, "json_malformed"],
    ["in.ndjson", "\n \n", "invalid_request"],
    ["in.csv", "", "invalid_request"],
    ["in.csv", "name;country\n", "invalid_request"],
    ["in.csv", "name,contry,industry\n", "invalid_request"],
    ["in.csv", "name,name,country\n", "invalid_request"],
  ])("rejects %s with content %j as %s", async (name, text, code) => {
    expect((await faultOf(name, text, inFolder("out.json"))).code).toBe(code);
  });

  test.each([
    ["name,contry,industry\n", "line 1, column contry: unknown column; did you mean country?"],
    ["name,name,country\n", "line 1, column name: duplicate column."],
  ])("rejects the header %j and names the column", async (text, detail) => {
    const [item, ...others] = (await faultOf("in.csv", text, inFolder("out.json"))).items;
    expect(item?.detail).toContain(detail);
    expect(others).toEqual([]);
  });

  test("rejects invalid UTF-8", async () => {
    expect((await faultOf("in.json", Uint8Array.of(0x7b, 0xff), inFolder("out.json"))).message).toContain(
      "not valid UTF-8",
    );
  });

  test("rejects OUT that is IN, OUT as CSV, and IN without a known format", async () => {
    const text = JSON.stringify([COMPANY]);
    expect((await faultOf("in.json", text, inFolder("in.json"))).message).toContain("is also the input");
    expect((await faultOf("in.json", text, inFolder("out.csv"))).message).toContain("does not write CSV");
    rmSync(inFolder("in.json"));
    expect((await faultOf("in.txt", text)).message).toContain("set --format to one of csv, json, ndjson");
    await run("in.txt", text, "--format", "json", "--to", "ndjson");
    expect((JSON.parse(stdoutText) as CompanyAnswer).company.name).toBe("Cement, India");
  });
});

describe("an existing output file", () => {
  const text = JSON.stringify(COMPANY);
  const rejectionMessageFor = async (output: string): Promise<string> => {
    const error: unknown = await run("in.json", text, output).catch((thrown: unknown) => thrown);
    if (!isFault(error)) throw new Error(`expected a Fault (got ${String(error)})`, { cause: error });
    expect(error.code).toBe("configuration_invalid");
    expect(readFileSync(inFolder("in.json"), "utf8")).toBe(text);
    return error.message;
  };

  test.each([
    ["a symbolic link to IN", symlinkSync],
    ["a hard link to IN", linkSync],
  ])("is rejected if it is %s", async (_, link) => {
    writeFileSync(inFolder("in.json"), text);
    link(inFolder("in.json"), inFolder("other.json"));
    expect(await rejectionMessageFor(inFolder("other.json"))).toContain("is also the input");
    expect(readdirSync(folder).toSorted()).toEqual(["in.json", "other.json"]);
  });

  // Renaming a file over a device would delete the device when run as root.
  test("is rejected if it is a folder or a socket", async () => {
    mkdirSync(inFolder("folder"));
    expect(await rejectionMessageFor(inFolder("folder"))).toContain("is a folder");
    const server = createServer().listen(inFolder("socket"));
    await once(server, "listening");
    try {
      expect(await rejectionMessageFor(inFolder("socket"))).toContain("is not a regular file");
      expect(readdirSync(folder).toSorted()).toEqual(["folder", "in.json", "socket"]);
      expect(lstatSync(inFolder("socket")).isSocket()).toBe(true);
    } finally {
      server.close();
    }
  });

  test("is replaced if it is a regular file", async () => {
    writeFileSync(inFolder("out.json"), "old");
    await run("in.json", text, inFolder("out.json"));
    expect(JSON.parse(readFileSync(inFolder("out.json"), "utf8"))).toStrictEqual(resultFor(COMPANY));
  });
});

test("the CSV columns are the members of a request", () => {
  const { assumptions, ...members } = CompanyRequestSchema.properties;
  const expected = [...Object.keys(members), ...Object.keys(assumptions.properties)];
  expect([...COMPANY_COLUMN_NAMES].toSorted()).toEqual(expected.toSorted());
});

test("--help mentions every format", () => {
  const formats: readonly EntityFormat[] = ["json", "ndjson", "csv"];
  companyCommand().outputHelp();
  for (const format of formats) expect(stdoutText).toContain(`.${format}`);
  expect(stdoutText).toContain("isotherm company examples/company.json --json");
});
