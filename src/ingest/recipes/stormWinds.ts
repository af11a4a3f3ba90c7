/** Recipe for the STORM return-period maps of tropical cyclone winds. */
import { Fault, FAULT_ITEM_COUNT_MAX, type FaultItem } from "../../errors.ts";
import { BASELINE, type Scenario } from "../../hazard/hazards.ts";
import type { MosaicOrder, Raster, RasterOptions } from "../raster.ts";
import { planCurves, type ReturnPeriodMap, withRegistration } from "./returnPeriodCurves.ts";
import { findProductFiles, type NameMeaning, type ProductFile } from "./productFiles.ts";
import {
  checkScenarioMapping,
  MAP_SCENARIO_OPTION,
  type MapOpener,
  type Recipe,
  type RecipeSources,
  type ScenarioMapping,
  sspMappings,
  unmappedFileReason,
} from "./recipe.ts";

/** In the order in which maps are combined. */
const BASINS = ["EP", "NA", "NI", "SI", "SP", "WP"] as const;
/** The climate models of the future maps. */
const CLIMATE_MODELS = ["CMCC-CM2-VHR4", "CNRM-CM6-1-HR", "EC-Earth3P-HR", "HadGEM3-GC31-HM"] as const;
/** The return periods in years that the product has for each basin. */
export const RETURN_PERIODS_YEARS: readonly number[] = [10, 100, 1000]
  .flatMap((first) => Array.from({ length: 9 }, (_, index) => first * (index + 1)))
  .concat(10_000);

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

const NAME = /^STORM_FIXED_RETURN_PERIODS_(?:([A-Z0-9-]{3,})_)?(?:(EP|NA|NI|SI|SP|WP)_)?(\d+)_YR_RP\.tiff?$/i;
/** The same data as NetCDF, and return periods of fixed wind speeds. */
const NETCDF_NAME = /^STORM_FIXED_RETURN_PERIODS_.+\.nc$/i;
const WIND_SPEEDS_NAME = /^STORM_FIXED_(TC_)?WIND_SPEEDS?_.+\.(tiff?|nc)$/i;

/** The content of one map of the product. */
export interface StormMap {
  /** The climate model; undefined for the present climate. */
  readonly model: string | undefined;
  /** A basin, or `world` for a map that was assembled from all basins. */
  readonly basin: string;
  readonly returnPeriodYears: number;
}

/** Parses a file name of the product; undefined if it is not one. */
export function readStormName(name: string): NameMeaning<StormMap> | undefined {
  const ignored = (reason: string): NameMeaning<StormMap> => ({ kind: "ignored", reason });
  if (NETCDF_NAME.test(name)) return ignored("the NetCDF edition; the recipe reads the GeoTIFF files (*_YR_RP.tif)");
  if (WIND_SPEEDS_NAME.test(name)) return ignored("return periods of fixed wind speeds, not winds of return periods");
  const match = NAME.exec(name);
  if (match === null) return undefined;
  const [, given, basin, period = ""] = match;
  const isPresent = given === undefined || given.toLowerCase() === "constant";
  const model = CLIMATE_MODELS.find((known) => known.toLowerCase() === given?.toLowerCase());
  if (!isPresent && model === undefined)
    return ignored(`${given} is not a climate model of the product: ${CLIMATE_MODELS.join(", ")}`);
  // Maps of the whole world are named with the model, also that of the present climate.
  if (given === undefined && basin === undefined) return undefined;
  const returnPeriodYears = Number(period);
  if (!RETURN_PERIODS_YEARS.includes(returnPeriodYears))
    return ignored(`the product has no return period of ${returnPeriodYears} years`);
  return { kind: "map", map: { model, basin: basin?.toUpperCase() ?? "world", returnPeriodYears } };
}

/** Returns the name of a map in the archives of the product. */
export function stormName({ model, basin, returnPeriodYears }: StormMap): string {
  const parts = [model ?? (basin === "world" ? "constant" : undefined), basin === "world" ? undefined : basin];
  return `STORM_FIXED_RETURN_PERIODS_${parts.filter((part) => part !== undefined).join("_")}_${returnPeriodYears}_YR_RP.tif`;
}

/**
 * Checks that the maps can be combined: each basin of a model has the same return periods, all future models have the same
 * basins, and no model has maps of basins and of the world.
 * @throws Fault `source_invalid` with one item for each missing or superfluous map
 */
function checkComplete(files: readonly ProductFile<StormMap>[]): void {
  const items: FaultItem[] = [];
  const add = (code: FaultItem["code"], detail: string): void => void items.push({ pointer: "/sources", code, detail });
  const models = [...new Set(files.map(({ map }) => map.model))];
  const futureBasins = new Set(files.filter(({ map }) => map.model !== undefined).map(({ map }) => map.basin));
  for (const model of models) {
    const maps = files.filter((file) => file.map.model === model);
    const basins = new Set(maps.map(({ map }) => map.basin));
    const periods = new Set(maps.map(({ map }) => map.returnPeriodYears));
    const world = maps.find(({ map }) => map.basin === "world");
    if (world !== undefined && basins.size > 1) {
      const other = maps.find(({ map }) => map.basin !== "world");
      add(
        "not_expected",
        `${world.file} is a map of the world, but ${other?.file} is one of a basin. Give only one kind.`,
      );
      continue;
    }
    const needed = model === undefined ? basins : futureBasins;
    for (const basin of needed) {
      if (!basins.has(basin) && basin !== "world" && world === undefined) {
        add(
          "missing",
          `${model ?? ""} has no maps of the basin ${basin}, which other models have. Add them, or omit the model.`,
        );
        continue;
      }
      const found = new Set(maps.filter(({ map }) => map.basin === basin).map(({ map }) => map.returnPeriodYears));
      if (found.size === 0) continue;
      for (const returnPeriodYears of periods) {
        if (found.has(returnPeriodYears)) continue;
        const name = stormName({ model, basin, returnPeriodYears });
        add("missing", `${name} is missing, but another basin has a map of ${returnPeriodYears} years.`);
      }
    }
  }
  const [first] = items;
  if (first === undefined) return;
  const message = items.length === 1 ? (first.detail ?? "") : `The STORM maps are incomplete: ${items.length} errors.`;
  throw new Fault("source_invalid", message, { items: items.slice(0, FAULT_ITEM_COUNT_MAX) });
}
