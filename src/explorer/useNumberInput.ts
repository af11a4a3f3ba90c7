import { useSignal } from "@preact/signals";
import type { TargetedEvent } from "preact";
import { useEffect } from "preact/hooks";
import { RADIUS_KM_MAX } from "../contract/ranges.ts";
import { useExplorer } from "./context.ts";

interface NumberInputOptions {
  /** Whether a number is accepted. It is NaN if the field is empty or its text is no finite number. */
  readonly isValid: (value: number) => boolean;
  readonly onChange: (value: number) => void;
}

/**
 * Returns the attributes of a field for a number. A text that is not accepted stays in the field, and the last valid number
 * stays in effect, until the field or another control changes the number.
 */
export function useNumberInput(value: number, { isValid, onChange }: NumberInputOptions) {
  /** What the user has typed; undefined while the field shows the number in effect. */
  const typed = useSignal<string | undefined>(undefined);
  const isFaulty = useSignal(false);
  const reset = (): void => {
    typed.value = undefined;
    isFaulty.value = false;
  };
  useEffect(reset, [value]);
  return {
    isFaulty: isFaulty.value,
    input: {
      type: "number",
      min: 0,
      step: "any",
      inputMode: "decimal",
      // The value of a text that is no number is "". Setting it again would remove the text.
      value: typed.value ?? String(value),
      "aria-invalid": isFaulty.value,
      onInput: ({ currentTarget }: TargetedEvent<HTMLInputElement>): void => {
        typed.value = currentTarget.value;
      },
      onChange: ({ currentTarget: { value: text, valueAsNumber } }: TargetedEvent<HTMLInputElement>): void => {
        if (isValid(valueAsNumber)) {
          reset();
          onChange(valueAsNumber);
        } else {
          typed.value = text;
          isFaulty.value = true;
        }
      },
    },
  } as const;
}

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
