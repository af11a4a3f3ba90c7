/** Which scenarios of a product may stand for ours, and the check of the mappings that users declare. */
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../../errors.ts";
import type { Scenario } from "../../hazard/hazards.ts";
import type { RecipeOption } from "./recipe.ts";

/** Scenarios of a product, each with the scenario that it is used for: `{ "ssp585": "rcp8p5" }`. */
export type ScenarioMapping = Readonly<Record<string, string>>;

/** The scenarios of ours that each scenario of a product may be used for. */
export type AcceptedMappings = Readonly<Record<string, readonly Scenario[]>>;

/** The SSP scenarios, each with the RCP of the same radiative forcing; undefined if there is none among our scenarios. */
const SSP_SCENARIOS = {
  ssp119: { title: "SSP1-1.9", rcp: undefined },
  ssp126: { title: "SSP1-2.6", rcp: "rcp2p6" },
  ssp245: { title: "SSP2-4.5", rcp: "rcp4p5" },
  ssp370: { title: "SSP3-7.0", rcp: undefined },
  ssp460: { title: "SSP4-6.0", rcp: "rcp6p0" },
  ssp534: { title: "SSP5-3.4", rcp: undefined },
  ssp585: { title: "SSP5-8.5", rcp: "rcp8p5" },
} as const;

export type SspScenario = keyof typeof SSP_SCENARIOS;

/** The option of recipes of products with other scenarios than ours. */
export const MAP_SCENARIO_OPTION: RecipeOption = {
  name: "mapScenario",
  kind: "pairs",
  value: "theirs=ours",
  description: "use a scenario of the product for one of ours, such as ssp585=rcp8p5; recorded as proxy_of",
};

/** Returns the mappings of SSP scenarios, each only to the RCP of the same forcing. */
export function sspMappings(scenarios: readonly SspScenario[]): AcceptedMappings {
  return Object.fromEntries(
    scenarios.map((scenario) => {
      const { rcp } = SSP_SCENARIOS[scenario];
      return [scenario, rcp === undefined ? [] : [rcp]];
    }),
  );
}

/** Returns the title of an SSP scenario, such as SSP5-8.5; other names are returned as they are. */
function titleOfScenario(name: string): string {
  return isSsp(name) ? SSP_SCENARIOS[name].title : name;
}

function isSsp(name: string): name is SspScenario {
  return Object.hasOwn(SSP_SCENARIOS, name);
}

/**
 * Checks a mapping that a user declares.
 *
 * @param product name of the product in messages
 * @param accepted the scenarios of the product, with those of ours that each may be used for
 * @returns our scenarios, by the scenarios of the product
 * @throws Fault `invalid_request` with one item for each pair that is not accepted
 */
export function checkScenarioMapping(
  mapping: ScenarioMapping | undefined,
  { product, accepted }: { readonly product: string; readonly accepted: AcceptedMappings },
): ReadonlyMap<string, Scenario> {
  const items: FaultItem[] = [];
  const checked = new Map<string, Scenario>();
  for (const [given, ours] of Object.entries(mapping ?? {})) {
    const theirs = normalizedName(given);
    const reject = (why: string, allowed: readonly string[]): void => {
      const detail = `${given}=${ours}: ${why}`;
      items.push({ pointer: `/mapScenario/${given}`, code: "not_allowed", detail, allowed });
    };
    const targets = Object.hasOwn(accepted, theirs) ? (accepted[theirs] ?? []) : undefined;
    const target = targets?.find((scenario) => scenario === ours);
    if (targets === undefined || targets.length === 0) {
      const names = Object.keys(accepted).filter((name) => accepted[name]?.length !== 0);
      reject(`${unmappedReason(theirs, product)} Accepted are ${names.join(", ")}.`, names);
    } else if (target === undefined) {
      reject(`${titleOfScenario(theirs)} may be used only for ${targets.join(" or ")}.`, targets);
    } else {
      const other = [...checked].find(([, scenario]) => scenario === target);
      if (other !== undefined) reject(`${target} is already mapped from ${other[0]}.`, []);
      checked.set(theirs, target);
    }
  }
  const [first] = items;
  if (first === undefined) return checked;
  const message = items.length === 1 ? first.detail : `${items.length} scenario mappings are not accepted.`;
  throw new Fault("invalid_request", message, { items: items.slice(0, FAULT_ITEM_COUNT_MAX) });
}

/** Returns the name of a scenario in lower case, with SSPs written as `ssp585`. */
function normalizedName(text: string): string {
  const name = text.toLowerCase();
  return name.startsWith("ssp") ? name.replaceAll(/[-_. ]/g, "") : name;
}

function unmappedReason(theirs: string, product: string): string {
  if (!isSsp(theirs)) return `${product} has no scenario ${theirs}.`;
  const { title, rcp } = SSP_SCENARIOS[theirs];
  return rcp === undefined ? `there is no RCP scenario with the forcing of ${title}.` : `${product} has no ${title}.`;
}

/** Returns why files of a scenario are ignored that no mapping names. */
export function unmappedFileReason(theirs: string, accepted: AcceptedMappings): string {
  const targets = accepted[theirs] ?? [];
  if (targets.length === 0) return `there is no RCP scenario with the forcing of ${titleOfScenario(theirs)}`;
  const example = `--map-scenario ${theirs}=${targets[0]}`;
  return `${titleOfScenario(theirs)} is used only on request, such as ${example}`;
}
