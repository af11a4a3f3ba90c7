/** Recipe for the hazard indicator store of OS-Climate: Zarr arrays [return period, y, x]. */
import { Fault } from "../../errors.ts";
import { HAZARDS, type HazardName } from "../../hazard/hazards.ts";
import type { CurveSource, GroupPlan, HazardPlan } from "../plan.ts";
import { type Raster, type RasterOptions, sourceFault } from "../raster.ts";
import type { IgnoredFile } from "../report.ts";
import { checkUnit } from "../units.ts";
import { AQUEDUCT_OPTIONS, aqueductProvenance, checkModels } from "./aqueductFloods.ts";
import type { AqueductChoices } from "./aqueductNames.ts";
import { findArrays, type OscArray, readOscPath } from "./oscStore.ts";
import { nothingUsed } from "./ignoredFiles.ts";
import type { MapOpener, Recipe, RecipeSources } from "./recipe.ts";
import { checkSamePeriods } from "./returnPeriodCurves.ts";

/** The sources and choices of the recipe. */
export type OscZarrChoices = RecipeSources & AqueductChoices;

const STORE = {
  recipe: "osc-zarr",
  store: "hazard indicator store of OS-Climate",
  url: "s3://os-climate-physical-risk/hazard-indicators/hazard.zarr",
} as const;

export const oscZarr: Recipe<OscZarrChoices> = {
  name: "osc-zarr",
  summary: "ingest resources of the OS-Climate hazard indicator store (Zarr), identified by their paths",
  help: `
Sources are folders: a copy of the store (hazard.zarr), or of a part of it. River and coastal floods of WRI Aqueduct
(inundation/wri/v2) are used like those of aqueduct-floods; other resources are listed as ignored, with the reason.

Example:
  isotherm ingest osc-zarr maps/hazard.zarr/inundation/wri/v2 --out data/atlas`,
  options: AQUEDUCT_OPTIONS,
  async find({ sources, ...choices }) {
    const { arrays, ignoredFiles } = await findOscArrays(sources, choices);
    const rivers = arrays.flatMap(({ array }) => (array.hazard === "riverine_floods" ? [array] : []));
    checkModels(choices.models, rivers);
    return { ignoredFiles, plan: (maps, options) => planOscZarr(arrays, choices, { maps, options }) };
  },
};

interface FoundArray {
  readonly folder: string;
  readonly array: OscArray;
}

async function findOscArrays(
  sources: readonly string[],
  choices: AqueductChoices,
): Promise<{ readonly arrays: readonly FoundArray[]; readonly ignoredFiles: readonly IgnoredFile[] }> {
  if (sources.length === 0)
    throw new Fault("invalid_request", "sources must have at least one folder of a hazard indicator store.");
  const arrays: FoundArray[] = [];
  const ignoredFiles: IgnoredFile[] = [];
  const taken = new Map<string, string>();
  for (const { folder, path } of (await Promise.all(sources.map(findArrays))).flat()) {
    const meaning = readOscPath(path, choices);
    if (meaning.kind === "ignored") {
      ignoredFiles.push({ file: folder, reason: meaning.reason });
      continue;
    }
    const key = Object.values(meaning.array).join(" ").trim();
    const other = taken.get(key);
    if (other !== undefined)
      throw sourceFault(folder, `is the same resource as ${other} (${key}). Give only one of the two folders.`);
    taken.set(key, folder);
    arrays.push({ folder, array: meaning.array });
  }
  if (arrays.length > 0) return { arrays, ignoredFiles };
  throw nothingUsed(sources, "resource", { files: ignoredFiles, nouns: ["array", "arrays"] });
}

/** Opens the arrays and plans the groups to write, by hazard, scenario, year and model. */
async function planOscZarr(
  arrays: readonly FoundArray[],
  choices: AqueductChoices,
  { maps, options }: { readonly maps: Pick<MapOpener, "open">; readonly options: RasterOptions },
): Promise<readonly HazardPlan[]> {
  const plans: HazardPlan[] = [];
  for (const hazard of new Set(arrays.map(({ array }) => array.hazard))) {
    const spec = HAZARDS[hazard];
    const groups: GroupPlan[] = [];
    for (const scenario of spec.scenarios) {
      for (const year of spec.years) {
        const ofGroup = arrays
          .filter(({ array }) => array.hazard === hazard && array.scenario === scenario && array.year === year)
          .toSorted((a, b) => (a.array.model < b.array.model ? -1 : 1));
        const [first] = ofGroup;
        if (first === undefined) continue;
        const models: CurveSource[] = [];
        for (const found of ofGroup) models.push(await openCurve(found, maps, options));
        checkSamePeriods(models, `${hazard} ${scenario} ${year}`);
        groups.push({
          scenario,
          year,
          content: { kind: "curves", models },
          provenance: { ...aqueductProvenance(first.array.hazard, scenario, choices), ...STORE },
        });
      }
    }
    plans.push({ hazard, rules: spec.rules, groups });
  }
  return plans;
}

/** Opens an array with the return period as its first dimension as the maps of a curve. */
async function openCurve(
  { folder, array }: FoundArray,
  maps: Pick<MapOpener, "open">,
  options: RasterOptions,
): Promise<CurveSource> {
  // The store may be an incomplete copy: the fill value of its arrays is 0, which is a valid depth.
  const raster = await maps.open(folder, { ...options, dimensionAsBands: true, absentAsMissing: true });
  const { ownMetric } = HAZARDS[array.hazard];
  const unit = HAZARDS[array.hazard].metrics.find(({ metric }) => metric === ownMetric)?.unit ?? "1";
  checkUnit(raster, { band: 1, metric: ownMetric, unit, unitFactor: undefined });
  const returnPeriods = returnPeriodsOf(raster, array.hazard);
  return {
    model: array.model,
    maps: returnPeriods
      .map((returnPeriodYears, index) => ({ raster, band: index + 1, unitFactor: 1, returnPeriodYears }))
      .toSorted((a, b) => a.returnPeriodYears - b.returnPeriodYears),
  };
}

function returnPeriodsOf({ file, bands, bandDimension }: Raster, hazard: HazardName): readonly number[] {
  const periods = bands.map(({ coordinates }) =>
    bandDimension === undefined ? undefined : coordinates[bandDimension],
  );
  const isValid = (period: unknown): period is number => typeof period === "number" && period > 1 && period < Infinity;
  if (periods.every(isValid) && new Set(periods).size === periods.length) return periods;
  throw sourceFault(
    file,
    `the return periods of ${hazard} must be different numbers above 1 along its first dimension (index_values); found ${periods.join(", ")}.`,
  );
}
