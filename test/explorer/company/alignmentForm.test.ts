import { describe, expect, test } from "vitest";
import {
  alignmentCallOf,
  type AlignmentForm,
  decodeAlignmentForm,
  EMPTY_PROJECTION,
  encodeAlignmentForm,
  EXAMPLE_ALIGNMENT,
  hasLabels,
} from "../../../src/explorer/company/alignmentForm.ts";
import { alignTemperature } from "../../../src/index.ts";

const edited: AlignmentForm = {
  ...EXAMPLE_ALIGNMENT,
  name: "Zoë & Søn, 100 % ✓",
  country: "",
  baseline: { ...EXAMPLE_ALIGNMENT.baseline, scope3: "", currency: "USD", priceYear: "2022" },
  projections: [
    { ...EMPTY_PROJECTION, year: "2030", scope1: "1e5", revenue: "1.1e9", label: "target", probability: "0.4" },
    { ...EMPTY_PROJECTION, year: "2030", scope1: "-5", label: "trajectory", probability: "0.6" },
  ],
  basis: "cumulative",
  include: ["budget"],
  budgetScenario: "ndcs",
  convergence: "0.5",
};

describe("the form of the alignment view", () => {
  test("the example is accepted by the method and has a temperature for every year", async () => {
    const { request, parameters } = callOf(EXAMPLE_ALIGNMENT);
    const { results } = await alignTemperature(request, { basis: parameters.basis, include: parameters.include });
    expect(results[0]?.data.map(({ year }) => year)).toEqual([2030, 2035, 2040, 2045, 2050]);
    expect(results[0]?.data.every(({ temperature_alignment }) => temperature_alignment !== null)).toBe(true);
    expect(results[0]?.flags).toBeUndefined();
  });

  test("blank texts are absent from the request, and others have their type", () => {
    const { request, parameters } = callOf(edited);
    expect(request).toEqual([
      {
        entity_info: {
          name: "Zoë & Søn, 100 % ✓",
          asset_type: "equity",
          industry_classification_system: "gics",
          industry: "Steel",
          sector: "Materials",
        },
        data: [
          {
            year: 2023,
            emissions: { scope1: 500_000, scope2: 300_000 },
            financials: { revenue: 1e9, currency: "USD", price_year: 2022 },
          },
        ],
        projected_emissions: [
          { year: 2030, emissions: { scope1: 1e5 }, financials: { revenue: 1.1e9 }, label: "target", probability: 0.4 },
          { year: 2030, emissions: { scope1: -5 }, label: "trajectory", probability: 0.6 },
        ],
      },
    ]);
    expect(parameters).toEqual({
      basis: "cumulative",
      benchmark: "ngfs-phase5-message-r12/2",
      include: ["budget"],
      budget_scenario: "ndcs",
      convergence: 0.5,
    });
  });

  test("the scenario of the budget is only sent with the budget, because it adds the budget", () => {
    expect(callOf({ ...edited, include: ["overall"] }).parameters).not.toHaveProperty("budget_scenario");
    expect(callOf({ ...edited, include: [] }).parameters).not.toHaveProperty("include");
  });

  test("texts that are not numbers are reported at their pointer or parameter, all at once", () => {
    const [first = EMPTY_PROJECTION] = EXAMPLE_ALIGNMENT.projections;
    const { items } = alignmentCallOf({
      ...EXAMPLE_ALIGNMENT,
      baseline: { ...EXAMPLE_ALIGNMENT.baseline, scope2: "1,000", revenue: "1 bn" },
      projections: [{ ...first, year: "soon", probability: "half" }],
      convergence: "50 %",
    });
    expect(items?.map(({ pointer, parameter, code }) => [pointer ?? parameter, code])).toEqual([
      ["/0/data/0/emissions/scope2", "wrong_type"],
      ["/0/data/0/financials/revenue", "wrong_type"],
      ["/0/projected_emissions/0/year", "wrong_type"],
      ["/0/projected_emissions/0/probability", "wrong_type"],
      ["convergence", "wrong_type"],
    ]);
    expect(items?.[0]?.detail).toBe(
      'scope2 must be a number without separators, such as 1250000 or 1.25e6 (got "1,000").',
    );
  });

  test("required values that are blank are left to the API, which names them", async () => {
    const { request } = callOf({
      ...EXAMPLE_ALIGNMENT,
      name: " ",
      projections: [EMPTY_PROJECTION],
    });
    const error = await alignTemperature(request).catch((reason: unknown) => reason);
    expect(error).toHaveProperty("items", [
      expect.objectContaining({ pointer: "/0/entity_info/name", code: "missing" }),
      expect.objectContaining({ pointer: "/0/projected_emissions/0/year", code: "missing" }),
      expect.objectContaining({ pointer: "/0/projected_emissions/0/emissions", code: "missing" }),
    ]);
  });

  test("a form survives the permalink unchanged, and the example has none", () => {
    const text = encodeAlignmentForm(edited);
    expect(decodeAlignmentForm(text ?? "")).toEqual(edited);
    expect(encodeAlignmentForm({ ...EXAMPLE_ALIGNMENT })).toBeUndefined();
    const faulty = { ...edited, baseline: { ...edited.baseline, scope1: "12abc" } };
    expect(decodeAlignmentForm(encodeAlignmentForm(faulty) ?? "")).toEqual(faulty);
  });

  test.each(["", "no JSON", "[]", "null", "7", '{"name":"x"}', '{"projections":7}'])(
    "a link with %j has no form",
    (text) => {
      expect(decodeAlignmentForm(text)).toBeUndefined();
    },
  );

  test("members of a link that have the wrong type or an unknown value get their default", () => {
    const form = decodeAlignmentForm(
      JSON.stringify({
        name: 7,
        baseline: "x",
        projections: [null, { year: 2030, scope1: "5" }],
        basis: "mass",
        include: ["overall", "everything"],
        __proto__: { country: "Germany" },
      }),
    );
    expect(form).toMatchObject({ name: "", country: "", basis: "intensity", include: ["overall"] });
    expect(form?.projections).toEqual([EMPTY_PROJECTION, { ...EMPTY_PROJECTION, scope1: "5" }]);
    expect(decodeAlignmentForm(JSON.stringify({ name: "x".repeat(9999), projections: [] }))?.name).toHaveLength(400);
  });

  test("labels or probabilities make several projections", () => {
    expect(hasLabels(EXAMPLE_ALIGNMENT)).toBe(false);
    expect(hasLabels(edited)).toBe(true);
  });
});

function callOf(form: AlignmentForm) {
  const call = alignmentCallOf(form);
  if (call.request === undefined) throw new Error(`the form must be readable: ${JSON.stringify(call.items)}`);
  return call;
}
