/** Guarantees and properties of the method, on random entities and on followers of the anchors. */
import { expect, it } from "vitest";
import { comparisonYear, CUMULATIVE_GAP, POINT_GAP } from "./temperature.ts";
import { pathwayIndex, scopePathways } from "./benchmark.ts";
import { scoreEntity } from "./entity.ts";
import { usableScopes } from "./figures.ts";
import { randomEntity } from "./randomEntities.ts";
import type { RandomEntity } from "./randomEntities.ts";
import { PATHWAYS } from "./reference.ts";
import type { Pathway } from "./reference.ts";
import { refusalsOf } from "./refusals.ts";
import type { EmissionsMember, EntityRequest, ProjectionRecord } from "./request.ts";
import { rowsOf } from "./request.ts";
import { scoreRow } from "./row.ts";
import type { Basis, Row, ScoredRow } from "./row.ts";
import { describeWithSharedMethod, sharedReference } from "./sharedMethod.ts";

const ENTITY_COUNT = 200;
/** Rounding of sums and powers; the figures are of order 1. */
const ROUNDING = 1e-9;
/** Largest step between two anchors' temperatures, °C. */
const STEP_MAX_C = 2.753858 - 2.028517;
const SCOPES = ["scope1", "scope2", "scope3"] as const;
const ANCHORS = [0, 1, 2, 3] as const;

