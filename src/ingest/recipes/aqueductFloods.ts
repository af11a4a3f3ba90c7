/** Recipe for the WRI Aqueduct Floods maps, which are recognized by their file names. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../errors.ts";
import { BASELINE, HAZARDS, type HazardName, isHazardName, type Scenario } from "../../hazard/hazards.ts";
import type { CurveSource, GroupPlan, HazardPlan } from "../plan.ts";
import { type RasterOptions, sourceFault } from "../raster.ts";
import type { IgnoredFile } from "../report.ts";
import { checkUnit } from "../units.ts";
import type { MapOpener, Recipe, RecipeSources } from "./recipe.ts";

/** Description of the product; part of the provenance of every layer. */
const PRODUCT = {
  recipe: "aqueduct-floods",
  product: "WRI Aqueduct Floods Hazard Maps, version 2",
  licence: "CC BY 4.0",
  credit: "Ward, P. J. et al. (2020), Aqueduct Floods Methodology, World Resources Institute",
  url: "https://www.wri.org/data/aqueduct-floods-hazard-maps",
} as const;

/** The choices of the recipe. */
export interface AqueductFloodsChoices extends RecipeSources {
  /** Climate models of the river maps whose mean is stored, such as `NorESM1-M`; by default all that are found. */
  readonly models?: readonly string[];
  /** Percentile of sea level in future coastal maps; by default 95. */
  readonly percentile?: Percentile;
  /** Whether future coastal maps include land subsidence; by default `with`. */
  readonly subsidence?: "with" | "without";
}

type Percentile = "5" | "50" | "95";
/** Defaults, which the provenance states like any other choice. */
const DEFAULT_CHOICES = { percentile: "95", subsidence: "with" } as const;

export const aqueductFloods: Recipe<AqueductFloodsChoices> = {
  name: PRODUCT.recipe,
  summary: "ingest river and coastal flood maps of WRI Aqueduct Floods, identified by their file names",
  help: `
River maps: the mean over the climate models. Coastal maps: the baseline is the historical map without subsidence. Files
of other choices are skipped and listed.

Example:
  isotherm ingest aqueduct-floods maps/aqueduct --out data/atlas --bbox 40,-5,52,13`,
  options: [
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
  ],
  async find({ sources, ...choices }) {
    const { files, ignoredFiles } = await findAqueductFiles(sources, choices);
    return { ignoredFiles, plan: (maps, options) => planAqueductFloods(files, maps, { choices, options }) };
  },
};

/** The content of one map of the product. */
interface AqueductMap {
  readonly hazard: HazardName & ("riverine_floods" | "coastal_floods");
  readonly scenario: Scenario;
  readonly year: number;
  /** The climate model of a river map, or the subsidence variant of a coast map. */
  readonly model: string;
  readonly returnPeriodYears: number;
}

