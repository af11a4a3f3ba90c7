/** The file names of the STORM wind maps, and the checks that the maps of a model are complete. */
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../../errors.ts";
import type { NameMeaning, ProductFile } from "./productFiles.ts";

/** In the order in which maps are combined. */
export const BASINS = ["EP", "NA", "NI", "SI", "SP", "WP"] as const;
/** The climate models of the future maps. */
export const CLIMATE_MODELS = ["CMCC-CM2-VHR4", "CNRM-CM6-1-HR", "EC-Earth3P-HR", "HadGEM3-GC31-HM"] as const;
/** The return periods in years that the product has for each basin. */
export const RETURN_PERIODS_YEARS: readonly number[] = [10, 100, 1000]
  .flatMap((first) => Array.from({ length: 9 }, (_, index) => first * (index + 1)))
  .concat(10_000);

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
export function checkComplete(files: readonly ProductFile<StormMap>[]): void {
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
