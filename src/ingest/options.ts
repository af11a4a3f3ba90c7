/** Options of an ingest: their types, and the checks that do not require a map. */
import { Fault, type FaultItem } from "../errors.ts";
import { checkOptions, quote, summarizeItems, type ValueSchema } from "../validation/schemaErrors.ts";
import type { HazardName, MetricSpec, Scenario } from "../hazard/hazards.ts";
import type { KeptMeridian } from "./raster.ts";

/** Degrees; west < east. */
export interface BoundingBox {
  readonly westDeg: number;
  readonly southDeg: number;
  readonly eastDeg: number;
  readonly northDeg: number;
}

/** The options that every ingest accepts. */
export interface IngestOptions {
  /** The atlas folder; created if it does not exist. */
  readonly out: string;
  /** Writes only the cells that this box touches. */
  readonly bbox?: BoundingBox;
  /** If the maps do not span the design return period, uses the value of the map with the nearest return period. */
  readonly holdFlat?: boolean;
  /**
   * Sets values from -`clampTolerance` to 0 to zero; otherwise every negative value is rejected. Source values that commonly
   * mark missing cells, such as -9999, are always rejected.
   */
  readonly clampNegative?: boolean;
  /**
   * The largest deviation below zero that `clampNegative` accepts, in the metric's unit. Above 0; default 0.01 for metrics
   * without a unit (intensity, probability), 1 for the others.
   */
  readonly clampTolerance?: number;
  /** A value that marks missing cells, in addition to those that the files declare. */
  readonly nodata?: number;
  /** Reads files without a coordinate system as WGS84 degrees. */
  readonly assumeWgs84?: boolean;
  /**
   * Converts maps in formats without a reader, such as GRIB, into temporary GeoTIFF files with an installed GDAL, whose version
   * is recorded in the provenance.
   */
  readonly viaGdal?: boolean;
  /** Minimum number of seconds between two checkpoints; bounds the work lost when the process is killed. Default 2. */
  readonly checkpointSeconds?: number;
  /**
   * Steps per meter in which depths are stored, 1 to 10,000. An atlas stores up to 65,533 steps, so the default of 1000 stores
   * depths up to 65.533 m to the millimeter. Layers that are added to an atlas have the step size of those it has.
   */
  readonly depthStepsPerMeter?: number;
  /**
   * Number of threads that read maps and compute cells; 0 uses the calling thread. The atlas does not depend on it. Default:
   * as many as there are processors, at most 4; 0 for small maps.
   */
  readonly threads?: number;
  /** Which column to use if the first and the last column of a world map are the same meridian but differ in a value. */
  readonly keepMeridian?: KeptMeridian;
  /**
   * Cell size in degrees of maps that are reprojected from other coordinate systems. Default: the cells of the hazard in the
   * atlas; for a new hazard, 1/n degree with the smallest n that keeps the resolution of the map at its center.
   */
  readonly cellSizeDeg?: number;
  /**
   * Largest distance between the centers of neighboring cells of a reprojected map, in cells of the source. Above 1, cells of
   * the source are left out. Default 2.
   */
  readonly maxDistortion?: number;
  /**
   * Also stores the return-period curve of each cell, so that values at other return periods and probabilities of other
   * thresholds can be queried. Reads all return-period maps a second time.
   */
  readonly keepCurves?: boolean;
  /**
   * Also stores the smallest and the largest value over climate models of each metric, and with `keepCurves` of each return
   * period. Reads all return-period maps a second time.
   */
  readonly keepRange?: boolean;
  /**
   * Years that the sources lack, for which the curves of the years before and after are interpolated linearly. Only for
   * return-period maps; nothing is extrapolated.
   */
  readonly interpolateYears?: readonly number[];
  /** Whether years may also be interpolated between the baseline and the first year of a scenario. */
  readonly interpolateFromBaseline?: boolean;
  /** Scenarios that the sources lack, each with the scenario whose layers are used: `{ "rcp6p0": "rcp4p5" }`. */
  readonly proxyScenario?: Readonly<Record<string, string>>;
  /** The name of the new release. Default: derived from the date and the content. */
  readonly release?: string;
  /** Stops the ingest within a few rows with its abort reason; running the same ingest again resumes it. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: IngestProgress) => void;
}

export interface IngestProgress {
  readonly hazard: HazardName;
  /** Scenario and year whose curves or ranges are being written; absent while metrics are written. */
  readonly supplementOf?: { readonly scenario: Scenario; readonly year: number };
  readonly rowsDone: number;
  readonly rowCount: number;
  /** Cells of all source maps in one row; `rowsDone` rows of them have been read. */
  readonly sourceCellsPerRow: number;
}

