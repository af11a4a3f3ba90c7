/**
 * Physical climate hazards at any place on Earth, exact to the cell, and the world that an entity's emissions belong
 * to. What is exported here is what we version.
 *
 *   const atlas = await openAtlas("data/atlas");
 *   await atlas.hazardRisk({ latitude: 11.6, longitude: 43.1, hazards: ["riverine_floods"],
 *                            analysis_years: [2030], scenarios: ["rcp4p5"], radius: 10 });
 *   await alignTemperature(entities, { detail: true });
 */
export {
  alignColumns,
  type AlignColumnsOptions,
  ALIGNMENT_FLAGS,
  type AlignmentAnswer,
  type AlignmentDetail,
  type AlignmentFlag,
  type AlignmentOptions,
  type AlignmentReason,
  type AlignmentResult,
  type AlignedYear,
  alignTemperature,
  type AlignTemperatureOptions,
  roundTemperatures,
} from "./alignment/align.ts";
export { type Benchmark, NGFS_PHASE5, type Pathway } from "./alignment/benchmark.ts";
export type { Entity } from "./alignment/entity.ts";
export { type AlignedColumns, type AlignmentBasis, type EntityColumns, PATHWAY_INDEX } from "./kernel/alignment.ts";
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
export { SAMPLE_REASONS, type SampleLayer, type SampleRequest, type SampleResult } from "./hazard/sample.ts";
export { openAtlas, type OpenAtlasOptions } from "./openAtlas.ts";
