import { RADIUS_KM_MAX } from "../../contract/ranges.ts";
import { useExplorer } from "../context.ts";
import { useNumberInput } from "../useNumberInput.ts";

/** Returns the attributes of the field for the radius, and its error; undefined if there is none. */
export function useRadiusInput() {
  const { radiusKm } = useExplorer().state;
  const { input, isFaulty } = useNumberInput(radiusKm.value, {
    isValid: (value) => value >= 0 && value <= RADIUS_KM_MAX,
    onChange: (value) => (radiusKm.value = value),
  });
  const error = `The radius must be a number between 0 and ${RADIUS_KM_MAX} km. The last valid radius, ${radiusKm.value} km, stays in effect.`;
  return { input: { ...input, max: RADIUS_KM_MAX }, error: isFaulty ? error : undefined };
}
