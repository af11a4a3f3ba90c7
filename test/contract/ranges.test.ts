import { expect, test } from "vitest";
import { PRICE_YEAR_MAX, PRICE_YEAR_MIN } from "../../src/alignment/entityColumns.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { ALIGNMENT_BASES, BENCHMARK_IDS, BUDGET_SCENARIOS, PATHWAYS } from "../../src/contract/names.ts";
import { ALIGNMENT_AMOUNT_MAX, ALIGNMENT_YEARS, PRICE_YEARS } from "../../src/contract/ranges.ts";
import { ALIGNMENT_YEAR_MAX, ALIGNMENT_YEAR_MIN, BASES, EMISSIONS_MAX } from "../../src/kernel/alignment.ts";
import { PATHWAY_INDEX } from "../../src/kernel/alignmentColumns.ts";

test("entities may have the years and amounts that the kernel accepts", () => {
  expect(ALIGNMENT_YEARS).toEqual({ min: ALIGNMENT_YEAR_MIN, max: ALIGNMENT_YEAR_MAX });
  expect(ALIGNMENT_AMOUNT_MAX).toBe(EMISSIONS_MAX);
});

test("requests may name the bases of the kernel, and results its pathways", () => {
  expect(ALIGNMENT_BASES).toEqual(Object.keys(BASES));
  expect(PATHWAYS).toEqual(Object.keys(PATHWAY_INDEX));
});

test("revenue may have the price years of the price index", () => {
  expect(PRICE_YEARS).toEqual({ min: PRICE_YEAR_MIN, max: PRICE_YEAR_MAX });
});

test("requests may name the benchmark of the package and its scenarios", () => {
  expect(BENCHMARK_IDS).toEqual([NGFS_PHASE5.id]);
  const initials = NGFS_PHASE5.anchors.map(({ scenario }) => scenario.slice(0, 3).toLowerCase());
  expect(BUDGET_SCENARIOS.map((name) => name.slice(0, 3))).toEqual(
    initials.map((name) => (name === "nat" ? "ndc" : name)),
  );
});
