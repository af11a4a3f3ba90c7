import type { OracleCompany } from "../oracle/company.ts";
import type { SeededRandom } from "../seededRandom.ts";
import type { CompanyRequest } from "../../src/contract/wireTypes.ts";

/** Converts a company to a request. */
export function requestOf(
  company: OracleCompany,
  { scenarios, years }: { readonly scenarios: readonly string[]; readonly years: readonly number[] },
): CompanyRequest {
  const { scope1, scope2, scope3, totalLiabilities, damageFunction, iam } = company;
  return {
    name: "Any",
    country: company.country,
    industry: company.industry,
    revenue: company.revenue,
    total_assets: String(company.totalAssets),
    ebitda: String(company.ebitda),
    total_debt: company.totalDebt,
    transition_scenarios: scenarios,
    assessment_years: years,
    ...(scope1 === undefined ? {} : { scope1 }),
    ...(scope2 === undefined ? {} : { scope2: String(scope2) }),
    ...(scope3 === undefined ? {} : { scope3 }),
    ...(totalLiabilities === undefined ? {} : { total_liabilities: totalLiabilities }),
    ...(damageFunction === undefined ? {} : { damage_function: damageFunction }),
    ...(iam === undefined ? {} : { iam }),
  };
}

/** Returns a random company; unusual cases (no debt, losses, banks, cold countries) are overrepresented. */
export function randomCompany(
  random: SeededRandom,
  { industries, countries }: { readonly industries: readonly string[]; readonly countries: readonly string[] },
): OracleCompany {
  const revenue = 10 ** random.between({ min: 0, max: 12 });
  const ebitda = random.chance(0.1)
    ? random.pick([0, -revenue, -0.01 * revenue])
    : revenue * random.between({ min: 0.001, max: random.chance(0.1) ? 3 : 0.5 });
  const totalAssets = revenue * 10 ** random.between({ min: -1.6, max: random.chance(0.1) ? 3 : 1.5 });
  const maybe = (probability: number, value: () => number): number | undefined =>
    random.chance(probability) ? value() : undefined;
  const tonnes = (): number => (random.chance(0.1) ? 0 : revenue * 10 ** random.between({ min: -7, max: -2.5 }));
  const financials = ["major_banks", "financial_conglomerates", "insurance_pc", "managed_health_care"];
  const fuels = ["coal_mining", "oil_refining", "integrated_oil", "gas_distribution", "electric_utilities"];
  return {
    industry: random.chance(0.3)
      ? random.pick([...financials, ...fuels].filter((id) => industries.includes(id)))
      : random.pick(industries),
    country: random.pick(countries),
    revenue,
    totalAssets,
    ebitda,
    totalDebt: random.chance(0.15) ? 0 : totalAssets * random.between({ min: 0, max: 1.3 }),
    scope1: maybe(0.25, tonnes),
    scope2: maybe(0.25, tonnes),
    scope3: maybe(0.25, tonnes),
    totalLiabilities: maybe(0.3, () => (random.chance(0.1) ? 0 : totalAssets * random.next())),
    damageFunction: random.chance(0.4)
      ? random.pick(["kalkuhl_wenz", "howard_sterner", "dice2016", "ngfs5_kotz"])
      : undefined,
  };
}
