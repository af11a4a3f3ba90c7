/** `isotherm align --portfolio`. */
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { alignCommand } from "../../src/cli/align.ts";
import { runProgram } from "../../src/cli/program.ts";
import type { Entity, Holding, PortfolioAnswer, PortfolioOptions } from "../../src/contract/wireTypes.ts";
import { isFault } from "../../src/errors.ts";
import { alignPortfolio, roundPortfolio } from "../../src/holdings/alignPortfolio.ts";
import { differencesOf } from "../oracle/alignment2/closeTo.ts";
import { describeWithSharedMethod, sharedCases } from "../oracle/alignment2/sharedMethod.ts";
import { ENTITY } from "../host/entities.ts";
import { answerOfCase, COMPARISON, type PortfolioCase, requestOfCase } from "../holdings/portfolioCases.ts";
import { details, inFolder, stdoutText, useAlignFolder } from "./alignRun.ts";

useAlignFolder();

const WIRE_TOLERANCE = 0.005 + 1e-9;

async function align(...words: readonly string[]): Promise<void> {
  await alignCommand()
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .parseAsync(words, { from: "user" });
}

function write(name: string, content: unknown): string {
  writeFileSync(inFolder(name), typeof content === "string" ? content : JSON.stringify(content));
  return inFolder(name);
}

/** Runs the command with a file of holdings and returns its output. */
async function answerTo(holdings: string, words: readonly string[] = [], companies?: string): Promise<PortfolioAnswer> {
  const out = inFolder("out.json");
  if (companies === undefined) {
    await align("--portfolio", holdings, ...words);
    const text = stdoutText();
    return JSON.parse(text) as PortfolioAnswer;
  }
  await align(companies, out, "--portfolio", holdings, ...words);
  return JSON.parse(readFileSync(out, "utf8")) as PortfolioAnswer;
}

async function faultOf(run: Promise<unknown>) {
  const error: unknown = await run.catch((thrown: unknown) => thrown);
  if (!isFault(error)) throw new Error(`expected a Fault (got ${String(error)})`, { cause: error });
  return error;
}

const quiet = (): void => void vi.spyOn(process.stderr, "write").mockReturnValue(true);
const { entity_info: INFO } = ENTITY;
const COMPANIES: readonly Entity[] = [
  ENTITY,
  { ...ENTITY, entity_info: { name: "Other AG", asset_type: "equity", industry: "Steel" } },
];
const HOLDINGS = `id,issuer,company,value,currency,evic,sector,temperature_s1s2s3,temperature_s1s2s3_low,temperature_s1s2s3_high,scope1,data_quality_s1s2,budget_allowed,budget_projected,ISIN
share,Example Oil plc,42,60,EUR,1000,energy,,,,,1,,,X1
bond,Example Oil plc,42,20,EUR,1000,energy,,,,,1,,,X1
Other AG,,,30,EUR,,,,,,,,,,X2
"Ready, made",,,10,EUR,500,"a ""b""",2.1,2,2.3,50,4,3,4,X3
`;
const EXPECTED_HOLDINGS: readonly Holding[] = [
  {
    id: "share",
    issuer: "Example Oil plc",
    value: 60,
    currency: "EUR",
    evic: 1000,
    entity: ENTITY,
    data_quality: { s1s2: 1 },
    groups: { sector: "energy" },
  },
  { id: "bond", issuer: "Example Oil plc", value: 20, currency: "EUR", entity: ENTITY },
  { id: "Other AG", value: 30, currency: "EUR", entity: COMPANIES[1] as Entity },
  {
    id: "Ready, made",
    value: 10,
    currency: "EUR",
    evic: 500,
    temperature: { s1s2s3: { t: 2.1, low: 2, high: 2.3 } },
    scope1: 50,
    data_quality: { s1s2: 4 },
    budget: { allowed: 3, projected: 4 },
    groups: { sector: 'a "b"' },
  },
];

