import { describe, expect, test } from "vitest";
import {
  fiveYearDefaultProbability,
  oneYearDefaultProbability,
  shiftedDefaultProbability,
} from "../../src/company/defaultProbability.ts";
import { normalCdf, normalQuantile } from "../../src/company/defaultProbability.ts";
import { BANK, REQUEST, ask, first } from "./requests.ts";
import { isClose } from "./tolerance.ts";

describe("the five-year probability of default", () => {
  const healthy = { assets: 100, debt: 40, volatility: 0.25 };

  test("equals a value computed by hand: ln 2.5 / (0.25 √5), drift -0.00625", () => {
    const distance = (Math.log(2.5) + (0.03 - 0.25 ** 2 / 2) * 5) / (0.25 * Math.sqrt(5));
    expect(distance).toBeCloseTo(1.628, 3);
    expect(fiveYearDefaultProbability(healthy)).toBeCloseTo(normalCdf(-distance), 15);
  });

  test.each([
    [{ ...healthy, debt: 0 }, 0],
    [{ ...healthy, debt: 5e-324 }, 0],
    [{ ...healthy, assets: 5e-324, debt: 1e15 }, 1],
  ])("%j: is %d", (of, expected) => {
    expect(fiveYearDefaultProbability(of)).toBe(expected);
  });

  test("increases with debt and decreases with assets", () => {
    const probability = fiveYearDefaultProbability(healthy);
    expect(fiveYearDefaultProbability({ ...healthy, debt: 50 })).toBeGreaterThan(probability);
    expect(fiveYearDefaultProbability({ ...healthy, assets: 120 })).toBeLessThan(probability);
  });
});

describe("the one-year probability of default", () => {
  test("compounds to that of five years", () => {
    for (const probability of [0, 1e-12, 0.01, 0.5, 0.999, 1]) {
      const oneYear = oneYearDefaultProbability(probability);
      expect(isClose(1 - (1 - oneYear) ** 5, probability, 1e-6)).toBe(true);
    }
  });

  test.each([0, 1])("of %d does not change with a loss", (probability) => {
    expect(shiftedDefaultProbability(probability, { lostValueShare: 0.9, volatility: 0.3 })).toBe(probability);
  });

  test("is shifted by the loss of value in distance to default", () => {
    const of = { lostValueShare: 0.2, volatility: 0.3 };
    const shift = -Math.log(0.8) / (0.3 * Math.sqrt(5));
    expect(isClose(shiftedDefaultProbability(0.01, of), normalCdf(normalQuantile(0.01) + shift))).toBe(true);
    expect(shiftedDefaultProbability(0.01, { ...of, lostValueShare: 0 })).toBeCloseTo(0.01, 15);
  });
});

describe("credit in an answer", () => {
  test("the caller's probability replaces that of the model; the five-year one does not change", () => {
    const [own, modeled] = [first(ask({ pd: "0.01" })).credit, first(ask()).credit];
    expect(own.pd_5y).toEqual(modeled.pd_5y);
    expect(own.pd_1y).toMatchObject({ before: 0.01, basis: "own" });
    expect(own.pd_1y.after).toBeGreaterThan(0.01);
    expect(modeled.pd_1y).toMatchObject({
      before: oneYearDefaultProbability(modeled.pd_5y.before ?? NaN),
      after: oneYearDefaultProbability(modeled.pd_5y.after ?? NaN),
      basis: "model",
    });
  });

  test("expected losses are in basis points and, with an exposure, in money", () => {
    const { credit } = first(ask({ pd: 0.01, lgd: 0.6, exposure: 2e8 }));
    const after = credit.pd_1y.after ?? NaN;
    expect(credit.expected_loss_bp.before).toBe(60);
    expect(isClose(credit.expected_loss_bp.after, 1e4 * 0.6 * after)).toBe(true);
    expect(isClose(credit.expected_loss?.before, 2e8 * 0.6 * 0.01)).toBe(true);
    expect(isClose(credit.expected_loss?.after, 2e8 * 0.6 * after)).toBe(true);
    expect(first(ask({ pd: 0.01 })).credit).not.toHaveProperty("expected_loss");
    expect(first(ask({ pd: 0.01 })).credit.expected_loss_bp.before).toBe(45);
  });

  test("the loss of value over 25 years raises the probabilities of default", () => {
    const [valuation] = ask({ pd: 0.02, exposure: 1e6, transition_scenarios: ["NGFS_NET_ZERO_2050"] }).valuation;
    expect(valuation?.pd_1y.before).toBe(0.02);
    expect(valuation?.pd_1y.after).toBeGreaterThan(0.02);
    expect(valuation?.pd_5y_after).toBeGreaterThan(valuation?.pd_5y_before ?? NaN);
    expect(isClose(valuation?.expected_loss?.before, 1e6 * 0.45 * 0.02)).toBe(true);
  });

  test("of a bank without total_liabilities has only the caller's probability", () => {
    const { credit } = first(ask({ pd: 0.01, exposure: 1e6 }, BANK));
    expect(credit.pd_5y).toEqual({ before: null, after: null });
    expect(credit.pd_1y.after).toBeGreaterThan(0.01);
    expect(first(ask({}, BANK)).credit).toMatchObject({
      pd_1y: { before: null, after: null, basis: "model" },
      expected_loss_bp: { before: null, after: null },
    });
  });

  test("leverage and coverage are computed from EBITDA as sent", () => {
    const { credit, total } = first(ask());
    const remaining = REQUEST.ebitda - total.loss;
    expect(isClose(credit.debt_to_ebitda.before, REQUEST.total_debt / REQUEST.ebitda)).toBe(true);
    expect(isClose(credit.debt_to_ebitda.after, REQUEST.total_debt / remaining)).toBe(true);
    expect(isClose(credit.interest_coverage.after, remaining / (0.05 * REQUEST.total_debt))).toBe(true);
  });
});
