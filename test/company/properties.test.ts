import { describe, expect, test } from "vitest";
import { TABLE_START_YEAR } from "../../src/company/methodConstants.ts";
import { valueInYear } from "../../src/company/yearlySeries.ts";
import { COUNTRIES, type Country } from "../../src/company/countryFigures.ts";
import { findCountry } from "../../src/company/countryLookup.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import { chronicDamage } from "../../src/company/physical.ts";
import { totalClimateRisk } from "../../src/company/report.ts";
import { SCENARIO_IDS, TRANSITION_SCENARIOS } from "../../src/company/scenarios.ts";
import { warmingOf } from "../../src/company/temperaturePaths.ts";
import type { OracleCompany } from "../oracle/company.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { isClose } from "./tolerance.ts";
import { randomCompany, requestOf } from "./companies.ts";
import type { CompanyAnswer, CompanyResult } from "../../src/contract/wireTypes.ts";

const COUNT = Number(process.env["ISOTHERM_COMPANY_LAWS"] ?? 2000);
const TIMEOUT_MS = Math.max(60_000, 5 * COUNT);

const KNOWN = { industries: INDUSTRIES.map(({ id }) => id), countries: COUNTRIES.map(({ iso3 }) => iso3) };
const BANKS = new Set(INDUSTRIES.filter(({ group }) => group === "banks").map(({ id }) => id));
const ask = (company: OracleCompany, scenario: string, year: number): CompanyAnswer =>
  totalClimateRisk(requestOf(company, { scenarios: [scenario], years: [year] }));
const first = ({ results }: CompanyAnswer): CompanyResult => results[0] ?? expect.fail("no result");
const anyScenario = (random: SeededRandom): string => random.pick(SCENARIO_IDS);
const anyYear = (random: SeededRandom): number => 2025 + random.below(76);

