import { describe, expect, it } from "vitest";
import { findShapeErrors, isPortfolio } from "../../src/holdings/readPortfolio.ts";

const SCORE = { t: 2, low: 1.9, high: 2.2 };
const LINE = {
  id: "A",
  value: 60e6,
  temperature: { s1s2s3: SCORE, s3: null },
  data_quality: { s1s2: 1 },
  budget: { allowed: 5, projected: 6 },
  groups: { sector: "steel" },
};

function portfolioWith(members: object): object {
  return { holdings: [LINE, { ...LINE, ...members }], options: { methods: ["TETS"] } };
}

describe("the shape of a portfolio", () => {
  it("is accepted with any entity and any key of groups", () => {
    const portfolio = portfolioWith({ entity: { anything: true }, temperature: null, groups: { "any key": "x" } });
    expect(isPortfolio(portfolio)).toBe(true);
    expect(findShapeErrors(portfolio)).toEqual([]);
  });

  it.each([
    ["the request", { ...portfolioWith({}), extra: undefined }, "/extra"],
    ["the options", { holdings: [LINE], options: { extra: 1 } }, "/options/extra"],
    ["a line", portfolioWith({ extra: 1 }), "/holdings/1/extra"],
    ["scores", portfolioWith({ temperature: { extra: 1 } }), "/holdings/1/temperature/extra"],
    ["a score", portfolioWith({ temperature: { s3: { ...SCORE, extra: 1 } } }), "/holdings/1/temperature/s3/extra"],
    ["data quality", portfolioWith({ data_quality: { extra: 1 } }), "/holdings/1/data_quality/extra"],
    ["a budget", portfolioWith({ budget: { ...LINE.budget, extra: 1 } }), "/holdings/1/budget/extra"],
  ])("is rejected with an unknown member of %s", (_, portfolio, pointer) => {
    expect(isPortfolio(portfolio)).toBe(false);
    expect(findShapeErrors(portfolio)).toMatchObject([{ pointer, code: "unknown" }]);
  });

  it("ignores members that an object inherits, and finds known ones among them", () => {
    const line: unknown = Object.assign(Object.create({ extra: 1 }) as object, LINE);
    expect(isPortfolio({ holdings: [line] })).toBe(true);
    const invalid: unknown = Object.assign(Object.create({ scope1: "5" }) as object, LINE);
    expect(isPortfolio({ holdings: [invalid] })).toBe(false);
  });
});