const { cases } = sharedCases("portfolio") as { readonly cases: readonly PortfolioCase[] };

describeWithSharedMethod("known answers of portfolios on the command line", () => {
  test.each(cases)("agree: $name", async (known) => {
    quiet();
    const { holdings, options } = requestOfCase(known);
    const answer = await answerTo(write("holdings.json", { holdings, options }));
    const comparison = { ...COMPARISON, tolerance: WIRE_TOLERANCE };
    expect(differencesOf(known.expected, answerOfCase(known, answer), comparison)).toEqual([]);
  });
});

describe("holdings in CSV", () => {
  test.each(["json", "ndjson"])("refer to companies of a .%s file by identifier or name", async (format) => {
    const text = format === "json" ? COMPANIES : COMPANIES.map((each) => `${JSON.stringify(each)}\n`).join("");
    const options: PortfolioOptions = {
      methods: ["WATS", "TETS"],
      scopes: ["s1s2", "s1s2s3"],
      year: 2030,
      goal: 1.5,
      group_by: ["sector"],
      default_score: 3,
      missing_low: 1.4,
      missing_high: 3.5,
      basis: "emissions",
      budget_scenario: "ndcs",
    };
    const words =
      "--methods WATS,TETS --scopes s1s2,s1s2s3 --year 2030 --goal 1.5 --group-by sector --default-score 3 " +
      "--missing-low 1.4 --missing-high 3.5 --basis emissions --budget-scenario ndcs";
    const answer = await answerTo(write("holdings.csv", HOLDINGS), words.split(" "), write(`in.${format}`, text));
    expect(answer).toStrictEqual(roundPortfolio(await alignPortfolio(EXPECTED_HOLDINGS, options)));
    expect(stdoutText()).toContain("WATS s1s2: ");
  });

  test("refer to companies of a CSV file", async () => {
    const companies =
      "identifier,name,asset_type,baseline_year,baseline_scope1,year,scope1\n" +
      "A,Alpha,equity,2023,100,2030,80\nA,Alpha,equity,2023,100,2050,20\n,Beta,equity,2023,10,2030,9\nC,Unused,equity,2023,10,2010,9\n";
    const holdings = "id,value\nA,1\nBeta,2\n";
    const { entities, results } = await answerTo(write("holdings.csv", holdings), [], write("in.csv", companies));
    expect(entities).toMatchObject([
      { id: "A", entity_info: { name: "Alpha" }, data: [{ year: 2030 }, { year: 2050 }] },
      { id: "Beta", entity_info: { name: "Beta" } },
    ]);
    expect(results[0]?.coverage.holdings).toBe(1);
  });

  test("have companies with the industries of a map", async () => {
    const coded = { ...ENTITY, entity_info: { ...ENTITY.entity_info, industry: "ABC" } };
    const map = write("map.csv", "code,industry\nABC,Airlines\n");
    const holdings = write("holdings.csv", "id,value\n42,1\n");
    const words = ["--industry-map", map];
    const mapped = await answerTo(holdings, words, write("in.json", [coded]));
    const airline = { ...ENTITY, entity_info: { ...ENTITY.entity_info, industry: "Airlines" } };
    const expected = await answerTo(holdings, [], write("airline.json", [airline]));
    expect(mapped.results).toEqual(expected.results);
    expect(mapped.entities).toMatchObject([{ id: "42", entity_info: { industry: "ABC" } }]);
    const inJson = write("holdings.json", [{ id: "42", value: 1, entity: coded }]);
    await align("--portfolio", inJson, ...words);
    expect(stdoutText()).toContain('"industry":"ABC"');
    const invalid = await faultOf(align("--portfolio", write("null.json", [null]), ...words));
    expect(invalid.items.map(({ pointer }) => pointer)).toEqual(["/0"]);
  });

  test("need no companies if all rows have scores", async () => {
    quiet();
    const answer = await answerTo(write("holdings.csv", "id,value,temperature_s3\nA,1,2\nB,3,4\n"), ["--scopes", "s3"]);
    expect(answer.results).toMatchObject([{ scope: "s3", temperature: 3.5 }]);
  });

  test("with errors are rejected with the line and column of each", async () => {
    const text =
      "id,value,temperature_s1s2s3,temperature_s1s2s3_low,data_quality_s3,sector,currency\n" +
      "A,-1,2,,6,x,EUR\nB,many,2,1.9,,x,USD\n,1,,,,x,\n";
    const fault = await faultOf(answerTo(write("holdings.csv", text), ["--group-by", "sector"]));
    expect(fault.code).toBe("invalid_request");
    expect(details(fault).toSorted((one, other) => (one < other ? -1 : 1))).toEqual([
      expect.stringMatching(/^line 2, column data_quality_s3: s3 must be between 1 and 5 \(got 6\)\.$/),
      expect.stringMatching(/^line 2, column value: value must be between 0 and/),
      expect.stringMatching(/^line 3, column currency: All amounts of a portfolio must be in one currency/),
      expect.stringMatching(/^line 3, column temperature_s1s2s3_high: high is required/),
      expect.stringMatching(/^line 3, column value: value must be a number .* \(got "many"\)\.$/),
      expect.stringMatching(/^line 4, column id: id is required/),
      expect.stringMatching(/^line 4: A holding must have entity, .* or temperature/),
    ]);
  });

  test.each([
    ["a missing column", "id,market_cap\nA,1\n", ["line 1, column value: the required column is missing."]],
    ["a duplicate column", "id,value,value\nA,1,1\n", ["line 1, column value: duplicate column."]],
    [
      "a misspelled column",
      "id,value,market_capp\nA,1,1\n",
      ["line 1, column market_capp: unknown column; did you mean market_cap? Otherwise choose a less similar name."],
    ],
    ["a row of another length", "id,value\nA,1\nB\n", ["line 3: the row has 1 cells, but the header has 2."]],
    [
      "no column to group by",
      "id,value,sectors\nA,1,x\n",
      ['line 1, column sector: the column to group by is missing; did you mean "sectors"?'],
      "sector",
    ],
  ])("with %s are rejected", async (_, text, expected, key?: string) => {
    const words = key === undefined ? [] : ["--group-by", key];
    expect(details(await faultOf(answerTo(write("holdings.csv", text), words)))).toEqual(expected);
  });

  test("that refer to an unknown or ambiguous company are rejected", async () => {
    const twice = write("twice.json", [...COMPANIES, ENTITY]);
    const holdings = write("holdings.csv", "id,value,company\nA,1,42\nB,2,Other Ag\nC,3,\n");
    expect(details(await faultOf(answerTo(holdings, [], twice)))).toEqual([
      'line 1, /2: there is another company with the identifier "42".',
    ]);
    const once = write("once.json", COMPANIES);
    const noScore = "For a holding without a score, write none in temperature_s1s2s3.";
    expect(details(await faultOf(answerTo(holdings, [], once)))).toEqual([
      `line 3, column company: ${once} has no company with the identifier or name "Other Ag"; did you mean "Other AG"? ${noScore}`,
      `line 4, column company: ${once} has no company with the identifier or name "C". ${noScore}`,
    ]);
    const namesakes = write("namesakes.json", [ENTITY, { ...ENTITY, entity_info: { ...INFO, identifier: "43" } }]);
    expect(details(await faultOf(answerTo(write("a.csv", `id,value\n${INFO.name},1\n`), [], namesakes)))).toEqual([
      `line 2, column company: ${namesakes} has 2 companies with the name "${INFO.name}"; write the identifier of one in company.`,
    ]);
  });

  test("refer to a company that has an identifier by its name, and to the identifier first", async () => {
    const other = { ...ENTITY, entity_info: { ...INFO, identifier: INFO.name, name: "Other" } };
    const holdings = write("holdings.csv", `id,value\n${INFO.name},1\n`);
    const byName = await answerTo(holdings, [], write("one.json", [ENTITY]));
    expect(byName.entities).toMatchObject([{ id: INFO.name, entity_info: { name: INFO.name } }]);
    const byIdentifier = await answerTo(holdings, [], write("two.json", [ENTITY, other]));
    expect(byIdentifier.entities).toMatchObject([{ id: INFO.name, entity_info: { name: "Other" } }]);
  });

  test("take the company or the scores of a further row of an issuer from its first row", async () => {
    const text =
      "id,issuer,company,value,temperature_s1s2s3\n" +
      "share,Example Oil plc,42,60,\nbond,Example Oil plc ,,20,\n" +
      "loan,Ready,,10,2.5\nnote, Ready,,30,\n";
    const answer = await answerTo(write("holdings.csv", text), [], write("in.json", [ENTITY]));
    expect(answer.entities.map(({ id }) => id)).toEqual(["Example Oil plc"]);
    expect(answer.results[0]?.contributions?.map(({ id, weight }) => [id, weight])).toEqual([
      ["Example Oil plc", 0.666667],
      ["Ready", 0.333333],
    ]);
  });

  test("take the scores of a further row of an issuer from its first row also without companies", async () => {
    quiet();
    const text = "id,issuer,value,temperature_s1s2s3\na,R,1,2\nb,R,1,\n";
    const { results } = await answerTo(write("holdings.csv", text));
    expect(results[0]?.contributions).toMatchObject([{ id: "R", weight: 1, temperature: 2 }]);
  });

  test("without a score are written with none, as with null in JSON", async () => {
    quiet();
    const text = "id,value,temperature_s1s2s3,temperature_s3\nA,1,none,\nB,3,2.5, none \n";
    const lines = [
      { id: "A", value: 1, temperature: { s1s2s3: null } },
      { id: "B", value: 3, temperature: { s1s2s3: { t: 2.5 }, s3: null } },
    ];
    const fromCsv = await answerTo(write("holdings.csv", text), [], write("in.json", [ENTITY]));
    expect(fromCsv).toStrictEqual(roundPortfolio(await alignPortfolio(lines)));
    expect(fromCsv.results[0]?.uncovered).toEqual([{ id: "A", reason: "score_missing" }]);
    const interval = write("interval.csv", "id,value,temperature_s1s2s3,temperature_s1s2s3_low\nA,1,none,2\n");
    expect(details(await faultOf(answerTo(interval)))).toEqual([
      expect.stringContaining("column temperature_s1s2s3_high: high is required"),
      expect.stringContaining("column temperature_s1s2s3: t must be a number"),
    ]);
  });

  test("have no spaces around their texts", async () => {
    const text = "id,value,temperature_s1s2s3,sector,currency\nA,1,2,steel ,EUR\n B,1,3, steel, EUR\n";
    const lines: readonly Holding[] = [
      { id: "A", value: 1, currency: "EUR", temperature: { s1s2s3: { t: 2 } }, groups: { sector: "steel" } },
      { id: "B", value: 1, currency: "EUR", temperature: { s1s2s3: { t: 3 } }, groups: { sector: "steel" } },
    ];
    quiet();
    const answer = await answerTo(write("holdings.csv", text), ["--group-by", " sector"]);
    expect(answer).toStrictEqual(roundPortfolio(await alignPortfolio(lines, { group_by: ["sector"] })));
  });

  test("are rejected if the column to group by is empty", async () => {
    const holdings = write("holdings.csv", "id,value,temperature_s1s2s3,sector\nA,1,2,\n");
    expect(details(await faultOf(answerTo(holdings, ["--group-by", "sector"])))).toEqual([
      'line 1, /options/group_by/0: No holding has a group under "sector" (no holding has groups).',
    ]);
  });
});

