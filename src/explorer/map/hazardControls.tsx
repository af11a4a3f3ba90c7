/** Chooses hazard, metric, scenario, year, comparison and threshold. */
export function HazardControls() {
  return null;
}
