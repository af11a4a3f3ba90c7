/** What the page says about places beyond the northern and southern edges of the map. */
import { MERCATOR_LAT_DEG_MAX } from "../../tiles/mercator.ts";
import { formatCount } from "../format.ts";

interface Location {
  readonly latitude: number;
}

const EDGE = `${MERCATOR_LAT_DEG_MAX.toFixed(2)}°`;

/** Returns where the marker of a place is, if the map does not reach the place. */
export function placeBeyondMapText(place: Location): string | undefined {
  if (!isBeyondMap(place)) return undefined;
  return `The map ends at ${EDGE} ${place.latitude < 0 ? "S" : "N"}; the place is drawn at its edge.`;
}

/** As `placeBeyondMapText`, for the places of a list. */
export function placesBeyondMapText(places: readonly Location[]): string | undefined {
  const count = places.filter(isBeyondMap).length;
  if (count === 0) return undefined;
  const what =
    count === 1 ? "1 place beyond is drawn at its edge" : `${formatCount(count)} places beyond are drawn at its edges`;
  return `The map ends at ${EDGE} N and S; ${what}.`;
}

function isBeyondMap({ latitude }: Location): boolean {
  return Math.abs(latitude) > MERCATOR_LAT_DEG_MAX;
}
