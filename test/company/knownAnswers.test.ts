import { expect, test } from "vitest";
import { scalingOf } from "../../src/company/emissions.ts";
import { findCountry } from "../../src/company/countryLookup.ts";
import { findIndustry } from "../../src/company/industryLookup.ts";
import { totalClimateRisk } from "../../src/company/report.ts";
import { describeWithReference, readShared } from "../alignment/sharedReference.ts";
import { DEFAULT_TOLERANCE, expectClose } from "./tolerance.ts";
import type { CompanyAnswer, CompanyRequest, CompanyResult, CompanyValuation } from "../../src/contract/wireTypes.ts";

type Figures = Readonly<Record<string, number | string | boolean | null>>;

interface KnownCompany {
  readonly name: string;
  readonly input: Pick<CompanyRequest, "industry" | "country" | "revenue" | "total_assets" | "ebitda" | "total_debt">;
  readonly emissions: Figures;
  readonly scenarios: Readonly<
    Record<string, { readonly years: Readonly<Record<string, Figures>>; readonly summary: Figures }>
  >;
}

/** Converts a result to the names of the known answers. */
function figuresOf({ drivers, transition, physical, interaction, total, credit }: CompanyResult): Figures {
  return {
    price: drivers.price,
    base: drivers.baseline_price,
    dp: drivers.price_shock,
    dpf: drivers.fuel_price_shock,
    cut: drivers.emissions_cut,
    alpha: drivers.abatement_share,
    u1: drivers.unit_cost,
    rho: drivers.pass_through,
    G: transition.gross_cost,
    q: transition.own_volume_change,
    qf: transition.fuel_volume_change,
    transition_raw: transition.uncapped,
    transition: transition.loss,
    capped: transition.capped,
    gsat: drivers.gsat,
    T0: drivers.local_temperature_2020,
    Tt: drivers.local_temperature,
    D: physical.chronic.damage_fraction,
    aal: physical.acute.aal_fraction,
    chronic: physical.chronic.loss,
    acute: physical.acute.asset_loss,
    bi: physical.acute.interruption,
    ecl: transition.credit_loss,
    interaction,
    total: total.loss,
    x: total.pct_of_ebitda === null ? null : total.pct_of_ebitda / 100,
    score: total.score,
    rating: total.rating,
    lev0: credit.debt_to_ebitda.before,
    lev1: credit.debt_to_ebitda.after,
    cov0: credit.interest_coverage.before,
    cov1: credit.interest_coverage.after,
  };
}

function summaryOf(valuation: CompanyValuation, totalAssets: number): Figures {
  return {
    npv: valuation.npv_of_losses,
    npv_pct_assets: (100 * valuation.npv_of_losses) / totalAssets,
    npv_raw: valuation.npv_uncapped,
    V1: valuation.asset_value_after,
    var_pct: valuation.value_at_risk_pct,
    pd0: valuation.pd_5y_before,
    pd1: valuation.pd_5y_after,
  };
}

function emissionsOf({ emissions }: CompanyAnswer, { industry, country, revenue }: KnownCompany["input"]): Figures {
  const match = findIndustry(industry);
  const place = findCountry(country);
  if (!("industry" in match) || !("iso3" in place))
    throw new Error("An industry or country of the known answers was not found.");
  const scaling = scalingOf(match.industry, place);
  return {
    k1: scaling.scope1,
    k2: scaling.scope2,
    k3: scaling.scope3Upstream,
    rt: Number(revenue) / 1e6 / 1.1,
    s1: emissions.scope1.value,
    s2: emissions.scope2.value,
    s3up: emissions.scope3_upstream.value,
    s3down: emissions.scope3_downstream.value,
    ...(emissions.financed === null ? {} : { s3_financed: emissions.financed.value }),
  };
}

describeWithReference("the known answers of cases/company.json", () => {
  const { companies = [] } = readShared("cases/company.json") as { readonly companies?: readonly KnownCompany[] };

  test("cover three companies in 21 scenarios and three years", () => {
    expect(companies.map(({ scenarios }) => Object.keys(scenarios).length)).toEqual([21, 21, 21]);
  });

  test.each(companies.map((company) => [company.name, company] as const))(
    "%s: every figure matches",
    (name, company) => {
      const answer = totalClimateRisk({
        name,
        ...company.input,
        transition_scenarios: Object.keys(company.scenarios),
        assessment_years: [2050, 2030, 2040],
      });
      expectClose(emissionsOf(answer, company.input), company.emissions, "emissions");
      let count = 0;
      for (const result of answer.results) {
        const { scenario, year } = result;
        expectClose(figuresOf(result), company.scenarios[scenario]?.years[year] ?? {}, `${scenario} ${year}`);
        count++;
      }
      expect(count).toBe(63);
      for (const valuation of answer.valuation) {
        const { scenario } = valuation;
        expectClose(
          summaryOf(valuation, Number(company.input.total_assets)),
          company.scenarios[scenario]?.summary ?? {},
          scenario,
          (figure) => (figure.startsWith("pd") ? DEFAULT_TOLERANCE : 1e-9),
        );
      }
      expect(answer.valuation.map(({ scenario }) => scenario)).toEqual(Object.keys(company.scenarios));
    },
  );
});
