import { type Static, Type } from "typebox";
import type { Atlas, AtlasHoldings } from "../../hazard/answer.ts";
import { HAZARD_NAMES, HAZARDS, SCENARIOS } from "../../hazard/hazards.ts";
import { meaningsOf } from "../../hazard/meanings.ts";
import { rejectParameters } from "./parameters.ts";
import type { Route } from "./route.ts";

const ScenarioSchema = Type.Enum(SCENARIOS);
const RecordSchema = Type.Record(Type.String(), Type.Unknown());

const GridSchema = Type.Object(
  {
    north_deg: Type.Number(),
    west_deg: Type.Number(),
    cell_size_lat_deg: Type.Number(),
    cell_size_lon_deg: Type.Number(),
    row_count: Type.Integer(),
    column_count: Type.Integer(),
  },
  { description: "Rows run from north to south, columns from west to east." },
);
const BoxSchema = Type.Object({ north: Type.Number(), south: Type.Number(), west: Type.Number(), east: Type.Number() });

const CatalogSchema = Type.Object({
  release: Type.String({ description: "Release of the atlas; values may differ between releases." }),
  synthetic: Type.Boolean({ description: "True if all values are invented, as in the demo." }),
  hazards: Type.Array(
    Type.Object({
      hazard: Type.Enum(HAZARD_NAMES),
      analysis_years: Type.Array(Type.Integer()),
      scenarios: Type.Array(ScenarioSchema),
      metrics: Type.Array(
        Type.Object({
          metric: Type.String(),
          unit: Type.String({ description: "1 for shares and probabilities." }),
          meaning: Type.String({
            description:
              "Under the rules of this atlas, or under the default rules if the atlas does not have the hazard. If the " +
              "source of a layer states a definition, that definition applies.",
          }),
        }),
      ),
      resolution_deg: Type.Number({ description: "Nominal; an atlas keeps the grid of its source." }),
      grid: Type.Union([GridSchema, Type.Null()], {
        description: "Grid of this atlas; null if it does not have the hazard.",
      }),
      coverage: Type.Union([BoxSchema, Type.Null()], { description: "Extent of the grid, degrees." }),
      rules: Type.Record(Type.String(), Type.Unknown(), {
        description: "Parameters that this atlas's metrics were derived with; empty if it does not have the hazard.",
      }),
      layers: Type.Array(
        Type.Object({
          scenario: ScenarioSchema,
          analysis_year: Type.Integer(),
          metrics: Type.Array(Type.String()),
          source: RecordSchema,
        }),
        { description: "Layers of this atlas and their sources. The baseline is used for 1980 under every scenario." },
      ),
    }),
  ),
});

interface HazardCatalog extends Pick<Atlas, "release" | "synthetic"> {
  readonly hazards: readonly CatalogHazard[];
}

interface CatalogHazard extends Pick<AtlasHoldings, "hazard" | "rules" | "layers"> {
  readonly analysis_years: readonly number[];
  readonly scenarios: readonly string[];
  readonly metrics: readonly { readonly metric: string; readonly unit: string; readonly meaning: string }[];
  readonly resolution_deg: number;
  readonly grid: AtlasHoldings["grid"] | null;
  readonly coverage: Static<typeof BoxSchema> | null;
}

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
        description: "Years, scenarios and metrics of each hazard, and the atlas's layers with their sources.",
        schema: CatalogSchema,
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
      const holding = holdings.find((each) => each.hazard === hazard);
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
function boundingBox(grid: AtlasHoldings["grid"]): Static<typeof BoxSchema> {
  const { north_deg, west_deg: west } = grid;
  const north = Math.min(90, north_deg);
  const south = Math.max(-90, north_deg - grid.row_count * grid.cell_size_lat_deg);
  const east = west + grid.column_count * grid.cell_size_lon_deg;
  return { north, south, west, east };
}