describe(`properties, over ${COUNT} random requests each`, () => {
  // The uncapped loss is B - m (B - (1 - pass-through) G). The remaining volume m and the term in brackets both decrease
  // with emissions; if the term is negative, the whole EBITDA is lost anyway.
  test(
    "more reported emissions never lower the transition loss of a company with earnings",
    () => {
      const random = randomFrom(11);
      for (let i = 0; i < COUNT; i++) {
        const company = { ...randomCompany(random, KNOWN), damageFunction: undefined };
        const ebitda = Math.abs(company.ebitda) + 1e-6 * company.revenue;
        const [scenario, year] = [anyScenario(random), anyYear(random)];
        const scope = random.pick(["scope1", "scope2", "scope3"] as const);
        const less = company.revenue * 10 ** random.between({ min: -8, max: -1 });
        const loss = (tonnes: number): number =>
          first(ask({ ...company, ebitda, [scope]: tonnes }, scenario, year)).transition.loss;
        const [low, high] = [loss(less), loss(less * (1 + 3 * random.next()))];
        if (!(high >= low * (1 - 1e-12)))
          expect.fail(`${scenario} ${year} ${scope} ${less}: ${JSON.stringify(company)}`);
      }
    },
    TIMEOUT_MS,
  );

  test("more reported emissions can lower the loss of a company without earnings, which absorbs costs on less volume", () => {
    const losing = {
      industry: "cement_lime",
      country: "IND",
      revenue: 1e9,
      totalAssets: 1e9,
      ebitda: -1,
      totalDebt: 0,
    };
    const { transition: few } = first(ask({ ...losing, scope1: 2e7 }, "NGFS_NET_ZERO_2050", 2030));
    const { transition: many } = first(ask({ ...losing, scope1: 2.9e7 }, "NGFS_NET_ZERO_2050", 2030));
    expect(many.gross_cost).toBeGreaterThan(few.gross_cost);
    expect(many.loss).toBeLessThan(few.loss);
  });

  const OPTIMUM_C = 0.00986 / 0.001808;
  const damage = (country: Country, temperaturePath: string, year: number): number =>
    chronicDamage(country, { temperaturePath, year }, { damageFunction: "kalkuhl_wenz", allowsGains: false })
      .damageFraction;

  test("a hotter path never lowers chronic damage in a hot country if both have the same warming in 2020", () => {
    const random = randomFrom(13);
    const paths = [...new Set(TRANSITION_SCENARIOS.map(({ temperaturePath }) => temperaturePath))];
    const hot = COUNTRIES.filter(({ baselineTemperatureC }) => baselineTemperatureC > OPTIMUM_C);
    let count = 0;
    while (count < COUNT) {
      const [country, one, other] = [random.pick(hot), random.pick(paths), random.pick(paths)];
      const year = anyYear(random);
      const [mild, hotter] = [warmingOf(one), warmingOf(other)];
      if (valueInYear(mild, TABLE_START_YEAR) !== valueInYear(hotter, TABLE_START_YEAR)) continue;
      if (valueInYear(mild, year) > valueInYear(hotter, year)) continue;
      count++;
      const [low, high] = [damage(country, one, year), damage(country, other, year)];
      if (!(high >= low)) expect.fail(`${country.iso3} ${one} ${other} ${year}: ${high} < ${low}`);
    }
  });

  test("paths that differ by 0.001 degrees in 2020 can be reversed while they are that close", () => {
    const india = findCountry("IND");
    if (!("iso3" in india)) throw new Error("India was not found.");
    const paths = TRANSITION_SCENARIOS.map(({ temperaturePath }) => temperaturePath);
    const years = Array.from({ length: 76 }, (_, i) => 2025 + i);
    const differences = (one: string, other: string, year: number) => ({
      startC: valueInYear(warmingOf(other), TABLE_START_YEAR) - valueInYear(warmingOf(one), TABLE_START_YEAR),
      nowC: valueInYear(warmingOf(other), year) - valueInYear(warmingOf(one), year),
      damage: damage(india, other, year) - damage(india, one, year),
    });
    const reversed = paths.flatMap((one) =>
      paths.flatMap((other) =>
        years.map((year) => differences(one, other, year)).filter(({ nowC, damage }) => nowC > 0 && damage < 0),
      ),
    );
    expect(reversed.length).toBeGreaterThan(0);
    for (const { nowC, startC } of reversed) expect(nowC).toBeLessThan(startC);
    // Example: Low Demand and Net Zero 2050 in 2032.
    expect(differences("NGFS_NET_ZERO_2050", "NGFS_LOW_DEMAND", 2032)).toEqual({
      startC: expect.closeTo(0.001, 9),
      nowC: expect.closeTo(0.0006, 9),
      damage: expect.closeTo(-1.67e-5, 7),
    });
  });

  test(
    "under Current Policies there is no transition loss, and a note gives the reason",
    () => {
      const random = randomFrom(17);
      for (let i = 0; i < COUNT; i++) {
        const scenario = random.pick(["NGFS_CURRENT_POLICIES", "IPCC_C6", "IPCC_C8", "IPCC_SSP5_85"]);
        const company = randomCompany(random, KNOWN);
        const answer = ask(company, scenario, anyYear(random));
        const { transition } = first(answer);
        const figures = [transition.loss, transition.uncapped, transition.gross_cost, transition.volume_change];
        // The borrowers of a bank have physical losses only.
        if (!BANKS.has(company.industry)) figures.push(transition.score, transition.credit_loss);
        if (figures.some((figure) => !Object.is(figure, 0))) expect.fail(JSON.stringify(company));
        expect(transition.note).toBe("no shock beyond current policies");
        expect(answer.warnings.some(({ code }) => code === "no_shock")).toBe(true);
      }
    },
    TIMEOUT_MS,
  );

  const MONEY_FIGURES = ({ transition, physical, interaction, total }: CompanyResult): readonly number[] => [
    transition.gross_cost,
    transition.loss,
    transition.uncapped,
    transition.credit_loss,
    physical.chronic.loss,
    physical.acute.asset_loss,
    physical.acute.interruption,
    interaction,
    total.loss,
  ];
  const scaled = (company: OracleCompany, factor: number): OracleCompany => ({
    ...company,
    revenue: company.revenue * factor,
    totalAssets: company.totalAssets * factor,
    ebitda: company.ebitda * factor,
    totalDebt: company.totalDebt * factor,
    totalLiabilities: company.totalLiabilities === undefined ? undefined : company.totalLiabilities * factor,
  });

  test(
    "scaling all money by k scales all losses by k and keeps percentages, scores and default probabilities",
    () => {
      const random = randomFrom(19);
      for (let i = 0; i < COUNT; i++) {
        const known = randomCompany(random, KNOWN);
        const company = { ...known, scope1: undefined, scope2: undefined, scope3: undefined };
        const [scenario, year] = [anyScenario(random), anyYear(random)];
        const most = Math.max(company.revenue, company.totalAssets, company.totalDebt);
        const factor = 10 ** random.between({ min: -2, max: Math.min(2, Math.log10(9e14 / most)) });
        const [one, other] = [ask(company, scenario, year), ask(scaled(company, factor), scenario, year)];
        const where = `${scenario} ${year} x ${factor}: ${JSON.stringify(company)}`;
        const figures = MONEY_FIGURES(first(other));
        for (const [index, figure] of MONEY_FIGURES(first(one)).entries()) {
          if (!isClose(figures[index], figure * factor)) expect.fail(`${where}: figure ${index}`);
        }
        const [before, after] = [first(one).total, first(other).total];
        if (!isClose(after.score, before.score) || !isClose(after.low, before.low)) expect.fail(where);
        const [valuation, value] = [one.valuation[0], other.valuation[0]];
        if (!isClose(value?.npv_of_losses, (valuation?.npv_of_losses ?? NaN) * factor)) expect.fail(where);
        if (!isClose(value?.pd_5y_after, valuation?.pd_5y_after, 1e-6)) expect.fail(where);
      }
    },
    TIMEOUT_MS,
  );

  test("with reported emissions, these have to be scaled too", () => {
    const company = {
      industry: "cement_lime",
      country: "IND",
      revenue: 1e9,
      totalAssets: 2e9,
      ebitda: 5e8,
      totalDebt: 1e8,
      scope1: 1e5,
    };
    const loss = (of: OracleCompany): number => first(ask(of, "NGFS_BELOW_2C", 2030)).transition.loss;
    expect(isClose(loss(scaled(company, 2)), 2 * loss(company))).toBe(false);
    expect(isClose(loss({ ...scaled(company, 2), scope1: 2e5 }), 2 * loss(company))).toBe(true);
  });
});
