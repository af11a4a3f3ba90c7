/** Recipe for the STORM return-period maps of tropical cyclone winds. */
import { Fault } from "../../errors.ts";
import { BASELINE, type Scenario } from "../../hazard/hazards.ts";
import type { MosaicOrder, Raster, RasterOptions } from "../raster.ts";
import { withRegistration } from "./registration.ts";
import { findProductFiles, type NameMeaning, type ProductFile } from "./productFiles.ts";
import type { MapOpener, Recipe, RecipeSources } from "./recipe.ts";
import { planCurves, type ReturnPeriodMap } from "./returnPeriodCurves.ts";
import {
  checkScenarioMapping,
  MAP_SCENARIO_OPTION,
  type ScenarioMapping,
  sspMappings,
  unmappedFileReason,
} from "./scenarioMapping.ts";
import {
  BASINS,
  checkComplete,
  CLIMATE_MODELS,
  readStormName,
  RETURN_PERIODS_YEARS,
  stormName,
  type StormMap,
} from "./stormNames.ts";

/** Description of the product; part of the provenance of every layer. */
const PRODUCT = {
  recipe: "storm-winds",
  product: "STORM tropical cyclone wind speed return periods",
  licence: "CC0 1.0",
} as const;
const PRESENT = {
  version: "3",
  credit:
    "Bloemendaal, N. et al. (2020), Estimation of global tropical cyclone wind speed probabilities using the STORM dataset, " +
    "Scientific Data 7, 377, doi:10.1038/s41597-020-00720-x",
  url: "https://doi.org/10.4121/12705164.v3",
  baseline_window: [1980, 2017],
  baseline_window_note: "abstract of Bloemendaal et al. (2022), doi:10.1126/sciadv.abm8438",
} as const;
const FUTURE = {
  version: "3",
  credit:
    "Bloemendaal, N. et al. (2022), A globally consistent local-scale assessment of future tropical cyclone risk, Science " +
    "Advances 8, eabm8438, doi:10.1126/sciadv.abm8438",
  url: "https://doi.org/10.4121/14510817.v3",
  period: [2015, 2050],
} as const;

/** The forcing of the future maps. */
const FUTURE_SCENARIO = "ssp585";
const FUTURE_YEAR = 2050;
const ACCEPTED_MAPPINGS = sspMappings([FUTURE_SCENARIO]);
/** A mean over 10 minutes, as a share of that over 1 minute. */
const TEN_MINUTE_SHARE = 0.88;

/** The sources and choices of the recipe. */
export interface StormWindsChoices extends RecipeSources {
  /** Climate models of the future maps whose mean is stored; by default all that are found. */
  readonly models?: readonly string[];
  /** The scenario that the future maps, made for SSP5-8.5, are used for: `{ "ssp585": "rcp8p5" }`. */
  readonly mapScenario?: ScenarioMapping;
  /** The value of a cell that several basins cover: by default, they must be equal. */
  readonly overlap?: MosaicOrder;
}

export const stormWinds: Recipe<StormWindsChoices> = {
  name: PRODUCT.recipe,
  hazard: "cyclones",
  summary:
    "ingest cyclone winds of STORM (STORM_FIXED_RETURN_PERIODS_*_YR_RP.tif, six basins or the world, also in zip)",
  help: `
Maps of the present climate become the baseline. Maps of climate models are for 2050 and SSP5-8.5; they are used with
--map-scenario ssp585=rcp8p5, as the mean over the models. Winds are means over 10 minutes and are divided by 0.88.

Example:
  isotherm ingest storm-winds maps/storm --out data/atlas --map-scenario ssp585=rcp8p5 --overlap largest`,
  options: [
    {
      name: "models",
      kind: "list",
      value: "names",
      description: "climate models of the future maps, separated by commas (default: all that are found)",
      choices: CLIMATE_MODELS,
    },
    { ...MAP_SCENARIO_OPTION, description: "use the future maps: ssp585=rcp8p5; recorded as proxy_of" },
    {
      name: "overlap",
      kind: "text",
      value: "rule",
      description:
        "value of cells that two basins cover; first in the order EP, NA, NI, SI, SP, WP (default: equal, which rejects different values)",
      choices: ["equal", "first", "largest"],
    },
  ],
  async find({ sources, models, mapScenario, overlap = "equal" }) {
    const mapping = checkScenarioMapping(mapScenario, { product: "STORM", accepted: ACCEPTED_MAPPINGS });
    const { files, ignoredFiles } = await findProductFiles<StormMap>(sources, {
      product: "STORM",
      example: "STORM_FIXED_RETURN_PERIODS_NA_100_YR_RP.tif",
      extension: /\.(tiff?|nc)$/i,
      read: (name) => selected(readStormName(name), { models, mapping }),
      describe: ({ model, basin, returnPeriodYears }) => `${model ?? "present"} ${basin} ${returnPeriodYears} years`,
    });
    checkModels(models, files);
    checkComplete(files);
    return {
      ignoredFiles,
      missingFiles: missingFilesOf(files),
      plan: async (maps, options) => {
        const curves = curvesOf(files, (paths) => openMap(paths, { maps, options, overlap }), mapping);
        const plan = await planCurves("cyclones", curves, {
          provenanceOf: ({ scenario }) => provenanceOf(scenario, files),
        });
        return [withRegistration(plan)];
      },
    };
  },
};

