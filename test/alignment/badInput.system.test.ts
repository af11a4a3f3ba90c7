/**
 * The bad input of the temperature method (alignment.md, sections 8, 9, 11 and 12), row by row through the HTTP service, and
 * all invalid entities at once through the command line.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { post, type Refusal, refusalsOf, runCommand, startedHost } from "../bothInterfaces.ts";
import { ALIGNMENT_PATH, type TestHost } from "../host/testHost.ts";
import { entity, type Parts } from "./changedEntity.ts";

/** Errors of an entity, with pointers relative to it. */
const REFUSED: readonly { readonly title: string; readonly parts: Parts; readonly errors: readonly Refusal[] }[] = [
  {
    title: "emissions above 1e15 t and below -1e15 t",
    parts: { baseline: { scope1: 2e15 }, records: [[2030, { scope3: -2e15 }]] },
    errors: [
      ["out_of_range", "/data/0/emissions/scope1"],
      ["out_of_range", "/projected_emissions/0/emissions/scope3"],
    ],
  },
  {
    title: "amounts above 1e15",
    parts: {
      financials: { revenue: 2e15, ebitda: -2e15 },
      records: [[2030, { scope1: 1 }, { financials: { revenue: 2e15 } }]],
    },
    errors: [
      ["out_of_range", "/data/0/financials/revenue"],
      ["out_of_range", "/data/0/financials/ebitda"],
      ["out_of_range", "/projected_emissions/0/financials/revenue"],
    ],
  },
  {
    title: "emissions as text",
    parts: { baseline: { scope1: "100" }, records: [[2030, { scope1: "NaN" }]] },
    errors: [
      ["wrong_type", "/data/0/emissions/scope1"],
      ["wrong_type", "/projected_emissions/0/emissions/scope1"],
    ],
  },
  {
    title: "labels of 0 and 65 characters",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "" }],
        [2030, { scope1: 1 }, { label: "x".repeat(65) }],
      ],
    },
    errors: [
      ["out_of_range", "/projected_emissions/0/label"],
      ["out_of_range", "/projected_emissions/1/label"],
    ],
  },
  {
    title: "probabilities outside 0 to 1",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a", probability: -0.1 }],
        [2030, { scope1: 1 }, { label: "b", probability: 1.1 }],
      ],
    },
    errors: [
      ["out_of_range", "/projected_emissions/0/probability"],
      ["out_of_range", "/projected_emissions/1/probability"],
    ],
  },
  {
    title: "a record without a label beside one with a label",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a" }],
        [2040, { scope1: 1 }],
      ],
    },
    errors: [["missing", "/projected_emissions/1/label"]],
  },
  {
    title: "a probability without a label",
    parts: { records: [[2030, { scope1: 1 }, { probability: 0.5 }]] },
    errors: [["not_expected", "/projected_emissions/0/probability"]],
  },
  {
    title: "a label with two probabilities",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a", probability: 0.5 }],
        [2040, { scope1: 1 }, { label: "a", probability: 0.6 }],
      ],
    },
    errors: [["not_allowed", "/projected_emissions/1/probability"]],
  },
  {
    title: "a probability on some records of a label",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a", probability: 0.5 }],
        [2040, { scope1: 1 }, { label: "a" }],
      ],
    },
    errors: [["missing", "/projected_emissions/1/probability"]],
  },
  {
    title: "a probability on some labels",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a", probability: 0.5 }],
        [2030, { scope1: 1 }, { label: "b" }],
      ],
    },
    errors: [["missing", "/projected_emissions/1/probability"]],
  },
  {
    title: "probabilities that are all 0",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a", probability: 0 }],
        [2030, { scope1: 1 }, { label: "b", probability: 0 }],
      ],
    },
    errors: [["out_of_range", "/projected_emissions/0/probability"]],
  },
  {
    title: "price years outside 2015 to 2024 and a currency in small letters",
    parts: { financials: { currency: "usd", price_year: 2014 } },
    errors: [
      ["malformed", "/data/0/financials/currency"],
      ["out_of_range", "/data/0/financials/price_year"],
    ],
  },
  {
    title: "the price year 2025 and a currency of four letters",
    parts: { financials: { currency: "EURO", price_year: 2025 } },
    errors: [
      ["malformed", "/data/0/financials/currency"],
      ["out_of_range", "/data/0/financials/price_year"],
    ],
  },
  {
    title: "projected years that are not after the baseline year",
    parts: {
      records: [
        [2025, { scope1: 1 }],
        [2024, { scope1: 1 }],
      ],
    },
    errors: [
      ["out_of_range", "/projected_emissions/0/year"],
      ["out_of_range", "/projected_emissions/1/year"],
    ],
  },
  {
    title: "years outside 1900 to 2200",
    parts: { baselineYear: 1899, records: [[2201, { scope1: 1 }]] },
    errors: [
      ["out_of_range", "/data/0/year"],
      ["out_of_range", "/projected_emissions/0/year"],
    ],
  },
  {
    title: "years that are not whole numbers",
    parts: { baselineYear: 2024.5, records: [["2030", { scope1: 1 }]] },
    errors: [
      ["wrong_type", "/data/0/year"],
      ["wrong_type", "/projected_emissions/0/year"],
    ],
  },
  {
    title: "records without emissions",
    parts: { baseline: {}, records: [[2030, {}]] },
    errors: [
      ["missing", "/data/0/emissions"],
      ["missing", "/projected_emissions/0/emissions"],
    ],
  },
  {
    title: "no projected year",
    parts: { records: [] },
    errors: [["empty", "/projected_emissions"]],
  },
];