describeWithSharedMethod("laws of temperature alignment", () => {
  const sample = (): readonly RandomEntity[] =>
    Array.from({ length: ENTITY_COUNT }, (_, seed) => randomEntity(sharedReference(), seed + 1));

  it("hold for entities that no rule refuses", () => {
    expect(sample().flatMap(({ request, options }) => refusalsOf(request, options))).toEqual([]);
  });

  it("1: more emissions in a projected scope never lower a value or the overall value", () => {
    let pairCount = 0;
    for (const { request, options } of sample()) {
      const before = scoreEntity(sharedReference(), request, options);
      for (const [index, scope] of givenScopes(request)) {
        const factor = pairCount % 2 === 0 ? 1.01 : 3;
        const raised = withEmissions(request, index, scope, (e) => (e === 0 ? factor : e + Math.abs(e) * (factor - 1)));
        const after = scoreEntity(sharedReference(), raised, options);
        for (const [at, row] of before.rows.entries()) {
          expectNotLower(row.temperature, after.rows[at]?.temperature);
          pairCount += 1;
        }
        if (before.overall?.years === after.overall?.years) {
          expectNotLower(before.overall?.temperature, after.overall?.temperature);
        }
      }
    }
    expect(pairCount).toBeGreaterThan(1500);
  });

  it("2: a value moves with its emissions by no more than its steepest slope", () => {
    for (const { request, options } of sample()) {
      const before = rowsOf(sharedReference(), request, options).map((row) => scoreRow(sharedReference(), row));
      for (const [index, scope] of givenScopes(request)) {
        const moved = withEmissions(request, index, scope, (e) => e * (1 + 1e-9));
        for (const [at, row] of rowsOf(sharedReference(), moved, options).entries()) {
          expectSmallMove(row, before[at], scoreRow(sharedReference(), row));
        }
      }
    }
  });

  it("2: a value moves with supplied revenue by no more than its steepest slope", () => {
    for (const { request } of sample()) {
      const moved = { ...request, projected_emissions: request.projected_emissions.map(withMoreRevenue) };
      const before = rowsOf(sharedReference(), request, {}).map((row) => scoreRow(sharedReference(), row));
      for (const [at, row] of rowsOf(sharedReference(), moved, {}).entries()) {
        expectSmallMove(row, before[at], scoreRow(sharedReference(), row));
      }
    }
  });

  it("3: neither the unit of emissions nor currency nor the level of revenue changes a value", () => {
    for (const { request, options } of sample()) {
      const { convergence: _, ...withoutConvergence } = options;
      const before = scoreEntity(sharedReference(), request, withoutConvergence);
      for (const factor of [0.001, 1000]) {
        const after = scoreEntity(sharedReference(), inUnit(request, factor), withoutConvergence);
        for (const [at, row] of before.rows.entries()) {
          // Below 1e-12 a baseline counts as zero, in the unit as submitted.
          if (row.ratio === null || after.rows[at]?.ratio === null) continue;
          expect(after.rows[at]?.temperature).toBeCloseTo(row.temperature ?? NaN, 9);
        }
      }
    }
  });

  it("4: values are in 1.3 to 6 and in both of their intervals", () => {
    for (const { request, options } of sample()) {
      const { rows, overall, blended } = scoreEntity(sharedReference(), request, options);
      for (const { temperature, range, climateRange } of rows) {
        if (temperature === null) continue;
        expectWithin(1.3, temperature, 6);
        expectWithin(range?.low, temperature, range?.high);
        expectWithin(climateRange?.low, temperature, climateRange?.high);
      }
      for (const { temperature, range } of [...(overall === null ? [] : [overall]), ...blended]) {
        expectWithin(1.3, temperature, 6);
        expectWithin(range.low, temperature, range.high);
      }
    }
  });

  it("6: country and revenue change no value in the bases emissions and cumulative", () => {
    for (const { request, options } of sample()) {
      const { convergence: _, ...withoutConvergence } = options;
      for (const basis of ["emissions", "cumulative"] as const) {
        // Cumulative ignores convergence.
        const withBasis = { ...(basis === "cumulative" ? options : withoutConvergence), basis };
        const before = scoreEntity(sharedReference(), request, withBasis);
        const after = scoreEntity(sharedReference(), elsewhere(request), withBasis);
        expect(after.rows.map(({ temperature }) => temperature)).toEqual(
          before.rows.map(({ temperature }) => temperature),
        );
        expect(after.overall).toEqual(before.overall);
      }
    }
  });

  it("13: in the cumulative basis the ratio is linear in the scale of the given years", () => {
    let count = 0;
    for (const { request, options } of sample()) {
      for (const row of rowsOf(sharedReference(), request, { ...options, basis: "cumulative" })) {
        const { ratio } = scoreRow(sharedReference(), row);
        const scaled = scoreRow(sharedReference(), scaledRow(row, 1.05)).ratio;
        if (ratio === null || scaled === null) continue;
        const usable = usableScopes(row.baseline, row.projected, row.weights);
        const complete = row.points.filter(({ emissions }) => usable.every((scope) => emissions[scope] !== null));
        const firstYear = Math.min(...complete.map(({ year }) => year));
        const years = comparisonYear(row.baselineYear, row.year) - row.baselineYear + 1;
        const ofBaseline = (firstYear - row.baselineYear + 1) / 2 / years;
        const expected = ofBaseline + 1.05 * (ratio - ofBaseline);
        expect(Math.abs(scaled - expected)).toBeLessThanOrEqual(ROUNDING * Math.max(1, expected));
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(150);
  });
});

describeWithSharedMethod("followers of an anchor (guarantee 5)", () => {
  it("have its temperature in every year in which no anchor was moved", () => {
    let inOwnRangeCount = 0;
    for (const pathway of PATHWAYS) {
      for (const anchor of ANCHORS) {
        const { rows } = followerOf(pathway, anchor, "emissions");
        const own = sharedReference().benchmark.warming.p50.anchors[anchor];
        for (const row of rows) {
          if (!row.flags.includes("anchors_close")) expect(row.temperature).toBeCloseTo(own, 12);
          if ((row.range?.low ?? NaN) <= own && own <= (row.range?.high ?? NaN)) inOwnRangeCount += 1;
          // A pathway below zero cannot be followed: emissions are floored at 0, the budget is not.
          if (isFollowable(pathway, anchor, row.year)) expect(row.budget?.[anchor]?.overshoot).toBeCloseTo(0, 9);
        }
      }
    }
    // 744 followers; the other 39 are in power and energy supply after 2044, where a pathway reaches zero.
    expect(inOwnRangeCount).toBe(705);
  });

  it("have its temperature over all years and in the cumulative basis, where no anchor was moved", () => {
    for (const anchor of ANCHORS) {
      const own = sharedReference().benchmark.warming.p50.anchors[anchor];
      for (const basis of ["emissions", "cumulative"] as const) {
        const { rows, overall } = followerOf("economy", anchor, basis);
        expect(rows.flatMap(({ flags }) => flags).filter((flag) => flag === "anchors_close")).toEqual([]);
        expect(overall?.temperature).toBeCloseTo(own, 12);
        for (const row of rows) expect(row.temperature).toBeCloseTo(own, 9);
      }
    }
  });

  it.each([
    [
      "emissions",
      { transport: "2030-2031", energy_supply: "2030-2035 2048-2060", industry: "2030-2030", power: "2045-2060" },
    ],
    ["cumulative", { transport: "2030-2032", energy_supply: "2030-2037" }],
  ] as const)("meet moved anchors only in the years that the text lists (%s)", (basis, listed) => {
    const moved = PATHWAYS.map((pathway) => {
      const { rows } = followerOf(pathway, 0, basis);
      return [pathway, yearSpans(rows.filter(({ flags }) => flags.includes("anchors_close")).map(({ year }) => year))];
    }).filter(([, spans]) => spans !== "");
    expect(Object.fromEntries(moved)).toEqual(listed);
  });

  it.each([
    ["transport", [1, 2, 3], [2.01, 2.2, 1.97]],
    ["energy_supply", [2, 3], [2.76, 2.02]],
    ["industry", [2, 3], [2.08, 2.7]],
  ] as const)("read the stated values in %s in 2030", (pathway, anchors, stated) => {
    const values = anchors.map((anchor) => followerOf(pathway, anchor, "emissions").rows[0]?.temperature ?? NaN);
    expect(values.map((value) => Math.round(100 * value) / 100)).toEqual(stated);
  });
});

describeWithSharedMethod("flat emissions from 2023", () => {
  it.each([
    ["South Korea", [2.82, 3.07, 3.32], [2.88, 3.09, 3.42]],
    ["Japan", [2.93, 3.26, 3.41], [3.0, 3.28, 3.51]],
    ["Taiwan", [2.78, 3.09, 3.41], [2.84, 3.11, 3.51]],
    ["Singapore", [2.55, 2.91, 3.16], [2.81, 2.93, 3.26]],
    ["Germany", [2.91, 3.18, 3.32], [2.98, 3.2, 3.42]],
    ["United States", [2.82, 3.01, 3.12], [2.88, 3.03, 3.21]],
    ["China", [1.8, 2.26, 2.59], [2.08, 2.61, 2.77]],
    ["India", [1.45, 1.63, 1.82], [1.68, 1.88, 2.19]],
    [null, [1.97, 2.69, 2.69], [2.76, 2.76, 2.8]],
  ] as const)("have the stated values: %s", (country, steel, software) => {
    const values = (industry: string): readonly number[] =>
      scoreEntity(sharedReference(), flatEntity(country, industry)).rows.map(
        ({ temperature }) => Math.round(100 * (temperature ?? NaN)) / 100,
      );
    expect(values("Steel")).toEqual(steel);
    expect(values("Software")).toEqual(software);
  });
});

function givenScopes(request: EntityRequest): readonly (readonly [number, (typeof SCOPES)[number]])[] {
  return request.projected_emissions.flatMap(({ emissions }, index) =>
    SCOPES.filter((scope) => (emissions[scope] ?? null) !== null).map((scope) => [index, scope] as const),
  );
}

function withEmissions(
  request: EntityRequest,
  index: number,
  scope: (typeof SCOPES)[number],
  change: (emissions: number) => number,
): EntityRequest {
  const changed = (record: ProjectionRecord): ProjectionRecord => ({
    ...record,
    emissions: { ...record.emissions, [scope]: change(record.emissions[scope] ?? NaN) },
  });
  const records = request.projected_emissions.map((record, at) => (at === index ? changed(record) : record));
  return { ...request, projected_emissions: records };
}

function withMoreRevenue(record: ProjectionRecord): ProjectionRecord {
  const revenue = record.financials?.revenue ?? null;
  return revenue === null ? record : { ...record, financials: { revenue: revenue * (1 + 1e-9) } };
}

/** The same entity with another unit of emissions, another currency and another level of revenue. */
function inUnit(request: EntityRequest, factor: number): EntityRequest {
  const scaled = (emissions: EmissionsMember): EmissionsMember =>
    Object.fromEntries(Object.entries(emissions).map(([scope, value]) => [scope, (value as number) * factor]));
  const revenueOf = (financials: { readonly revenue?: number | null } | undefined) =>
    (financials?.revenue ?? null) === null ? {} : { financials: { revenue: (financials?.revenue ?? NaN) * 7 } };
  return {
    ...request,
    data: request.data.map(({ year, emissions, financials }) => ({
      year,
      emissions: scaled(emissions),
      ...revenueOf(financials),
    })),
    projected_emissions: request.projected_emissions.map(({ financials, ...record }) => ({
      ...record,
      emissions: scaled(record.emissions),
      ...revenueOf(financials),
    })),
  };
}

/** The same entity in India, with revenue that grows tenfold. */
function elsewhere(request: EntityRequest): EntityRequest {
  return {
    ...request,
    entity_info: { ...request.entity_info, country: "India" },
    data: request.data.map((record) => ({ ...record, financials: { ...record.financials, revenue: 1e9 } })),
    projected_emissions: request.projected_emissions.map((record) => ({ ...record, financials: { revenue: 1e10 } })),
  };
}

function scaledRow(row: Row, factor: number): Row {
  const points = row.points.map(({ year, emissions: [s1, s2, s3] }) => ({
    year,
    emissions: [scaled(s1), scaled(s2), scaled(s3)] as const,
  }));
  return { ...row, points };
  function scaled(emissions: number | null): number | null {
    return emissions === null ? null : emissions * factor;
  }
}

/** Scope 1 of an entity whose emissions are those of an anchor in every year from 2030 to 2060. */
function followerOf(pathway: Pathway, anchor: 0 | 1 | 2 | 3, basis: Basis): ReturnType<typeof scoreEntity> {
  const years = Array.from({ length: 31 }, (_, index) => 2030 + index);
  const industry = { power: "Power plant", energy_supply: "Coal", industry: "Cement", transport: "Rail" };
  const ofEconomy = { buildings: "Hotel", economy: "Software" };
  expect(scopePathways(pathway)[0]).toBe(pathway);
  return scoreEntity(
    sharedReference(),
    {
      entity_info: { name: "follower", asset_type: "equity", industry: { ...industry, ...ofEconomy }[pathway] },
      data: [{ year: 2025, emissions: { scope1: 1 } }],
      projected_emissions: years.map((year) => ({
        year,
        emissions: { scope1: pathwayIndex(sharedReference().benchmark, pathway, anchor, year) },
      })),
    },
    { basis },
  );
}

/** True where the pathway is above zero up to this year. */
function isFollowable(pathway: Pathway, anchor: 0 | 1 | 2 | 3, year: number): boolean {
  return pathwayIndex(sharedReference().benchmark, pathway, anchor, year) >= 0;
}

function flatEntity(country: string | null, industry: string): EntityRequest {
  return {
    entity_info: { name: "flat", asset_type: "equity", industry, ...(country === null ? {} : { country }) },
    data: [{ year: 2023, emissions: { scope1: 100 } }],
    projected_emissions: [2030, 2040, 2050].map((year) => ({ year, emissions: { scope1: 100 } })),
  };
}

/** Returns ascending years as spans, for example "2030-2031 2048-2060". */
function yearSpans(years: readonly number[]): string {
  const spans: { first: number; last: number }[] = [];
  for (const year of years) {
    const open = spans.at(-1);
    if (open?.last === year - 1) open.last = year;
    else spans.push({ first: year, last: year });
  }
  return spans.map(({ first, last }) => `${first}-${last}`).join(" ");
}

function expectNotLower(before: number | null | undefined, after: number | null | undefined): void {
  // With a baseline of zero 1.3 gives way to null.
  if (before === null || before === undefined || after === null || after === undefined) return;
  if (!(after >= before - ROUNDING)) expect(after).toBeGreaterThanOrEqual(before);
}

function expectWithin(low: number | undefined, value: number, high: number | undefined): void {
  if (low === undefined || high === undefined || !(low <= value + 1e-12 && value <= high + 1e-12)) {
    expect({ low, value, high }).toBe("in order");
  }
}

/** The value moved by no more than the ratio at the steepest slope between two anchors. */
function expectSmallMove(row: Row, before: ScoredRow | undefined, after: ScoredRow): void {
  if (before === undefined || before.ratio === null || after.ratio === null) return;
  const slope = STEP_MAX_C / (row.basis === "cumulative" ? CUMULATIVE_GAP : POINT_GAP);
  const moveMax = slope * Math.abs(after.ratio - before.ratio) + ROUNDING;
  const move = Math.abs((after.temperature ?? NaN) - (before.temperature ?? NaN));
  if (!(move <= moveMax)) expect(move).toBeLessThanOrEqual(moveMax);
}
