/** Recipe for the IRIS return-period maps of tropical cyclone winds. */
import { BASELINE, type Scenario } from "../../hazard/hazards.ts";
import { findProductFiles, type NameMeaning } from "./productFiles.ts";
import {
  checkScenarioMapping,
  MAP_SCENARIO_OPTION,
  type Recipe,
  type RecipeSources,
  type ScenarioMapping,
  sspMappings,
  type SspScenario,
  unmappedFileReason,
} from "./recipe.ts";
import { planCurves, type ReturnPeriodMap, withRegistration } from "./returnPeriodCurves.ts";
import { messageOf, sourceFault } from "../raster.ts";
import type { ArrayFile } from "../readers/arrays/arrayFile.ts";
import { coordinateOf, readNumbers } from "../readers/arrays/coordinates.ts";

/** Description of the product; part of the provenance of every layer. */
const PRODUCT = {
  recipe: "iris-winds",
  product: "IRIS tropical cyclone return-value maps (Imperial College Storm Model)",
  version: "1",
  licence: "CC BY 4.0",
  credit:
    "Sparks, N. and Toumi, R. (2024), The Imperial College Storm Model (IRIS) dataset, Scientific Data 11, 424, " +
    "doi:10.1038/s41597-024-03250-y",
  url: "https://doi.org/10.6084/m9.figshare.c.6724251.v1",
} as const;

const BASELINE_PERIOD = {
  baseline_window_note:
    "not recorded: the file names state no years; the storm counts of the published model are means over 42 years " +
    "(github.com/njsparks/iris)",
} as const;
const PRESENT_NAME = /^IRIS_vmax_maps_PRESENT_tenthdeg\.nc$/;
const FUTURE_NAME = /^IRIS_vmax_maps_(\d{4})-(SSP\d)_tenthdeg\.nc$/;
/** The SSP that a user may declare for each future map. The file names state the SSP without its forcing. */
const SSP_OF_NAME: Readonly<Record<string, SspScenario>> = { SSP1: "ssp126", SSP2: "ssp245", SSP5: "ssp585" };
const ACCEPTED_MAPPINGS = sspMappings(Object.values(SSP_OF_NAME));
const FUTURE_YEAR = 2050;
const VARIABLE = "vmax";
const RETURN_PERIOD_DIMENSION = "rp";

/** The sources and choices of the recipe. */
export interface IrisWindsChoices extends RecipeSources {
  /** The scenarios that the future maps are used for: `{ "ssp245": "rcp4p5", "ssp585": "rcp8p5" }`. */
  readonly mapScenario?: ScenarioMapping;
}

/** The content of one file of the product: all return periods of the present or of one future scenario. */
interface IrisFile {
  /** Undefined for the present climate. */
  readonly ssp: SspScenario | undefined;
  readonly label: string;
}

export const irisWinds: Recipe<IrisWindsChoices> = {
  name: PRODUCT.recipe,
  hazard: "cyclones",
  summary: "ingest cyclone winds of IRIS (IRIS_vmax_maps_PRESENT_tenthdeg.nc and 2050-SSP1, SSP2, SSP5)",
  help: `
The maps of the present climate become the baseline. Maps of 2050 are used with --map-scenario: ssp126=rcp2p6 (SSP1),
ssp245=rcp4p5 (SSP2) and ssp585=rcp8p5 (SSP5). The file names do not state the forcing; some users read SSP1 as SSP1-1.9,
which has no RCP, so check what your files were made for.

Example:
  isotherm ingest iris-winds maps/iris --out data/atlas --map-scenario ssp245=rcp4p5,ssp585=rcp8p5`,
  options: [MAP_SCENARIO_OPTION],
  async find({ sources, mapScenario }) {
    const mapping = checkScenarioMapping(mapScenario, { product: "IRIS", accepted: ACCEPTED_MAPPINGS });
    const { files, ignoredFiles } = await findProductFiles<IrisFile>(sources, {
      product: "IRIS",
      example: "IRIS_vmax_maps_PRESENT_tenthdeg.nc",
      extension: /\.nc$/i,
      read: (name) => readIrisName(name, mapping),
      describe: ({ label }) => label,
    });
    const wanted = [...mapping.keys()].filter((ssp) => !files.some(({ map }) => map.ssp === ssp));
    return {
      ignoredFiles,
      missingFiles: [
        ...(files.some(({ map }) => map.ssp === undefined) ? [] : ["IRIS_vmax_maps_PRESENT_tenthdeg.nc"]),
        ...wanted.map((ssp) => `IRIS_vmax_maps_${FUTURE_YEAR}-${labelOf(ssp)}_tenthdeg.nc`),
      ],
      async plan(maps, options) {
        const curves: ReturnPeriodMap[] = [];
        for (const { file, map } of files) {
          const arrays = await maps.openArrays(file);
          const periods = await numbersAlong(arrays, { variable: VARIABLE, dimension: RETURN_PERIOD_DIMENSION });
          // A return period of one year means an annual probability of 1, which is not a point of the curve.
          for (const returnPeriodYears of periods.filter((years) => years > 1)) {
            const select = { [RETURN_PERIOD_DIMENSION]: returnPeriodYears };
            curves.push({
              ...(map.ssp === undefined
                ? BASELINE
                : { scenario: mapping.get(map.ssp) ?? BASELINE.scenario, year: FUTURE_YEAR }),
              model: "",
              returnPeriodYears,
              // The maps have latitudes and longitudes without a datum.
              open: () => maps.open(file, { ...options, variable: VARIABLE, select, assumeWgs84: true }),
            });
          }
        }
        const labels = new Map(files.map(({ map }) => [map.ssp, map.label]));
        const plan = await planCurves("cyclones", curves, {
          provenanceOf: ({ scenario }) => provenanceOf([...mapping].find(([, ours]) => ours === scenario)?.[0], labels),
        });
        return [withRegistration(plan)];
      },
    };
  },
};

