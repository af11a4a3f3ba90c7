/**
 * Public API: physical climate hazards at any location, temperature alignment of entities' emissions, and climate risk of
 * companies. Semantic versioning applies only to the exports of the package's entry points, of which this file is one.
 *
 *   const atlas = await openAtlas("data/atlas");
 *   await atlas.hazardRisk({ latitude: 11.6, longitude: 43.1, hazards: ["riverine_floods"],
 *                            analysis_years: [2030], scenarios: ["rcp4p5"], radius: 10 });
 *   await alignTemperature(entities, { detail: true });
 *   await alignPortfolio(holdings, { methods: ["WATS", "ECOTS"], group_by: ["sector"] });
 *   totalClimateRisk({ name: "Example Cement", country: "India", industry: "Cement and lime", revenue: "7.87e9", ... });
 */
export { alignColumns } from "./alignment/alignColumns.ts";
export { alignTemperature } from "./alignment/alignTemperature.ts";
export { roundTemperatures } from "./alignment/answer.ts";
export { ALIGNMENT_FLAGS } from "./contract/names.ts";
export type { AlignColumnsOptions } from "./alignment/alignColumns.ts";
export type { AlignmentMembers, AlignmentOptions, AlignTemperatureOptions } from "./alignment/options.ts";
export {
  type Benchmark,
  type BenchmarkAnchor,
  type CurrentWarming,
  findGrowthSeries,
  type GrowthSeries,
  type IndexByYear,
} from "./alignment/benchmark.ts";
export { NGFS_PHASE5 } from "./alignment/benchmarkNgfsPhase5.ts";
export {
  type AlignedColumns,
  type IncludedColumns,
  type EntityColumns,
  NO_GROWTH_SERIES,
  PATHWAY_INDEX,
  type ReferenceColumns,
} from "./kernel/alignmentColumns.ts";
export { alignPortfolio } from "./holdings/alignPortfolio.ts";
export { roundPortfolio } from "./holdings/alignPortfolio.ts";
export { referenceCountries, referenceIndustries, referenceScenarios } from "./company/referenceLists.ts";
export { estimateEmissions, totalClimateRisk } from "./company/report.ts";
export {
  Fault,
  type FaultCode,
  type FaultDescription,
  type FaultItem,
  type FaultItemCode,
  type FaultLocation,
  isFault,
} from "./errors.ts";
export type { Atlas, AtlasHoldings } from "./hazard/answer.ts";
export type { BatchOptions, RefusedElement } from "./hazard/batch.ts";
export type { QueryOptions } from "./hazard/batch.ts";
export type { ValueTileLayer } from "./hazard/valueTiles.ts";
export type { ValueTileLayerRequest, ValueTileOptions, ValueTileRequest } from "./hazard/valueTiles.ts";
export { colorOf, type ColorScale, colorScaleOf, differenceScaleOf, type Rgba } from "./tiles/colorScales.ts";
export type { TileAddress } from "./tiles/mercator.ts";
export { decodeValueTile, encodeValueTile, valueOfStep, type ValueTile } from "./tiles/valueTile.ts";
export type {
  AlignedYear,
  AlignmentAnswer,
  AlignmentBasis,
  AlignmentDetail,
  AlignmentFlag,
  AlignmentInclude,
  AlignmentReason,
  AlignmentResult,
  AnalysisYearResult,
  Anchor,
  AnnualTail,
  AnswerDetail,
  BeforeAfter,
  BlendedYear,
  Bound,
  Bounds,
  BudgetScenario,
  CatalogBox,
  CatalogGrid,
  CatalogHazard,
  CatalogLayer,
  ColorStop,
  CompanyAnswer,
  CompanyAssumptions,
  CompanyAssumptionsRequest,
  CompanyEcho,
  CompanyHeadline,
  CompanyRequest,
  CompanyResult,
  CompanyValuation,
  CurveDetail,
  CurvePoint,
  CurveQueryInput,
  CurveResult,
  CurveScenarioResult,
  CurveYearResult,
  DamageCurvePoint,
  EmitterEcho,
  Exceedance,
  ExpectedAnnualDamage,
  ExpectedAnnualValue,
  IndustryParameters,
  CountryParameters,
  Contribution,
  DataQuality,
  DataSource,
  EmissionsAnswer,
  EmissionsBudget,
  EmissionsFigure,
  EmissionsFigures,
  EmissionsRequest,
  Entity,
  EntityEcho,
  ExcludedLabels,
  Financed,
  FinancedBudget,
  FinancedHolding,
  HazardQueryInput,
  HazardResult,
  Holding,
  HoldingBudget,
  HoldingQuality,
  HoldingScore,
  HoldingTemperature,
  MatchedSector,
  MetricDetail,
  ModelRange,
  ModelRangePoint,
  ModelRanges,
  NameSuggestions,
  NoDataReason,
  OverallTemperature,
  Pathway,
  PlaceOptions,
  PortfolioAnswer,
  PortfolioBounds,
  PortfolioCoverage,
  PortfolioGroup,
  PortfolioMethod,
  PortfolioOptions,
  PortfolioRequest,
  PortfolioResult,
  PortfolioScope,
  ProblemItem,
  QualityMark,
  ReferenceCountry,
  ReferenceIndustry,
  ReferenceScenario,
  RefusedEntity,
  Remark,
  RemarkCode,
  ReturnLevel,
  ScenarioResult,
  ScopeEmissions,
  ScopeTemperatures,
  ScoredHolding,
  TemperatureRange,
  UnattributedReason,
  UncoveredHolding,
  UncoveredReason,
} from "./contract/wireTypes.ts";
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
export type { HazardQuery } from "./hazard/query.ts";
export { SAMPLE_REASONS } from "./hazard/sample.ts";
export type {
  CellsRequest,
  SampleLayer,
  SampleRequest,
  SampleResult,
  StepsRequest,
  StepsResult,
} from "./hazard/sampleRequest.ts";
export type { ScoreStatus } from "./hazard/scoring/scoreRequest.ts";
export type { RowError } from "./places/scores/placeBlock.ts";
export type { PlaceResult } from "./places/scores/placeResult.ts";
export type { PlaceRow } from "./places/scores/scorePortfolio.ts";
export type { ScorePortfolioOptions } from "./places/scores/placeOptions.ts";
export { scorePortfolio, type ScoredPlace } from "./places/scores/scorePortfolio.ts";
export type { NgfsRegion } from "./reference/countryNames.ts";
export { openAtlas, type OpenAtlasOptions } from "./openAtlas.ts";
