/**
 * Seeded random requests of the company method: typical and extreme ones, which are accepted, and odd ones, each
 * refused for one reason.
 */
import type { SeededRandom } from "../../seededRandom.ts";
import { modeledScopes } from "./emissions.ts";
import type { RefusalCode } from "./refusal.ts";
import { DAMAGE_FUNCTIONS, type CompanyRequest, type Numeric } from "./request.ts";
import type { Country, Industry, Tables } from "./tables.ts";

type Optional = Omit<
  CompanyRequest,
  "name" | "country" | "industry" | "revenue" | "transition_scenarios" | "assessment_years"
>;

export interface RandomRequestOptions {
  /** Share of requests with money and emissions anywhere in the accepted range; default 0.2. */
  readonly extremeShare?: number;
  readonly scenarioCountMax?: number;
  readonly yearCountMax?: number;
}

/** A request that the method accepts. */
export function randomRequest(
  tables: Tables,
  random: SeededRandom,
  { extremeShare = 0.2, scenarioCountMax = 4, yearCountMax = 4 }: RandomRequestOptions = {},
): CompanyRequest {
  const isExtreme = random.chance(extremeShare);
  const country = randomCountry(tables, random);
  const industry = randomIndustry(tables, random);
  const revenue = isExtreme ? logUniform(random, 1e-2, 1e15) : logUniform(random, 1e3, 1e12);
  const money = isExtreme ? extremeMoney(random) : typicalMoney(random, industry, revenue);
  const iam = random.chance(0.3) ? random.pick(["remind", "messageix", "gcam"]) : undefined;
  return {
    name: `Company ${random.below(1e6)}`,
    country: respelled(random, randomCountryName(tables, random, country)),
    industry: respelled(
      random,
      random.pick([industry.id, industry.name, industry.alias].filter((name) => name !== "")),
    ),
    revenue: written(random, revenue),
    ...money,
    ...randomScopes(random, industry, country, revenue, isExtreme),
    ...randomCredit(random),
    ...(iam === undefined ? {} : { iam }),
    ...randomAssumptions(random),
    transition_scenarios: randomScenarios(tables, random, iam, scenarioCountMax),
    assessment_years: randomYears(random, iam, yearCountMax),
  };
}

/** A quarter of the countries is of tier B. */
function randomCountry(tables: Tables, random: SeededRandom): Country {
  const tier = random.chance(0.25) ? "B" : "A";
  return random.pick(tables.countries.filter((country) => country.tier === tier));
}

/** The rarer product channels, scalings and archetypes come up often. */
function randomIndustry(tables: Tables, random: SeededRandom): Industry {
  const { industries } = tables;
  const groups: ((industry: Industry) => boolean)[] = [
    () => true,
    () => true,
    ({ archetype }) => archetype === "banks",
    ({ archetype }) => archetype === "insurance",
    ({ product_channel }) => product_channel === "fuel_world" || product_channel === "fuel",
    ({ product_channel }) => product_channel === "durable",
    ({ s1_scaling }) => s1_scaling !== "economy",
  ];
  return random.pick(industries.filter(random.pick(groups)));
}

function randomCountryName(tables: Tables, random: SeededRandom, { iso3, iso2, name, aliases }: Country): string {
  const further = tables.countryNames.filter((other) => other.iso3 === iso3).map((other) => other.name);
  return random.pick([iso3, iso2, name, ...aliases.slice(0, 3), ...further.slice(0, 2)]);
}

/** The same key, spelled differently. */
function respelled(random: SeededRandom, name: string): string {
  const spellings = [
    name,
    name,
    name.toLowerCase(),
    ` ${name} `,
    name.replaceAll(" ", "_"),
    name.replaceAll(" ", " - "),
    name.normalize("NFD"),
  ];
  return random.pick(spellings);
}

/** Assets, EBITDA and debt around the industry's norms; each is left out in one of six requests. */
function typicalMoney(random: SeededRandom, industry: Industry, revenue: number): Optional {
  const assets = industry.assets_to_revenue * revenue * random.between({ min: 0.4, max: 2 });
  const margin = random.chance(0.1) ? 0 : random.between({ min: -0.5, max: 0.6 });
  const debtShare = random.pick([0, 0.05, 0.3, 0.6, 0.95, 1, 1.4]);
  return {
    ...sometimes(random, 5 / 6, "total_assets", assets),
    ...sometimes(random, 5 / 6, "ebitda", margin * revenue),
    ...sometimes(random, 5 / 6, "total_debt", debtShare * assets),
    ...sometimes(random, 0.3, "total_liabilities", assets * random.pick([0, 0.5, 0.9, 0.95, 1, 1.1])),
  };
}

