import { describe, expect, test } from "vitest";
import { defaultProbability } from "../../src/company/defaultProbability.ts";
import { isClose } from "./tolerance.ts";
import { BANK, INSURER, ask, codes, first } from "./requests.ts";

describe("banks and insurers", () => {
  test("a bank has credit losses from its borrowers", () => {
    const { transition } = first(ask({ transition_scenarios: ["NGFS_NET_ZERO_2050"] }, BANK));
    expect(transition.credit_loss).toBeGreaterThan(transition.loss);
    expect(first(ask({ transition_scenarios: ["NGFS_NET_ZERO_2050"] }, INSURER)).transition.credit_loss).toBe(0);
  });

  test("borrowers that lose everything default within five years, a fifth of them per year", () => {
    const hopeless = {
      country: "Qatar",
      transition_scenarios: ["IPCC_SSP5_85"],
      assessment_years: [2100],
      damage_function: "ngfs5_kotz",
    };
    const { transition, physical } = first(ask(hopeless, BANK));
    expect(physical.chronic.damage_fraction).toBeGreaterThan(1.2);
    const before = defaultProbability({ assets: 1.2, debt: 0.5, volatility: 0.25 });
    expect(isClose(transition.credit_loss, 0.55 * 450e9 * 0.45 * ((1 - before) / 5))).toBe(true);
  });

  test.each([BANK, INSURER])("%j: no default probability without total liabilities", (base) => {
    const answer = ask({}, base);
    expect(answer.valuation[0]).toMatchObject({ pd_5y_before: null, pd_5y_after: null });
    expect(codes(answer)).toContain("total_liabilities_missing");
    const known = ask({ total_liabilities: "415e9" }, base);
    expect(codes(known)).not.toContain("total_liabilities_missing");
    const [valuation] = known.valuation;
    expect(valuation?.pd_5y_after).toBeGreaterThan(valuation?.pd_5y_before ?? NaN);
    expect(valuation?.asset_value_after).toBeCloseTo(base.total_assets - (valuation?.npv_of_losses ?? NaN), 3);
  });

  test("insurers, including health plans, get a warning that underwriting is not covered", () => {
    expect(codes(ask({}, INSURER))).toContain("no_underwriting");
    expect(codes(ask({ industry: "managed_health_care" }))).toContain("no_underwriting");
    expect(codes(ask({}, BANK))).not.toContain("no_underwriting");
    expect(codes(ask({ industry: "insurance_brokers" }))).not.toContain("no_underwriting");
  });

  test("other companies get a warning that total_liabilities is not used", () => {
    const answer = ask({ total_liabilities: 9e9 });
    expect(answer.valuation).toStrictEqual(ask().valuation);
    expect(codes(answer)).toContain("total_liabilities_unused");
  });
});
