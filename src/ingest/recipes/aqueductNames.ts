/** The file names of WRI Aqueduct Floods, version 2, and the choices among its maps. */
import { BASELINE, HAZARDS, type Scenario } from "../../hazard/hazards.ts";
import type { NameMeaning } from "./productFiles.ts";

/** The choices of the recipe. */
export interface AqueductChoices {
  /** Climate models of the river maps whose mean is stored, such as `NorESM1-M`; by default all that are found. */
  readonly models?: readonly string[];
  /** Percentile of sea level in future coastal maps; by default 95. */
  readonly percentile?: "5" | "50" | "95";
  /** Whether future coastal maps include land subsidence; by default `with`. */
  readonly subsidence?: "with" | "without";
}

/** Defaults, which the provenance states like any other choice. */
export const DEFAULT_CHOICES = { percentile: "95", subsidence: "with" } as const;

/** The content of one map of the product. */
export interface AqueductMap {
  readonly hazard: "riverine_floods" | "coastal_floods";
  readonly scenario: Scenario;
  readonly year: number;
  /** The climate model of a river map, or the subsidence variant of a coast map. */
  readonly model: string;
  readonly returnPeriodYears: number;
}

const RIVER = /inunriver_(historical|rcp\d+p\d+)_0*([A-Za-z][A-Za-z0-9.-]*)_(hist|\d{4})_rp(\d{5})\.tiff?$/;
const COAST = /inuncoast_(historical|rcp\d+p\d+)_(wtsub|nosub)_(hist|\d{4})_rp(\d{4})_(\d)(?:_perc_(\d{2}))?\.tiff?$/;
/** The model of the historical maps. */
const HISTORICAL_MODEL = "WATCH";

/**
 * Parses a file name of the product, which may have a prefix. Model names are padded on the left with zeros, and `rp0001_5`
 * means 1.5 years.
 * @returns undefined if it is not a file name of the product
 */
export function readAqueductName(
  name: string,
  { models, percentile, subsidence: wanted }: AqueductChoices = {},
): NameMeaning<AqueductMap> | undefined {
  const river = RIVER.exec(name);
  if (river !== null) {
    const [, scenario = "", model = "", year = "", returnPeriod = ""] = river;
    const returnPeriodYears = Number(returnPeriod);
    if (scenario !== "historical") {
      if (models?.includes(model) === false)
        return {
          kind: "ignored",
          reason: `the model ${model} was not selected; the selected models are ${models.join(", ")}`,
        };
      return aqueductMap("riverine_floods", scenario, year, model, returnPeriodYears);
    }
    if (model !== HISTORICAL_MODEL || !isBaselineYear(year)) {
      return { kind: "ignored", reason: `the recipe uses the historical river maps of ${HISTORICAL_MODEL}, 1980` };
    }
    return aqueductMap("riverine_floods", BASELINE.scenario, String(BASELINE.year), model, returnPeriodYears);
  }
  const coast = COAST.exec(name);
  if (coast !== null) {
    const [, scenario = "", subsidence = "", year = "", whole = "", tenth = "", suffix = "95"] = coast;
    const returnPeriodYears = Number(`${whole}.${tenth}`);
    if (scenario !== "historical") {
      const chosen = percentile ?? DEFAULT_CHOICES.percentile;
      if (Number(suffix) !== Number(chosen)) {
        const naming = chosen === "95" ? "whose file names have no suffix" : "chosen by --percentile";
        return {
          kind: "ignored",
          reason: `percentile ${suffix} of sea level; the recipe uses the ${chosen}th, ${naming}`,
        };
      }
      const isWanted = (subsidence === "wtsub") === ((wanted ?? DEFAULT_CHOICES.subsidence) === "with");
      if (isWanted) return aqueductMap("coastal_floods", scenario, year, subsidence, returnPeriodYears);
      const reason =
        subsidence === "nosub"
          ? "without land subsidence; the recipe uses the maps with subsidence (wtsub)"
          : "with land subsidence; --subsidence without uses the maps without it (nosub)";
      return { kind: "ignored", reason };
    }
    if (suffix !== "95")
      return { kind: "ignored", reason: `percentile ${suffix} of sea level in a historical map, which has none` };
    if (subsidence === "wtsub") {
      return {
        kind: "ignored",
        reason: isBaselineYear(year)
          ? "the baseline is the historical map without subsidence (historical_nosub_hist)"
          : `subsidence until ${year} with the historical climate, which is neither the baseline nor a scenario`,
      };
    }
    if (!isBaselineYear(year))
      return { kind: "ignored", reason: `historical map for ${year}, which is not the baseline` };
    return aqueductMap("coastal_floods", BASELINE.scenario, String(BASELINE.year), subsidence, returnPeriodYears);
  }
  return undefined;
}

function isBaselineYear(year: string): boolean {
  return year === "hist" || year === String(BASELINE.year);
}

function aqueductMap(
  hazard: AqueductMap["hazard"],
  scenario: string,
  year: string,
  model: string,
  returnPeriodYears: number,
): NameMeaning<AqueductMap> {
  const spec = HAZARDS[hazard];
  const known = spec.scenarios.find((name) => name === scenario);
  const isBaseline = known === BASELINE.scenario;
  const hasYear = spec.years.includes(Number(year)) && (Number(year) === BASELINE.year) === isBaseline;
  if (known === undefined || !hasYear || !(returnPeriodYears > 1)) {
    return {
      kind: "ignored",
      reason: `${scenario} ${year}, return period ${returnPeriodYears}: ${hazard} has no such layer`,
    };
  }
  return { kind: "map", map: { hazard, scenario: known, year: Number(year), model, returnPeriodYears } };
}
