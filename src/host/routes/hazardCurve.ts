import { CurveParametersSchema, CurveResultSchema } from "../../contract/curve.ts";
import type { CurveResult } from "../../contract/wireTypes.ts";
import { countCurves, type CurveQuery, parseCurveParameters } from "../../hazard/curveQuery.ts";
import { checkLimit, type Route } from "../route.ts";
import { countYears, RELEASE_HEADER, releaseHeader } from "./hazardAnswers.ts";

/** Counts the usage units of a result: one per analysis year that has a curve. */
export function countCurveValues(result: CurveResult): number {
  return countYears(result, ({ curve }) => curve !== null);
}

/** GET /api/v1/hazard-risk/curve: the return-period curves of one hazard at one location. */
export const hazardCurve: Route<CurveQuery, CurveResult> = {
  method: "GET",
  path: "/api/v1/hazard-risk/curve",
  access: "customer",
  description: {
    operationId: "getHazardCurve",
    tag: "Hazard risk",
    summary: "Return-period curve at one location",
    description:
      "Returns the value of one hazard at each return period of its maps, for each requested scenario and analysis year, " +
      "at the location or aggregated within a radius around it. Optionally adds the values at other return periods, the " +
      "annual probability of reaching a threshold, and the expected annual value above a floor. Nothing is extrapolated " +
      "beyond the return periods of the maps: there, values are bounds. Requires an atlas that keeps curves. Each curve " +
      "counts as one unit of `hazard_values`.",
    query: CurveParametersSchema,
    parameterExamples: {
      latitude: 11.59,
      longitude: 43.15,
      hazards: "riverine_floods",
      analysis_years: "2050",
      scenarios: "rcp8p5",
      radius: 10,
      threshold: 0.5,
      return_periods: "30,2000",
      floor: 0,
    },
    responses: {
      200: {
        description: "The curves, nested by hazard, scenario and analysis year.",
        schema: CurveResultSchema,
        headers: RELEASE_HEADER,
      },
    },
    problems: ["invalid_request", "combination_unavailable", "too_many_values", "atlas_unavailable"],
  },
  metered: { meter: "hazard_values", units: countCurveValues },
  revision: ({ atlas }) => atlas.contentHash,
  parse({ queryText, limits }) {
    const query = parseCurveParameters(queryText);
    const requested = countCurves(query);
    checkLimit("hazard values", { requested, limit: limits.hazardValueCount });
    // A curve is about as long as a hazard value with detail.
    checkLimit("curves", { requested, limit: limits.detailCount });
    return query;
  },
  checkAvailability: (query, { atlas }) => atlas.checkCurve?.(query),
  isLong: (query, { atlas }) => atlas.isLong?.(query) === true,
  estimateWork: (query, { atlas }) => ({
    elementCount: 1,
    ...(atlas.estimateWork?.(query) ?? { cellVectorCount: 0, coldTileVectorCount: 0 }),
  }),
  handle: (query, { services: { atlas }, timeSlice, signal }) => atlas.curve(query, { timeSlice, signal }),
  headers: releaseHeader,
};