describe("bad input of the temperature method", () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await startedHost();
  });
  afterAll(() => host.close());

  test.each(REFUSED)("the service refuses $title", async ({ parts, errors }) => {
    const valid = entity({});
    const answer = await post(host, ALIGNMENT_PATH, [valid, entity(parts)]);
    expect(answer.status).toBe(400);
    expect((answer.body as { code: string }).code).toBe("invalid_request");
    expect(refusalsOf(answer)).toEqual(errors.map(([code, pointer]) => [code, `/1${pointer}`]));
  });

  test("the command line names every error of all of these entities at once", async () => {
    const entities = [entity({}), ...REFUSED.map(({ parts }) => entity(parts))];
    const command = await runCommand(["align", "in.json", "out.json"], { "in.json": JSON.stringify(entities) });
    expect([command.exitCode, command.output]).toEqual([1, undefined]);
    const expected = REFUSED.flatMap(({ errors }, i) => errors.map(([, pointer]) => `/${i + 1}${pointer}`));
    const named = [...command.stderr.matchAll(/^ {2}line \d+, (\S+): /gm)].map(([, pointer]) => pointer);
    expect(named, command.stderr).toEqual(expected);
    expect(command.stderr).toContain(`${expected.length} errors`);
  });

  test.each<{ title: string; query: string; flags: readonly string[]; errors: readonly Refusal[] }>([
    ...["0", "1.01", "x"].map((text) => ({
      title: `a convergence of ${JSON.stringify(text)}`,
      query: `convergence=${text}`,
      flags: [`--convergence=${text}`],
      errors: [[Number.isNaN(Number.parseFloat(text)) ? "wrong_type" : "out_of_range", "convergence"]] as const,
    })),
    {
      title: "an unknown basis, member and scenario",
      query: "basis=x&include=y&budget_scenario=z",
      flags: ["--basis", "x"],
      errors: [
        ["not_allowed", "basis"],
        ["not_allowed", "budget_scenario"],
        ["not_allowed", "include"],
      ],
    },
    {
      title: "an unknown benchmark",
      query: "benchmark=iea",
      flags: ["--benchmark", "iea"],
      errors: [["not_allowed", "benchmark"]],
    },
  ])("both refuse $title", async ({ query, flags, errors }) => {
    const answer = await post(host, `${ALIGNMENT_PATH}?${query}`, [entity({})]);
    expect(answer.status).toBe(400);
    expect(refusalsOf(answer).toSorted(([, a], [, b]) => a.localeCompare(b))).toEqual(errors);
    const files = { "in.json": JSON.stringify([entity({})]) };
    const command = await runCommand(["align", "in.json", "out.json", ...flags], files);
    expect([command.exitCode, command.output], command.stderr).toEqual([1, undefined]);
    expect(command.stderr).toContain((flags[0] ?? "").split("=")[0]);
  });

  test.each([
    ["1e999", "a number above every finite one"],
    ["NaN", "NaN"],
    ["-Infinity", "an infinite number"],
  ])("both refuse %s as emissions: %s", async (number) => {
    const body = JSON.stringify([entity({ baseline: { scope1: "NUMBER" } })]).replace('"NUMBER"', number);
    const answer = await post(host, ALIGNMENT_PATH, body);
    expect(answer.status).toBe(400);
    const command = await runCommand(["align", "in.json", "out.json"], { "in.json": body });
    expect([command.exitCode, command.output]).toEqual([1, undefined]);
    expect(answer.body).toMatchObject({ code: "json_malformed", line: 1 });
    expect(command.stderr).toContain("Line 1, column ");
  });

  test("both refuse another asset type than equity", async () => {
    const bond = entity({ info: { asset_type: "bond" } });
    const answer = await post(host, ALIGNMENT_PATH, [bond]);
    expect([answer.status, refusalsOf(answer)]).toEqual([
      422,
      [["asset_type_unsupported", "/0/entity_info/asset_type"]],
    ]);
    const command = await runCommand(["align", "in.json", "out.json"], { "in.json": JSON.stringify([bond]) });
    expect([command.exitCode, command.output]).toEqual([1, undefined]);
    expect(command.stderr).toContain("/0/entity_info/asset_type");
  });
});
