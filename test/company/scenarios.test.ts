import { describe, expect, test } from "vitest";
import { REQUEST, ask, codes, first } from "./requests.ts";

describe("scenarios", () => {
  test.each([
    ["IPCC_C1", ["world_price"]],
    ["IPCC_C2", ["world_price", "substitute_price"]],
    ["IPCC_C4", ["world_price", "substitute_price"]],
    ["IPCC_C5", ["world_price", "substitute_price"]],
    ["IPCC_SSP1_19", ["world_price"]],
    ["NGFS_DELAYED_TRANSITION", []],
    ["IPCC_C8", ["no_shock"]],
  ])("%s: %j", (scenario, expected) => {
    expect(codes(ask({ transition_scenarios: [scenario] }))).toEqual(expected);
  });

  test("prices of the requested model are used and named", () => {
    const models = (["remind", "messageix", "gcam"] as const).map((iam) => first(ask({ iam })));
    expect(new Set(models.map(({ drivers }) => drivers.price)).size).toBe(3);
    expect(models.map(({ drivers }) => drivers.price_model)).toEqual([
      "REMIND-MAgPIE 3.3-4.8",
      "MESSAGEix-GLOBIOM 2.0-M-R12-NGFS",
      "GCAM 6.0 NGFS",
    ]);
    expect(new Set(models.map(({ drivers }) => drivers.baseline_price)).size).toBe(1);
    // Each of them is within the range over all models.
    for (const one of models) {
      for (const other of models) {
        expect(one.total.pct_of_ebitda).toBeGreaterThanOrEqual(other.total.low ?? NaN);
        expect(one.total.pct_of_ebitda).toBeLessThanOrEqual(other.total.high ?? NaN);
      }
    }
    const ipcc = ask({ iam: "gcam", transition_scenarios: ["IPCC_C3"] });
    expect(codes(ipcc)).toContain("iam_unused");
    expect(ipcc.results).toStrictEqual(ask({ transition_scenarios: ["IPCC_C3"] }).results);
    expect(first(ipcc).drivers.price_model).toBe("AR6 scenario ensemble, median");
  });

  test("models give losses of 65, 59 and 25 for an airline in Germany, as documented", () => {
    const airline = { ...REQUEST, country: "DEU", industry: "airlines", transition_scenarios: ["NGFS_NET_ZERO_2050"] };
    const [remind = NaN, messageix = NaN, gcam = NaN] = (["remind", "messageix", "gcam"] as const).map(
      (iam) => first(ask({ iam }, airline)).transition.uncapped,
    );
    expect(messageix / remind).toBeCloseTo(59 / 65, 1);
    expect(gcam / remind).toBeCloseTo(25 / 65, 1);
  });
});
