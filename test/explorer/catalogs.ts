/** Catalogs of small atlases. */
import { HAZARD_NAMES } from "../../src/contract/names.ts";
import type { CatalogHazard, CatalogLayer, HazardCatalog, HazardName, Scenario } from "../../src/contract/wireTypes.ts";
import { HAZARDS } from "../../src/hazard/hazards.ts";

/** Returns a layer of a flood hazard. @param periods the return periods of its curve, years */
export function layer(scenario: Scenario, year: number, periods?: readonly number[]): CatalogLayer {
  const metrics = ["intensity", "depth_meters", "probability"];
  return { scenario, analysis_year: year, metrics, source: {}, ...(periods && { curve_return_periods: periods }) };
}

/** Returns a catalog with all hazards, and the given layers. */
export function catalogOf(layers: Partial<Record<HazardName, readonly CatalogLayer[]>>): HazardCatalog {
  const hazards = HAZARD_NAMES.map((hazard): CatalogHazard => {
    const { years, scenarios, metrics, nominalResolutionDeg } = HAZARDS[hazard];
    return {
      hazard,
      analysis_years: years,
      scenarios,
      metrics,
      resolution_deg: nominalResolutionDeg,
      grid: null,
      coverage: null,
      rules: {},
      layers: layers[hazard] ?? [],
    };
  });
  return { release: "test", synthetic: true, hazards };
}
