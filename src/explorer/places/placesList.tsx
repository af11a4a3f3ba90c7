/** The list of places that the user has pasted or uploaded. */
export function PlacesList() {
  return null;
}
