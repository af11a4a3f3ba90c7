import type { Remark, RemarkCode } from "../contract/wireTypes.ts";
import { centralVariant, CURRENT_POLICIES, isWorldPrice, PRICE_MODELS, SUBSTITUTE_PRICES } from "./carbonPrices.ts";
import { type PriceInversion, priceInversionsOf } from "./priceInversions.ts";
import type { Company } from "./request.ts";
import type { TransitionScenario } from "./scenarios.ts";

type ScenarioRemark = Remark & { readonly code: RemarkCode };

/** Returns the warnings about carbon prices, one for each kind, and one for each scenario with inverted prices. */
export function scenarioRemarks(company: Company): readonly ScenarioRemark[] {
  const { scenarios, assumptions } = company;
  const remarks: ScenarioRemark[] = [];
  const add = (code: RemarkCode, about: readonly TransitionScenario[], detail: string): void => {
    if (about.length > 0) remarks.push({ code, detail: `${about.map(({ id }) => id).join(", ")}: ${detail}` });
  };
  const withPath = (matches: (path: string) => boolean): readonly TransitionScenario[] =>
    scenarios.filter(({ pricePath }) => matches(pricePath));

  add(
    "world_price",
    withPath(isWorldPrice),
    "a single world carbon price, because regional prices are not published; linear between 2020 and the published values of 2030 and 2050, constant afterwards.",
  );
  for (const [path, substitute] of SUBSTITUTE_PRICES) {
    const about = withPath((pricePath) => pricePath === path);
    add("substitute_price", about, `prices are not published; replaced by the ${substitute}.`);
  }
  add(
    "no_shock",
    withPath((path) => path === CURRENT_POLICIES),
    "no shock beyond current policies, so the transition loss is 0 by construction; that is not the same as no risk.",
  );
  for (const scenario of scenarios) remarks.push(...inversionRemarks(scenario, company));
  if (assumptions.iam !== "remind" && scenarios.some(({ family }) => family === "IPCC")) {
    remarks.push({ code: "iam_unused", detail: "iam applies to the NGFS scenarios only." });
  }
  return remarks;
}

function inversionRemarks(
  scenario: TransitionScenario,
  { assumptions, country, years }: Company,
): readonly ScenarioRemark[] {
  const model = assumptions.iam;
  if (centralVariant(scenario, model) !== model) return [];
  const inversions = priceInversionsOf(scenario, { model, region: country.region, years });
  if (inversions.length === 0) return [];
  const names = inversions.map(({ scenario: other, years: inverted }) => `${other} in ${formatYears(inverted)}`);
  const detail =
    `${scenario.id}: ${PRICE_MODELS[model]} has higher carbon prices in ${country.region} than under ${names.join(", ")}, ` +
    "because it forces each region to its pledge; the order of the scenarios is inverted there.";
  return [{ code: "price_inversion", detail, scenario: scenario.id, inversions }];
}

/** Formats ascending years, with consecutive ones as a range. */
function formatYears(years: PriceInversion["years"]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const year of years) {
    const range = ranges.at(-1);
    if (range?.last === year - 1) range.last = year;
    else ranges.push({ first: year, last: year });
  }
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first} to ${last}`)).join(", ");
}