/** Ignores maps of models that were not selected, and future maps without a mapping. */
function selected(
  meaning: NameMeaning<StormMap> | undefined,
  {
    models,
    mapping,
  }: { readonly models: readonly string[] | undefined; readonly mapping: ReadonlyMap<string, Scenario> },
): NameMeaning<StormMap> | undefined {
  if (meaning?.kind !== "map" || meaning.map.model === undefined) return meaning;
  if (!mapping.has(FUTURE_SCENARIO))
    return { kind: "ignored", reason: unmappedFileReason(FUTURE_SCENARIO, ACCEPTED_MAPPINGS) };
  if (models?.includes(meaning.map.model) === false)
    return { kind: "ignored", reason: `the model ${meaning.map.model} was not selected` };
  return meaning;
}

function checkModels(models: readonly string[] | undefined, files: readonly ProductFile<StormMap>[]): void {
  const unknown = (models ?? []).filter((model) => !files.some(({ map }) => map.model === model));
  if (unknown.length === 0) return;
  throw new Fault(
    "invalid_request",
    `The sources have no maps of the model ${unknown.join(" and ")} that are used. Future maps need --map-scenario ssp585=rcp8p5.`,
  );
}

/** Returns the maps by model and return period, each of one file or of one file for each basin. */
function curvesOf(
  files: readonly ProductFile<StormMap>[],
  open: (paths: readonly string[]) => Promise<Raster>,
  mapping: ReadonlyMap<string, Scenario>,
): readonly ReturnPeriodMap[] {
  const curves: ReturnPeriodMap[] = [];
  for (const model of new Set(files.map(({ map }) => map.model))) {
    const ofModel = files.filter(({ map }) => map.model === model);
    for (const returnPeriodYears of new Set(ofModel.map(({ map }) => map.returnPeriodYears))) {
      const paths = ofModel
        .filter(({ map }) => map.returnPeriodYears === returnPeriodYears)
        .toSorted((a, b) => basinOrder(a.map) - basinOrder(b.map))
        .map(({ file }) => file);
      curves.push({
        ...(model === undefined
          ? BASELINE
          : { scenario: mapping.get(FUTURE_SCENARIO) ?? BASELINE.scenario, year: FUTURE_YEAR }),
        model: model ?? "",
        returnPeriodYears,
        unitFactor: 1 / TEN_MINUTE_SHARE,
        open: () => open(paths),
      });
    }
  }
  return curves;
}

function basinOrder({ basin }: StormMap): number {
  return (BASINS as readonly string[]).indexOf(basin);
}

function openMap(
  paths: readonly string[],
  {
    maps,
    options,
    overlap,
  }: { readonly maps: MapOpener; readonly options: RasterOptions; readonly overlap: MosaicOrder },
): Promise<Raster> {
  const [first = "", ...others] = paths;
  return others.length === 0 ? maps.open(first, options) : maps.openMosaic(paths, options, overlap);
}

function provenanceOf(scenario: Scenario, files: readonly ProductFile<StormMap>[]): Record<string, unknown> {
  const isPresent = scenario === BASELINE.scenario;
  const basins = new Set(
    files.filter(({ map }) => (map.model === undefined) === isPresent).map(({ map }) => map.basin),
  );
  return {
    ...PRODUCT,
    ...(isPresent ? PRESENT : { ...FUTURE, proxy_of: FUTURE_SCENARIO }),
    basins: basins.has("world") ? "world" : BASINS.filter((basin) => basins.has(basin)),
    wind_averaging: "means over 10 minutes, divided by 0.88 to give those over 1 minute",
  };
}

/** Returns the names of the maps that complete the return periods and the basins that were found. */
function missingFilesOf(files: readonly ProductFile<StormMap>[]): readonly string[] {
  return [...new Set(files.map(({ map }) => map.model))].flatMap((model) => {
    const maps = files.filter(({ map }) => map.model === model).map(({ map }) => map);
    const basins = maps.some(({ basin }) => basin === "world") ? ["world"] : BASINS;
    const found = new Set(maps.map(stormName));
    return basins
      .flatMap((basin) => RETURN_PERIODS_YEARS.map((years) => stormName({ model, basin, returnPeriodYears: years })))
      .filter((name) => !found.has(name));
  });
}
