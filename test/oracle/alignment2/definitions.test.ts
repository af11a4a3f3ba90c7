/** Single definitions of the method that the known answers do not reach. */
import { describe, expect, it } from "vitest";
import { blendedOf, labelShares, overallOf } from "./blend.ts";
import type { LabeledScore } from "./blend.ts";
import { givenYears, lineOf } from "./budget.ts";
import { scoreEntity } from "./entity.ts";
import { baselineShares, coverageOf, usableScopes } from "./figures.ts";
import { ENTITY_FLAGS, flagMask, isImplausibleChange, raisedFlags, YEAR_FLAGS } from "./flags.ts";
import { randomEntity, randomRow } from "./randomEntities.ts";
import { refusalsOf } from "./refusals.ts";
import type { EntityRequest, ProjectionRecord } from "./request.ts";
import { scoreRow } from "./row.ts";
import { describeWithSharedMethod, sharedReference } from "./sharedMethod.ts";
import {
  comparisonYear,
  convergenceProgress,
  convergenceRatio,
  extendedRatio,
  orderedAnchors,
  poolAdjacentViolators,
} from "./temperature.ts";

describe("scopes, shares and coverage", () => {
  it("leaves a scope of weight 0 out", () => {
    expect(usableScopes([1, 1, 1], [1, null, 1], [1, 1, 0])).toEqual([0]);
  });

  it("counts a negative baseline scope as 0 in the shares", () => {
    expect(baselineShares([-10, 1, 3], [0, 1, 2], [1, 1, 1])).toEqual([0, 0.25, 0.75]);
    expect(baselineShares([1, 1, 4], [0, 2], [1, 1, 0.5])).toEqual([1 / 3, 0, 2 / 3]);
  });

  it("takes the smaller side as coverage and leaves a side of sum 0 out", () => {
    expect(coverageOf([10, null, 90], [5, 5, null], [0], [1, 1, 1])).toBe(0.1);
    expect(coverageOf([-1, null, 0], [5, 15, null], [0], [1, 1, 1])).toBe(0.25);
    expect(coverageOf([0, null, null], [0, 0, 0], [0], [1, 1, 1])).toBe(1);
  });
});

describe("the comparison year", () => {
  it.each([
    [2020, 2025, 2030],
    [2025, 2031, 2031],
    [2028, 2030, 2033],
    [2100, 2101, 2105],
  ])("compares a baseline of %d and a projection for %d in %d", (baselineYear, year, expected) => {
    expect(comparisonYear(baselineYear, year)).toBe(expected);
  });

  it("extends the ratio by a power of at most 10 and only before the comparison year", () => {
    expect(extendedRatio(0.9, 2025, 2026)).toBeCloseTo(0.9 ** 5, 15);
    expect(extendedRatio(2, 2025, 2026)).toBe(10);
    expect(extendedRatio(12, 2025, 2030)).toBe(12);
    expect(extendedRatio(0, 2025, 2026)).toBe(0);
  });
});

describe("the order of the anchors", () => {
  it("keeps steps of the gap above 0", () => {
    expect(orderedAnchors([-0.5, 0, 0.005, 1], 0.02).anchors.map((x) => Math.round(x * 1e9) / 1e9)).toEqual([
      0.02, 0.04, 0.06, 1,
    ]);
    expect(orderedAnchors([0.1, 0.2, 0.3, 0.4], 0.02)).toEqual({ anchors: [0.1, 0.2, 0.3, 0.4], moved: false });
  });

  it("finds the closest ordered sequence", () => {
    const values = [0.4, 0.9, 0.2, 0.6];
    const distanceOf = (sequence: readonly number[]): number =>
      sequence.reduce((sum, value, index) => sum + (value - (values[index] ?? NaN)) ** 2, 0);
    const best = distanceOf(poolAdjacentViolators(values));
    const steps = Array.from({ length: 21 }, (_, index) => index / 20);
    for (const a of steps)
      for (const b of steps.filter((x) => x >= a))
        for (const c of steps.filter((x) => x >= b))
          for (const d of steps.filter((x) => x >= c))
            expect(best).toBeLessThanOrEqual(distanceOf([a, b, c, d]) + 1e-12);
  });
});

describe("convergence", () => {
  it("limits κ to 1/4 and 4", () => {
    expect(convergenceRatio(100, 1, 1)).toBe(4);
    expect(convergenceRatio(1, 100, 1)).toBe(1 / 4);
    expect(convergenceRatio(100, 50, 1)).toBe(2);
  });

  it("ends in 2050, and at once for a baseline of 2050 or later", () => {
    expect(convergenceProgress(2025, 2030)).toBe(0.2);
    expect(convergenceProgress(2025, 2070)).toBe(1);
    expect(convergenceProgress(2050, 2051)).toBe(1);
  });
});

