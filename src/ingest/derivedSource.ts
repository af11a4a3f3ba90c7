/** The maps that a derived map is computed from. */
import type { MapSource } from "./plan.ts";
import type { DerivedSource, Raster } from "./raster.ts";

/** Returns the description of a map that another one is derived from. */
export function derivedSource({ raster, band, unitFactor }: MapSource): DerivedSource {
  return { spec: raster.spec, band, unitFactor };
}

/** One band of a raster. */
interface RasterBand {
  readonly raster: Raster;
  /** From 1. */
  readonly band: number;
}

/** Returns the bands of maps in files that a band of a raster is made of. */
export function fileBandsOf({ raster, band }: RasterBand): readonly RasterBand[] {
  const { parts, partBands } = raster;
  if (parts === undefined) return [{ raster, band }];
  return parts.map((part, index) => ({ raster: part, band: partBands?.[index] ?? band }));
}

/** Returns the parts of a raster that is derived from bands of other rasters. */
export function partsFrom(sources: readonly RasterBand[]): Required<Pick<Raster, "parts" | "partBands">> {
  const files = sources.flatMap(fileBandsOf);
  return { parts: files.map(({ raster }) => raster), partBands: files.map(({ band }) => band) };
}
