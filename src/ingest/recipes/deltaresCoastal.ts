/** Recipe for the Deltares Global Flood Maps of coastal floods. */
import { Fault } from "../../errors.ts";
import { BASELINE, type Scenario } from "../../hazard/hazards.ts";
import { findProductFiles, type NameMeaning, type ProductFile } from "./productFiles.ts";
import {
  type AcceptedMappings,
  checkScenarioMapping,
  MAP_SCENARIO_OPTION,
  type Recipe,
  type RecipeSources,
  type ScenarioMapping,
  unmappedFileReason,
} from "./recipe.ts";
import { planCurves } from "./returnPeriodCurves.ts";

/** Description of the product; part of the provenance of every layer. */
const PRODUCT = {
  recipe: "deltares-coastal",
  product: "Deltares Global Flood Maps",
  version: "2021.06",
  licence: "CDLA-Permissive-1.0",
  credit: "Deltares (2021), Planetary Computer and Deltares global data: flood hazard maps, 11206409-003-ZWS-0003",
  url: "https://planetarycomputer.microsoft.com/dataset/deltares-floods",
} as const;

const RETURN_PERIODS_YEARS = [2, 5, 10, 25, 50, 100, 250] as const;
const NAME = /^GFM_global_(MERIT|NASA)DEM(90m|1km)_(\d{4})slr_rp(\d{4})_masked\.nc$/;
const LIDAR_NAME = /^GFM_global_LIDAR5km_\d{4}slr_rp\d{4}(?:_masked)?\.nc$/;
/** The variable with the depths. */
const VARIABLE = "inun";

/**
 * The sea levels of the product and what they may be used for. The file names state the year of the sea level but no emission
 * scenario, so each use is a declared proxy.
 */
const ACCEPTED_MAPPINGS: AcceptedMappings = { "2018slr": [BASELINE.scenario], "2050slr": ["rcp4p5", "rcp8p5"] };
const YEARS: Readonly<Record<string, number>> = { "2018slr": BASELINE.year, "2050slr": 2050 };

/** The sources and choices of the recipe. */
export interface DeltaresCoastalChoices extends RecipeSources {
  /** The elevation model of the maps; required if the sources have maps of both. */
  readonly elevationModel?: "MERIT" | "NASA";
  /** The resolution of the maps; required if the sources have maps of both. */
  readonly resolution?: "90m" | "1km";
  /** What the sea levels of 2018 and 2050 are used for: `{ "2018slr": "baseline", "2050slr": "rcp8p5" }`. */
  readonly mapScenario?: ScenarioMapping;
  /** Whether cells that are missing on a map, but have a value on the map of 250 years, are dry; by default they are missing. */
  readonly missingAsDry?: boolean;
}

/** The content of one map of the product. */
interface DeltaresMap {
  readonly elevationModel: string;
  readonly resolution: string;
  /** `2018slr` or `2050slr`. */
  readonly seaLevel: string;
  readonly returnPeriodYears: number;
}

export const deltaresCoastal: Recipe<DeltaresCoastalChoices> = {
  name: PRODUCT.recipe,
  hazard: "coastal_floods",
  summary: "ingest coastal flood maps of Deltares (GFM_global_*_2018slr_* and 2050slr), by declared scenarios",
  help: `
The file names state the year of the sea level, but no scenario. Say what each sea level is used for: 2018slr=baseline,
2050slr=rcp8p5 or 2050slr=rcp4p5. Layers record it as proxy_of. The maps of return period 0000 are ignored.

Example:
  isotherm ingest deltares-coastal maps/deltares --out data/atlas --elevation-model MERIT --resolution 1km \\
    --map-scenario 2018slr=baseline,2050slr=rcp8p5`,
  options: [
    {
      name: "elevationModel",
      kind: "text",
      value: "name",
      description: "elevation model of the maps (default: the only one among the sources)",
      choices: ["MERIT", "NASA"],
    },
    {
      name: "resolution",
      kind: "text",
      value: "size",
      description: "resolution of the maps (default: the only one among the sources)",
      choices: ["90m", "1km"],
    },
    { ...MAP_SCENARIO_OPTION, description: "what a sea level is used for, such as 2018slr=baseline,2050slr=rcp8p5" },
    {
      name: "missingAsDry",
      kind: "flag",
      description: "use 0 m in cells that are missing on a map but have a value on that of the longest return period",
    },
  ],
  async find({ sources, mapScenario, missingAsDry, ...choices }) {
    const mapping = checkScenarioMapping(mapScenario, {
      product: PRODUCT.product,
      accepted: ACCEPTED_MAPPINGS,
    });
    const { files, ignoredFiles } = await findProductFiles<DeltaresMap>(sources, {
      product: "Deltares flood",
      example: "GFM_global_MERITDEM1km_2018slr_rp0100_masked.nc",
      extension: /\.nc$/i,
      read: (name) => readDeltaresName(name, { ...choices, mapping }),
      describe: (map) => Object.values(map).join(" "),
    });
    checkVariants(files);
    return {
      ignoredFiles,
      missingFiles: missingFilesOf(files),
      async plan(maps, options) {
        const curves = files.map(({ file, map: { seaLevel, returnPeriodYears } }) => ({
          scenario: mapping.get(seaLevel) ?? BASELINE.scenario,
          year: YEARS[seaLevel] ?? BASELINE.year,
          epochYear: Number(seaLevel.slice(0, 4)),
          model: "",
          returnPeriodYears,
          // The product is documented as WGS84.
          open: () => maps.open(file, { ...options, variable: VARIABLE, assumeWgs84: true }),
        }));
        const provenanceOf = ({ scenario }: { readonly scenario: Scenario }): Record<string, unknown> => ({
          ...PRODUCT,
          elevation_model: files[0]?.map.elevationModel,
          resolution: files[0]?.map.resolution,
          proxy_of: [...mapping].find(([, mapped]) => mapped === scenario)?.[0],
          sea_level_year: scenario === BASELINE.scenario ? 2018 : 2050,
        });
        return [await planCurves("coastal_floods", curves, { provenanceOf, missingAsDry })];
      },
    };
  },
};

