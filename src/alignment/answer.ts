import { ALIGNMENT_FLAGS } from "../contract/alignmentNames.ts";
import type { AlignmentAnswer, AlignmentFlag } from "../contract/wireTypes.ts";

/** Returns the bit of a flag in a flag column. */
export function flagBit(flag: AlignmentFlag): number {
  return 1 << ALIGNMENT_FLAGS.indexOf(flag);
}

/** Rounds a temperature to the two decimals sent over the wire. */
export function roundTemperature(temperatureC: number): number {
  return Math.round(100 * temperatureC) / 100;
}

/** Rounds temperatures as sent over the wire; details stay unrounded. */
export function roundTemperatures({ results }: AlignmentAnswer): AlignmentAnswer {
  return {
    results: results.map(({ entity_info, data }) => ({
      entity_info,
      data: data.map((year) => {
        const { temperature_alignment: temperature } = year;
        return { ...year, temperature_alignment: temperature === null ? null : roundTemperature(temperature) };
      }),
    })),
  };
}
