/** Recipe for the global river flood hazard maps of the Joint Research Centre. */
import { BASELINE } from "../../hazard/hazards.ts";
import { findProductFiles, type NameMeaning } from "./productFiles.ts";
import type { Recipe, RecipeSources } from "./recipe.ts";
import { planCurves } from "./returnPeriodCurves.ts";

/** Description of the product; part of the provenance of every layer. */
const PRODUCT = {
  recipe: "jrc-floods",
  product: "JRC global river flood hazard maps (floodMapGL)",
  version: "1",
  licence: "CC BY 4.0",
  credit:
    "Dottori, F. et al. (2016), Development and evaluation of a framework for global flood hazard mapping, Advances in Water " +
    "Resources 94, 87-102, doi:10.1016/j.advwatres.2016.05.002; European Commission, Joint Research Centre",
  url: "https://data.jrc.ec.europa.eu/dataset/jrc-floods-floodmapgl_rp50y-tif",
} as const;

const BASELINE_PERIOD = { baseline_window_note: "not recorded: the file names state no years" } as const;
const RETURN_PERIODS_YEARS = [10, 20, 50, 100, 200, 500] as const;
const NAME = /floodMapGL_rp(\d+)y\.tiff?$/i;
const PERMANENT_WATER = /floodMapGL_permWB\.tiff?$/i;
/** Names of the tiles of version 2, such as ID110_N20_E100_RP100_depth.tif. */
const VERSION_2_NAME = /_RP\d+_depth[\w-]*\.tiff?$/i;

/** The sources and choices of the recipe. */
export interface JrcFloodsChoices extends RecipeSources {
  /** Whether cells that are missing on a map, but have a value on the map of 500 years, are dry; by default they are missing. */
  readonly missingAsDry?: boolean;
}

export const jrcFloods: Recipe<JrcFloodsChoices> = {
  name: PRODUCT.recipe,
  hazard: "riverine_floods",
  summary: "ingest river flood maps of the Joint Research Centre (floodMapGL_rp10y.tif to rp500y.tif): the baseline",
  help: `
The maps are the present climate, and become the baseline. There are no future maps.

Example:
  isotherm ingest jrc-floods maps/jrc --out data/atlas --missing-as-dry`,
  options: [
    {
      name: "missingAsDry",
      kind: "flag",
      description: "use 0 m in cells that are missing on a map but have a value on that of the longest return period",
    },
  ],
  async find({ sources, missingAsDry }) {
    const { files, ignoredFiles } = await findProductFiles(sources, {
      product: "JRC flood",
      example: "floodMapGL_rp100y.tif",
      extension: /\.tiff?$/i,
      read: readJrcName,
      describe: (returnPeriodYears) => `${returnPeriodYears} years`,
    });
    const found = new Set(files.map(({ map }) => map));
    return {
      ignoredFiles,
      missingFiles: RETURN_PERIODS_YEARS.filter((years) => !found.has(years)).map(
        (years) => `floodMapGL_rp${years}y.tif`,
      ),
      async plan(maps, options) {
        const curve = files.map(({ file, map: returnPeriodYears }) => ({
          ...BASELINE,
          model: "",
          returnPeriodYears,
          open: () => maps.open(file, options),
        }));
        const provenanceOf = (): Record<string, unknown> => ({ ...PRODUCT, ...BASELINE_PERIOD });
        return [await planCurves("riverine_floods", curve, { provenanceOf, missingAsDry })];
      },
    };
  },
};

/** Returns the return period in years of a map. */
export function readJrcName(name: string): NameMeaning<number> | undefined {
  const match = NAME.exec(name);
  if (match !== null) {
    const years = Number(match[1]);
    if (RETURN_PERIODS_YEARS.some((known) => known === years)) return { kind: "map", map: years };
    return { kind: "ignored", reason: `the product has no map of ${years} years` };
  }
  if (PERMANENT_WATER.test(name)) return { kind: "ignored", reason: "permanent water bodies, not a flood depth" };
  if (VERSION_2_NAME.test(name)) {
    const reason = "a tile of version 2 of the maps, with other cells; use isotherm ingest layers with files";
    return { kind: "ignored", reason };
  }
  return undefined;
}
