import { expect, test } from "vitest";
import { COUNTRIES } from "../../src/company/countryFigures.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import { estimateEmissions, totalClimateRisk } from "../../src/company/report.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import { isFault } from "../../src/errors.ts";
import { encodeJson } from "../../src/text/json/json.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";

const COUNT = Number(process.env["ISOTHERM_COMPANY_FUZZ"] ?? 5000);

const ODD_LISTS: readonly (readonly unknown[])[] = [
  [undefined, null, true, false, 0, -0, 1, -1, 0.5, 5e-324, 1e-300, 1e15, -1e15, 1e16, NaN, Infinity, -Infinity],
  ["", " ", "0", "-0", "1", "1e15", "1e-320", "-1e15", "1e400", "NaN", "1,000", "0x1F", "\u0000", "\ud800", "٣"],
  ["the", "republic of", "ISIC", "ISIC 24", "NACE 28", "999999", "99", "x".repeat(10_000), "é".repeat(500)],
  [[], {}, [null], [[]], [NaN], [2030], ["2030"], [2030.5], Array(100).fill(2030), { toString: 1 }],
  [{ pass_through: 1 }, { discount_rate: "0" }, { shock_year: 2030.5 }, { rate: 1 }, { discount_rate: null }],
  [["NGFS_NDC"], ["ngfs ndc", "NGFS-NDC"], ["__proto__"], Array(30).fill("IPCC_C1")],
];
const ODD = ODD_LISTS.flat();
const MEMBERS = [
  ["name", "country", "industry", "revenue", "total_assets", "ebitda", "total_debt", "transition_scenarios"],
  ["assessment_years", "scope1", "scope2", "scope3", "scope3_upstream", "scope3_downstream", "total_liabilities"],
  ["damage_function", "iam", "pd", "exposure", "lgd", "assumptions", "constructor"],
].flat();

function validRequest(random: SeededRandom): Record<string, unknown> {
  return {
    name: "Any",
    country: random.pick(COUNTRIES).iso3,
    industry: random.pick(INDUSTRIES).id,
    revenue: 10 ** random.between({ min: -3, max: 14 }),
    total_assets: String(10 ** random.between({ min: 0, max: 14 })),
    ebitda: 10 ** random.between({ min: -3, max: 13 }) * random.pick([1, 1, 1, -1]),
    total_debt: random.pick([0, 1e9, "123456"]),
    transition_scenarios: [random.pick(SCENARIO_IDS), random.pick(SCENARIO_IDS)],
    assessment_years: [2025 + random.below(76)],
    ...(random.chance(0.3) ? { iam: random.pick(["remind", "gcam", "messageix"]) } : {}),
  };
}

/** Fails with the description if a number is not finite, which the encoder rejects. */
function expectEncodable(value: unknown, description: () => string): void {
  try {
    encodeJson(value);
  } catch (cause) {
    throw new Error(description(), { cause });
  }
}

test(
  `${COUNT} corrupted requests are answered in full or rejected with a reason`,
  () => {
    const random = randomFrom(23);
    let [answered, refused] = [0, 0];
    for (let i = 0; i < COUNT; i++) {
      const request = validRequest(random);
      const mutationCount = random.below(4);
      for (let k = 0; k < mutationCount; k++) {
        const member = random.pick(MEMBERS);
        if (random.chance(0.15)) delete request[member];
        else request[member] = random.pick(ODD);
      }
      const input: unknown = random.chance(0.01) ? random.pick(ODD) : request;
      const description = (): string => `request ${i}: ${JSON.stringify(input)}`;
      try {
        const answer = totalClimateRisk(input as Parameters<typeof totalClimateRisk>[0]);
        expectEncodable(answer, description);
        const { total } = answer.results[0] ?? expect.fail(description());
        if (!(total.score >= 0 && total.score <= 100)) expect.fail(description());
        answered++;
      } catch (error) {
        if (!isFault(error)) throw new Error(description(), { cause: error });
        if (error.items.length === 0 || error.items.some(({ pointer }) => pointer === undefined))
          expect.fail(description());
        expectEncodable(error.items, description);
        refused++;
      }
      try {
        expectEncodable(estimateEmissions(input as Parameters<typeof estimateEmissions>[0]), description);
      } catch (error) {
        if (!isFault(error)) throw new Error(description(), { cause: error });
      }
    }
    // Both outcomes must occur for the test to be meaningful.
    expect(answered).toBeGreaterThan(0.2 * COUNT);
    expect(refused).toBeGreaterThan(0.2 * COUNT);
  },
  Math.max(120_000, 10 * COUNT),
);
