import type { CompanyResult } from "../contract/wireTypes.ts";
import type { Named } from "../reference/names.ts";
import { SCENARIO_ROWS, type ScenarioRow } from "./data/scenarios.generated.ts";
import { NameSuggestions } from "./nameSuggestions.ts";
import { HORIZON_YEAR, LAST_YEAR, TABLE_START_YEAR } from "./methodConstants.ts";
import { interpolateYearly } from "./yearlySeries.ts";

/** A scenario with its carbon price path, temperature path and emission reductions. */
export interface TransitionScenario extends Named {
  readonly id: string;
  readonly family: CompanyResult["family"];
  /** NGFS: the phase. IPCC: the assessment report. */
  readonly vintage: CompanyResult["vintage"];
  readonly narrative: string;
  /** Carbon price path, in data/carbonPrices.csv. */
  readonly pricePath: string;
  /** Temperature path, in data/temperatures.csv. */
  readonly temperaturePath: string;
  /** The closest shared socioeconomic pathway, if any. */
  readonly ssp: string | undefined;
  /** AR6 category of the scenario, for information. */
  readonly category: string;
  /** AR6 category whose emission reductions apply. */
  readonly abatementCategory: string;
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
    name: id,
    names: [id],
    family,
    vintage,
    narrative: row.narrative,
    pricePath: row.price_path,
    temperaturePath: row.temperature_path,
    ssp: row.ssp === "" ? undefined : row.ssp,
    category: row.ar6_category,
    abatementCategory: row.abatement_category,
  };
}

/** Folds an id for comparison: ignores case, `-`, `_` and spaces. */
export function foldId(text: string): string {
  return text.toLowerCase().replaceAll(/[-_\s]+/g, "");
}

const BY_ID: ReadonlyMap<string, TransitionScenario> = new Map(
  TRANSITION_SCENARIOS.map((scenario) => [foldId(scenario.id), scenario]),
);
const SCENARIO_SUGGESTIONS = new NameSuggestions(TRANSITION_SCENARIOS);

export function findScenario(text: string): TransitionScenario | undefined {
  return BY_ID.get(foldId(text));
}

export function nearestScenarios(text: string): readonly string[] {
  return SCENARIO_SUGGESTIONS.nearest(text);
}

const CUT_YEARS = [2030, 2040, HORIZON_YEAR] as const;
/**
 * Reduction of greenhouse gases below 2019 in the median pathway of a category, percent. IPCC AR6 SYR table SPM.1 for C1
 * and C3 [P]; WGIII table SPM.2, quoted from memory, for the others [M].
 */
const CUTS_PERCENT: Readonly<Record<string, readonly [number, number, number]>> = {
  C1: [43, 69, 84],
  C2: [23, 55, 75],
  C3: [21, 46, 64],
  C4: [10, 31, 49],
  C5: [6, 18, 29],
  C6: [2, 3, 5],
  C7: [-11, -19, -24],
  C8: [-20, -35, -46],
};

/** Reduction by year as a fraction: 0 in 2020, linear between the years of the table, then constant; at least 0. */
const CUTS: ReadonlyMap<string, Float64Array> = new Map(
  Object.entries(CUTS_PERCENT).map(([category, percents]) => {
    const fractions = percents.map((percent) => percent / 100);
    const years = [TABLE_START_YEAR, ...CUT_YEARS, LAST_YEAR];
    const series = interpolateYearly(years, [0, ...fractions, fractions.at(-1) ?? 0]);
    return [category, series.map((cut) => Math.max(0, cut))];
  }),
);

/** Returns the reduction relative to the emissions of 2019 as a fraction, by year from 2020. */
export function cutsOf({ abatementCategory }: TransitionScenario): Float64Array {
  const cuts = CUTS.get(abatementCategory);
  if (cuts === undefined) throw new Error(`No emission reductions for category ${abatementCategory}.`);
  return cuts;
}
