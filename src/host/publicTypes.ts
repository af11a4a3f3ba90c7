/** Types that appear in the exports of main.ts, so that users can import them by name. */
export type {
  AnalysisYearResult,
  AnnualTail,
  AnswerDetail,
  Bound,
  Bounds,
  CatalogBox,
  CatalogGrid,
  CatalogHazard,
  CatalogLayer,
  CurveDetail,
  CurvePoint,
  CurveQueryInput,
  CurveResult,
  CurveScenarioResult,
  CurveYearResult,
  DamageCurvePoint,
  Exceedance,
  ExpectedAnnualDamage,
  ExpectedAnnualValue,
  HazardName,
  HazardQueryInput,
  HazardResult,
  Meter,
  MetricDetail,
  ModelRange,
  ModelRanges,
  MetricName,
  ModelRangePoint,
  NoDataReason,
  Problem as WireProblem,
  ProblemItem,
  ReturnLevel,
  Scenario,
  ScenarioResult,
  UsageGroup,
} from "../contract/wireTypes.ts";
export type { FaultCode, FaultDescription, FaultItem, FaultItemCode, FaultLocation } from "../errors.ts";
export type { Atlas, AtlasHoldings } from "../hazard/answer.ts";
export type { BatchOptions, RefusedElement } from "../hazard/batch.ts";
export type { QueryOptions } from "../hazard/batch.ts";
export type { HazardQuery } from "../hazard/query.ts";
export type { ValueTileLayer } from "../hazard/valueTiles.ts";
export type { ValueTileLayerRequest, ValueTileOptions, ValueTileRequest } from "../hazard/valueTiles.ts";
export type { TileAddress } from "../tiles/mercator.ts";
export type { ValueTile } from "../tiles/valueTile.ts";
export type {
  CellsRequest,
  SampleLayer,
  SampleRequest,
  SampleResult,
  StepsRequest,
  StepsResult,
} from "../hazard/sampleRequest.ts";
export type { EventRow } from "../ledger/chain.ts";
export type {
  Anchor,
  ArchiveContent,
  ArchivedEvent,
  AuditOptions,
  ChainHead,
  ChainProblem,
  ChainReport,
  PrunePlan,
  UsageArchive,
} from "../ledger/chainReport.ts";
export type {
  ArchivedBatch,
  AuditReport,
  Commit,
  CsvPage,
  CustomerRef,
  KeyHolder,
  MaintainedLedger,
  Page,
  PageQuery,
  RecordedEntry,
  RecordResult,
  UsageEntry,
  UsageLine,
  UsageQuery,
} from "../ledger/ledger.ts";
export type { ServerAddress } from "./http/listen.ts";
