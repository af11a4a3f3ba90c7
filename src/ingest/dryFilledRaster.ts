/** A map whose dry cells are marked as missing, with 0 in them. */
import { derivedSource, partsFrom } from "./derivedSource.ts";
import type { MapSource } from "./plan.ts";
import { checkWindow, type DryFilledSpec, type Raster, type RasterValues } from "./raster.ts";

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
