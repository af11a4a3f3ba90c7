import { describe, expect, test } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { countProjections, readEntities } from "../../src/alignment/entity.ts";
import { type Fault, isFault } from "../../src/errors.ts";
import type { Entity } from "../../src/contract/wireTypes.ts";

const good: Entity = {
  entity_info: { name: "Example", asset_type: "equity" },
  data: [{ year: 2024, emissions: { scope1: 10 }, financials: { revenue: 5, ebitda: -5 } }],
  projected_emissions: [
    { year: 2030, emissions: { scope1: 8 } },
    { year: 2040, emissions: { scope1: 4, scope3: -1 } },
  ],
};
const baseline = good.data[0] as Entity["data"][number];
const projection = good.projected_emissions[0] as Entity["projected_emissions"][number];

function refusalOf(input: unknown): Fault {
  try {
    readEntities(input);
  } catch (error) {
    if (isFault(error)) return error;
    throw error;
  }
  throw new Error("The input was not rejected.");
}

/** Returns the errors as pairs of pointer and code. */
function findings(input: unknown): readonly string[] {
  return refusalOf(input).items.map((item) => `${item.pointer} ${item.code}`);
}

test("returns valid entities unchanged", () => {
  const input = [good, good];
  expect(readEntities(input)).toBe(input);
  expect(countProjections(input)).toBe(4);
});

describe("names the location of each error", () => {
  const sparse: Entity["projected_emissions"][number][] = [];
  sparse[1] = projection;
  test.each([
    { name: "two baseline records", entity: { ...good, data: [baseline, baseline] }, found: ["/0/data too_many"] },
    { name: "no baseline record", entity: { ...good, data: [] }, found: ["/0/data empty"] },
    { name: "no data", entity: { ...good, data: undefined }, found: ["/0/data missing"] },
    { name: "no projection", entity: { ...good, projected_emissions: [] }, found: ["/0/projected_emissions empty"] },
    {
      name: "a projected year not after the baseline",
      entity: { ...good, projected_emissions: [projection, { ...projection, year: 2024 }] },
      found: ["/0/projected_emissions/1/year out_of_range"],
    },
    {
      name: "a year past 2200",
      entity: { ...good, projected_emissions: [{ ...projection, year: 2201 }] },
      found: ["/0/projected_emissions/0/year out_of_range"],
    },
    {
      name: "a year before 1900",
      entity: { ...good, data: [{ ...baseline, year: 1899 }] },
      found: ["/0/data/0/year out_of_range"],
    },
    {
      name: "a fractional year",
      entity: { ...good, projected_emissions: [{ ...projection, year: 2030.5 }] },
      found: ["/0/projected_emissions/0/year wrong_type"],
    },
    {
      name: "a string instead of a number",
      entity: { ...good, data: [{ ...baseline, emissions: { scope1: "10" } }] },
      found: ["/0/data/0/emissions/scope1 wrong_type"],
    },
    {
      name: "the string NaN",
      entity: { ...good, data: [{ ...baseline, emissions: { scope1: "NaN" } }] },
      found: ["/0/data/0/emissions/scope1 wrong_type"],
    },
    {
      name: "NaN and infinity",
      entity: { ...good, data: [{ ...baseline, emissions: { scope1: NaN, scope2: -Infinity } }] },
      found: ["/0/data/0/emissions/scope1 not_finite", "/0/data/0/emissions/scope2 not_finite"],
    },
    {
      name: "null instead of an absent number",
      entity: { ...good, data: [{ ...baseline, emissions: { scope1: 1, scope2: null } }] },
      found: ["/0/data/0/emissions/scope2 wrong_type"],
    },
    {
      name: "emissions above 1e15",
      entity: { ...good, projected_emissions: [{ ...projection, emissions: { scope1: 1.1e15 } }] },
      found: ["/0/projected_emissions/0/emissions/scope1 out_of_range"],
    },
    {
      name: "a revenue that is a string",
      entity: { ...good, data: [{ ...baseline, financials: { revenue: "5" } }] },
      found: ["/0/data/0/financials/revenue wrong_type"],
    },
    {
      name: "no scope, only an unknown member",
      entity: { ...good, data: [{ ...baseline, emissions: { scope_1: 4 } }] },
      found: ["/0/data/0/emissions missing"],
    },
    {
      name: "a projection without scopes",
      entity: { ...good, projected_emissions: [projection, { year: 2031, emissions: {} }] },
      found: ["/0/projected_emissions/1/emissions missing"],
    },
    {
      name: "a hole in an array",
      entity: { ...good, projected_emissions: sparse },
      found: ["/0/projected_emissions/0 wrong_type"],
    },
    {
      name: "no name",
      entity: { ...good, entity_info: { asset_type: "equity" } },
      found: ["/0/entity_info/name missing"],
    },
    {
      name: "a name that is a number",
      entity: { ...good, entity_info: { ...good.entity_info, name: 4 } },
      found: ["/0/entity_info/name wrong_type"],
    },
    {
      name: "a misspelled member",
      entity: { ...good, projected_emission: [] },
      found: ["/0/projected_emission unknown"],
    },
    { name: "a number instead of an entity", entity: 7, found: ["/0 wrong_type"] },
  ])("$name", ({ entity, found }) => {
    expect(findings([entity])).toEqual(found);
    expect(refusalOf([entity]).code).toBe("invalid_request");
  });
});