describe("the command", () => {
  const READY = [{ id: "A", value: 1, temperature: { s1s2s3: 2 } }];

  test("writes the answer to standard output and the summary to standard error", async () => {
    const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const lines = [...READY, { id: "B", value: 3, entity: {} }];
    const answer = await answerTo(write("holdings.json", lines), ["--json"]);
    expect(answer).toStrictEqual(roundPortfolio(await alignPortfolio(lines as unknown as readonly Holding[])));
    expect(JSON.parse(String(stderr.mock.calls[0]?.[0]))).toEqual({
      results: [
        {
          method: "WATS",
          scope: "s1s2s3",
          temperature: 2,
          range: { low: 2, high: 2 },
          coverage: { holdings: 0.5, value: 0.25, weight: 0.25 },
          uncovered: 1,
        },
      ],
      refused_entities: 1,
    });
  });

  test("summarizes a portfolio without weight", async () => {
    const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    await answerTo(write("holdings.json", READY), ["--methods", "TETS"]);
    expect(String(stderr.mock.calls[0]?.[0])).toBe(
      "TETS s1s2s3: no temperature, because no holding with a score has a weight; covers 0.0 % of the value, 1 holdings uncovered\n",
    );
  });

  test.each([
    ["in a list", [{ id: "A", value: -1, temperature: {} }], "/0/value"],
    ["in a request", { holdings: [{ id: "A", value: -1, temperature: {} }] }, "/holdings/0/value"],
    ["without holdings", { options: {} }, "/holdings"],
  ])("names the location of an error %s", async (_, content, pointer) => {
    const { items } = await faultOf(answerTo(write("holdings.json", content)));
    expect(items.map((item) => item.pointer)).toEqual([pointer]);
  });

  test.each([
    ["text", '"holdings"', "must contain an array of holdings, or an object with holdings and options."],
    ["null", "null", "must contain an array of holdings, or an object with holdings and options."],
    ["an unknown member", '{"holding":[]}', 'unknown member "holding" (known: holdings, options).'],
  ])("rejects a file with %s", async (_, text, message) => {
    expect((await faultOf(answerTo(write("holdings.json", text)))).message).toContain(message);
  });

  test.each([
    [["--goal", "2"], "--goal requires --portfolio."],
    [["--group-by", "a"], "--group-by requires --portfolio."],
    [["--portfolio", "h.json", "--detail"], "--detail does not apply with --portfolio, whose result is JSON."],
    [["--portfolio", "h.json", "--to", "csv"], "--to does not apply with --portfolio, whose result is JSON."],
    [["--portfolio", "-"], "--portfolio must be a file, not standard input."],
    [["--portfolio", "h.ndjson"], "h.ndjson: no such file."],
  ])("rejects the options %j", async (words, message) => {
    expect(await faultOf(align(...words))).toMatchObject({ code: "configuration_invalid", message });
  });

  test("rejects companies beside holdings that contain them, and output that is not JSON", async () => {
    const holdings = write("holdings.json", READY);
    const companies = write("in.json", COMPANIES);
    expect((await faultOf(answerTo(holdings, [], companies))).message).toContain("omit IN");
    const csv = write("holdings.csv", "id,value,company\nA,1,42\n");
    expect((await faultOf(align(companies, inFolder("out.csv"), "--portfolio", csv))).message).toContain(
      "must end in .json",
    );
    expect((await faultOf(answerTo(csv))).message).toContain("give the file of the companies as IN");
  });

  test.each([
    [["align"], "missing required argument"],
    [["align", "--portfolio", "h.csv", "--methods", "WATTS"], '"WATTS" must be one of WATS, TETS'],
    [["align", "--portfolio", "h.csv", "--year", "soon"], 'it must be a year or overall (got "soon").'],
    [["align", "--portfolio", "h.csv", "--goal", "hot"], 'it must be a number (got "hot").'],
  ])("reports a usage error for %j", async (words, message) => {
    const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    expect(await runProgram(words)).toBe(1);
    const text = stderr.mock.calls.map(([line]) => String(line)).join("");
    expect(text).toContain(message);
  });
});
