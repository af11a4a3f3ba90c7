/** Recipe for the WRI Aqueduct Floods maps, which are recognized by their file names. */
import { Fault } from "../../errors.ts";
import { BASELINE, HAZARDS, type Scenario } from "../../hazard/hazards.ts";
import type { HazardPlan } from "../plan.ts";
import type { RasterOptions } from "../raster.ts";
import { findProductFiles, type NameMeaning, type ProductFile } from "./productFiles.ts";
import type { MapOpener, Recipe, RecipeOption, RecipeSources } from "./recipe.ts";
import { planCurves } from "./returnPeriodCurves.ts";

/** Description of the product; part of the provenance of every layer. */
const PRODUCT = {
  recipe: "aqueduct-floods",
  product: "WRI Aqueduct Floods Hazard Maps, version 2",
  licence: "CC BY 4.0",
  credit: "Ward, P. J. et al. (2020), Aqueduct Floods Methodology, World Resources Institute",
  url: "https://www.wri.org/data/aqueduct-floods-hazard-maps",
} as const;

/**
 * The period of the historical river maps, whose file names state only its middle, 1980. The file names of the coastal maps state
 * `hist`, and publications disagree on the period.
 */
const RIVER_BASELINE = {
  baseline_window: [1960, 1999],
  baseline_window_note:
    "extreme values of 1960-1999 for the maps of WATCH 1980, in the scripts of the hydrological model " +
    "(github.com/edwinkost/extreme_value_analysis)",
} as const;
const COAST_BASELINE = { baseline_window_note: "not recorded: the file names state hist, without years" } as const;

/** The sources and choices of the recipe. */
export interface AqueductFloodsChoices extends RecipeSources, AqueductChoices {}

/** The options that select among the maps of the product. */
const AQUEDUCT_OPTIONS: readonly RecipeOption[] = [
  {
    name: "models",
    kind: "list",
    value: "names",
    description: "climate models of the river maps, such as NorESM1-M,MIROC-ESM-CHEM (default: all that are found)",
  },
  {
    name: "percentile",
    kind: "text",
    value: "percentile",
    description: "percentile of sea level in future coastal maps (default: 95)",
    choices: ["5", "50", "95"],
  },
  {
    name: "subsidence",
    kind: "text",
    value: "choice",
    description: "future coastal maps with or without land subsidence (default: with)",
    choices: ["with", "without"],
  },
];

export const aqueductFloods: Recipe<AqueductFloodsChoices> = {
  name: PRODUCT.recipe,
  summary: "ingest river and coastal flood maps of WRI Aqueduct Floods, identified by their file names",
  help: `
River maps: the mean over the climate models. Coastal maps: the baseline is the historical map without subsidence. Files
of other choices are skipped and listed.

Example:
  isotherm ingest aqueduct-floods maps/aqueduct --out data/atlas --bbox 40,-5,52,13`,
  options: AQUEDUCT_OPTIONS,
  async find(choices) {
    const { files, ignoredFiles } = await findAqueductFiles(choices);
    return { ignoredFiles, plan: (maps, options) => planAqueductFloods(files, choices, { maps, options }) };
  },
};

/**
 * Finds the maps of the product that the choices select.
 * @throws Fault as `findProductFiles`; `invalid_request` if a model is not among the files
 */
export async function findAqueductFiles({ sources, ...choices }: AqueductFloodsChoices) {
  const found = await findProductFiles<AqueductMap>(sources, {
    product: "Aqueduct Floods",
    example: "inunriver_rcp4p5_00000NorESM1-M_2030_rp00100.tif",
    extension: /\.tiff?$/i,
    read: (name) => readAqueductName(name, choices),
    describe: (map) => Object.values(map).join(" "),
  });
  checkModels(
    choices.models,
    found.files.map(({ map }) => map),
  );
  return found;
}

/**
 * Rejects names of models that no river map has.
 * @throws Fault `invalid_request` naming them
 */
function checkModels(
  models: readonly string[] | undefined,
  maps: readonly Pick<AqueductMap, "scenario" | "model">[],
): void {
  if (models === undefined) return;
  const found = new Set(maps.filter(({ scenario }) => scenario !== BASELINE.scenario).map(({ model }) => model));
  const unknown = models.filter((model) => !found.has(model));
  if (unknown.length === 0) return;
  throw new Fault(
    "invalid_request",
    `No river map among the sources is of the model ${unknown.join(" or ")}. Models are named as in the files, without the zeros ` +
      "before the name, such as NorESM1-M.",
  );
}

/** Opens the maps and plans the groups to write, by hazard, scenario, year and model. */
async function planAqueductFloods(
  files: readonly ProductFile<AqueductMap>[],
  choices: AqueductChoices,
  { maps, options }: { readonly maps: MapOpener; readonly options: RasterOptions },
): Promise<readonly HazardPlan[]> {
  const plans: HazardPlan[] = [];
  for (const hazard of new Set(files.map(({ map }) => map.hazard))) {
    const ofHazard = files
      .filter(({ map }) => map.hazard === hazard)
      .map(({ file, map }) => ({ ...map, open: () => maps.open(file, options) }));
    plans.push(
      await planCurves(hazard, ofHazard, {
        provenanceOf: ({ scenario }) => aqueductProvenance(hazard, scenario, choices),
      }),
    );
  }
  return plans;
}

/** Returns what the recipe states about the layers of a hazard and scenario. */
export function aqueductProvenance(
  hazard: AqueductMap["hazard"],
  scenario: Scenario,
  { percentile = DEFAULT_CHOICES.percentile, subsidence = DEFAULT_CHOICES.subsidence }: AqueductChoices,
): Record<string, unknown> {
  const isBaseline = scenario === BASELINE.scenario;
  if (hazard === "riverine_floods") return isBaseline ? { ...PRODUCT, ...RIVER_BASELINE } : PRODUCT;
  if (isBaseline) return { ...PRODUCT, ...COAST_BASELINE, subsidence: "none" };
  return {
    ...PRODUCT,
    subsidence: subsidence === "with" ? "included" : "none",
    sea_level_percentile: Number(percentile),
  };
}

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
const DEFAULT_CHOICES = { percentile: "95", subsidence: "with" } as const;

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
