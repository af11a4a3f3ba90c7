/** Maps that are computed from others: dry cells that are marked as missing, and curves between two epochs. */
import type { MapSource } from "./plan.ts";
import {
  type BandWindow,
  checkWindow,
  type DerivedSource,
  type DryFilledSpec,
  type InterpolatedCurveSpec,
  type Raster,
  type RasterValues,
} from "./raster.ts";

/** Returns the description of a map that another one is derived from. */
function derivedSource({ raster, band, unitFactor }: MapSource): DerivedSource {
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
function partsFrom(sources: readonly RasterBand[]): Required<Pick<Raster, "parts" | "partBands">> {
  const files = sources.flatMap(fileBandsOf);
  return { parts: files.map(({ raster }) => raster), partBands: files.map(({ band }) => band) };
}

/**
 * Returns a map with 0 in the cells that are missing in it and have a value in another map.
 *
 * @param witness the map with the longest return period, which is flooded wherever a map of a shorter one is
 */
export function dryFilledRaster(map: MapSource, witness: MapSource): Raster {
  const rule = { kind: "dry-filled" } as const;
  const spec = { kind: "derived", rule, map: derivedSource(map), witness: derivedSource(witness) } as const;
  return openDryFilled(spec, map.raster, witness.raster);
}

/** Returns the map that a description specifies, from its two maps. Closing it does not close them. */
export function openDryFilled(spec: DryFilledSpec, map: Raster, witness: Raster): Raster {
  const band = map.bands[spec.map.band - 1];
  if (band === undefined) throw new Error(`${map.file} has no band ${spec.map.band}.`);
  return {
    spec,
    file: map.file,
    grid: map.grid,
    crs: map.crs,
    bands: [band],
    blockRowCount: Math.max(map.blockRowCount, witness.blockRowCount),
    blockColumnCount: Math.max(map.blockColumnCount, witness.blockColumnCount),
    notes: { missing_as_dry: "0 in cells that have a value on the map of the longest return period" },
    ...partsFrom([{ raster: map, band: spec.map.band }]),
    async readWindow(window) {
      checkWindow(window, map.grid, 1);
      const [values, ofWitness] = await Promise.all([
        map.readWindow({ ...window, band: spec.map.band }),
        witness.readWindow({ ...window, band: spec.witness.band }),
      ]);
      return dryFilled(values, ofWitness);
    },
    close: () => Promise.resolve(),
  };
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
