/** The map of the chosen layer. */
export function HazardMap() {
  return null;
}
