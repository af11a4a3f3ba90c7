/** Evenly spaced coordinates along one dimension, and the edges of their cells. */

/** An evenly spaced axis in the order of the file. */
export interface Axis {
  /** Outer edge of the first cell. */
  readonly startDeg: number;
  /** Signed size of a cell. */
  readonly stepDeg: number;
  readonly count: number;
}

/** Largest deviation of a coordinate from even spacing, as a fraction of a cell. */
const SPACING_TOLERANCE_CELLS = 2e-3;

/** Lower and upper edge of each cell as a file states them. */
export interface CellBounds {
  readonly lowerDeg: readonly number[];
  readonly upperDeg: readonly number[];
}

/**
 * Returns the axis of cell centers, or of the cells that bounds describe.
 *
 * @param centersDeg coordinates in the order of the file
 * @param options `isFloat32`: the coordinates were rounded to 32 bits; `bounds`: edges of each cell; `limitDeg`: bounds beyond
 *   this absolute value may be cut off (90 for latitudes)
 * @throws Error naming what is not accepted
 */
export function evenAxis(
  centersDeg: Float64Array,
  {
    isFloat32,
    bounds,
    limitDeg,
  }: { readonly isFloat32: boolean; readonly bounds: CellBounds | undefined; readonly limitDeg: number | undefined },
): Axis {
  const count = centersDeg.length;
  if (!centersDeg.every((value) => Number.isFinite(value))) throw new Error("has missing or infinite values");
  if (count === 1) {
    if (bounds === undefined) throw new Error("has one value and no bounds, so the size of its cell is unknown");
    return singleCell(centersDeg[0] ?? NaN, bounds);
  }
  const exact = (value: number): number => (isFloat32 ? shortestDecimal(value) : value);
  const first = exact(centersDeg[0] ?? NaN);
  const stepDeg = (exact(centersDeg[count - 1] ?? NaN) - first) / (count - 1);
  if (!(stepDeg !== 0 && Number.isFinite(stepDeg))) throw new Error("has equal first and last values");
  const largestDeg = Math.max(Math.abs(centersDeg[0] ?? NaN), Math.abs(centersDeg[count - 1] ?? NaN));
  const roundingDeg = isFloat32 ? 1.5 * largestDeg * 2 ** -23 : 0;
  const toleranceDeg = SPACING_TOLERANCE_CELLS * Math.abs(stepDeg) + roundingDeg;
  for (let i = 0; i < count; i++) {
    const expected = first + i * stepDeg;
    const value = centersDeg[i] ?? NaN;
    if (Math.abs(value - expected) <= toleranceDeg) continue;
    throw new Error(
      `is not evenly spaced: value ${i} is ${value}, even spacing gives ${Number(expected.toPrecision(9))}. ` +
        "Gaussian and stretched grids are not supported; regrid the map, for example with cdo remapnn",
    );
  }
  const axis = { startDeg: first - 0.5 * stepDeg, stepDeg, count };
  return bounds === undefined ? axis : axisOfBounds(axis, bounds, { limitDeg, toleranceDeg });
}

function singleCell(centerDeg: number, { lowerDeg, upperDeg }: CellBounds): Axis {
  const [lower = NaN, upper = NaN] = [lowerDeg[0], upperDeg[0]];
  if (!(lower < upper && lower <= centerDeg && centerDeg <= upper))
    throw new Error(`has the bounds ${lower} to ${upper}, which do not contain its value ${centerDeg}`);
  return { startDeg: lower, stepDeg: upper - lower, count: 1 };
}

/**
 * Returns the axis whose edges the bounds state. Bounds differ from the midpoints between coordinates if the coordinates are
 * not the centers of their cells.
 */
function axisOfBounds(
  axis: Axis,
  { lowerDeg, upperDeg }: CellBounds,
  { limitDeg, toleranceDeg }: { readonly limitDeg: number | undefined; readonly toleranceDeg: number },
): Axis {
  const { stepDeg, count } = axis;
  const lowerOf = ({ startDeg }: Axis, index: number): number =>
    Math.min(startDeg + index * stepDeg, startDeg + (index + 1) * stepDeg);
  const cut = (value: number): number =>
    limitDeg === undefined ? value : Math.max(-limitDeg, Math.min(limitDeg, value));
  const matches = (candidate: Axis): boolean => {
    for (let i = 0; i < count; i++) {
      const lower = lowerOf(candidate, i);
      const [lowerDifference, upperDifference] = [
        Math.abs((lowerDeg[i] ?? NaN) - cut(lower)),
        Math.abs((upperDeg[i] ?? NaN) - cut(lower + Math.abs(stepDeg))),
      ];
      if (!(lowerDifference <= 2 * toleranceDeg && upperDifference <= 2 * toleranceDeg)) return false;
    }
    return true;
  };
  if (matches(axis)) return axis;
  // Edges from a cell in the middle, whose bounds are not cut off at a pole.
  const middle = Math.floor(count / 2);
  const shifted = { ...axis, startDeg: axis.startDeg + (lowerDeg[middle] ?? NaN) - lowerOf(axis, middle) };
  const shiftDeg = Math.abs(shifted.startDeg - axis.startDeg);
  if (shiftDeg <= 0.5 * Math.abs(stepDeg) + toleranceDeg && matches(shifted)) return shifted;
  throw new Error("has bounds that are not contiguous cells of the same size as the spacing of its values");
}

/**
 * Returns the decimal number with the fewest digits that rounds to a 32-bit float: writers round -179.95 to
 * -179.9499969482421875.
 */
function shortestDecimal(float32: number): number {
  for (let digitCount = 6; digitCount <= 9; digitCount++) {
    const decimal = Number(float32.toPrecision(digitCount));
    if (Math.fround(decimal) === float32) return decimal;
  }
  return float32;
}

/**
 * Adds 360 degrees after a jump over the antimeridian, so that longitudes such as 179, 180, -179 ascend.
 * @returns whether there was a jump
 */
export function unwrapLongitudes(valuesDeg: Float64Array): boolean {
  const jump = valuesDeg.findIndex((value, i) => i > 0 && value - (valuesDeg[i - 1] ?? NaN) < -180);
  if (jump === -1) return false;
  for (let i = jump; i < valuesDeg.length; i++) valuesDeg[i] = (valuesDeg[i] ?? NaN) + 360;
  return true;
}