const DEGREES: ValueSchema = { type: "number" };

/** Every member of IngestOptions except `nodata`, which may be infinite. */
const MEMBERS: Readonly<Record<string, ValueSchema>> = {
  out: { type: "string" },
  bbox: {
    type: "object",
    properties: { westDeg: DEGREES, southDeg: DEGREES, eastDeg: DEGREES, northDeg: DEGREES },
    required: ["westDeg", "southDeg", "eastDeg", "northDeg"],
    additionalProperties: false,
  },
  holdFlat: { type: "boolean" },
  clampNegative: { type: "boolean" },
  clampTolerance: { type: "number" },
  assumeWgs84: { type: "boolean" },
  viaGdal: { type: "boolean" },
  checkpointSeconds: { type: "number" },
  depthStepsPerMeter: { type: "number" },
  threads: { type: "number" },
  keepMeridian: { enum: ["west", "east"] },
  cellSizeDeg: { type: "number" },
  maxDistortion: { type: "number" },
  keepCurves: { type: "boolean" },
  keepRange: { type: "boolean" },
  interpolateYears: { type: "array", items: { type: "number" } },
  interpolateFromBaseline: { type: "boolean" },
  proxyScenario: { type: "object" },
  release: { type: "string" },
  signal: { type: "signal" },
  onProgress: { type: "function" },
};

/**
 * Checks names and types of the options of an ingest before any file is opened.
 *
 * @param recipeMembers the members specific to this ingest, all required
 * @param optionalMembers the other members specific to this ingest
 * @throws Fault `invalid_request` listing every unknown member and every value of the wrong type
 */
export function checkIngestOptions(
  options: IngestOptions,
  recipeMembers: Readonly<Record<string, ValueSchema>>,
  optionalMembers: Readonly<Record<string, ValueSchema>> = {},
): void {
  const isObject = typeof options === "object" && options !== null;
  const { nodata, ...others }: Partial<IngestOptions> = isObject ? options : {};
  const items: FaultItem[] = [];
  if (nodata !== undefined && (typeof nodata !== "number" || Number.isNaN(nodata))) {
    const detail = `nodata must be a number, finite or infinite (got ${quote(nodata)}); NaN is always missing.`;
    items.push({ pointer: "/nodata", code: "wrong_type", detail });
  }
  const shape: ValueSchema = {
    type: "object",
    properties: { ...recipeMembers, ...optionalMembers, ...MEMBERS },
    required: ["out", ...Object.keys(recipeMembers)],
    additionalProperties: false,
  };
  checkOptions(isObject ? others : options, shape, { code: "invalid_request", items });
}

/** Steps of a tenth of a millimeter, which store depths up to 6.5 m. */
const DEPTH_STEPS_PER_METER_MAX = 10_000;
/** Largest number of threads; each needs about 100 MB. */
const THREADS_MAX = 64;
const RELEASE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * Checks the values of options, which may come partly from a manifest.
 * @throws Fault `invalid_request` with every value that is out of range
 */
export function checkOptionRanges(options: IngestOptions): void {
  const { release, bbox, clampNegative, clampTolerance, checkpointSeconds, depthStepsPerMeter, threads } = options;
  const errors: string[] = [];
  if (release !== undefined && !RELEASE_NAME.test(release)) {
    errors.push(
      `The release name must be 1 to 100 letters, digits, ".", "_" or "-", starting with a letter or digit (got ${JSON.stringify(release)}).`,
    );
  }
  if (checkpointSeconds !== undefined && !(checkpointSeconds >= 0 && checkpointSeconds < Infinity)) {
    errors.push(
      `The time between checkpoints must be a finite number of seconds, 0 or more (got ${checkpointSeconds}).`,
    );
  }
  if (
    depthStepsPerMeter !== undefined &&
    !(depthStepsPerMeter >= 1 && depthStepsPerMeter <= DEPTH_STEPS_PER_METER_MAX)
  ) {
    errors.push(
      `The steps per meter of depths must be a number from 1 to ${DEPTH_STEPS_PER_METER_MAX} (got ${depthStepsPerMeter}).`,
    );
  }
  if (threads !== undefined && !(Number.isInteger(threads) && threads >= 0 && threads <= THREADS_MAX)) {
    errors.push(`The number of threads must be an integer from 0 to ${THREADS_MAX} (got ${threads}).`);
  }
  if (clampTolerance !== undefined && !(clampTolerance > 0 && clampTolerance < Infinity)) {
    errors.push(
      `The clamp tolerance must be a finite number above 0, in the unit of the metric (got ${clampTolerance}).`,
    );
  } else if (clampTolerance !== undefined && clampNegative !== true) {
    errors.push(
      `The clamp tolerance ${clampTolerance} has no effect without --clamp-negative (clampNegative, clamp_negative): give both or neither.`,
    );
  }
  rejectAny([...errors, ...boxErrors(bbox), ...reprojectionErrors(options)]);
}

