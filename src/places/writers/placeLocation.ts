import type { PlaceBlock } from "../scores/placeBlock.ts";
import { numberIn } from "../readers/coordinates.ts";
import type { OutputColumn } from "./outputColumns.ts";

/**
 * Returns a coordinate of a place that is written as a number: also that of an invalid row, if the input has a number.
 * @returns NaN if there is none
 */
export function degreesOf(
  { latitudes, longitudes, kept }: PlaceBlock,
  { kind, index }: Extract<OutputColumn["value"], { kind: "latitude" | "longitude" }>,
  place: number,
): number {
  const degrees = (kind === "latitude" ? latitudes : longitudes)[place] ?? NaN;
  if (!Number.isNaN(degrees)) return degrees;
  const given = numberIn(kept[index]?.[place] ?? null);
  return Number.isFinite(given) ? given : NaN;
}
