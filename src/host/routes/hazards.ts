import { HazardCatalogSchema } from "../../contract/hazardCatalog.ts";
import type { CatalogBox, HazardCatalog } from "../../contract/wireTypes.ts";
import type { Atlas, AtlasHoldings } from "../../hazard/answer.ts";
import { HAZARD_NAMES, HAZARDS } from "../../hazard/hazards.ts";
import { meaningsOf } from "../../hazard/meanings.ts";
import { rejectParameters } from "./parameters.ts";
import type { Route } from "../route.ts";

/** GET /api/v1/hazards: the supported hazards, years, scenarios and metrics, and the layers of the open atlas. */
export const hazards: Route<undefined, HazardCatalog> = {
  method: "GET",
  path: "/api/v1/hazards",
  access: "key",
  description: {
    operationId: "listHazards",
    tag: "Hazard risk",
    summary: "Catalog of hazards",
    responses: {
      200: {
        description: "Years, scenarios and metrics of each hazard, and the layers of the atlas with their sources.",
        schema: HazardCatalogSchema,
        headers: { "X-Atlas-Release": "Release of the atlas." },
      },
    },
    problems: ["invalid_request"],
  },
  revision: ({ atlas }) => atlas.contentHash,
  parse({ queryText }) {
    rejectParameters(queryText);
    return undefined;
  },
  handle: (_request, { services: { atlas } }) => buildCatalog(atlas),
  headers: ({ atlas }) => ({ "X-Atlas-Release": atlas.release }),
};

function buildCatalog({ release, synthetic, holdings }: Atlas): HazardCatalog {
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
