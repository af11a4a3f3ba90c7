/** States where the cells of maps lie, because reading a map half a cell off is a common mistake. */
import { type HazardPlan, mapsOf } from "../plan.ts";
import { partsOf, type Raster, sourceFault } from "../raster.ts";

/** Largest distance from a multiple of the cell size, as a fraction of a cell. */
const TOLERANCE_CELLS = 0.01;

/**
 * Adds the registration of the maps of a plan to its provenance: whether centers or edges of cells are at multiples of the cell size.
 * @throws Fault `source_invalid` if two maps have different registrations
 */
export function withRegistration(plan: HazardPlan): HazardPlan {
  const registration = registrationOf(plan.groups.flatMap(mapsOf).flatMap(({ raster }) => partsOf(raster)));
  const groups = plan.groups.map((group) => ({ ...group, provenance: { ...group.provenance, registration } }));
  return { ...plan, groups };
}

function registrationOf(rasters: readonly Raster[]): string | undefined {
  const [first, ...others] = rasters;
  if (first === undefined) return undefined;
  const registration = describeRegistration(first);
  for (const other of others) {
    const found = describeRegistration(other);
    if (found === registration) continue;
    throw sourceFault(other.file, `has ${found}, but ${first.file} has ${registration}.`);
  }
  return registration;
}

function describeRegistration({ grid }: Raster): string {
  const { westDeg, northDeg, cellSizeLonDeg, cellSizeLatDeg } = grid;
  const sizeText = String(Number(cellSizeLonDeg.toPrecision(6)));
  const shifts = [westDeg / cellSizeLonDeg, northDeg / cellSizeLatDeg].map((edge) => edge - Math.floor(edge));
  const isNear = (target: number): boolean =>
    shifts.every((shift) => Math.min(Math.abs(shift - target), 1 - Math.abs(shift - target)) <= TOLERANCE_CELLS);
  if (isNear(0.5)) return `cell centers at multiples of ${sizeText} degrees`;
  if (isNear(0)) return `cell edges at multiples of ${sizeText} degrees`;
  return `cell edges at latitude ${northDeg} and longitude ${westDeg}`;
}
