/** Colors of the map, with their values. */
export function Legend() {
  return null;
}
