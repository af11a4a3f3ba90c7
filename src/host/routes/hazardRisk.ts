import type { HazardResult } from "../../hazard/answer.ts";
import { countValues, type HazardQuery, readHazardParameters } from "../../hazard/query.ts";
import { type Route, withinLimit } from "../route.ts";

/** GET /api/v1/hazard-risk: one location, every hazard x scenario x year asked for. */
export const hazardRisk: Route<HazardQuery, HazardResult> = {
  method: "GET",
  path: "/api/v1/hazard-risk",
  parse({ queryText, limits }) {
    const query = readHazardParameters(queryText);
    withinLimit("hazard values", { requested: countValues(query), limit: limits.hazardValueCount });
    return query;
  },
  handle: (query, { atlas }) => atlas.hazardRisk(query),
  headers: ({ atlas }) => ({ "X-Atlas-Release": atlas.release }),
};
