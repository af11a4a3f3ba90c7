import type { CircleWork } from "../../atlas/circleWork.ts";
import type { Sampler } from "../../atlas/sampler.ts";
import type { CurveResult } from "../../contract/wireTypes.ts";
import { Fault } from "../../errors.ts";
import { HAZARD_NAMES, type HazardName } from "../hazards.ts";
import { checkQueryOptions, type QueryRun } from "../queryRun.ts";
import { hasCurves } from "./curvePlan.ts";
import { type CurveQuery, hazardOf, isParsedFromUrl, parseCurveQuery } from "./curveQuery.ts";
import { toCurveYear } from "./curveResult.ts";
import { type CurvesRequest, estimateCurveCellVectors, estimateCurveWork, sampleCurves } from "./sampleCurves.ts";

/**
 * Returns the curves of a query, which has not been validated.
 * @throws Fault `invalid_request`, `combination_unavailable` (also if the atlas has no curves of the hazard),
 *   `atlas_unavailable`; the signal's reason when aborted
 */
export async function answerCurve(sampler: Sampler, input: unknown, run: QueryRun = {}): Promise<CurveResult> {
  checkQueryOptions(run);
  const query = parseCurveQuery(input);
  checkHasCurves(sampler, query);
  const hazard = hazardOf(query);
  const samples = await sampleCurves(sampler, requestOf(query), run);
  const { latitude, longitude, radius, aggregation_method, analysis_years, scenarios } = query;
  const results = scenarios.map((scenario, row) => ({
    scenario,
    analysis_years: analysis_years.map((year, column) => {
      const sample = samples[row * analysis_years.length + column];
      if (sample === undefined) throw new Error("sampleCurves must return one sample per scenario and year.");
      return toCurveYear(query, year, sample);
    }),
  }));
  const sources = samples.flatMap(({ source }) => (source === undefined ? [] : [[source.id, source.record] as const]));
  return {
    location: { latitude, longitude },
    ...(radius === 0 ? {} : { aggregation: { radius_km: radius, method: aggregation_method } }),
    results: [{ hazard, scenarios: results }],
    ...(query.detail ? { sources: Object.fromEntries(sources) } : {}),
  };
}

/** @throws Fault `combination_unavailable` if the atlas has no curves of the hazard */
export function checkHasCurves(sampler: Sampler, query: CurveQuery): void {
  const hazard = hazardOf(query);
  if (!hasCurves(sampler, hazard)) throw noCurves(sampler, hazard, query);
}

/** Estimates the cost of sampling the circles of a query; nothing for a point. */
export function estimateCurveQueryWork(sampler: Sampler, query: CurveQuery): CircleWork {
  return estimateCurveWork(sampler, requestOf(query));
}

/** Returns the number of cell vectors that the circles of a query would read cell by cell. */
export function estimateCurveQueryVectors(sampler: Sampler, query: CurveQuery): number {
  return estimateCurveCellVectors(sampler, requestOf(query));
}

function requestOf(query: CurveQuery): CurvesRequest {
  const { latitude, longitude, radius, aggregation_method, detail, scenarios, analysis_years } = query;
  const layers = scenarios.flatMap((scenario) => analysis_years.map((year) => ({ scenario, year })));
  return { hazard: hazardOf(query), latitude, longitude, radius, aggregation_method, detail, layers };
}

function noCurves(sampler: Sampler, hazard: HazardName, query: CurveQuery): Fault {
  const others = HAZARD_NAMES.filter((name) => hasCurves(sampler, name));
  const offer =
    others.length === 0
      ? "it has none of any hazard; to add them, ingest its return-period maps again with --keep-curves"
      : `it has curves of ${others.join(", ")}`;
  const detail = `This atlas has no return-period curves of ${hazard}: ${offer}.`;
  const location = isParsedFromUrl(query) ? { parameter: "hazards" } : { pointer: "/hazards/0" };
  const item = { ...location, code: "combination_unavailable" as const, detail, allowed: others, hazard };
  return new Fault("combination_unavailable", detail, { items: [item] });
}
