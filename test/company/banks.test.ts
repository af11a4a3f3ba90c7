import { describe, expect, test } from "vitest";
import { fiveYearDefaultProbability } from "../../src/company/defaultProbability.ts";
import { BANK, INSURER, ask, codes, first } from "./requests.ts";
import { isClose } from "./tolerance.ts";

describe("banks and insurers", () => {
  const NET_ZERO = { transition_scenarios: ["NGFS_NET_ZERO_2050"] };

  test("a bank has credit losses from its borrowers", () => {
    const { transition } = first(ask(NET_ZERO, BANK));
    expect(transition.credit_loss).toBeGreaterThan(transition.loss);
    expect(first(ask(NET_ZERO, INSURER)).transition.credit_loss).toBe(0);
  });

  test("the credit loss is that of a representative borrower of the country", () => {
    const { transition } = first(ask(NET_ZERO, BANK));
    const borrower = { industry: "miscellaneous", revenue: 1, total_assets: 1.2, ebitda: 0.16, total_debt: 0.5 };
    const { pct_of_ebitda } = first(ask(NET_ZERO, { ...BANK, ...borrower })).total;
    let annuity = 0;
    for (let year = 1; year <= 25; year++) annuity += 0.75 / 1.08 ** year;
    const lost = ((pct_of_ebitda / 100) * 0.16 * annuity) / Math.max(1.2, 0.16 * annuity);
    const probability = (assets: number): number => fiveYearDefaultProbability({ assets, debt: 0.5, volatility: 0.25 });
    const additional = (probability(1.2 * (1 - lost)) - probability(1.2)) / 5;
    expect(isClose(transition.credit_loss, 0.55 * 450e9 * 0.45 * additional)).toBe(true);
  });

  test("the credit loss does not depend on lgd", () => {
    expect(first(ask({ lgd: 1 }, BANK)).transition).toEqual(first(ask({ lgd: 0 }, BANK)).transition);
  });

  test.each([BANK, INSURER])("%j: has no default probability without total liabilities", (base) => {
    const answer = ask({}, base);
    expect(answer.valuation[0]).toMatchObject({ pd_5y_before: null, pd_5y_after: null });
    expect(codes(answer)).toContain("total_liabilities_missing");
    expect(codes(ask({ pd: 0.01 }, base))).not.toContain("total_liabilities_missing");
    const known = ask({ total_liabilities: "415e9" }, base);
    expect(codes(known)).not.toContain("total_liabilities_missing");
    const [valuation] = known.valuation;
    expect(valuation?.pd_5y_after).toBeGreaterThan(valuation?.pd_5y_before ?? NaN);
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
