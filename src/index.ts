/**
 * Physical climate hazards at any place on Earth, exact to the cell. What is exported here is what we version.
 *
 *   const atlas = await openAtlas("data/atlas");
 *   await atlas.hazardRisk({ latitude: 11.6, longitude: 43.1, hazards: ["riverine_floods"],
 *                            analysis_years: [2030], scenarios: ["rcp4p5"], radius: 10 });
 */
export { Fault, type FaultCode, type FaultItem, isFault } from "./errors.ts";
export type {
  AnalysisYearResult,
  AnswerDetail,
  Atlas,
  HazardResult,
  NoDataReason,
  RefusedElement,
  ScenarioResult,
} from "./hazard/answer.ts";
export {
  HAZARDS,
  type HazardName,
  type HazardRules,
  type HazardSpec,
  type MetricName,
  type MetricSpec,
  SCENARIOS,
  type Scenario,
} from "./hazard/hazards.ts";
export type { HazardQuery, HazardQueryInput } from "./hazard/query.ts";
export { openAtlas, type OpenAtlasOptions } from "./openAtlas.ts";
