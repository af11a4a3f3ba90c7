import type { Named } from "../reference/names.ts";
import { NameSuggestions } from "./nameSuggestions.ts";
import { HORIZON_YEAR, LAST_YEAR, TABLE_START_YEAR } from "./methodConstants.ts";
import { interpolateYearly } from "./yearlySeries.ts";

/** A scenario with its carbon price path, temperature path and emission reductions. */
export interface Scenario extends Named {
  readonly id: string;
  readonly family: "NGFS" | "IPCC";
  /** NGFS: the phase. IPCC: the assessment report. */
  readonly vintage: "5" | "AR6";
  readonly narrative: string;
  /** Carbon price path, in carbonPriceTable.ts. */
  readonly pricePath: string;
  /** Temperature path, in temperaturePaths.ts. */
  readonly temperaturePath: string;
  /** The closest shared socioeconomic pathway, if any. */
  readonly ssp: string | undefined;
  /** AR6 category of the scenario, for information. */
  readonly category: string;
  /** AR6 category whose emission reductions apply. */
  readonly abatementCategory: string;
}

/**
 * One line per scenario: id, narrative, price path, temperature path (`=`: same as the id), SSP, category, abatement
 * category (`=`: same as the category). NGFS Climate Scenarios Phase V; IPCC AR6 WGIII (C1 to C8) and WGI (SSP), matched
 * as in AR6 SYR Box SPM.1 table 1.
 */
const SCENARIO_TABLE = `
NGFS_NET_ZERO_2050|Orderly|=|=||C2 (peaks about 1.7, below 1.5 by 2100)|C1
NGFS_BELOW_2C|Orderly|=|=||C3|=
NGFS_LOW_DEMAND|Orderly|=|=||C2|C1
NGFS_DELAYED_TRANSITION|Disorderly|=|=||C4|=
NGFS_NDC|Hot house world|=|=||C5|=
NGFS_FRAGMENTED_WORLD|Too little, too late|=|=||C5|=
NGFS_CURRENT_POLICIES|Hot house world|=|=||C6|=
IPCC_C1|1.5C (>50%), no or limited overshoot|=|=|IPCC_SSP1_19|C1|=
IPCC_C2|return to 1.5C after high overshoot|=|=||C2|=
IPCC_C3|2C (>67%)|=|=|IPCC_SSP1_26|C3|=
IPCC_C4|2C (>50%)|=|=||C4|=
IPCC_C5|2.5C (>50%)|=|=||C5|=
IPCC_C6|3C (>50%)|NGFS_CURRENT_POLICIES|=|IPCC_SSP2_45|C6|=
IPCC_C7|4C (>50%)|NGFS_CURRENT_POLICIES|=|IPCC_SSP3_70|C7|=
IPCC_C8|above 4C (>=50%)|NGFS_CURRENT_POLICIES|=|IPCC_SSP5_85|C8|=
IPCC_SSP1_19|WGI illustrative scenario|IPCC_C1|=||C1|=
IPCC_SSP1_26|WGI illustrative scenario|IPCC_C3|=||C3|=
IPCC_SSP2_45|WGI illustrative scenario|NGFS_CURRENT_POLICIES|=||C6|=
IPCC_SSP3_70|WGI illustrative scenario|NGFS_CURRENT_POLICIES|=||C7|=
IPCC_SSP5_85|WGI illustrative scenario|NGFS_CURRENT_POLICIES|=||C8|=
IPCC_NET_ZERO|net zero: another name for C1|IPCC_C1|IPCC_C1|IPCC_SSP1_19|C1|=
`;

/** All scenarios, NGFS first. */
export const SCENARIOS: readonly Scenario[] = SCENARIO_TABLE.trim().split("\n").map(readScenario);
export const SCENARIO_IDS: readonly string[] = SCENARIOS.map(({ id }) => id);

function readScenario(line: string): Scenario {
  const [id = "", narrative = "", pricePath = "", temperaturePath = "", ssp = "", category = "", abatement] =
    line.split("|");
  const isNgfs = id.startsWith("NGFS");
  return {
    id,
    name: id,
    names: [id],
    family: isNgfs ? "NGFS" : "IPCC",
    vintage: isNgfs ? "5" : "AR6",
    narrative,
    pricePath: pricePath === "=" ? id : pricePath,
    temperaturePath: temperaturePath === "=" ? id : temperaturePath,
    ssp: ssp === "" ? undefined : ssp,
    category,
    abatementCategory: abatement === "=" ? category : (abatement ?? ""),
  };
}

/** Folds an id for comparison: ignores case, `-`, `_` and spaces. */
export function foldId(text: string): string {
  return text.toLowerCase().replaceAll(/[-_\s]+/g, "");
}

const BY_ID: ReadonlyMap<string, Scenario> = new Map(SCENARIOS.map((scenario) => [foldId(scenario.id), scenario]));
const SUGGESTIONS = new NameSuggestions(SCENARIOS);

export function findScenario(text: string): Scenario | undefined {
  return BY_ID.get(foldId(text));
}

export function nearestScenarios(text: string): readonly string[] {
  return SUGGESTIONS.nearest(text);
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
export function cutsOf({ abatementCategory }: Scenario): Float64Array {
  const cuts = CUTS.get(abatementCategory);
  if (cuts === undefined) throw new Error(`No emission reductions for category ${abatementCategory}.`);
  return cuts;
}
