import { describe, expect, test } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { labelShares } from "../../src/alignment/summaries.ts";
import type { AlignmentResult, Entity } from "../../src/contract/wireTypes.ts";
import { entityOf } from "./exampleEntities.ts";

type ProjectionRecord = Entity["projected_emissions"][number];

const at = (year: number, scope1: number, members: Partial<ProjectionRecord> = {}): ProjectionRecord => ({
  year,
  emissions: { scope1 },
  ...members,
});

async function resultOf(...records: ProjectionRecord[]): Promise<AlignmentResult> {
  const entity = { ...entityOf({ baseline: 100, years: {} }), projected_emissions: records };
  const [result] = (await alignTemperature([entity], { include: ["overall"] })).results;
  if (result === undefined) throw new Error("There is no result.");
  return result;
}

describe("the overall temperature", () => {
  test("is the temperature of the year if there is only one year", async () => {
    const { data, overall } = await resultOf(at(2040, 70));
    expect(overall?.temperature_alignment).toBeCloseTo(data[0]?.temperature_alignment ?? NaN, 12);
    expect(overall?.range.low).toBeCloseTo(data[0]?.range?.low ?? NaN, 12);
    expect(overall?.range.high).toBeCloseTo(data[0]?.range?.high ?? NaN, 12);
    expect(overall?.years).toBe(1);
  });

  test("gives more weight to a year in which the scenarios are far apart", async () => {
    const { data, overall } = await resultOf(at(2030, 100), at(2050, 25));
    const [early = NaN, late = NaN] = data.map(({ temperature_alignment }) => temperature_alignment ?? NaN);
    // The anchors of the pathway `economy` are 0.264 apart in 2030 and 0.722 in 2050.
    const share = 0.721679 ** 2 / (0.263964 ** 2 + 0.721679 ** 2);
    expect(overall?.temperature_alignment).toBeCloseTo((1 - share) * early + share * late, 9);
    expect(overall?.years).toBe(2);
  });

  test("is absent unless requested, and null if no year has a temperature", async () => {
    const entity = entityOf({ baseline: 0, years: { 2030: 0, 2040: 5 } });
    expect((await alignTemperature([entity])).results[0]).not.toHaveProperty("overall");
    expect((await alignTemperature([entity], { include: ["overall"] })).results[0]?.overall).toBeNull();
  });

  test("weights labels by their probability", async () => {
    const target = { label: "target", probability: 0.1 };
    const trajectory = { label: "trajectory", probability: 0.3 };
    const { data, overall } = await resultOf(at(2040, 40, target), at(2040, 90, trajectory));
    const [low = NaN, high = NaN] = data.map(({ temperature_alignment }) => temperature_alignment ?? NaN);
    expect(overall?.temperature_alignment).toBeCloseTo(0.25 * low + 0.75 * high, 12);
  });
});

describe("the blended temperature", () => {
  test("is the mean over the labels of each year in ascending order, also in the default answer", async () => {
    const entity = entityOf({ baseline: 100, years: {} });
    const records = [at(2050, 20, { label: "a" }), at(2030, 60, { label: "a" }), at(2030, 100, { label: "b" })];
    const more = [at(2050, 80, { label: "b" }), at(2040, 50, { label: "b" })];
    const { results } = await alignTemperature([{ ...entity, projected_emissions: [...records, ...more] }]);
    const [result] = results;
    const temperatures = result?.data.map(({ temperature_alignment }) => temperature_alignment ?? NaN) ?? [];
    expect(result?.data.map(({ label }) => label)).toEqual(["a", "a", "b", "b", "b"]);
    expect(result?.blended?.map(({ year }) => year)).toEqual([2030, 2050]);
    expect(result?.blended?.[0]?.temperature_alignment).toBeCloseTo(
      ((temperatures[1] ?? NaN) + (temperatures[2] ?? NaN)) / 2,
      12,
    );
    expect(result?.blended?.[1]?.temperature_alignment).toBeCloseTo(
      ((temperatures[0] ?? NaN) + (temperatures[3] ?? NaN)) / 2,
      12,
    );
    expect(result?.blended?.[0]?.range.low).toBeLessThan(result?.blended?.[0]?.temperature_alignment ?? NaN);
  });

  test("uses the last record of a year and label", async () => {
    const { data, blended } = await resultOf(
      at(2040, 10, { label: "a" }),
      at(2040, 60, { label: "a" }),
      at(2040, 90, { label: "b" }),
    );
    const [, second = NaN, third = NaN] = data.map(({ temperature_alignment }) => temperature_alignment ?? NaN);
    expect(blended?.[0]?.temperature_alignment).toBeCloseTo((second + third) / 2, 12);
  });

  test("is absent without two labels that have a temperature", async () => {
    expect(await resultOf(at(2040, 10), at(2040, 60))).not.toHaveProperty("blended");
    expect(await resultOf(at(2040, 10, { label: "a" }))).not.toHaveProperty("blended");
    const other = { label: "b", emissions: { scope2: 5 } };
    expect(await resultOf(at(2040, 10, { label: "a" }), at(2040, 0, other))).not.toHaveProperty("blended");
  });

  test("is absent for a year whose labels all have the probability 0", async () => {
    const { blended } = await resultOf(
      at(2030, 60, { label: "a", probability: 0 }),
      at(2030, 90, { label: "b", probability: 0 }),
      at(2050, 50, { label: "c", probability: 1 }),
    );
    expect(blended).toBeUndefined();
  });
});

test("a year under two labels is not a duplicate, but twice under one label is", async () => {
  const { data } = await resultOf(
    at(2040, 10, { label: "a" }),
    at(2040, 60, { label: "a" }),
    at(2040, 90, { label: "b" }),
  );
  const isDuplicate = data.map(({ flags }) => flags?.includes("duplicate_year") ?? false);
  expect(isDuplicate).toEqual([true, true, false]);
});

test("shares of labels add up to 1", () => {
  const shares = labelShares([
    at(2030, 1, { label: "a", probability: 0.2 }),
    at(2040, 1, { label: "a", probability: 0.2 }),
    at(2030, 1, { label: "b", probability: 0.6 }),
  ]);
  expect([...shares.keys()]).toEqual(["a", "b"]);
  expect(shares.get("a")).toBeCloseTo(0.25, 15);
  expect(shares.get("b")).toBeCloseTo(0.75, 15);
  expect(labelShares([at(2030, 1)]).size).toBe(0);
});