function provenanceOf(
  ssp: string | undefined,
  labels: ReadonlyMap<string | undefined, string>,
): Record<string, unknown> {
  return {
    ...PRODUCT,
    ...(ssp === undefined ? BASELINE_PERIOD : { proxy_of: ssp, source_scenario: labels.get(ssp) }),
    wind_averaging: "means over 1 minute",
  };
}

function labelOf(ssp: string): string {
  return Object.entries(SSP_OF_NAME).find(([, scenario]) => scenario === ssp)?.[0] ?? ssp;
}

/** Parses a file name of the product; undefined if it is not one. */
function readIrisName(name: string, mapping: ReadonlyMap<string, Scenario>): NameMeaning<IrisFile> | undefined {
  if (PRESENT_NAME.test(name)) return { kind: "map", map: { ssp: undefined, label: "PRESENT" } };
  const match = FUTURE_NAME.exec(name);
  if (match === null) return undefined;
  const [, year = "", label = ""] = match;
  const ssp = SSP_OF_NAME[label];
  if (ssp === undefined || Number(year) !== FUTURE_YEAR)
    return { kind: "ignored", reason: `the product has no maps of ${year} and ${label}` };
  if (!mapping.has(ssp)) return { kind: "ignored", reason: unmappedFileReason(ssp, ACCEPTED_MAPPINGS) };
  return { kind: "map", map: { ssp, label } };
}

/**
 * Returns the coordinates along a dimension of a variable, such as return periods.
 * @throws Fault `source_invalid` if the file has no such variable, dimension or coordinates
 */
async function numbersAlong(
  arrays: ArrayFile,
  { variable: name, dimension: dimensionName }: { readonly variable: string; readonly dimension: string },
): Promise<readonly number[]> {
  const variable = arrays.variables.get(name);
  if (variable === undefined) {
    const names = [...arrays.variables.keys()].slice(0, 12).join(", ");
    throw sourceFault(arrays.file, `has no variable ${name}. Its variables are ${names}.`);
  }
  const index = variable.dimensions.findIndex((dimension) => dimension.name === dimensionName);
  const dimension = variable.dimensions[index];
  if (dimension === undefined) {
    const names = variable.dimensions.map((other) => other.name).join(", ");
    throw sourceFault(arrays.file, `variable ${name} has no dimension ${dimensionName}; its dimensions are ${names}.`);
  }
  const stored = dimension.values;
  const coordinate = coordinateOf(arrays, variable, index);
  const reject = (why: string): Error =>
    sourceFault(arrays.file, `variable ${name}, dimension ${dimensionName}: its coordinates ${why}.`);
  if (stored !== undefined) {
    const numbers = stored.filter((value) => typeof value === "number");
    if (numbers.length !== stored.length) throw reject("are not numbers");
    return numbers;
  }
  if (coordinate === undefined || coordinate.type === "text") throw reject("are missing, or are not numbers");
  try {
    return [...(await readNumbers(arrays, coordinate))];
  } catch (error) {
    throw reject(`cannot be read (${messageOf(error)})`);
  }
}
