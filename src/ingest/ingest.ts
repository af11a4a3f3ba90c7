/**
 * Filling an atlas from public hazard maps. What is exported here is `isotherm/ingest`.
 *
 *   await ingestAqueductFloods({ sources: ["maps/aqueduct"], out: "data/atlas" });
 *   await ingestLayers({ manifest: "maps/storm.json", out: "data/atlas" });
 *
 * Reading GeoTIFF needs the optional package geotiff.
 */
import { Fault } from "../errors.ts";
import { openGeoTiff } from "./readers/geotiff/geotiff.ts";
import { checkIngestOptions, type IngestOptions } from "./options.ts";
import type { HazardPlan } from "./plan.ts";
import type { Raster, RasterOptions } from "./raster.ts";
import { findAqueductFiles, planAqueductFloods } from "./recipes/aqueductFloods.ts";
import { planLayers } from "./recipes/layers.ts";
import { readManifest } from "./recipes/layersManifest.ts";
import type { IngestReport, SetAside } from "./report.ts";
import { SourceVersions } from "./sourceVersions.ts";
import { writeHazards } from "./writeHazards.ts";

export { Fault, type FaultCode, type FaultItem, isFault } from "../errors.ts";
export type { CellCounts } from "./cellCounts.ts";
export type { BoundingBox, IngestOptions, IngestProgress } from "./options.ts";
export type { GroupReport, IngestReport, SetAside } from "./report.ts";

export interface AqueductFloodsOptions extends IngestOptions {
  /** Files, folders (searched wholly) or http(s) addresses of the release's maps. */
  readonly sources: readonly string[];
}

/**
 * Writes WRI Aqueduct Floods maps, river and coast, into an atlas: for every scenario and year that is there the depth
 * with a return period of 100 years, its intensity, the annual probability of half a metre, and the total.
 *
 * @throws Fault `source_invalid` naming file and place, `invalid_request` for options that cannot be met,
 *   `atlas_unavailable` when the existing atlas is damaged, `configuration_invalid` without the package geotiff
 */
export async function ingestAqueductFloods(options: AqueductFloodsOptions): Promise<IngestReport> {
  checkIngestOptions(options, { sources: { type: "array", items: { type: "string" } } });
  const { files, setAside } = await findAqueductFiles(options.sources);
  return withRasters(options, setAside, (open, rasterOptions) => planAqueductFloods(files, open, rasterOptions));
}

export interface LayersOptions extends IngestOptions {
  /** Path of the JSON manifest; docs/ingest.md describes it. */
  readonly manifest: string;
}

/**
 * Writes maps that a manifest describes into an atlas: one file or band for each metric or return period.
 * Switches may be set in the manifest, here, or in both; of two clamp tolerances the one given here takes precedence.
 *
 * @throws Fault `invalid_request` with all that is wrong with the manifest; otherwise as `ingestAqueductFloods`
 */
export async function ingestLayers(options: LayersOptions): Promise<IngestReport> {
  checkIngestOptions(options, { manifest: { type: "string" } });
  const manifest = await readManifest(options.manifest, options);
  const { hold_flat, clamp_negative, clamp_tolerance, assume_wgs84, keep_meridian } = manifest.options ?? {};
  const clampTolerance = options.clampTolerance ?? clamp_tolerance;
  const keepMeridian = options.keepMeridian ?? keep_meridian;
  if (keep_meridian !== undefined && keep_meridian !== keepMeridian) {
    throw new Fault(
      "invalid_request",
      `${options.manifest}: keeps the ${keep_meridian} column of a repeated meridian, the option says ${keepMeridian}. Give one of them.`,
    );
  }
  const combined: IngestOptions = {
    ...options,
    holdFlat: options.holdFlat === true || hold_flat === true,
    clampNegative: options.clampNegative === true || clamp_negative === true,
    ...(clampTolerance === undefined ? {} : { clampTolerance }),
    assumeWgs84: options.assumeWgs84 === true || assume_wgs84 === true,
    ...(keepMeridian === undefined ? {} : { keepMeridian }),
  };
  return withRasters(combined, [], async (open, rasterOptions) => [
    await planLayers(manifest, options.manifest, open, rasterOptions),
  ]);
}

type OpenRaster = (file: string, options: RasterOptions) => Promise<Raster>;

/** Opens each file once, however many bands of it are taken, and closes all of them whatever happens. */
async function withRasters(
  options: IngestOptions,
  setAside: readonly SetAside[],
  plan: (open: OpenRaster, options: RasterOptions) => Promise<readonly HazardPlan[]>,
): Promise<IngestReport> {
  const { keepMeridian, signal } = options;
  const opened = new Map<string, Raster>();
  const sources = new SourceVersions({ folder: options.out, signal: options.signal });
  const open: OpenRaster = async (file, rasterOptions) => {
    const key = JSON.stringify([file, rasterOptions]);
    const known = opened.get(key);
    if (known !== undefined) return known;
    await sources.recordOpening(file);
    const raster = await openGeoTiff(file, { ...rasterOptions, ...(signal === undefined ? {} : { signal }) });
    opened.set(key, raster);
    return raster;
  };
  const rasterOptions: RasterOptions = {
    ...(options.nodata === undefined ? {} : { nodata: [options.nodata] }),
    ...(options.assumeWgs84 === true ? { assumeWgs84: true } : {}),
    ...(keepMeridian === undefined ? {} : { keepMeridian }),
  };
  try {
    return await writeHazards(await plan(open, rasterOptions), { options, setAside, sources });
  } finally {
    for (const raster of opened.values()) await raster.close();
  }
}