test.each([
  { input: [], found: [" empty"] },
  { input: {}, found: [" wrong_type"] },
  { input: null, found: [" wrong_type"] },
  { input: "[]", found: [" wrong_type"] },
])("rejects $input, which is not an array of entities", ({ input, found }) => {
  expect(findings(input)).toEqual(found);
});

describe("an asset type other than equity", () => {
  const bond = { ...good, entity_info: { ...good.entity_info, asset_type: "bond" } };

  test("is reported with its own code for every entity", () => {
    const fault = refusalOf([bond, good, bond]);
    expect(fault.code).toBe("asset_type_unsupported");
    expect(fault.items).toMatchObject([
      { pointer: "/0/entity_info/asset_type", code: "asset_type_unsupported", allowed: ["equity"] },
      { pointer: "/2/entity_info/asset_type", code: "asset_type_unsupported" },
    ]);
  });

  test("is reported together with other errors", () => {
    const fault = refusalOf([bond, { ...good, data: [] }]);
    expect(fault.code).toBe("invalid_request");
    expect(fault.items.map(({ code }) => code)).toEqual(["asset_type_unsupported", "empty"]);
  });

  test("is a wrong type if it is not a string, and missing if absent", () => {
    expect(findings([{ ...good, entity_info: { ...good.entity_info, asset_type: 5 } }])).toEqual([
      "/0/entity_info/asset_type wrong_type",
    ]);
    expect(findings([{ ...good, entity_info: { name: "X" } }])).toEqual(["/0/entity_info/asset_type missing"]);
  });
});

test("reports all errors in the order of the entities, at most 100", () => {
  const wrong = {
    entity_info: { name: 1, asset_type: "bond" },
    data: [{ year: "2024", emissions: { scope1: "x" } }],
    projected_emissions: [{ year: 2030, emissions: { scope1: NaN } }],
  };
  const late = { ...good, projected_emissions: [{ ...projection, year: 2000 }] };
  expect(findings([good, wrong, late])).toEqual([
    "/1/entity_info/name wrong_type",
    "/1/entity_info/asset_type asset_type_unsupported",
    "/1/data/0/year wrong_type",
    "/1/data/0/emissions/scope1 wrong_type",
    "/1/projected_emissions/0/emissions/scope1 not_finite",
    "/2/projected_emissions/0/year out_of_range",
  ]);
  const many = refusalOf(Array.from({ length: 90 }, () => wrong));
  expect(many.items).toHaveLength(100);
  expect(many.message).toContain("At least 100");
});

test("messages name the value and what is accepted", () => {
  const { message } = refusalOf([{ ...good, projected_emissions: [{ ...projection, year: 2020 }] }]);
  expect(message).toBe("year must be after the baseline year 2024 (got 2020).");
  const [two] = refusalOf([{ ...good, data: [baseline, baseline] }]).items;
  expect(two?.detail).toContain("exactly one");
});

test("alignTemperature rejects the same input", async () => {
  await expect(alignTemperature([])).rejects.toSatisfy((error: unknown) => isFault(error, "invalid_request"));
  await expect(
    alignTemperature([{ ...good, entity_info: { name: "B", asset_type: "bond" as "equity" } }]),
  ).rejects.toSatisfy((error: unknown) => isFault(error, "asset_type_unsupported"));
});
