import type { Atlas } from "../hazard/answer.ts";
import { HAZARD_NAMES, HAZARDS } from "../hazard/hazards.ts";
import { encodeJson } from "../text/json/json.ts";

/** Locations on all inhabited continents, because an atlas may cover a single country only. */
const LOCATIONS_DEG = [
  [51.5, -0.1],
  [11.6, 43.1],
  [23.7, 90.4],
  [-33.9, 151.2],
  [29.8, -95.4],
  [-34.6, -58.4],
  [-1.3, 36.8],
] as const;
const RADII_KM = [0, 5];
const METHODS = ["max", "mean"] as const;

/**
 * Sends an atlas about a hundred queries, so that the first real query is as fast as later ones: the first 50 calls of a
 * kernel take several times as long. Never rejects: data that cannot be read is reported to the clients that request it,
 * and does not affect the rest of the atlas.
 */
export async function warmUp(atlas: Atlas, signal: AbortSignal): Promise<void> {
  for (const [latitude, longitude] of LOCATIONS_DEG) {
    for (const hazard of HAZARD_NAMES) {
      const { years, scenarios } = HAZARDS[hazard];
      // A circle reads, or in the demo computes, its tiles for every year and scenario.
      const circleLayers = { analysis_years: years.slice(-1), scenarios: scenarios.slice(-1) };
      for (const radius of RADII_KM) {
        for (const aggregation_method of METHODS) {
          const layers = radius === 0 ? { analysis_years: [...years], scenarios: [...scenarios] } : circleLayers;
          const query = { latitude, longitude, hazards: [hazard], radius, aggregation_method, ...layers };
          if (signal.aborted) return;
          try {
            encodeJson(await atlas.hazardRisk(query));
          } catch {
            continue;
          }
        }
      }
    }
  }
}
