/** The engine behind a published explorer: the functions of the API, computed from an atlas. */
import type { Problem, RefusedQuery } from "../../contract/wireTypes.ts";
import type { Fault } from "../../errors.ts";
import type { ValueTileRequest } from "../../index.ts";
import { describeHazards } from "../../hazard/hazardCatalog.ts";
import { openAtlas } from "../../openAtlas.ts";
import type { Engine } from "./engineData.ts";

/** Memory for decoded tiles of the atlas. Phones end pages that use several hundred megabytes. */
const CACHE_BYTES = 128 << 20;
/** In problems of single queries, where the API has the id of the request. */
const NO_REQUEST_ID = "00000000-0000-0000-0000-000000000000";

/** Opens the atlas at a web address, or "demo". @throws Fault as `openAtlas` does */
export async function openEngine(atlasAddress: string): Promise<Engine> {
  const atlas = await openAtlas(atlasAddress, { cacheBytes: CACHE_BYTES });
  const company = () => import("./companyEngine.ts");
  return {
    catalog: async () => describeHazards(atlas),
    // The library checks the name of the metric.
    valueTile: (address, signal) => atlas.valueTile(address as ValueTileRequest, { signal }),
    hazardRisk: (query, signal) => atlas.hazardRisk(query, { signal }),
    async hazardRiskBatch(queries, signal) {
      const results = await atlas.hazardRiskBatch(queries, signal === undefined ? {} : { signal });
      return results.map((result) => ("error" in result ? refusedQuery(result.error) : result));
    },
    curve: (query, signal) => atlas.curve(query, { signal }),
    async curveBatch(queries, signal) {
      const results = await atlas.curveBatch(queries, signal === undefined ? {} : { signal });
      return results.map((result) => ("error" in result ? refusedQuery(result.error) : result));
    },
    alignTemperature: async (request, parameters) => (await company()).alignTemperature(request, parameters),
    totalClimateRisk: async (request) => (await company()).totalClimateRisk(request),
    industries: async () => (await company()).industries(),
    countries: async () => (await company()).countries(),
    scenarios: async () => (await company()).scenarios(),
  };
}

/** Returns the element of an invalid query, with the members that the API gives it. */
function refusedQuery({ code, message, items }: Fault): RefusedQuery {
  const isUnavailable = code === "combination_unavailable";
  const error: Problem = {
    type: "about:blank", // a published explorer has no pages about problems
    title: isUnavailable ? "There is no data for this combination" : "The request is not valid",
    status: isUnavailable ? 422 : 400,
    code,
    detail: message,
    request_id: NO_REQUEST_ID,
    retryable: false,
    ...(items.length > 0 && { errors: items }),
  };
  return { error };
}