/** Money anywhere from 0.01 to 1e15 USD. */
function extremeMoney(random: SeededRandom): Optional {
  const money = (): number => logUniform(random, 1e-2, 1e15);
  return {
    ...sometimes(random, 5 / 6, "total_assets", money()),
    ...sometimes(random, 5 / 6, "ebitda", random.pick([-1, 0, 1, 1]) * money()),
    ...sometimes(random, 5 / 6, "total_debt", random.pick([0, 1, 1, 1]) * money()),
    ...sometimes(random, 0.3, "total_liabilities", money()),
  };
}

/** Reported emissions in all combinations: none, or any subset of the five members. */
function randomScopes(
  random: SeededRandom,
  industry: Industry,
  country: Country,
  revenue: number,
  isExtreme: boolean,
): Optional {
  if (random.chance(0.3)) return {};
  const modeled = modeledScopes(industry, country, revenue);
  const reported = (modeledValue: number): number => {
    if (random.chance(0.08)) return 0;
    if (isExtreme) return logUniform(random, 1e-3, 6e10);
    return Math.min(6e10, modeledValue * logUniform(random, 1e-2, 1e2));
  };
  return {
    ...sometimes(random, 0.5, "scope1", reported(modeled.scope1)),
    ...sometimes(random, 0.5, "scope2", reported(modeled.scope2)),
    ...sometimes(random, 0.5, "scope3", reported(modeled.upstream + modeled.downstream)),
    ...sometimes(random, 0.5, "scope3_upstream", reported(modeled.upstream)),
    ...sometimes(random, 0.5, "scope3_downstream", reported(modeled.downstream)),
  };
}

function randomCredit(random: SeededRandom): Optional {
  const pd = random.pick([0, 1, 1e-9, 0.5, 0.999999, logUniform(random, 1e-5, 1), random.next()]);
  return {
    ...sometimes(random, 0.4, "pd", pd),
    ...sometimes(random, 0.4, "exposure", random.chance(0.1) ? 0 : logUniform(random, 1, 1e15)),
    ...sometimes(random, 0.4, "lgd", random.pick([0, 1, random.next()])),
  };
}

function randomAssumptions(random: SeededRandom): Optional {
  const damageFunction = random.chance(0.4) ? { damage_function: random.pick(DAMAGE_FUNCTIONS) } : {};
  if (random.chance(0.6)) return damageFunction;
  const assumptions = {
    ...sometimes(random, 0.6, "discount_rate", random.pick([0, 0.3, 0.08, random.between({ min: 0, max: 0.3 })])),
    ...sometimes(
      random,
      0.6,
      "shock_year",
      random.pick([2025, 2100, 2025 + random.below(76), 2025 + random.below(30)]),
    ),
    ...sometimes(random, 0.6, "pass_through", random.pick([0, 1, random.next()])),
  };
  return { ...damageFunction, assumptions };
}

/** MESSAGEix and GCAM have regional prices of two scenarios of the NGFS family only. */
function randomScenarios(tables: Tables, random: SeededRandom, iam: string | undefined, countMax: number): string[] {
  const hasPrices = (id: string): boolean =>
    iam === undefined || iam === "remind" || id.startsWith("IPCC") || /NET_ZERO_2050|BELOW_2C/.test(id);
  const ids = tables.scenarios.map(({ scenario_id }) => scenario_id).filter(hasPrices);
  const spellings = (id: string): string[] => [id, id, id, id.toLowerCase(), id.replaceAll("_", " ")];
  return Array.from({ length: 1 + random.below(countMax) }, () => random.pick(spellings(random.pick(ids))));
}

/** Prices of MESSAGEix and GCAM end in 2060. */
function randomYears(random: SeededRandom, iam: string | undefined, countMax: number): number[] {
  const yearMax = iam === "messageix" || iam === "gcam" ? 2060 : 2100;
  const year = (): number => random.pick([2025, 2026, 2030, 2050, yearMax, 2025 + random.below(yearMax - 2024)]);
  return Array.from({ length: 1 + random.below(countMax) }, year);
}