/** Parses a file name of the product; undefined if it is not one. */
export function readDeltaresName(
  name: string,
  {
    elevationModel,
    resolution,
    mapping,
  }: Pick<DeltaresCoastalChoices, "elevationModel" | "resolution"> & {
    readonly mapping: ReadonlyMap<string, Scenario>;
  },
): NameMeaning<DeltaresMap> | undefined {
  if (LIDAR_NAME.test(name))
    return { kind: "ignored", reason: "the LiDAR elevation model, of which only maps of 5 km exist" };
  const match = NAME.exec(name);
  if (match === null) return undefined;
  const [, model = "", size = "", year = "", period = ""] = match;
  const ignored = (reason: string): NameMeaning<DeltaresMap> => ({ kind: "ignored", reason });
  const seaLevel = `${year}slr`;
  const returnPeriodYears = Number(period);
  if (elevationModel !== undefined && model !== elevationModel)
    return ignored(`the elevation model ${model}; --elevation-model selects ${elevationModel}`);
  if (resolution !== undefined && size !== resolution)
    return ignored(`the resolution ${size}; --resolution selects ${resolution}`);
  if (returnPeriodYears === 0) return ignored("return period 0000 is the mean sea level without a storm");
  if (!RETURN_PERIODS_YEARS.some((known) => known === returnPeriodYears))
    return ignored(`the product has no return period of ${returnPeriodYears} years`);
  if (!Object.hasOwn(ACCEPTED_MAPPINGS, seaLevel)) return ignored(`the product has no sea level of ${year}`);
  if (!mapping.has(seaLevel)) return ignored(unmappedFileReason(seaLevel, ACCEPTED_MAPPINGS));
  return { kind: "map", map: { elevationModel: model, resolution: size, seaLevel, returnPeriodYears } };
}

/** Rejects maps of several elevation models or resolutions, because the choice between them changes the depths. */
function checkVariants(files: readonly ProductFile<DeltaresMap>[]): void {
  const variants = [...new Set(files.map(({ map }) => `${map.elevationModel} at ${map.resolution}`))].toSorted();
  if (variants.length <= 1) return;
  throw new Fault(
    "invalid_request",
    `The sources have maps of ${variants.join(" and ")}. Select one with --elevation-model (elevationModel) and --resolution (resolution).`,
  );
}

/** Returns the names of the maps that complete the curves that were found. */
function missingFilesOf(files: readonly ProductFile<DeltaresMap>[]): readonly string[] {
  return [...new Set(files.map(({ map }) => map.seaLevel))].toSorted().flatMap((seaLevel) => {
    const ofSeaLevel = files.filter(({ map }) => map.seaLevel === seaLevel).map(({ map }) => map);
    const [first] = ofSeaLevel;
    if (first === undefined) return [];
    const found = new Set(ofSeaLevel.map(({ returnPeriodYears }) => returnPeriodYears));
    return RETURN_PERIODS_YEARS.filter((years) => !found.has(years)).map(
      (years) =>
        `GFM_global_${first.elevationModel}DEM${first.resolution}_${seaLevel}_rp${String(years).padStart(4, "0")}_masked.nc`,
    );
  });
}
