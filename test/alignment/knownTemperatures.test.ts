import { expect, test } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { describeWithSharedMethod } from "../oracle/alignment2/sharedMethod.ts";
import type { AlignedYear, AlignmentResult } from "../../src/contract/wireTypes.ts";
import { differences, KNOWN_ENTITIES, KNOWN_YEARS, type KnownAnswer } from "./knownAnswers.ts";

async function resultOf({ entity, options }: KnownAnswer): Promise<AlignmentResult> {
  const { results } = await alignTemperature([entity], { ...options, detail: true });
  if (results[0] === undefined) throw new Error("There is no result.");
  return results[0];
}

/** Returns the members of a year that known answers of one row contain. */
function figuresOf({ year: _year, detail, by_scope: _scopes, budget, flags = [], ...year }: AlignedYear): unknown {
  if (detail === undefined) throw new Error("The year has no detail.");
  return {
    ...year,
    flags,
    evaluated_year: detail.evaluated_year,
    ...(budget === undefined ? {} : { budget: detail.budget }),
    ...(detail.benchmark_ratio_at_anchors === null
      ? {}
      : {
          emissions_ratio_q: detail.emissions_ratio_q,
          benchmark_ratio_at_anchors: detail.benchmark_ratio_at_anchors,
          growth_factor: detail.growth_factor,
        }),
  };
}

describeWithSharedMethod("known answers", () => {
  test("include 48 years and 15 entities", () => {
    expect([KNOWN_YEARS.length, KNOWN_ENTITIES.length]).toEqual([48, 15]);
  });

  test.each(KNOWN_YEARS)("agree within 1e-6: $name", async (known) => {
    const year = (await resultOf(known)).data[known.yearIndex];
    if (year === undefined) throw new Error("There is no such year.");
    expect(differences(known.expected, figuresOf(year))).toEqual([]);
  });

  test.each(KNOWN_ENTITIES)("agree within 1e-6: $name", async (known) => {
    const { data, ...result } = await resultOf(known);
    const years = data.map(({ detail, budget, ...year }) => ({
      ...year,
      ...(budget === undefined ? {} : { budget: detail?.budget }),
    }));
    expect(differences(known.expected, { ...result, data: years })).toEqual([]);
  });
});
