/**
 * Writes layers of an atlas from public hazard maps. The exports of this file are `isotherm/ingest`.
 *
 *   await ingestAqueductFloods({ sources: ["maps/aqueduct"], out: "data/atlas" });
 *   await ingestLayers({ manifest: "maps/storm.json", out: "data/atlas" });
 *
 * Reading requires the optional package of the format: h5wasm (NetCDF-4, HDF5), netcdfjs (NetCDF-3), zarrita (Zarr).
 */
import { Fault } from "../errors.ts";
import type { HazardName } from "../hazard/hazards.ts";
import { gridOf } from "../atlas/catalog.ts";
import { readCatalog } from "../atlas/writer.ts";
import type { Grid } from "../kernel/grid.ts";
import { checkIngestOptions, checkReprojectionOptions, type IngestOptions } from "./options.ts";
import { type HazardPlan, type IgnoredFile, mapsOf } from "./plan.ts";
import { partsOf, type Raster, type RasterOptions, sourceFilesOf } from "./raster.ts";
import { MapFiles } from "./readers/mapFiles.ts";
import { planLayers } from "./recipes/layers.ts";
import { readManifest } from "./recipes/layersManifest.ts";
import { type MapOpener, optionSchemas } from "./recipes/recipe.ts";
import { type RecipeChoices, type RecipeName, RECIPES } from "./recipes/recipeList.ts";
import { type IngestPreview, previewOf } from "./preview.ts";
import { type IngestReport, writeHazards } from "./writeHazards.ts";
import { withRequestedLayers } from "./requestedLayers.ts";
import { SourceVersions } from "./sourceVersions.ts";

export {
  Fault,
  type FaultCode,
  type FaultDescription,
  type FaultItem,
  type FaultItemCode,
  type FaultLocation,
  isFault,
} from "../errors.ts";
export type { HazardName, MetricName, ProblemItem, Scenario } from "../contract/wireTypes.ts";
export type { CellCounts } from "./metricSteps.ts";
export type { KeptMeridian, MosaicOrder } from "./raster.ts";
export type { BoundingBox, IngestOptions, IngestProgress } from "./options.ts";
export type { AqueductChoices } from "./recipes/aqueductFloods.ts";
export type { AqueductFloodsChoices } from "./recipes/aqueductFloods.ts";
export type { DeltaresCoastalChoices } from "./recipes/deltaresCoastal.ts";
export type { IrisWindsChoices } from "./recipes/irisWinds.ts";
export type { JrcFloodsChoices } from "./recipes/jrcFloods.ts";
export type { RecipeSources } from "./recipes/recipe.ts";
export type { RecipeChoices, RecipeName } from "./recipes/recipeList.ts";
export type { ScenarioMapping } from "./recipes/recipe.ts";
export type { StormWindsChoices } from "./recipes/stormWinds.ts";
export type { IgnoredFile } from "./plan.ts";
export type { GroupReport, IngestReport, IngestTotals } from "./writeHazards.ts";
export type { IngestPreview, PreviewFile, PreviewGrid, PreviewGroup, PreviewHazard, PreviewMap } from "./preview.ts";

export interface AqueductFloodsOptions extends IngestOptions {
  /** Files, folders (searched recursively) or http(s) addresses of the maps. */
  readonly sources: readonly string[];
}

/**
 * Writes river and coastal maps of WRI Aqueduct Floods into an atlas: for each scenario and year among them, the depth with a
 * return period of 100 years, its intensity, the annual probability of a depth of 0.5 m, and the total hazard.
 *
 * @throws Fault `source_invalid` naming file and cell; `invalid_request` for options that are invalid or cannot be
 *   applied; `atlas_unavailable` if the existing atlas is damaged or being written; `configuration_invalid` if the
 *   optional package for a format is not installed
 */
export async function ingestAqueductFloods(options: AqueductFloodsOptions): Promise<IngestReport> {
  return ingestRecipe("aqueduct-floods", options);
}

/**
 * Returns what `ingestAqueductFloods` would read and write. It opens the maps, but reads no cells and writes nothing.
 * @throws the same faults, except those of cells
 */
export async function previewAqueductFloods(options: AqueductFloodsOptions): Promise<IngestPreview> {
  return previewRecipe("aqueduct-floods", options);
}

/** What to use instead of a recipe of earlier releases. */
const OSC_ZARR_HINT =
  "Describe the arrays of the OS-Climate store in a manifest of isotherm ingest layers, which reads Zarr (docs/ingest/formats.md).";

