import { expect, it } from "vitest";
import { randomFrom } from "../../seededRandom.ts";
import { randomRefusedRequest, randomRequest } from "./randomRequests.ts";
import { Refusal } from "./refusal.ts";
import { analyzeCompany, type CompanyReport } from "./report.ts";
import { checkRequest, type CompanyRequest } from "./request.ts";
import { describeWithReference } from "./sharedReference.ts";
import { type Tables, type YearValue } from "./tables.ts";
import { acuteByHazard, averageAnnualLoss, chronicDamage } from "./physical.ts";
import { transitionOf, unitCost } from "./transition.ts";

/** Members of an object, at any depth, that are numbers. */
function numbersIn(value: unknown): number[] {
  if (typeof value === "number") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

/** Relative slack for a quantity that is rounded on both sides of a comparison. */
const ROUNDING = 1e-12;

describeWithReference("laws of the company method", (tables) => {
  const tierA = tables.countries.filter(({ tier }) => tier === "A");
  const analyze = (request: CompanyRequest): CompanyReport => analyzeCompany(tables, request);
  const firstRatio = (request: CompanyRequest): number => analyze(request).results[0]?.total.loss_ratio ?? Number.NaN;

  it("returns finite figures, losses between 0 and EBITDA and ordered ranges for accepted requests", () => {
    const random = randomFrom(1);
    const warningCodes = new Set<string>();
    for (let round = 0; round < 400; round++) {
      const request = randomRequest(tables, random);
      const report = analyze(request);
      const B = report.figures.normalizedEbitda;
      const label = JSON.stringify(request);
      const { results, valuation, emissions, headline } = report;
      for (const { code } of report.warnings) warningCodes.add(code);
      expect(numbersIn({ results, valuation, emissions, headline }).every(Number.isFinite), label).toBe(true);
      for (const { total, interaction, transition } of results) {
        expect(total.loss, label).toBeGreaterThanOrEqual(0);
        expect(total.loss, label).toBeLessThanOrEqual(B);
        expect(interaction, label).toBeLessThanOrEqual(ROUNDING * (total.loss_ratio * B));
        expect(transition.loss, label).toBeLessThanOrEqual(B);
        expect(total.low, label).toBeLessThanOrEqual(100 * total.lost_share);
        expect(total.high, label).toBeGreaterThanOrEqual(100 * total.lost_share);
      }
      for (const { value_at_risk_pct } of valuation) expect(value_at_risk_pct, label).toBeLessThan(100);
    }
    // All warnings but industry_code_guessed, which the method text does not define.
    expect([...warningCodes].toSorted()).toEqual([
      "carbon_intensity_held",
      "country_fallback",
      "damages_retracted",
      "debt_above_assets",
      "ebitda_above_revenue",
      "ebitda_below_normal",
      "ebitda_estimated",
      "emissions_implausible",
      "iam_unused",
      "no_shock",
      "no_underwriting",
      "price_inversion",
      "revenue_large",
      "revenue_small",
      "river_flood_not_shown",
      "scope1_far_from_model",
      "scope2_far_from_model",
      "scope3_far_from_model",
      "scope3_split",
      "substitute_price",
      "total_assets_estimated",
      "total_debt_estimated",
      "total_liabilities_missing",
      "total_liabilities_unused",
      "world_price",
    ]);
  });

  it("draws requests of every kind", () => {
    const random = randomFrom(13);
    const seen = new Map<string, Set<unknown>>();
    const see = (kind: string, value: unknown): void => void seen.set(kind, (seen.get(kind) ?? new Set()).add(value));
    const scopes = ["scope1", "scope2", "scope3", "scope3_upstream", "scope3_downstream"] as const;
    for (let round = 0; round < 4000; round++) {
      const request = randomRequest(tables, random);
      const { country, industryMatch, scenarios, years, assumptions, figures } = checkRequest(tables, request);
      for (const { scenario_id } of scenarios) see("scenario", scenario_id);
      for (const year of years) see("year", year);
      see("country", country.iso3);
      see("industry", industryMatch.industry.id);
      see("matched on", industryMatch.matchedOn);
      see("reported scopes", scopes.filter((member) => member in request).join());
      see("damage function", assumptions.damageFunction);
      see("model", request.iam);
      see("estimated", figures.estimated.join());
      see("assumptions", Object.keys(request.assumptions ?? {}).join());
      see("credit", ["pd", "exposure", "lgd", "total_liabilities"].filter((member) => member in request).join());
    }
    const counts = Object.fromEntries([...seen].map(([kind, values]) => [kind, values.size]));
    expect(counts).toEqual({
      scenario: 21,
      year: 76,
      country: 248,
      industry: 147,
      "matched on": 3,
      "reported scopes": 32,
      "damage function": 5,
      model: 4,
      estimated: 8,
      assumptions: 8,
      credit: 16,
    });
  });

  it("refuses requests with one faulty member, with the code of the fault", () => {
    const random = randomFrom(2);
    for (let round = 0; round < 600; round++) {
      const { request, code } = randomRefusedRequest(tables, random);
      let refusal: unknown;
      try {
        analyze(request);
      } catch (error) {
        refusal = error;
      }
      expect(refusal, JSON.stringify(request)).toBeInstanceOf(Refusal);
      expect((refusal as Refusal).code, JSON.stringify(request)).toBe(code);
    }
  });

  it("does not lower losses when a reported scope rises", () => {
    const random = randomFrom(3);
    for (let round = 0; round < 500; round++) {
      const request = randomRequest(tables, random, { scenarioCountMax: 1, yearCountMax: 1 });
      const member = random.pick(["scope1", "scope2", "scope3_upstream", "scope3_downstream"] as const);
      const { scope3: _, ...withoutTotal } = request;
      const least = 10 ** random.between({ min: -2, max: 6 });
      const most = least * 10 ** random.between({ min: 0, max: 4 });
      const before = firstRatio({ ...withoutTotal, [member]: least });
      const after = firstRatio({ ...withoutTotal, [member]: most });
      expect(after, JSON.stringify(request)).toBeGreaterThanOrEqual(before * (1 - ROUNDING));
    }
  });

  it("does not lower losses when a reported total of scope 3 rises", () => {
    const random = randomFrom(4);
    for (let round = 0; round < 300; round++) {
      const request = randomRequest(tables, random, { scenarioCountMax: 1, yearCountMax: 1, extremeShare: 0 });
      const { scope3_upstream: _up, scope3_downstream: _down, ...plain } = request;
      const least = 10 ** random.between({ min: -2, max: 6 });
      const most = least * 10 ** random.between({ min: 0, max: 4 });
      const before = firstRatio({ ...plain, scope3: least });
      const after = firstRatio({ ...plain, scope3: most });
      expect(after, JSON.stringify(request)).toBeGreaterThanOrEqual(before * (1 - ROUNDING));
    }
  });

  it("does not lower costs and transition losses when the price shock rises", () => {
    const random = randomFrom(5);
    for (let round = 0; round < 5000; round++) {
      const industry = random.pick(tables.industries);
      const year = 2025 + random.below(76);
      const input = {
        industry,
        year,
        revenue: 1e9,
        normalizedEbitda: random.between({ min: 0.5, max: 3 }) * industry.ebitda_margin * 1e9,
        scope1: random.between({ min: 0, max: 1e7 }),
        scope2: random.between({ min: 0, max: 1e6 }),
        upstream: random.between({ min: 0, max: 1e6 }),
        downstream: random.between({ min: 0, max: 1e7 }),
        passThrough: random.next(),
      };
      const shock = random.between({ min: 0, max: 1000 });
      const factor = random.between({ min: 1, max: 5 });
      const before = transitionOf({ ...input, shock, buyersShock: shock });
      const after = transitionOf({ ...input, shock: factor * shock, buyersShock: factor * shock });
      expect(after.grossCost).toBeGreaterThanOrEqual(before.grossCost * (1 - ROUNDING));
      expect(after.loss).toBeGreaterThanOrEqual(before.loss * (1 - ROUNDING));
    }
  });

  it("keeps the unit cost between 0 and the price shock", () => {
    const random = randomFrom(6);
    for (let round = 0; round < 5000; round++) {
      const shock = random.between({ min: 0, max: 2000 });
      const abatement = { backstop: random.between({ min: 50, max: 400 }), years: 20, maxShare: random.next() };
      const cost = unitCost(shock, 2025 + random.below(76), abatement);
      expect(cost).toBeGreaterThanOrEqual(0);
      expect(cost).toBeLessThanOrEqual(shock);
    }
  });

  it("does not lower damages when warming rises by up to 2 degrees", () => {
    const random = randomFrom(7);
    const damageFunctions = ["ngfs4", "kalkuhl_wenz", "howard_sterner", "dice2016", "ngfs5_kotz"] as const;
    for (let round = 0; round < 5000; round++) {
      const country = random.pick(tables.countries.filter(({ tier }) => tier !== "C"));
      const damageFunction = random.pick(damageFunctions);
      const gsat2020 = 1.23;
      const warming = random.between({ min: gsat2020, max: 4.5 });
      const more = warming + random.between({ min: 0, max: 2 });
      const damage = (gsat: number): number => chronicDamage(damageFunction, country, gsat, gsat2020);
      expect(damage(more)).toBeGreaterThanOrEqual(damage(warming));
      const aal = (gsat: number): number => averageAnnualLoss(acuteByHazard(country, gsat));
      expect(aal(more)).toBeGreaterThanOrEqual(aal(warming));
    }
  });

  it("never steps by more than 2 points of score or of PD from -20 to +20 % of EBITDA margin", () => {
    const random = randomFrom(8);
    let [scoreStepMax, pdStepMax] = [0, 0];
    for (let company = 0; company < 8; company++) {
      const industry = random.pick(tables.industries);
      const revenue = 1e9;
      const assets = industry.assets_to_revenue * revenue * random.between({ min: 0.4, max: 2 });
      const request = {
        name: "EBITDA",
        country: random.pick(tierA).iso3,
        industry: industry.id,
        revenue,
        total_assets: assets,
        total_debt: assets * random.between({ min: 0.1, max: 1 }),
        transition_scenarios: [random.pick(tables.scenarios).scenario_id],
        assessment_years: [2030, 2050],
      };
      let previous: CompanyReport | undefined;
      for (let tenths = -200; tenths <= 200; tenths++) {
        const report = analyze({ ...request, ebitda: (tenths / 1000) * revenue });
        for (const [index, result] of report.results.entries()) {
          const before = previous?.results[index];
          if (before === undefined) continue;
          scoreStepMax = Math.max(scoreStepMax, Math.abs(result.total.score - before.total.score));
          const pd = result.credit.pd_5y.after ?? 0;
          pdStepMax = Math.max(pdStepMax, Math.abs(100 * (pd - (before.credit.pd_5y.after ?? 0))));
        }
        previous = report;
      }
    }
    expect(scoreStepMax).toBeLessThan(2);
    expect(pdStepMax).toBeLessThan(2);
    expect(scoreStepMax).toBeGreaterThan(0.1);
  });

  it("never finds NDC above Net Zero 2050 in 2030", () => {
    const random = randomFrom(9);
    for (let pair = 0; pair < 600; pair++) {
      const { results } = analyze({
        name: "pair",
        country: random.pick(tierA).iso3,
        industry: random.pick(tables.industries).id,
        revenue: 1e9,
        transition_scenarios: ["NGFS_NDC", "NGFS_NET_ZERO_2050"],
        assessment_years: [2030],
      });
      const [ndc, netZero] = results.map(({ total }) => total.loss_ratio) as [number, number];
      expect(ndc).toBeLessThanOrEqual(netZero);
    }
  });

  it("gives the default answer when the defaults are sent", () => {
    const random = randomFrom(10);
    for (let round = 0; round < 60; round++) {
      const {
        iam: _iam,
        damage_function: _function,
        assumptions: _assumptions,
        lgd: _lgd,
        ...plain
      } = randomRequest(tables, random);
      const sent = analyze({
        ...plain,
        iam: "remind",
        damage_function: "ngfs4",
        lgd: 0.45,
        assumptions: { discount_rate: 0.08, shock_year: 2025 },
      });
      expect(sent).toEqual(analyze(plain));
    }
  });

  it("gives each scenario and year the answer that it gets alone", () => {
    const random = randomFrom(11);
    for (let round = 0; round < 60; round++) {
      const request = randomRequest(tables, random);
      for (const result of analyze(request).results) {
        const alone = { transition_scenarios: [result.scenario], assessment_years: [result.year] };
        expect(analyze({ ...request, ...alone }).results).toEqual([result]);
      }
    }
  });

  it("never cools below 2020, so that damages rise with warming on every path", () => {
    for (const [path, values] of tables.temperatures) {
      const first = values[0] as YearValue;
      expect(Math.min(...values.map(({ value }) => value)), path).toBe(first.value);
    }
  });

  it("treats a price path scaled above itself as at least as costly", () => {
    const random = randomFrom(12);
    for (let round = 0; round < 100; round++) {
      const request = randomRequest(tables, random, { scenarioCountMax: 1, yearCountMax: 1 });
      const dearer = withScaledPrices(tables, 1 + random.next() * 4);
      const [before, after] = [analyze(request), analyzeCompany(dearer, request)];
      expect(after.results[0]?.total.loss_ratio).toBeGreaterThanOrEqual(
        (before.results[0]?.total.loss_ratio ?? 0) * (1 - ROUNDING),
      );
      expect(after.valuation[0]?.npv_of_losses).toBeGreaterThanOrEqual(
        (before.valuation[0]?.npv_of_losses ?? 0) * (1 - ROUNDING),
      );
    }
  });
});

/** The tables with all prices but those of Current Policies multiplied by a factor. */
function withScaledPrices(tables: Tables, factor: number): Tables {
  const scaled = (values: readonly YearValue[]): YearValue[] =>
    values.map(({ year, value }) => ({ year, value: factor * value }));
  const prices = [...tables.prices].map(([key, series]) => {
    if (series.path === "NGFS_CURRENT_POLICIES") return [key, series] as const;
    const { price_usd2022, p25_usd2022, p75_usd2022 } = series.quantiles;
    const quantiles = {
      price_usd2022: scaled(price_usd2022),
      p25_usd2022: scaled(p25_usd2022),
      p75_usd2022: scaled(p75_usd2022),
    };
    return [key, { ...series, quantiles }] as const;
  });
  return { ...tables, prices: new Map(prices) };
}
