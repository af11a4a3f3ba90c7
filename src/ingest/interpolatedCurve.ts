/** The curve of a year between two epochs: a map for each return period, which are computed together from all maps of both epochs. */
import { derivedSource, partsFrom } from "./derivedSource.ts";
import type { MapSource } from "./plan.ts";
import {
  type BandWindow,
  checkWindow,
  type DerivedSource,
  type InterpolatedCurveSpec,
  type Raster,
  type RasterValues,
} from "./raster.ts";

/**
 * Returns the maps of a year between two epochs, by return period. In each cell, the curve of each epoch is made non-decreasing
 * with a running maximum, in the unit of the metric; then each value is earlier x (1 - weight) + later x weight. A cell is
 * missing if it is missing at this or a shorter return period in either epoch. Values below zero count as 0: those that are
 * not within the clamp tolerance are rejected in the layers of the epochs, which the same ingest writes.
 *
 * @param earlier the maps of an epoch by ascending return period
 * @param later those of the other epoch, of the same return periods
 * @param weight 0 to 1
 */
export function interpolatedCurve(
  earlier: readonly MapSource[],
  later: readonly MapSource[],
  weight: number,
): readonly Raster[] {
  const spec = { earlier: earlier.map(derivedSource), later: later.map(derivedSource), weight };
  return interpolatedRasters(
    spec,
    [earlier, later].map((maps) => maps.map(({ raster }) => raster)) as [Raster[], Raster[]],
  );
}

/** Returns the maps that a description specifies, from the opened maps of its epochs. Closing them does not close those. */
export function interpolatedRasters(
  curve: InterpolatedCurveSpec,
  [earlier, later]: readonly [readonly Raster[], readonly Raster[]],
): readonly Raster[] {
  const all = [...earlier, ...later];
  const blockRowCount = Math.max(...all.map((raster) => raster.blockRowCount));
  const blockColumnCount = Math.max(...all.map((raster) => raster.blockColumnCount));
  // The maps of a curve are read at the same time and all need the maps of shorter return periods, so they share the work
  // on a window while it is in progress. Nothing is kept afterwards.
  const inProgress = new Map<string, Promise<readonly RasterValues[]>>();
  const read = (window: Omit<BandWindow, "band">): Promise<readonly RasterValues[]> => {
    const key = JSON.stringify([window.firstRow, window.rowCount, window.firstColumn, window.columnCount]);
    let values = inProgress.get(key);
    if (values === undefined) {
      values = readCurve(curve, { earlier, later }, window).finally(() => inProgress.delete(key));
      inProgress.set(key, values);
    }
    return values;
  };
  return earlier.map((first, period): Raster => {
    const second = later[period] as Raster;
    const [{ band: firstBand }, { band: secondBand }] = [curve.earlier[period], curve.later[period]] as [
      DerivedSource,
      DerivedSource,
    ];
    const band = first.bands[firstBand - 1];
    if (band === undefined) throw new Error(`${first.file} has no band ${firstBand}.`);
    return {
      spec: { kind: "derived", rule: { kind: "interpolated", period, weight: curve.weight }, curve },
      file: `the interpolation of ${first.file} and ${second.file}`,
      grid: first.grid,
      crs: first.crs,
      bands: [{ ...band, type: "float64", scale: 1, offset: 0, unit: undefined, nodata: [] }],
      blockRowCount,
      blockColumnCount,
      notes: {},
      ...partsFrom([
        { raster: first, band: firstBand },
        { raster: second, band: secondBand },
      ]),
      async readWindow(window) {
        checkWindow(window, first.grid, 1);
        return (await read(window))[period] as RasterValues;
      },
      close: () => Promise.resolve(),
    };
  });
}

async function readCurve(
  { earlier, later, weight }: InterpolatedCurveSpec,
  rasters: { readonly earlier: readonly Raster[]; readonly later: readonly Raster[] },
  window: Omit<BandWindow, "band">,
): Promise<readonly RasterValues[]> {
  const readAll = (maps: readonly Raster[], sources: InterpolatedCurveSpec["earlier"]): Promise<RasterValues[]> =>
    Promise.all(maps.map((raster, period) => raster.readWindow({ ...window, band: sources[period]?.band ?? 1 })));
  const [before, after] = await Promise.all([readAll(rasters.earlier, earlier), readAll(rasters.later, later)]);
  const cellCount = window.rowCount * window.columnCount;
  const [largestBefore, largestAfter] = [new Float64Array(cellCount), new Float64Array(cellCount)];
  return before.map((a, period) => {
    raise(largestBefore, a, earlier[period]?.unitFactor ?? 1);
    raise(largestAfter, after[period] as RasterValues, later[period]?.unitFactor ?? 1);
    const values = new Float64Array(cellCount);
    for (let cell = 0; cell < cellCount; cell++) {
      values[cell] = (largestBefore[cell] as number) * (1 - weight) + (largestAfter[cell] as number) * weight;
    }
    return values;
  });
}

/** Raises running maxima, which are at least 0, to the values of the next return period; a missing cell stays missing. */
function raise(largest: Float64Array, values: RasterValues, unitFactor: number): void {
  for (let cell = 0; cell < largest.length; cell++) {
    // Math.max returns NaN for a missing cell.
    largest[cell] = Math.max(largest[cell] as number, (values[cell] as number) * unitFactor);
  }
}