describe("line of an entity", () => {
  const points = [
    { year: 2040, emissions: [40, null, null] },
    { year: 2030, emissions: [80, null, null] },
    { year: 2040, emissions: [-20, null, null] },
    { year: 2035, emissions: [null, 1, null] },
  ] as const;

  it("sorts the years, keeps the last record of a year and drops records that lack a scope", () => {
    expect(givenYears(points, [0])).toEqual([points[1], points[2]]);
  });

  it("starts at 1 and is floored at 0", () => {
    expect(lineOf(points, { year: 2025, sum: 100 }, [0], [1, 1, 1])).toEqual({
      years: [2025, 2030, 2040],
      values: [1, 0.8, 0],
    });
  });
});

describe("test of implausible_change", () => {
  it.each([
    [100, 35, 1, false],
    [100, 34, 1, true],
    [100, 35, 3, false],
    [100, 24.1, 4, false],
    [100, 24, 4, true],
    [100, 0.21, 30, false],
    [100, 0.19, 30, true],
    [100, 195, 1, false],
    [100, 196, 2, true],
    [100, 1000, 30, false],
    [100, 1001, 30, true],
    [100, 0, 1, false],
    [0, 100, 1, false],
    [-1, 100, 1, false],
  ])("from %d to %d within %d years: %s", (before, after, years, isRaised) => {
    expect(isImplausibleChange(before, after, years)).toBe(isRaised);
  });
});

describe("flags", () => {
  it("have the bits of the list", () => {
    expect(flagMask(["unknown_industry"])).toBe(1);
    expect(flagMask(["early_baseline", "scope_dropped"])).toBe(2 ** 5 + 2 ** 6);
    expect(flagMask(["implausible_change", "revenue_unusable", "sensitive"])).toBe(2 ** 10 + 2 ** 15 + 2 ** 20);
    expect(flagMask([...ENTITY_FLAGS, ...YEAR_FLAGS])).toBe(2 ** 21 - 1);
  });

  it("are raised in list order, those of a score only with a score", () => {
    const all = Object.fromEntries(YEAR_FLAGS.map((flag) => [flag, true]));
    expect(raisedFlags(all, true)).toEqual(YEAR_FLAGS);
    expect(flagMask(raisedFlags(all, false))).toBe(flagMask(YEAR_FLAGS) - 0b11_1111 * 2 ** 10 - 0b11 * 2 ** 19);
  });
});

describe("overall and blended values", () => {
  const score = (year: number, label: string | null, share: number, temperature: number | null): LabeledScore => ({
    year,
    label,
    share,
    temperature,
    range: temperature === null ? null : { low: temperature - 0.1, high: temperature + 0.2 },
    weight: 0.5,
  });

  it("divides probabilities by their sum and shares equally without them", () => {
    const record = (label: string, probability?: number): ProjectionRecord => ({
      year: 2030,
      emissions: { scope1: 1 },
      label,
      ...(probability === undefined ? {} : { probability }),
    });
    expect(Object.fromEntries(labelShares([record("a", 0.2), record("b", 0.6), record("a", 0.2)]))).toEqual({
      a: 0.2 / 0.8,
      b: 0.6 / 0.8,
    });
    expect(Object.fromEntries(labelShares([record("a"), record("b")]))).toEqual({ a: 0.5, b: 0.5 });
  });

  it("blends 1.5 °C at 0.4 and 2.7 °C at 0.6 to 2.22 °C", () => {
    const [blended] = blendedOf([score(2030, "target", 0.4, 1.5), score(2030, "trajectory", 0.6, 2.7)]);
    expect(blended?.temperature).toBeCloseTo(2.22, 12);
    expect(blended?.range.low).toBeCloseTo(2.12, 12);
  });

  it("blends years with a value under two labels, ascending, with the last record of a year and label", () => {
    const blended = blendedOf([
      score(2040, "a", 0.5, 2),
      score(2030, "a", 0.5, 9),
      score(2030, "b", 0.5, 3),
      score(2030, "a", 0.5, 1),
      score(2040, "b", 0.5, 4),
      score(2050, "a", 0.5, 2),
      score(2050, "b", 0.5, null),
    ]);
    expect(blended.map(({ year, temperature }) => [year, temperature])).toEqual([
      [2030, 2],
      [2040, 3],
    ]);
  });

  it("has no overall value where the weights add up to 0", () => {
    expect(overallOf([{ ...score(2030, null, 1, 1.3), weight: 0 }])).toBeNull();
    expect(overallOf([score(2030, null, 1, null)])).toBeNull();
    expect(overallOf([score(2030, null, 1, 2), { ...score(2040, null, 1, 1.3), weight: 0 }])).toMatchObject({
      temperature: 2,
      years: 2,
    });
  });
});

