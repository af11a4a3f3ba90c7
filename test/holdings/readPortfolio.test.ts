/** Portfolios that are rejected, with every error and its location. */
import { describe, expect, it } from "vitest";
import type { Entity } from "../../src/contract/wireTypes.ts";
import { type FaultItem, isFault } from "../../src/errors.ts";
import { readPortfolio } from "../../src/holdings/readPortfolio.ts";

const LINE = { id: "A", value: 60e6, temperature: { s1s2s3: 2 } };
const ENTITY: Entity = {
  entity_info: { name: "E", asset_type: "equity" },
  data: [{ year: 2023, emissions: { scope1: 5 }, financials: { revenue: 5e6 } }],
  projected_emissions: [{ year: 2030, emissions: { scope1: 4 } }],
};

function itemsOf(input: unknown): readonly FaultItem[] {
  try {
    readPortfolio(input);
  } catch (error) {
    if (!isFault(error, "invalid_request")) throw error;
    return error.items;
  }
  return [];
}

/** Returns the errors as `pointer code: detail`. */
function errorsOf(input: unknown): readonly string[] {
  return itemsOf(input).map(({ pointer = "none", code, detail }) => `${pointer} ${code}: ${detail}`);
}

function inLine(members: object): object {
  return { holdings: [{ ...LINE, ...members }] };
}

