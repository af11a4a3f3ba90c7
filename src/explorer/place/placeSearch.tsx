/** Chooses a place by coordinates or by the name of a city. */
export function PlaceSearch() {
  return null;
}
