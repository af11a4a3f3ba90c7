import type { CompanyResult } from "../contract/wireTypes.ts";
import { foldName, nameCandidate, nearestName, nearestNames } from "../reference/names.ts";
import { SCENARIO_ROWS, type ScenarioRow } from "./data/scenarios.generated.ts";

/** A transition scenario, with the ids of its price and temperature paths. */
export interface TransitionScenario {
  readonly id: string;
  readonly family: CompanyResult["family"];
  readonly vintage: CompanyResult["vintage"];
  readonly narrative: string;
  readonly pricePath: string;
  readonly temperaturePath: string;
  /** The closest shared socioeconomic pathway, if any. */
  readonly ssp: string | undefined;
  /** AR6 category of the scenario, for information. */
  readonly category: string;
}

const FAMILIES = ["NGFS", "IPCC"] as const satisfies readonly TransitionScenario["family"][];
const VINTAGES = ["5", "AR6"] as const satisfies readonly TransitionScenario["vintage"][];

/**
 * All scenarios, NGFS first. NGFS Climate Scenarios Phase V; IPCC AR6 WGIII (C1 to C8) and WGI (SSP), matched as in AR6
 * SYR Box SPM.1 table 1.
 */
export const TRANSITION_SCENARIOS: readonly TransitionScenario[] = SCENARIO_ROWS.map(readScenario);
export const SCENARIO_IDS: readonly string[] = TRANSITION_SCENARIOS.map(({ id }) => id);

function readScenario(row: ScenarioRow): TransitionScenario {
  const id = row.scenario_id;
  const family = FAMILIES.find((known) => known === row.family);
  const vintage = VINTAGES.find((known) => known === row.vintage);
  if (family === undefined) throw new Error(`The family of ${id} is "${row.family}"; expected ${FAMILIES.join(", ")}.`);
  if (vintage === undefined) {
    throw new Error(`The vintage of ${id} is "${row.vintage}"; expected ${VINTAGES.join(", ")}.`);
  }
  return {
    id,
    family,
    vintage,
    narrative: row.narrative,
    pricePath: row.price_path,
    temperaturePath: row.temperature_path,
    ssp: row.ssp === "" ? undefined : row.ssp,
    category: row.ar6_category,
  };
}

/** Folds an id for comparison: ignores case, `-`, `_` and spaces. */
export function foldId(text: string): string {
  return text.toLowerCase().replaceAll(/[-_\s]+/g, "");
}

const BY_ID: ReadonlyMap<string, TransitionScenario> = new Map(
  TRANSITION_SCENARIOS.map((scenario) => [foldId(scenario.id), scenario]),
);
const SUGGESTION_COUNT = 5;
const SCENARIO_CANDIDATES = SCENARIO_IDS.map((id) => nameCandidate(id, foldName(id)));

/** Longer than any name; bounds the time needed to fold text from a caller. */
const NAME_LENGTH_MAX = 400;

export function findScenario(text: string): TransitionScenario | undefined {
  return text.length > NAME_LENGTH_MAX ? undefined : BY_ID.get(foldId(text));
}

export function nearestScenarios(text: string): readonly string[] {
  return nearestNames(foldName(text.slice(0, NAME_LENGTH_MAX)), SCENARIO_CANDIDATES, SUGGESTION_COUNT);
}

/** Returns the id that differs from the text in few characters or, if none does, the only one that begins with it. */
export function suggestScenario(text: string): string | undefined {
  const compared = text.slice(0, NAME_LENGTH_MAX);
  const near = nearestName(foldName(compared), SCENARIO_CANDIDATES);
  if (near !== undefined) return near;
  const beginning = foldId(compared);
  const longer = beginning === "" ? [] : SCENARIO_IDS.filter((id) => foldId(id).startsWith(beginning));
  return longer.length === 1 ? longer[0] : undefined;
}