describe("a portfolio", () => {
  it("is accepted with ready-made scores, with entities, and with null for what is not given", () => {
    const portfolio = {
      holdings: [
        {
          ...LINE,
          issuer: null,
          currency: "EUR",
          market_cap: null,
          data_quality: null,
          budget: null,
          groups: { a: null },
        },
        { id: "B", value: 0, entity: ENTITY, temperature: null, currency: "EUR" },
        {
          id: "C",
          value: 1,
          temperature: { s1s2: { t: 2, low: 1.8, high: 2.3 }, s3: { t: 2, low: null, high: null } },
        },
      ],
      options: { year: 2030, methods: ["WATS", "ROTS"] },
    };
    expect(readPortfolio(portfolio)).toBe(portfolio);
  });

  it("is accepted with an entity that cannot be scored", () => {
    expect(errorsOf({ holdings: [{ id: "B", value: 1, entity: { name: "no members of an entity" } }] })).toEqual([]);
  });

  it.each([
    [
      "a negative value",
      { value: -1 },
      "/holdings/0/value out_of_range: value must be between 0 and 1000000000000000000 (got -1).",
    ],
    [
      "an infinite value",
      { value: Infinity },
      "/holdings/0/value not_finite: value must be a number between 0 and 1000000000000000000 (got Infinity).",
    ],
    [
      "a value that is text",
      { value: "5" },
      '/holdings/0/value wrong_type: value must be a number between 0 and 1000000000000000000 (got "5").',
    ],
    ["an empty id", { id: "" }, "/holdings/0/id empty: id must not be empty or blank."],
    [
      "a blank issuer",
      { issuer: " \t" },
      "/holdings/0/issuer empty: issuer must not be empty or blank; leave it out if it is not known.",
    ],
    ["an unknown member", { marketcap: 5 }, '/holdings/0/marketcap unknown: Unknown member "marketcap"'],
    [
      "emissions above 1e15 t",
      { scope1: 2e15 },
      "/holdings/0/scope1 out_of_range: scope1 must be between -1000000000000000 and 1000000000000000 (got 2000000000000000).",
    ],
    [
      "a data quality score of 6",
      { data_quality: { s3: 6 } },
      "/holdings/0/data_quality/s3 out_of_range: s3 must be between 1 and 5 (got 6).",
    ],
    [
      "a data quality score of 0",
      { data_quality: { s1s2: 0 } },
      "/holdings/0/data_quality/s1s2 out_of_range: s1s2 must be between 1 and 5 (got 0).",
    ],
    [
      "data quality that is a number",
      { data_quality: 3 },
      "/holdings/0/data_quality wrong_type: data_quality must be an object with s1s2, s3 (got 3).",
    ],
    [
      "neither an entity nor a score",
      { temperature: null },
      "/holdings/0 missing: A holding must have entity, a company to be scored, or temperature, scores from elsewhere (got neither).",
    ],
    [
      "an entity and a score",
      { entity: ENTITY },
      "/holdings/0/temperature not_expected: A holding must have either entity or temperature (got both); leave one of them out.",
    ],
    [
      "an entity that is text",
      { entity: "E", temperature: null },
      '/holdings/0/entity wrong_type: entity must be an object (got "E").',
    ],
    [
      "a score of 0",
      { temperature: { s3: 0 } },
      "/holdings/0/temperature/s3 out_of_range: s3 must be greater than 0 and at most 20 (got 0).",
    ],
    [
      "a score in another unit",
      { temperature: { s3: { t: 35.6 } } },
      "/holdings/0/temperature/s3/t out_of_range: t must be greater than 0 and at most 20 (got 35.6).",
    ],
    [
      "a score that is text",
      { temperature: { s3: "2.0" } },
      '/holdings/0/temperature/s3 wrong_type: s3 must be a number greater than 0 and at most 20, or an object with t, low, high (got "2.0").',
    ],
    [
      "half an interval",
      { temperature: { s3: { t: 2, low: 1 } } },
      "/holdings/0/temperature/s3/high missing: high is required where low is given, and the other way round.",
    ],
    [
      "a score outside its interval",
      { temperature: { s3: { t: 2, low: 2.1, high: 3 } } },
      "/holdings/0/temperature/s3/t out_of_range: t must be between low and high (got low 2.1, t 2, high 3).",
    ],
    [
      "an unknown scope",
      { temperature: { s2: 2 } },
      '/holdings/0/temperature/s2 unknown: Unknown member "s2" (known: s1s2s3, s1s2, s3)',
    ],
    [
      "a tiny denominator",
      { market_cap: 1e-13 },
      "/holdings/0/market_cap out_of_range: market_cap must be at least 1e-12 if it is positive (got 1e-13).",
    ],
    [
      "half a budget",
      { budget: { allowed: 5 } },
      "/holdings/0/budget/projected missing: projected is required and must be a number between -1000000000000000000 and 1000000000000000000.",
    ],
    [
      "a group that is a number",
      { groups: { "a/b": 5 } },
      '/holdings/0/groups/a~1b wrong_type: The group under "a/b" must be text (got 5).',
    ],
  ])("is rejected with %s", (_, members, expected) => {
    const [error, ...others] = errorsOf(inLine(members));
    expect(others).toEqual([]);
    expect(error).toContain(expected);
  });

  it.each([
    [
      "an unknown method",
      { methods: ["WATS", "WAT"] },
      '/options/methods/1 not_allowed: methods must be one of WATS, TETS, MOTS, EOTS, ECOTS, AOTS, ROTS (got "WAT")',
    ],
    [
      "an unknown scope",
      { scopes: ["s1"] },
      '/options/scopes/0 not_allowed: scopes must be one of s1s2, s3, s1s2s3 (got "s1")',
    ],
    ["no method", { methods: [] }, "/options/methods empty: methods must not be empty"],
    [
      "the same scope twice",
      { scopes: ["s3", "s3"] },
      '/options/scopes/1 duplicate: scopes must not contain "s3" more than once.',
    ],
    ["a method outside a list", { methods: "WATS" }, "/options/methods wrong_type: methods must be an array"],
    [
      "another word as year",
      { year: "all" },
      '/options/year not_allowed: year must be overall, or an integer between 1900 and 2200 (got "all").',
    ],
    [
      "half a year",
      { year: 2030.5 },
      "/options/year wrong_type: year must be an integer between 1900 and 2200 (got 2030.5).",
    ],
    [
      "a year that is out of range",
      { year: 2300 },
      "/options/year out_of_range: year must be between 1900 and 2200 (got 2300).",
    ],
    ["a goal of 0", { goal: 0 }, "/options/goal out_of_range: goal must be greater than 0 and at most 20 (got 0)."],
    [
      "bounds out of order",
      { missing_low: 4 },
      "/options/missing_low out_of_range: missing_low must be at most missing_high (got missing_low 4, missing_high 3.2).",
    ],
    ["an unknown option", { groupBy: ["sector"] }, '/options/groupBy unknown: Unknown member "groupBy"'],
    ["a group that is no list", { group_by: "sector" }, "/options/group_by wrong_type: group_by must be an array"],
  ])("is rejected with %s among the options", (_, options, expected) => {
    const [error, ...others] = errorsOf({ holdings: [LINE], options });
    expect(others).toEqual([]);
    expect(error).toContain(expected);
  });

  it.each([
    [
      "that is not an object",
      [LINE],
      " wrong_type: The portfolio must be an object with holdings, options (got an array).",
    ],
    ["without holdings", {}, "/holdings missing: holdings is required and must be an array"],
    ["with an empty list", { holdings: [] }, "/holdings empty: holdings must not be empty"],
    [
      "with 5,001 lines",
      { holdings: Array.from({ length: 5001 }, () => LINE) },
      "/holdings too_many: holdings must be an array of at most 5000 items",
    ],
    [
      "with a hole in the list",
      { holdings: Object.assign([LINE, LINE, LINE], { 1: undefined }) },
      "/holdings/1 wrong_type: holdings must be an object with",
    ],
  ])("%s is rejected", (_, input, expected) => {
    const [error, ...others] = errorsOf(input);
    expect(others).toEqual([]);
    expect(error).toContain(expected);
  });

  it("is rejected if no holding has a group under a key to group by", () => {
    const holdings = [
      { ...LINE, groups: { sector: "steel", region: null } },
      { ...LINE, id: "B", groups: { country: "Korea", sector: "banks" } },
    ];
    expect(errorsOf({ holdings, options: { group_by: ["sector", "sectr", "region"] } })).toEqual([
      '/options/group_by/1 unknown: No holding has a group under "sectr" (known: "sector", "country"); did you mean "sector"?',
      '/options/group_by/2 unknown: No holding has a group under "region" (known: "sector", "country").',
    ]);
    expect(errorsOf({ holdings: [LINE], options: { group_by: ["sector"] } })).toEqual([
      '/options/group_by/0 unknown: No holding has a group under "sector" (no holding has groups).',
    ]);
  });

  it("has no errors about keys to group by if the groups of a line cannot be read", () => {
    const options = { group_by: ["sector"] };
    for (const line of [[], { ...LINE, groups: "steel" }, { ...LINE, groups: { sector: 5 } }]) {
      const pointers = itemsOf({ holdings: [LINE, line], options }).map(({ pointer = "" }) => pointer);
      expect(pointers.filter((pointer) => pointer.startsWith("/options"))).toEqual([]);
      expect(pointers).toHaveLength(1);
    }
  });

  it("has no errors about keys to group by if there are no holdings", () => {
    const items = itemsOf({ holdings: [], options: { group_by: ["sector"] } });
    expect(items.map(({ pointer, code }) => [pointer, code])).toEqual([["/holdings", "empty"]]);
  });

  it("lists at most 20 keys of groups, and suggests one of all", () => {
    const groups = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`group number ${index}`, "x"]));
    const input = { holdings: [{ ...LINE, groups }], options: { group_by: ["group numbr 29"] } };
    const [item] = itemsOf(input);
    expect(item?.allowed).toHaveLength(20);
    expect(item?.did_you_mean).toBe("group number 29");
  });

  it("is rejected with amounts in two currencies, those of entities included", () => {
    const financials = { revenue: 5e6, currency: "GBP" };
    const holdings = [
      { ...LINE, currency: "EUR" },
      LINE,
      { ...LINE, currency: "USD" },
      { id: "E", value: 1, entity: { ...ENTITY, data: [{ ...ENTITY.data[0], financials }] } },
      { id: "F", value: 1, entity: ENTITY, currency: "EUR" },
    ];
    expect(errorsOf({ holdings })).toEqual([
      '/holdings/2/currency not_allowed: All amounts of a portfolio must be in one currency: "USD" differs from "EUR" at /holdings/0/currency. Convert them before the request.',
      '/holdings/3/entity/data/0/financials/currency not_allowed: All amounts of a portfolio must be in one currency: "GBP" differs from "EUR" at /holdings/0/currency. Convert them before the request.',
    ]);
  });

  it("is rejected with all errors at once", () => {
    const portfolio = {
      holdings: [
        { ...LINE, value: -1, data_quality: { s1s2: 9 } },
        { id: "", value: 1 },
        { ...LINE, temperature: { s3: { t: 2, high: 3 } }, currency: 5 },
      ],
      options: { methods: ["XOTS"], goal: -1 },
      extra: 1,
    };
    expect(new Set(errorsOf(portfolio).map((error) => error.split(" ", 1)[0]))).toEqual(
      new Set([
        "/extra",
        "/holdings/0/data_quality/s1s2",
        "/holdings/0/value",
        "/holdings/1",
        "/holdings/1/id",
        "/holdings/2/currency",
        "/holdings/2/temperature/s3/low",
        "/options/goal",
        "/options/methods/0",
      ]),
    );
  });

  it("lists at most 100 errors", () => {
    const holdings = Array.from({ length: 200 }, () => ({ ...LINE, value: -1 }));
    expect(errorsOf({ holdings })).toHaveLength(100);
  });
});
