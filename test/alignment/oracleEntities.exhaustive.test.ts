/**
 * Random entities against the reference implementation in test/oracle/alignment2. ISOTHERM_ALIGNMENT_ROWS sets the number
 * of projection records.
 */
import { expect, test } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { isFault } from "../../src/errors.ts";
import type { AlignmentResult, EmissionsBudget, Entity } from "../../src/contract/wireTypes.ts";
import { differencesOf } from "../oracle/alignment2/closeTo.ts";
import { scoreEntity } from "../oracle/alignment2/entity.ts";
import { randomEntity } from "../oracle/alignment2/randomEntities.ts";
import { refusalsOf } from "../oracle/alignment2/refusals.ts";
import type { EntityRequest } from "../oracle/alignment2/request.ts";
import { entityElement } from "../oracle/alignment2/response.ts";
import { describeWithSharedMethod, sharedReference } from "../oracle/alignment2/sharedMethod.ts";
import { randomFrom } from "../seededRandom.ts";

const ROW_COUNT = Number(process.env["ISOTHERM_ALIGNMENT_ROWS"] ?? 6000);
const SEED = 20_261_122;

/** Result of the oracle, whose budgets are those of `detail`, against all scenarios. */
interface Element {
  readonly data: readonly { readonly budget?: readonly EmissionsBudget[] }[];
}

function elementOf({ entity_info: _info, data, ...result }: AlignmentResult): Element {
  return {
    ...result,
    data: data.map(({ detail, budget, ...year }) => ({
      ...year,
      ...(budget === undefined ? {} : { budget: detail?.budget ?? [] }),
    })),
  };
}

/** Smallest share of the baseline that an allowance must have for its percentages to be compared. */
const COMPARED_ALLOWANCE_MIN = 1e-3;

/**
 * Divides tonnes by the largest figure that they are computed from, because a small sum of large figures has the rounding
 * error of the large ones.
 *
 * @param baselines emissions of the baseline of each record
 */
function withRelativeTonnes(element: Element, baselines: readonly number[]): Element {
  return {
    ...element,
    data: element.data.map((year, i) => ({
      ...year,
      ...(year.budget === undefined
        ? {}
        : { budget: year.budget.map((budget) => relativeBudget(budget, baselines[i] ?? 0)) }),
    })),
  };
}

function relativeBudget(budget: EmissionsBudget, baseline: number): EmissionsBudget {
  const { scenario, allowed, projected, overshoot, overshoot_pct: percent } = budget;
  const size = Math.max(Math.abs(allowed), Math.abs(projected), baseline);
  const isCompared = percent !== null && allowed > COMPARED_ALLOWANCE_MIN * baseline;
  return {
    scenario,
    allowed: allowed / size,
    projected: projected / size,
    overshoot: overshoot / size,
    // To 1e-7, relative above 1 %.
    overshoot_pct: isCompared ? Math.asinh(percent) / 100 : null,
  };
}

describeWithSharedMethod("random entities", () => {
  test("have the results of the reference implementation", { timeout: 3_600_000 }, async () => {
    const reference = sharedReference();
    let rowCount = 0;
    for (let seed = SEED; rowCount < ROW_COUNT; seed++) {
      const { request, options } = randomEntity(reference, seed);
      rowCount += request.projected_emissions.length;
      const expected = entityElement(scoreEntity(reference, request, options));
      const { results } = await alignTemperature([request as unknown as Entity], { ...options, detail: true });
      const [result] = results;
      if (result === undefined) throw new Error("There is no result.");
      const comparison = { tolerance: 1e-9, relative: [] };
      const baselines = result.data.map(({ detail }) => detail?.emissions.baseline ?? 0);
      const found = differencesOf(
        withRelativeTonnes(expected as unknown as Element, baselines),
        withRelativeTonnes(elementOf(result), baselines),
        comparison,
      );
      if (found.length > 0) expect.fail(`seed ${seed}: ${JSON.stringify({ found, request, options }, undefined, 1)}`);
    }
    expect(rowCount).toBeGreaterThanOrEqual(ROW_COUNT);
  });

  test("are rejected where the reference implementation rejects them, at the same places", async () => {
    const reference = sharedReference();
    let rejectedCount = 0;
    for (let seed = 0; seed < 600; seed++) {
      const random = randomFrom(seed);
      const { request } = randomEntity(reference, SEED + seed);
      const broken = breakRecords(request, (count) => random.below(count), random.chance(0.7));
      const refusals = refusalsOf(broken);
      const hasInvalidLabel = refusals.some(({ reason }) => ["1 to 64 characters", "0 to 1"].includes(reason));
      // Rules on all labels together name a record here and the list there, and invalid labels are not compared here.
      const expected = refusals
        .filter(({ reason }) => !hasInvalidLabel || !/on all|the same|only with/.test(reason))
        .map(({ pointer }) => `/0${pointer}`)
        .filter((pointer) => pointer !== "/0/projected_emissions");
      const isRejected = refusals.length > 0;
      let pointers: (string | undefined)[] = [];
      let fault = false;
      try {
        await alignTemperature([broken as unknown as Entity]);
      } catch (error) {
        if (!isFault(error, "invalid_request")) throw error;
        fault = true;
        pointers = error.items.map(({ pointer }) => pointer);
      }
      expect(fault, `seed ${seed}`).toBe(isRejected);
      expect(new Set(pointers), `seed ${seed}`).toEqual(new Set([...expected, ...pointers.filter(isLabelRule)]));
      for (const pointer of expected) expect(pointers, `seed ${seed}`).toContain(pointer);
      if (isRejected) rejectedCount++;
    }
    expect(rejectedCount).toBeGreaterThan(200);
  });
});

function isLabelRule(pointer: string | undefined): boolean {
  return pointer !== undefined && /\/(label|probability)$/.test(pointer);
}

/** Returns the request with one or two invalid values. */
function breakRecords(request: EntityRequest, below: (count: number) => number, isBroken: boolean): EntityRequest {
  if (!isBroken) return request;
  const faults: readonly ((index: number) => object)[] = [
    () => ({ year: 2031.5 }),
    () => ({ year: 1800 }),
    () => ({ year: 2201 }),
    () => ({ year: request.data[0]?.year }),
    () => ({ emissions: {} }),
    () => ({ emissions: { scope1: NaN } }),
    () => ({ emissions: { scope2: -1.1e15, scope3: Infinity } }),
    () => ({ financials: { revenue: Infinity } }),
    () => ({ financials: { revenue: 2e15 } }),
    () => ({ label: "" }),
    () => ({ label: "x".repeat(65) }),
    () => ({ label: "only here" }),
    () => ({ probability: 2 }),
    () => ({ probability: -0.5 }),
  ];
  const count = 1 + below(2);
  const records = [...request.projected_emissions];
  for (let i = 0; i < count; i++) {
    const at = below(records.length);
    const fault = faults[below(faults.length)];
    const record = records[at];
    if (record !== undefined && fault !== undefined) records[at] = { ...record, ...fault(at) };
  }
  const [baseline] = request.data;
  const financials = [{ currency: "usd" }, { currency: "EURO" }, { price_year: 2014 }, { price_year: 2020.5 }, {}][
    below(5)
  ];
  return {
    ...request,
    data: baseline === undefined ? [] : [{ ...baseline, financials: { ...baseline.financials, ...financials } }],
    projected_emissions: records,
  };
}
