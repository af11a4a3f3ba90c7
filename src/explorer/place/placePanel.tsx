/** The place that was chosen: its values, and how they were computed. */
export function PlacePanel() {
  return null;
}
