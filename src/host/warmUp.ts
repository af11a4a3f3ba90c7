import type { Atlas } from "../hazard/answer.ts";
import { HAZARD_NAMES, HAZARDS } from "../hazard/hazards.ts";
import { encodeJson } from "./http/json.ts";

/** The first 50 calls of a kernel run several times slower than later ones. */
const ROUNDS = 16;
/** Inland, island and coastal locations on all continents, because an atlas may cover a single country only. */
const LOCATIONS_DEG = [
  [51.5, -0.1],
  [11.6, 43.1],
  [23.7, 90.4],
  [-33.9, 151.2],
  [29.8, -95.4],
  [-1.3, 36.8],
] as const;

/**
 * Sends an atlas a few hundred queries, so that the first real query is as fast as later ones. Never rejects: data that
 * cannot be read is reported to the clients that request it, and does not affect the rest of the atlas.
 */
export async function warmUp(atlas: Atlas, signal: AbortSignal): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const hazard of HAZARD_NAMES) {
      const { years, scenarios } = HAZARDS[hazard];
      const [latitude, longitude] = LOCATIONS_DEG[round % LOCATIONS_DEG.length] ?? LOCATIONS_DEG[0];
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
