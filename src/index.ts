/**
 * Public API: physical climate hazards at any location, temperature alignment of entities' emissions, and climate risk of
 * companies. Semantic versioning applies to these exports only.
 *
 *   const atlas = await openAtlas("data/atlas");
 *   await atlas.hazardRisk({ latitude: 11.6, longitude: 43.1, hazards: ["riverine_floods"],
 *                            analysis_years: [2030], scenarios: ["rcp4p5"], radius: 10 });
 *   await alignTemperature(entities, { detail: true });
 *   totalClimateRisk({ name: "Ours", country: "India", industry: "Cement and lime", revenue: "7.87e9", ... });
 */
export { alignColumns } from "./alignment/alignColumns.ts";
export { alignTemperature } from "./alignment/alignTemperature.ts";
export {
  ALIGNMENT_FLAGS,
  type AlignmentAnswer,
  type AlignmentDetail,
  type AlignmentFlag,
  type AlignmentReason,
  type AlignmentResult,
  type AlignedYear,
  roundTemperatures,
} from "./alignment/answer.ts";
export type { AlignColumnsOptions, AlignmentOptions, AlignTemperatureOptions } from "./alignment/options.ts";
export { type Benchmark, NGFS_PHASE5, type Pathway } from "./alignment/benchmark.ts";
export type { Entity } from "./alignment/entity.ts";
export type { AlignmentBasis } from "./kernel/alignment.ts";
export { type AlignedColumns, type EntityColumns, PATHWAY_INDEX } from "./kernel/alignmentColumns.ts";
export {
  referenceCountries,
  type ReferenceCountry,
  referenceIndustries,
  type ReferenceIndustry,
  referenceScenarios,
  type ReferenceScenario,
} from "./company/referenceLists.ts";
export type { Remark, RemarkCode } from "./company/remarks.ts";
export type { CompanyAnswer, CompanyResult, CompanyValuation, EmissionsAnswer } from "./company/answer.ts";
export { type CompanyOptions, estimateEmissions, totalClimateRisk } from "./company/report.ts";
export type { CompanyRequest, EmissionsRequest } from "./company/request.ts";
export { Fault, type FaultCode, type FaultItem, isFault } from "./errors.ts";
export type { Atlas, AtlasHoldings, RefusedElement } from "./hazard/answer.ts";
export type {
  AnalysisYearResult,
  AnswerDetail,
  Bound,
  Bounds,
  HazardResult,
  MetricDetail,
  NoDataReason,
  ScenarioResult,
} from "./hazard/result.ts";
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
export { SAMPLE_REASONS } from "./hazard/sample.ts";
export type {
  CellsRequest,
  SampleLayer,
  SampleRequest,
  SampleResult,
  StepsRequest,
  StepsResult,
} from "./hazard/sampleRequest.ts";
export { openAtlas, type OpenAtlasOptions } from "./openAtlas.ts";
