import type { Atlas } from "../hazard/answer.ts";
import { HAZARD_NAMES, HAZARDS } from "../hazard/hazards.ts";
import { encodeJson } from "./http/json.ts";

/** The first fifty calls of a kernel run several times slower than those after them. */
const ROUNDS = 16;
/** Dry land, islands and coasts all over the world: an atlas of one country has one of them at hand, or none. */
const PLACES = [
  [51.5, -0.1],
  [11.6, 43.1],
  [23.7, 90.4],
  [-33.9, 151.2],
  [29.8, -95.4],
  [-1.3, 36.8],
] as const;

/**
 * Asks an atlas a few hundred things, so that its first real question is answered as quickly as the others. Never
 * rejects: what cannot be read is told to whoever asks for it, and the rest of the atlas is answered all the same.
 */
export async function warmUp(atlas: Atlas, signal: AbortSignal): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const hazard of HAZARD_NAMES) {
      const { years, scenarios } = HAZARDS[hazard];
      const [latitude, longitude] = PLACES[round % PLACES.length] ?? PLACES[0];
      for (const radius of [0, 5]) {
        const method = round % 2 === 0 ? "max" : "mean";
        const query = { latitude, longitude, hazards: [hazard], radius, aggregation_method: method } as const;
        if (signal.aborted) return;
        try {
          encodeJson(await atlas.hazardRisk({ ...query, analysis_years: [...years], scenarios: [...scenarios] }));
        } catch {
          continue;
        }
      }
    }
  }
}
