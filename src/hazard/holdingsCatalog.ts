import type { CatalogBox, HazardCatalog } from "../contract/wireTypes.ts";
import type { Atlas, AtlasHoldings } from "./answer.ts";
import { HAZARD_NAMES, HAZARDS, meaningsOf } from "./hazards.ts";

/** Returns the supported hazards, with the layers of an open atlas. */
export function describeHoldings({ release, synthetic, holdings }: Atlas): HazardCatalog {
  return {
    release,
    synthetic,
    hazards: HAZARD_NAMES.map((hazard) => {
      const { years, scenarios, metrics, nominalResolutionDeg } = HAZARDS[hazard];
      const holding = holdings.find((candidate) => candidate.hazard === hazard);
      const meanings: Readonly<Record<string, string>> = holding === undefined ? {} : meaningsOf(hazard, holding.rules);
      return {
        hazard,
        analysis_years: years,
        scenarios,
        metrics: metrics.map(({ metric, unit, meaning }) => ({ metric, unit, meaning: meanings[metric] ?? meaning })),
        resolution_deg: nominalResolutionDeg,
        grid: holding?.grid ?? null,
        coverage: holding === undefined ? null : boundingBox(holding.grid),
        rules: holding?.rules ?? {},
        layers: holding?.layers ?? [],
      };
    }),
  };
}

/** Returns the bounding box of a grid. Rows centered on a pole extend beyond it; their edges are clamped to the pole. */
function boundingBox(grid: AtlasHoldings["grid"]): CatalogBox {
  const { north_deg, west_deg: west } = grid;
  const north = Math.min(90, north_deg);
  const south = Math.max(-90, north_deg - grid.row_count * grid.cell_size_lat_deg);
  const east = west + grid.column_count * grid.cell_size_lon_deg;
  return { north, south, west, east };
}
