/** Maps that are computed cell by cell from two other maps. */
import { checkWindow, type DerivedSpec, partsOf, type Raster, type RasterValues } from "./raster.ts";
import type { MapSource } from "./plan.ts";

/**
 * Returns the map of a year between two epochs: in each cell, earlier x (1 - weight) + later x weight, in the unit of the
 * metric. A cell is missing if it is missing in either map. Values below zero count as 0: those that are not within the clamp
 * tolerance are rejected in the layers of the epochs, which the same ingest writes.
 *
 * @param weight 0 to 1
 */
export function interpolatedRaster(earlier: MapSource, later: MapSource, weight: number): Raster {
  const raster = derivedRaster(
    {
      kind: "derived",
      maps: [sourceSpec(earlier), sourceSpec(later)],
      rule: { kind: "interpolated", weight },
    },
    [earlier.raster, later.raster],
  );
  return { ...raster, file: `the interpolation of ${earlier.raster.file} and ${later.raster.file}` };
}

/**
 * Returns a map with 0 in the cells that are missing in it and have a value in another map.
 *
 * @param witness the map with the longest return period, which is flooded wherever a map of a shorter one is
 */
export function dryFilledRaster(map: MapSource, witness: MapSource): Raster {
  return derivedRaster(
    {
      kind: "derived",
      maps: [sourceSpec(map), sourceSpec(witness)],
      rule: { kind: "dry-filled" },
    },
    [map.raster, witness.raster],
  );
}

function sourceSpec({ raster, band, unitFactor }: MapSource): DerivedSpec["maps"][number] {
  return { spec: raster.spec, band, unitFactor };
}

/** Returns the map that a description specifies, from its two maps. Closing it does not close them. */
export function derivedRaster(spec: DerivedSpec, [first, second]: readonly [Raster, Raster]): Raster {
  const { rule } = spec;
  const [firstSource, secondSource] = spec.maps;
  const band = first.bands[firstSource.band - 1];
  if (band === undefined) throw new Error(`${first.file} has no band ${firstSource.band}.`);
  const isInterpolated = rule.kind === "interpolated";
  return {
    spec,
    file: first.file,
    grid: first.grid,
    crs: first.crs,
    bands: [isInterpolated ? { ...band, type: "float64", scale: 1, offset: 0, unit: undefined, nodata: [] } : band],
    blockRowCount: Math.max(first.blockRowCount, second.blockRowCount),
    blockColumnCount: Math.max(first.blockColumnCount, second.blockColumnCount),
    notes: isInterpolated
      ? {}
      : { missing_as_dry: "0 in cells that have a value on the map of the longest return period" },
    parts: isInterpolated ? [...partsOf(first), ...partsOf(second)] : partsOf(first),
    async readWindow(window) {
      checkWindow(window, first.grid, 1);
      const read = (raster: Raster, { band: number }: { readonly band: number }): Promise<RasterValues> =>
        raster.readWindow({ ...window, band: number });
      const [a, b] = await Promise.all([read(first, firstSource), read(second, secondSource)]);
      if (rule.kind === "dry-filled") return dryFilled(a, b);
      return interpolated(a, b, [(1 - rule.weight) * firstSource.unitFactor, rule.weight * secondSource.unitFactor]);
    },
    close: () => Promise.resolve(),
  };
}

function interpolated(
  earlier: RasterValues,
  later: RasterValues,
  [earlierFactor, laterFactor]: readonly [number, number],
): Float64Array {
  const values = new Float64Array(earlier.length);
  for (let cell = 0; cell < values.length; cell++) {
    const [a, b] = [earlier[cell] as number, later[cell] as number];
    // Math.max returns NaN for a missing cell.
    values[cell] = Math.max(0, a) * earlierFactor + Math.max(0, b) * laterFactor;
  }
  return values;
}

function dryFilled(map: RasterValues, witness: RasterValues): RasterValues {
  let filled: RasterValues | undefined;
  for (let cell = 0; cell < map.length; cell++) {
    if (!Number.isNaN(map[cell]) || Number.isNaN(witness[cell])) continue;
    filled ??= map.slice();
    filled[cell] = 0;
  }
  return filled ?? map;
}