describe("refusals", () => {
  const request: EntityRequest = {
    entity_info: { name: "x", asset_type: "equity" },
    data: [{ year: 2025, emissions: { scope1: 1 } }],
    projected_emissions: [{ year: 2030, emissions: { scope1: 1 } }],
  };
  const withRecords = (...records: readonly Partial<ProjectionRecord>[]): EntityRequest => ({
    ...request,
    projected_emissions: records.map((record) => ({ year: 2030, emissions: { scope1: 1 }, ...record })),
  });
  const [first, second] = ["/projected_emissions/0", "/projected_emissions/1"];

  it.each([
    ["nothing", request, []],
    ["labels without probabilities", withRecords({ label: "a" }, { label: "b" }), []],
    ["the baseline year as projected year", withRecords({ year: 2025 }), [`${first}/year`]],
    ["a fractional year", withRecords({ year: 2030.5 }), [`${first}/year`]],
    ["a year after 2200", withRecords({ year: 2201 }), [`${first}/year`]],
    ["NaN", withRecords({ emissions: { scope1: NaN } }), [`${first}/emissions/scope1`]],
    ["more than 1e15", withRecords({ emissions: { scope2: -1.1e15 } }), [`${first}/emissions/scope2`]],
    ["no scope", withRecords({ emissions: {} }), [`${first}/emissions`]],
    ["infinite revenue", withRecords({ financials: { revenue: Infinity } }), [`${first}/financials/revenue`]],
    ["an empty label", withRecords({ label: "" }), [`${first}/label`]],
    ["a label of 65 characters", withRecords({ label: "x".repeat(65) }), [`${first}/label`]],
    ["a record without label among others", withRecords({ label: "a" }, {}), [`${second}/label`]],
    ["a probability above 1", withRecords({ label: "a", probability: 1.1 }), [`${first}/probability`]],
    [
      "two probabilities of one label",
      withRecords({ label: "a", probability: 0.1 }, { label: "a", year: 2040, probability: 0.2 }),
      [`${second}/probability`],
    ],
    ["probabilities of 0", withRecords({ label: "a", probability: 0 }), ["/projected_emissions"]],
    [
      "a label without probability",
      withRecords({ label: "a", probability: 1 }, { label: "b" }),
      ["/projected_emissions"],
    ],
  ])("names %s", (_, refused, pointers) => {
    expect(refusalsOf(refused).map(({ pointer }) => pointer)).toEqual(pointers);
  });
});

describeWithSharedMethod("intervals of a short horizon", () => {
  it("scale the emissions before the ratio is extended and capped", () => {
    const request: EntityRequest = {
      entity_info: { name: "x", asset_type: "equity" },
      data: [{ year: 2000, emissions: { scope1: 100 } }],
      projected_emissions: [{ year: 2001, emissions: { scope1: 150 } }],
    };
    // 1.5^30, 1.425^30 and 1.3875^30 are all above the cap of 10; 10 * 0.95^30 would be 2.1.
    const [row] = scoreEntity(sharedReference(), request).rows;
    expect(row?.ratio).toBe(10);
    expect(row?.range?.low).toBeCloseTo(6, 12);
    expect(row?.flags).not.toContain("sensitive");
  });
});

describeWithSharedMethod("random entity-years", () => {
  it("have finite figures", () => {
    for (let seed = 1; seed <= 1500; seed += 1) {
      const { temperature, range, climateRange, anchors, ratio, budget, weight } = scoreRow(
        sharedReference(),
        randomRow(sharedReference(), seed),
      );
      const amounts = (budget ?? []).flatMap(({ allowed, projected, overshoot }) => [allowed, projected, overshoot]);
      const intervals = [range, climateRange].flatMap((interval) => (interval === null ? [] : Object.values(interval)));
      const figures = [temperature ?? 0, ratio ?? 0, weight, ...(anchors ?? []), ...amounts, ...intervals];
      expect(figures.filter((figure) => !Number.isFinite(figure))).toEqual([]);
    }
  });

  it("raise every flag, and every reason occurs", () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 400; seed += 1) {
      const { request, options } = randomEntity(sharedReference(), seed);
      const { flags, rows } = scoreEntity(sharedReference(), request, options);
      for (const flag of [...flags, ...rows.flatMap((row) => row.flags)]) seen.add(flag);
      for (const { reason } of rows) seen.add(`reason ${reason}`);
    }
    const reasons = ["reason no_usable_scope", "reason zero_baseline", "reason null"];
    expect([...seen].toSorted()).toEqual([...ENTITY_FLAGS, ...YEAR_FLAGS, ...reasons].toSorted());
  });

  it("are the same for the same seed", () => {
    expect(randomRow(sharedReference(), 7)).toEqual(randomRow(sharedReference(), 7));
    expect(randomEntity(sharedReference(), 7)).toEqual(randomEntity(sharedReference(), 7));
    expect(randomEntity(sharedReference(), 8)).not.toEqual(randomEntity(sharedReference(), 7));
  });
});
