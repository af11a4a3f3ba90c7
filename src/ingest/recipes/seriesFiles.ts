/** Opens the maps of a series: every band, or every position along one dimension, of each file is one map. */
import type { FaultItem } from "../../errors.ts";
import type { BandRun } from "../computedMethod.ts";
import type { MetricSource } from "../plan.ts";
import { computedRasterOf } from "../computed/computedRaster.ts";
import { type ComputedMethod, metricsOfMethod } from "../computedMethod.ts";
import type { DimensionChoice, Raster, RasterOptions } from "../raster.ts";
import { checkUnit } from "../units.ts";
import type { MetricSpec } from "../../hazard/hazards.ts";
import { filesOfLayer } from "./layerFiles.ts";
import type { MapOpener } from "./recipe.ts";

/** A series as a manifest describes it. */
interface SeriesMember {
  readonly files: string | readonly string[];
  readonly variable?: string;
  readonly select?: Readonly<Record<string, DimensionChoice>>;
  readonly nodata?: number;
  readonly crs?: string;
}

/** The files of a series, found but not opened. */
export interface FoundSeries {
  readonly series: SeriesMember;
  readonly files: readonly string[];
}

/** Finds the files of a series. @param at the path of the manifest, and the JSON pointer of the series */
export async function findSeries(
  series: SeriesMember,
  at: { readonly manifest: string; readonly pointer: string },
): Promise<FoundSeries & { readonly items: readonly FaultItem[] }> {
  return { series, ...(await filesOfLayer(at.manifest, series.files, `${at.pointer}/files`)) };
}

/** What the values of a series are, to be compared with the unit that the files declare. */
interface SeriesQuantity {
  readonly metric: string;
  readonly unit: MetricSpec["unit"];
  readonly unitFactor: number | undefined;
}

/** Opens the files of a series; of none if the series is undefined. */
export async function openSeries(
  maps: Pick<MapOpener, "open">,
  found: FoundSeries | undefined,
  { options, quantity }: { readonly options: RasterOptions; readonly quantity: SeriesQuantity },
): Promise<readonly Raster[]> {
  if (found === undefined) return [];
  const { series, files } = found;
  const { variable, select, crs } = series;
  const nodata = [...(options.nodata ?? []), ...(series.nodata === undefined ? [] : [series.nodata])];
  const parts: Raster[] = [];
  for (const file of files) {
    const part = await maps.open(file, {
      ...options,
      nodata,
      dimensionAsBands: true,
      ...(variable === undefined ? {} : { variable }),
      ...(select === undefined ? {} : { select }),
      ...(crs === undefined ? {} : { crs }),
    });
    checkUnit(part, { band: 1, ...quantity });
    parts.push(part);
  }
  return parts;
}

/** One map of a series. `date` is YYYY-MM-DD if the file states it. */
export interface SeriesMap {
  /** Index of the file. */
  readonly part: number;
  /** From 1. */
  readonly band: number;
  readonly date: string | undefined;
}

/** Lists the maps of a series in the order of files and bands. */
export function mapsOfSeries(parts: readonly Raster[]): readonly SeriesMap[] {
  return parts.flatMap(({ bands, bandDimension }, part) =>
    bands.map(({ coordinates }, index) => ({
      part,
      band: index + 1,
      date: dateOf(bandDimension === undefined ? undefined : coordinates[bandDimension]),
    })),
  );
}

function dateOf(coordinate: number | string | undefined): string | undefined {
  return typeof coordinate === "string" && /^\d{4}-\d\d-\d\dT/.test(coordinate) ? coordinate.slice(0, 10) : undefined;
}

/** Joins consecutive bands of a file into runs. @param firstPart added to the indexes of files */
export function runsOf(maps: readonly SeriesMap[], firstPart = 0): readonly BandRun[] {
  const runs: { part: number; firstBand: number; bandCount: number }[] = [];
  for (const { part, band } of maps) {
    const last = runs.at(-1);
    if (last?.part === part + firstPart && last.firstBand + last.bandCount === band) last.bandCount++;
    else runs.push({ part: part + firstPart, firstBand: band, bandCount: 1 });
  }
  return runs;
}

/** Returns the metrics of a method as the content of a group. */
export function computedMetrics(
  parts: readonly Raster[],
  method: ComputedMethod,
): { readonly kind: "metrics"; readonly metrics: Readonly<Record<string, MetricSource>> } {
  const raster = computedRasterOf(parts, method);
  const metrics = metricsOfMethod(method).map(({ metric }, index) => [
    metric,
    { raster, band: index + 1, unitFactor: 1, saturate: false },
  ]);
  return { kind: "metrics", metrics: Object.fromEntries(metrics) as Record<string, MetricSource> };
}