/** The options of a recipe: those of every ingest, the sources, and the choices of the recipe. */
export type RecipeOptions<Name extends RecipeName> = IngestOptions & RecipeChoices[Name];

/**
 * Writes the maps of a public product into an atlas. docs/recipes describes each recipe.
 *
 * @throws Fault `source_invalid` naming file and cell; `invalid_request` for options that are invalid or cannot be
 *   applied; `atlas_unavailable` if the existing atlas is damaged or being written; `configuration_invalid` if the
 *   optional package for a format is not installed
 */
export async function ingestRecipe<Name extends RecipeName>(
  recipe: Name,
  options: RecipeOptions<Name>,
): Promise<IngestReport> {
  return writePlans(await prepareRecipe(recipe, options));
}

/**
 * Returns what `ingestRecipe` would read and write. It opens the maps, but reads no cells and writes nothing.
 * @throws the same faults, except those of cells
 */
export async function previewRecipe<Name extends RecipeName>(
  recipe: Name,
  options: RecipeOptions<Name>,
): Promise<IngestPreview> {
  return previewPlans(await prepareRecipe(recipe, options));
}

async function prepareRecipe<Name extends RecipeName>(
  name: Name,
  options: RecipeOptions<Name>,
): Promise<PreparedIngest> {
  const recipe = Object.hasOwn(RECIPES, name) ? RECIPES[name] : undefined;
  if (recipe === undefined) {
    const names = Object.keys(RECIPES).join(", ");
    const hint = (name as string) === "osc-zarr" ? ` ${OSC_ZARR_HINT}` : "";
    throw new Fault("invalid_request", `There is no recipe ${JSON.stringify(name)}; the recipes are ${names}.${hint}`);
  }
  checkIngestOptions(options, { sources: { type: "array", items: { type: "string" } } }, optionSchemas(recipe));
  const { ignoredFiles, missingFiles, plan } = await recipe.find(options);
  const atlasGrid = recipe.hazard === undefined ? undefined : await gridInAtlas(options.out, recipe.hazard);
  return { options, ignoredFiles, missingFiles, ...(atlasGrid === undefined ? {} : { atlasGrid }), plan };
}

export interface LayersOptions extends IngestOptions {
  /** Path of the JSON manifest, described in docs/ingest/manifest.md. */
  readonly manifest: string;
}

/**
 * Writes the maps that a manifest describes into an atlas: one file or band for each metric or return period. Boolean
 * options may be set in the manifest, in the options, or in both; `clampTolerance` in the options takes precedence over
 * the manifest.
 *
 * @throws Fault `invalid_request` listing every error of the manifest; otherwise the same as `ingestAqueductFloods`
 */
export async function ingestLayers(options: LayersOptions): Promise<IngestReport> {
  return writePlans(await prepareLayers(options));
}

/**
 * Returns what `ingestLayers` would read and write. It opens the maps, but reads no cells and writes nothing.
 * @throws the same faults, except those of cells
 */
export async function previewLayers(options: LayersOptions): Promise<IngestPreview> {
  return previewPlans(await prepareLayers(options));
}

async function prepareLayers(options: LayersOptions): Promise<PreparedIngest> {
  checkIngestOptions(options, { manifest: { type: "string" } });
  const manifest = await readManifest(options.manifest, options);
  const { hold_flat, clamp_negative, clamp_tolerance, assume_wgs84, keep_meridian } = manifest.options ?? {};
  const cellSizeDeg = options.cellSizeDeg ?? manifest.options?.cell_size_deg;
  const maxDistortion = options.maxDistortion ?? manifest.options?.max_distortion;
  const clampTolerance = options.clampTolerance ?? clamp_tolerance;
  const keepMeridian = options.keepMeridian ?? keep_meridian;
  if (keep_meridian !== undefined && keep_meridian !== keepMeridian) {
    throw new Fault(
      "invalid_request",
      `${options.manifest}: keep_meridian is ${keep_meridian}, but the option keepMeridian is ${keepMeridian}. Give only one of them.`,
    );
  }
  const combined: IngestOptions = {
    ...options,
    holdFlat: options.holdFlat === true || hold_flat === true,
    clampNegative: options.clampNegative === true || clamp_negative === true,
    ...(clampTolerance === undefined ? {} : { clampTolerance }),
    assumeWgs84: options.assumeWgs84 === true || assume_wgs84 === true,
    ...(keepMeridian === undefined ? {} : { keepMeridian }),
    ...(cellSizeDeg === undefined ? {} : { cellSizeDeg }),
    ...(maxDistortion === undefined ? {} : { maxDistortion }),
  };
  checkReprojectionOptions(combined);
  const atlasGrid = await gridInAtlas(options.out, manifest.hazard);
  return {
    options: combined,
    ignoredFiles: [],
    ...(atlasGrid === undefined ? {} : { atlasGrid }),
    plan: async (maps, rasterOptions) => [await planLayers(manifest, options.manifest, maps, rasterOptions)],
  };
}