type ReprojectionOptions = Pick<IngestOptions, "cellSizeDeg" | "maxDistortion">;

/**
 * Checks the options of reprojection, which are needed before maps are opened.
 * @throws Fault `invalid_request` with every value that is out of range
 */
export function checkReprojectionOptions(options: ReprojectionOptions): void {
  rejectAny(reprojectionErrors(options));
}

/** About 0.1 m. */
const CELL_SIZE_MIN_DEG = 1e-6;
const CELL_SIZE_MAX_DEG = 10;

function reprojectionErrors({ cellSizeDeg, maxDistortion }: ReprojectionOptions): readonly string[] {
  const errors: string[] = [];
  if (cellSizeDeg !== undefined && !(cellSizeDeg >= CELL_SIZE_MIN_DEG && cellSizeDeg <= CELL_SIZE_MAX_DEG)) {
    errors.push(
      `The cell size must be between ${CELL_SIZE_MIN_DEG} and ${CELL_SIZE_MAX_DEG} degrees (got ${cellSizeDeg}).`,
    );
  }
  if (maxDistortion !== undefined && !(maxDistortion >= 1 && maxDistortion < Infinity)) {
    errors.push(`The largest distortion must be a finite number of source cells, 1 or more (got ${maxDistortion}).`);
  }
  return errors;
}

/** @throws Fault `invalid_request` if a box is not in range */
export function checkBox(box: BoundingBox): void {
  rejectAny(boxErrors(box));
}

function boxErrors(box: BoundingBox | undefined): readonly string[] {
  if (box === undefined) return [];
  const { westDeg, southDeg, eastDeg, northDeg } = box;
  const isBox =
    westDeg < eastDeg && southDeg < northDeg && eastDeg - westDeg <= 360 && southDeg >= -90 && northDeg <= 90;
  if (isBox && westDeg >= -360 && eastDeg <= 360) return [];
  return [
    `The box must be W,S,E,N in degrees with W < E, S < N and latitudes from -90 to 90 (got ${westDeg},${southDeg},${eastDeg},${northDeg}). ` +
      `For a box across the antimeridian, write the east edge as W + width, such as 170,-20,190,-10.`,
  ];
}

/** Throws if there are errors. They have no pointer, because a value may come from an option or from the manifest. */
function rejectAny(errors: readonly string[]): void {
  if (errors.length === 0) return;
  const items = errors.map((detail) => ({ pointer: "", code: "out_of_range", detail }) as const);
  throw new Fault("invalid_request", summarizeItems(items, "the options"), { items });
}

/** Default clamp tolerance of metrics without a unit, which range from 0 to 1. */
const CLAMP_TOLERANCE_DEFAULT_FRACTION = 0.01;
/** Default clamp tolerance of all other metrics, in the unit of the metric. */
const CLAMP_TOLERANCE_DEFAULT = 1;

/**
 * Returns how far below zero values are set to zero, in the metric's unit; undefined if negative values are rejected.
 * @param unit the unit of the metric
 */
export function clampToleranceOf(
  { clampNegative, clampTolerance }: Pick<IngestOptions, "clampNegative" | "clampTolerance">,
  unit: MetricSpec["unit"],
): number | undefined {
  if (clampNegative !== true) return undefined;
  return clampTolerance ?? (unit === "1" ? CLAMP_TOLERANCE_DEFAULT_FRACTION : CLAMP_TOLERANCE_DEFAULT);
}