/** The meaning of a file name: a map that the recipe uses, or one that it ignores, with the reason. */
export type AqueductName =
  { readonly kind: "map"; readonly map: AqueductMap } | { readonly kind: "ignored"; readonly reason: string };

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
  { models, percentile, subsidence: wanted }: Omit<AqueductFloodsChoices, "sources"> = {},
): AqueductName | undefined {
  const river = RIVER.exec(name);
  if (river !== null) {
    const [, scenario = "", model = "", year = "", returnPeriod = ""] = river;
    const returnPeriodYears = Number(returnPeriod);
    if (scenario !== "historical") {
      if (models?.includes(model) === false)
        return { kind: "ignored", reason: `the model ${model} was not selected; the models are ${models.join(", ")}` };
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
): AqueductName {
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

/** A map of the product and its path or address. */
export interface AqueductFile {
  readonly file: string;
  readonly map: AqueductMap;
}

/**
 * Finds maps of the product among files, folders (searched recursively) and http(s) addresses.
 * @throws Fault `source_invalid` if a named file is not part of the product, if two files are the same map, or if no map is
 *   found; `invalid_request` if `sources` is empty, or if a model is not among the files
 */
export async function findAqueductFiles(
  sources: readonly string[],
  choices: Omit<AqueductFloodsChoices, "sources"> = {},
): Promise<{ readonly files: readonly AqueductFile[]; readonly ignoredFiles: readonly IgnoredFile[] }> {
  if (sources.length === 0)
    throw new Fault(
      "invalid_request",
      "sources must have at least one file, folder or address of Aqueduct Floods maps.",
    );
  const files: AqueductFile[] = [];
  const ignoredFiles: IgnoredFile[] = [];
  const taken = new Map<string, string>();
  for (const { file, isNamed } of await listFiles(sources)) {
    const name = readAqueductName(file, choices);
    if (name === undefined) {
      const reason =
        "its name is not a file name of Aqueduct Floods, such as inunriver_rcp4p5_00000NorESM1-M_2030_rp00100.tif";
      if (isNamed) throw sourceFault(file, `${reason}. For other maps use isotherm ingest layers.`);
      ignoredFiles.push({ file, reason });
    } else if (name.kind === "ignored") {
      ignoredFiles.push({ file, reason: name.reason });
    } else {
      const key = Object.values(name.map).join(" ");
      const other = taken.get(key);
      if (other !== undefined)
        throw sourceFault(file, `is the same map as ${other} (${key}). Give only one of the two files.`);
      taken.set(key, file);
      files.push({ file, map: name.map });
    }
  }
  if (files.length === 0) {
    const [first] = ignoredFiles;
    const why =
      first === undefined
        ? ""
        : ` ${ignoredFiles.length} ${ignoredFiles.length === 1 ? "file was" : "files were"} ignored; the first is ${first.file}: ${first.reason}.`;
    throw new Fault("source_invalid", `${sources.join(", ")}: no Aqueduct Floods map that the recipe uses.${why}`);
  }
  checkModels(choices.models, files);
  return { files, ignoredFiles };
}

/** Rejects names of models that no river map has. */
function checkModels(models: readonly string[] | undefined, files: readonly AqueductFile[]): void {
  if (models === undefined) return;
  const found = new Set(
    files.filter(({ map }) => map.scenario !== BASELINE.scenario).map(({ map: { model } }) => model),
  );
  const unknown = models.filter((model) => !found.has(model));
  if (unknown.length === 0) return;
  throw new Fault(
    "invalid_request",
    `No river map among the sources is of the model ${unknown.join(" or ")}. Models are named as in the files, without the zeros ` +
      "before the name, such as NorESM1-M.",
  );
}

async function listFiles(
  sources: readonly string[],
): Promise<readonly { readonly file: string; readonly isNamed: boolean }[]> {
  const files: { readonly file: string; readonly isNamed: boolean }[] = [];
  for (const source of sources) {
    if (/^https?:\/\//.test(source)) {
      files.push({ file: source, isNamed: true });
      continue;
    }
    const isFolder = await stat(source).then(
      (entry) => entry.isDirectory(),
      (error: unknown) => {
        throw sourceFault(source, "there is no such file or folder.", { cause: error });
      },
    );
    if (!isFolder) {
      files.push({ file: source, isNamed: true });
      continue;
    }
    const names = (await readdir(source, { recursive: true })).filter((name) => /\.tiff?$/i.test(name));
    files.push(...names.toSorted().map((name) => ({ file: join(source, name), isNamed: false })));
  }
  return files;
}

/** Opens the maps and plans the groups to write, by hazard, scenario, year and model. */
export async function planAqueductFloods(
  files: readonly AqueductFile[],
  maps: MapOpener,
  {
    choices = {},
    options,
  }: { readonly choices?: Omit<AqueductFloodsChoices, "sources">; readonly options: RasterOptions },
): Promise<readonly HazardPlan[]> {
  const plans: HazardPlan[] = [];
  for (const hazard of new Set(files.map(({ map }) => map.hazard))) {
    const spec = HAZARDS[hazard];
    const groups: GroupPlan[] = [];
    for (const scenario of spec.scenarios) {
      for (const year of spec.years) {
        const ofGroup = files.filter(
          ({ map }) => map.hazard === hazard && map.scenario === scenario && map.year === year,
        );
        if (ofGroup.length === 0) continue;
        const models = await openCurves(ofGroup, maps, options);
        checkSamePeriods(models, `${hazard} ${scenario} ${year}`);
        groups.push({
          scenario,
          year,
          content: { kind: "curves", models },
          provenance: aqueductProvenance(hazard, scenario, choices),
        });
      }
    }
    if (!isHazardName(hazard)) throw new Error(`${String(hazard)} is not a hazard.`);
    plans.push({ hazard, rules: spec.rules, groups });
  }
  return plans;
}

function aqueductProvenance(
  hazard: AqueductMap["hazard"],
  scenario: Scenario,
  {
    percentile = DEFAULT_CHOICES.percentile,
    subsidence = DEFAULT_CHOICES.subsidence,
  }: Omit<AqueductFloodsChoices, "sources">,
): Record<string, unknown> {
  if (hazard === "riverine_floods") return PRODUCT;
  if (scenario === BASELINE.scenario) return { ...PRODUCT, subsidence: "none" };
  return {
    ...PRODUCT,
    subsidence: subsidence === "with" ? "included" : "none",
    sea_level_percentile: Number(percentile),
  };
}

async function openCurves(
  files: readonly AqueductFile[],
  opener: MapOpener,
  options: RasterOptions,
): Promise<readonly CurveSource[]> {
  const curves: CurveSource[] = [];
  // Sorted by name, so that the mean, whose rounding depends on the order of models, does not depend on the order of files.
  for (const model of [...new Set(files.map(({ map }) => map.model))].toSorted()) {
    const ascending = files
      .filter(({ map }) => map.model === model)
      .toSorted((a, b) => a.map.returnPeriodYears - b.map.returnPeriodYears);
    const maps = [];
    for (const { file, map } of ascending) {
      const raster = await opener.open(file, options);
      checkUnit(raster, { band: 1, metric: "depth_meters", unit: "m", unitFactor: undefined });
      maps.push({ raster, band: 1, unitFactor: 1, returnPeriodYears: map.returnPeriodYears });
    }
    curves.push({ model, maps });
  }
  return curves;
}

/**
 * Checks that all models have the same return periods; otherwise their mean would be biased.
 * @param group name of the group, for the message
 * @throws Fault `source_invalid` naming the first model without a return period that another model has
 */
export function checkSamePeriods(models: readonly CurveSource[], group: string): void {
  const all = new Set(models.flatMap(({ maps }) => maps.map(({ returnPeriodYears }) => returnPeriodYears)));
  for (const { model, maps } of models) {
    const periodsOfModel = new Set(maps.map(({ returnPeriodYears }) => returnPeriodYears));
    const missing = [...all].filter((period) => !periodsOfModel.has(period)).toSorted((a, b) => a - b);
    if (missing.length === 0) continue;
    throw sourceFault(
      maps[0]?.raster.file ?? group,
      `model ${model} of ${group} lacks the maps of ${missing.join(", ")} years that other models have. Add them, or omit the model.`,
    );
  }
}