/** Returns the grid of a hazard in an atlas; undefined if there is none yet. */
async function gridInAtlas(folder: string, hazard: HazardName): Promise<Grid | undefined> {
  const current = await readCatalog(folder);
  const existing = current?.hazards.find((entry) => entry.hazard === hazard);
  return existing === undefined ? undefined : gridOf(existing.grid);
}

/** The options of an ingest, which may come partly from a manifest, and how its plans are made. */
interface PreparedIngest {
  readonly options: IngestOptions;
  readonly ignoredFiles: readonly IgnoredFile[];
  readonly missingFiles?: readonly string[] | undefined;
  /** The grid of the hazard in the atlas, onto whose cells maps are reprojected. */
  readonly atlasGrid?: Grid;
  plan(maps: MapOpener, options: RasterOptions): Promise<readonly HazardPlan[]>;
}

function writePlans(prepared: PreparedIngest): Promise<IngestReport> {
  return withRasters(prepared, (plans, sources) => writeHazards(plans, { ...prepared, sources }));
}

function previewPlans(prepared: PreparedIngest): Promise<IngestPreview> {
  return withRasters(prepared, (plans) => previewOf(plans, prepared));
}

/** Plans an ingest and uses the plans. Each file is opened once for all of its bands, and is closed at the end or on failure. */
async function withRasters<T>(
  { options, atlasGrid, plan }: PreparedIngest,
  use: (plans: readonly HazardPlan[], sources: SourceVersions) => Promise<T>,
): Promise<T> {
  const { keepMeridian, signal, viaGdal, cellSizeDeg, maxDistortion } = options;
  const maps = new MapFiles({
    ...(signal === undefined ? {} : { signal }),
    ...(viaGdal === undefined ? {} : { viaGdal }),
    ...(cellSizeDeg === undefined ? {} : { cellSizeDeg }),
    ...(maxDistortion === undefined ? {} : { maxDistortion }),
    ...(atlasGrid === undefined ? {} : { atlasGrid }),
  });
  const sources = new SourceVersions({ folder: options.out, signal: options.signal });
  const recorded = async (raster: Raster): Promise<Raster> => {
    for (const file of sourceFilesOf(raster)) await sources.recordOpening(file);
    return raster;
  };
  const opener: MapOpener = {
    async open(file, rasterOptions) {
      await sources.recordOpening(file);
      return recorded(await maps.open(file, rasterOptions));
    },
    async openMosaic(files, rasterOptions, order) {
      for (const file of files) await sources.recordOpening(file);
      return recorded(await maps.openMosaic(files, rasterOptions, order));
    },
    async openArrays(file) {
      await sources.recordOpening(file);
      return maps.openArrays(file);
    },
  };
  const rasterOptions: RasterOptions = {
    ...(options.nodata === undefined ? {} : { nodata: [options.nodata] }),
    ...(options.assumeWgs84 === true ? { assumeWgs84: true } : {}),
    ...(keepMeridian === undefined ? {} : { keepMeridian }),
  };
  try {
    const plans = withRequestedLayers(await plan(opener, rasterOptions), options);
    checkReprojected(plans, options);
    return await use(plans, sources);
  } finally {
    await maps.close();
  }
}

/** Rejects options of reprojection if no map is reprojected. */
function checkReprojected(plans: readonly HazardPlan[], { cellSizeDeg, maxDistortion }: IngestOptions): void {
  if (cellSizeDeg === undefined && maxDistortion === undefined) return;
  const rasters = plans.flatMap(({ groups }) => groups.flatMap(mapsOf)).flatMap(({ raster }) => partsOf(raster));
  if (rasters.some(({ spec }) => spec.kind === "reprojected")) return;
  const name = cellSizeDeg === undefined ? "--max-distortion (maxDistortion)" : "--cell-size (cellSizeDeg)";
  throw new Fault(
    "invalid_request",
    `${name} has no effect: all maps are in degrees, and are used with the cells that they have. Omit the option.`,
  );
}
