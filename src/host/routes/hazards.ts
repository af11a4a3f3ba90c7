import { HazardCatalogSchema } from "../../contract/hazardCatalog.ts";
import type { HazardCatalog } from "../../contract/wireTypes.ts";
import { describeHazards } from "../../hazard/hazardCatalog.ts";
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
  handle: (_request, { services: { atlas } }) => describeHazards(atlas),
  headers: ({ atlas }) => ({ "X-Atlas-Release": atlas.release }),
};
