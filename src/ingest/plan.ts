import type { HazardName, HazardRules, MetricName, Scenario } from "../hazard/hazards.ts";
import type { KeptMeridian, Raster } from "./raster.ts";

/** One band of one file, and what turns its numbers into the metric's unit. */
export interface MapSource {
  readonly raster: Raster;
  /** From 1. */
  readonly band: number;
  /** Source units to the metric's. */
  readonly unitFactor: number;
}

/** The return-period maps of one climate model (or of the one model there is), ascending. */
export interface CurveSource {
  readonly model: string;
  readonly maps: readonly (MapSource & { readonly returnPeriodYears: number })[];
}

/** A metric that a source states itself. */
export interface MetricSource extends MapSource {
  /** Values above what the metric can mean count as its largest; otherwise they are refused. */
  readonly saturate: boolean;
}

/** What one (scenario, year) is made of: curves, or metrics as they are. */
export type GroupContent =
  | { readonly kind: "curves"; readonly models: readonly CurveSource[] }
  | {
      readonly kind: "metrics";
      readonly metrics: Readonly<Partial<Record<Exclude<MetricName, "total_hazard">, MetricSource>>>;
    };

export interface GroupPlan {
  readonly scenario: Scenario;
  readonly year: number;
  readonly content: GroupContent;
  /** What the recipe knows; how the numbers were made is added when they are. */
  readonly provenance: Readonly<Record<string, unknown>>;
}

/** Every map of a group, in a fixed order. */
export function mapsOf({ content }: GroupPlan): readonly MapSource[] {
  return content.kind === "curves" ? content.models.flatMap(({ maps }) => maps) : Object.values(content.metrics);
}

/** All that one ingest makes for one hazard. */
export interface HazardPlan {
  readonly hazard: HazardName;
  readonly rules: HazardRules;
  readonly groups: readonly GroupPlan[];
}

/** A file that was named, or found in a folder, and is not used; and why. */
export interface SetAside {
  readonly file: string;
  readonly reason: string;
}

/** Degrees; west < east. */
export interface BoundingBox {
  readonly westDeg: number;
  readonly southDeg: number;
  readonly eastDeg: number;
  readonly northDeg: number;
}

/** The options of every ingest. */
export interface IngestOptions {
  /** The atlas folder; made where there is none. */
  readonly out: string;
  /** Take only the cells that this box touches. */
  readonly bbox?: BoundingBox;
  /** Where the maps do not span the design return period, take the nearest map's value for it. */
  readonly holdFlat?: boolean;
  /** Take values just below zero, down to -`clampTolerance`, for zero; otherwise every value below zero is refused. */
  readonly clampNegative?: boolean;
  /** With `clampNegative`: how far below zero a value may be, in the unit of its metric. Above 0; default 1. */
  readonly clampTolerance?: number;
  /** A marker of missing values beside those that the files declare. */
  readonly nodata?: number;
  /** Take files without a coordinate system for WGS84 degrees. */
  readonly assumeWgs84?: boolean;
  /** Seconds between two checkpoints, at least: what a kill can cost, beside the step in work. Default 2. */
  readonly checkpointSeconds?: number;
  /** Which column counts where a world map's last stands for the same meridian as its first and differs from it. */
  readonly keepMeridian?: KeptMeridian;
  /** The name of the new release; one is made from date and content otherwise. */
  readonly release?: string;
  /** Stops the work within a few rows, with the signal's reason; the same ingest continues from there later. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: IngestProgress) => void;
}

export interface IngestProgress {
  readonly hazard: HazardName;
  readonly rowsDone: number;
  readonly rowCount: number;
}

/** What an ingest did. */
export interface IngestReport {
  readonly atlas: string;
  readonly release: string;
  readonly groups: readonly GroupReport[];
  readonly setAside: readonly SetAside[];
  readonly durationMs: number;
}

export interface GroupReport {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly year: number;
  readonly metrics: readonly MetricName[];
  /** Of the hazard's own metric, or of the group's first where that is absent. */
  readonly cells: CellCounts;
  /** In each metric's unit. */
  readonly largestRounding: Readonly<Partial<Record<MetricName, number>>>;
  /** True where this (scenario, year) stood in the atlas before. */
  readonly replaced: boolean;
}

export interface CellCounts {
  readonly valid: number;
  readonly nodata: number;
  /** Of the valid ones. */
  readonly zero: number;
  readonly clampedNegative: number;
  readonly partlyMissing: number;
  readonly reachedAtFirst: number;
  readonly raised: number;
}
