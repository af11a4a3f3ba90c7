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
  { description: "Rows from the north, columns from the west." },
);
const BoxSchema = Type.Object({ north: Type.Number(), south: Type.Number(), west: Type.Number(), east: Type.Number() });

const CatalogSchema = Type.Object({
  release: Type.String({ description: "The set of numbers that answers; another release may give others." }),
  synthetic: Type.Boolean({ description: "True where every number is invented: the demo." }),
  hazards: Type.Array(
    Type.Object({
      hazard: Type.Enum(HAZARD_NAMES),
      analysis_years: Type.Array(Type.Integer()),
      scenarios: Type.Array(ScenarioSchema),
      metrics: Type.Array(
        Type.Object({
          metric: Type.String(),
          unit: Type.String({ description: "1 for a share or a probability." }),
          meaning: Type.String({
            description:
              "Under the rules of this atlas; under the default rules where it has nothing of the hazard. A layer whose " +
              "source states a definition is what that says.",
          }),
        }),
      ),
      resolution_deg: Type.Number({ description: "Nominal; an atlas keeps the grid of its source." }),
      grid: Type.Union([GridSchema, Type.Null()], {
        description: "This atlas's; null where it has nothing of the hazard.",
      }),
      coverage: Type.Union([BoxSchema, Type.Null()], { description: "What the grid covers, degrees." }),
      rules: Type.Record(Type.String(), Type.Unknown(), {
        description: "The numbers that this atlas's metrics were made with; empty where it has nothing of the hazard.",
      }),
      layers: Type.Array(
        Type.Object({
          scenario: ScenarioSchema,
          analysis_year: Type.Integer(),
          metrics: Type.Array(Type.String()),
          source: RecordSchema,
        }),
        { description: "What this atlas holds, and where from. The baseline answers for 1980 under every scenario." },
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

/** GET /api/v1/hazards: what there is to ask for, and what the open atlas has of it. */
export const hazards: Route<undefined, HazardCatalog> = {
  method: "GET",
  path: "/api/v1/hazards",
  access: "key",
  description: {
    operationId: "listHazards",
    tag: "Hazard risk",
    summary: "The catalogue of hazards",
    responses: {
      200: {
        description: "Years, scenarios and metrics of each hazard, and the atlas's layers with their sources.",
        schema: CatalogSchema,
        headers: { "X-Atlas-Release": "The release of the atlas that is told of." },
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
      const held = holdings.find((each) => each.hazard === hazard);
      const meanings: Readonly<Record<string, string>> = held === undefined ? {} : meaningsOf(hazard, held.rules);
      return {
        hazard,
        analysis_years: years,
        scenarios,
        metrics: metrics.map(({ metric, unit, meaning }) => ({ metric, unit, meaning: meanings[metric] ?? meaning })),
        resolution_deg: nominalResolutionDeg,
        grid: held?.grid ?? null,
        coverage: held === undefined ? null : boxOf(held.grid),
        rules: held?.rules ?? {},
        layers: held?.layers ?? [],
      };
    }),
  };
}

/** The edges of a grid. Rows whose centers lie on the poles end there, though the grid's own edge is beyond. */
function boxOf(grid: AtlasHoldings["grid"]): Static<typeof BoxSchema> {
  const { north_deg, west_deg: west } = grid;
  const north = Math.min(90, north_deg);
  const south = Math.max(-90, north_deg - grid.row_count * grid.cell_size_lat_deg);
  const east = west + grid.column_count * grid.cell_size_lon_deg;
  return { north, south, west, east };
}