function sometimes<const Member extends string>(
  random: SeededRandom,
  probability: number,
  member: Member,
  value: number,
): Partial<Record<Member, Numeric>> {
  const sent = { [member]: written(random, value) } as Record<Member, Numeric>;
  return random.chance(probability) ? sent : {};
}

/** The value as a JSON number or as a string that parses to it. */
function written(random: SeededRandom, value: number): Numeric {
  const exponential = value.toExponential();
  return random.pick<Numeric>([value, String(value), ` ${value}`, exponential, exponential.toUpperCase()]);
}

function logUniform(random: SeededRandom, min: number, max: number): number {
  return Math.exp(random.between({ min: Math.log(min), max: Math.log(max) }));
}

/** One changed member of an accepted request, and the code of the refusal it leads to. */
const FAULTS: readonly { readonly code: RefusalCode; readonly change: Readonly<Record<string, unknown>> }[] = [
  ...["", " ", "abc", "1,000", "0x10", "NaN", "Infinity", ".5", "5.", "+5", "1e400", 0, "0", -1, 1.1e15].map(
    (revenue) => ({ code: "invalid" as const, change: { revenue } }),
  ),
  ...["", 0, -1, "1e16"].map((value) => ({ code: "invalid" as const, change: { total_assets: value } })),
  ...["", -1, 1.1e15].map((value) => ({ code: "invalid" as const, change: { total_debt: value } })),
  ...["", "-1.1e15", 1.1e15].map((value) => ({ code: "invalid" as const, change: { ebitda: value } })),
  ...["scope1", "scope2", "scope3", "scope3_upstream", "scope3_downstream"].flatMap((member) =>
    ["", -1, 6.1e10].map((value) => ({ code: "invalid" as const, change: { [member]: value } })),
  ),
  ...["pd", "lgd"].flatMap((member) =>
    [-0.1, 1.1].map((value) => ({ code: "invalid" as const, change: { [member]: value } })),
  ),
  { code: "invalid", change: { exposure: -1 } },
  { code: "invalid", change: { damage_function: "burke2015" } },
  { code: "invalid", change: { iam: "witch" } },
  { code: "invalid", change: { assumptions: { discount_rate: 0.31 } } },
  { code: "invalid", change: { assumptions: { discount_rate: -0.01 } } },
  { code: "invalid", change: { assumptions: { shock_year: 2024 } } },
  { code: "invalid", change: { assumptions: { shock_year: 2030.5 } } },
  { code: "invalid", change: { assumptions: { pass_through: 1.01 } } },
  { code: "invalid", change: { transition_scenarios: [] } },
  { code: "invalid", change: { assessment_years: [] } },
  { code: "invalid", change: { assessment_years: [2024] } },
  { code: "invalid", change: { assessment_years: [2101] } },
  { code: "invalid", change: { assessment_years: [2030.5] } },
  { code: "scenario_unknown", change: { transition_scenarios: ["NGFS_NET_ZERO_2049"] } },
  { code: "country_unknown", change: { country: "Kosovo" } },
  { code: "country_unknown", change: { country: "Antarctica" } },
  { code: "country_unknown", change: { country: "" } },
  { code: "industry_unknown", change: { industry: "unicorn breeding" } },
  { code: "industry_unknown", change: { industry: "" } },
  { code: "combination_unavailable", change: { iam: "gcam", transition_scenarios: ["NGFS_NDC"] } },
  { code: "combination_unavailable", change: { iam: "messageix", transition_scenarios: ["NGFS_CURRENT_POLICIES"] } },
  {
    code: "combination_unavailable",
    change: { iam: "gcam", transition_scenarios: ["NGFS_BELOW_2C"], assessment_years: [2061] },
  },
];

/** A request that the method refuses, with the code of the refusal. */
export function randomRefusedRequest(
  tables: Tables,
  random: SeededRandom,
): { readonly request: CompanyRequest; readonly code: RefusalCode } {
  const { code, change } = random.pick(FAULTS);
  return { request: { ...randomRequest(tables, random), ...change }, code };
}
