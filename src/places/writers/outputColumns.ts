/** The columns of an output file, for both layouts and all formats. */
import { METRIC_NAMES } from "../../contract/names.ts";
import { isHazardName, type MetricName } from "../../hazard/hazards.ts";
import { firstColumnsOf, type ScoreGroup } from "../../hazard/scoring/scoreRequest.ts";
import { numberIn } from "../readers/coordinates.ts";
import type { KeptColumn, PlaceBlock } from "../scores/placeBlock.ts";
import type { CodeKind, NumberKind } from "./blockArrays.ts";

export const LAYOUTS = ["long", "wide"] as const;
/** `long`: one row per place and group; `wide`: one row per place. */
export type Layout = (typeof LAYOUTS)[number];

export interface OutputPlan {
  readonly layout: Layout;
  readonly groups: readonly ScoreGroup[];
  readonly keptColumns: readonly KeptColumn[];
  /**
   * Columns of text with the latitude and the longitude, which are written as numbers because the format has types. In
   * other formats their text is kept.
   */
  readonly typedLocation?: { readonly latitude: string | undefined; readonly longitude: string | undefined };
  /** Whether a column `geometry` with a point is added. */
  readonly hasGeometry: boolean;
}

/**
 * Where the values of a column come from. `positions` are positions among the values of a place, by group of the row in the
 * long layout, and one position in the wide layout; -1 means that the rows of the group have no value.
 */
type ColumnValue =
  | { readonly kind: "kept"; readonly index: number }
  /** `index` is the kept column with the text of the coordinate. */
  | { readonly kind: "latitude" | "longitude"; readonly index: number }
  | { readonly kind: "geometry" }
  | { readonly kind: "hazard" | "scenario" | "analysisYear" }
  | { readonly kind: "number"; readonly array: NumberKind; readonly positions: Int32Array }
  | { readonly kind: "code"; readonly array: CodeKind; readonly positions: Int32Array }
  | { readonly kind: "error" };

export interface OutputColumn {
  readonly name: string;
  readonly type: KeptColumn["type"] | "year" | "geometry";
  readonly value: ColumnValue;
}

/** A name of the wide layout: hazard, scenario, analysis year and what the column has. */
export const WIDE_NAME = /^([a-z_]+)\.([a-z0-9]+)\.(\d{4})\.([a-z_]+)$/;

/** Returns whether a kept column could be taken for a score, such as that of an earlier run with other scenarios. */
function isWideScoreName(name: string): boolean {
  return isHazardName(WIDE_NAME.exec(name)?.[1] ?? "");
}

/**
 * Returns the columns of an output file in their order. Names are unique, also if case is ignored, as DuckDB and Spark do;
 * only names of the input that are kept may differ in case alone.
 */
export function outputColumns(plan: OutputPlan): readonly OutputColumn[] {
  const scores = plan.layout === "long" ? longColumns(plan) : wideColumns(plan);
  const places: readonly OutputColumn[] = plan.hasGeometry
    ? [{ name: "geometry", type: "geometry", value: { kind: "geometry" } }]
    : [];
  const keptNames = uniqueKeptNames(plan, new Set([...scores, ...places].map(({ name }) => name)));
  const kept = plan.keptColumns.map(({ name, type }, index): OutputColumn => {
    const unique = keptNames[index] ?? name;
    if (type === "text" && name === plan.typedLocation?.latitude) {
      return { name: unique, type: "number", value: { kind: "latitude", index } };
    }
    if (type === "text" && name === plan.typedLocation?.longitude) {
      return { name: unique, type: "number", value: { kind: "longitude", index } };
    }
    return { name: unique, type, value: { kind: "kept", index } };
  });
  return [...kept, ...places, ...scores];
}

/**
 * Returns the names of the kept columns in the output. Those that could be taken for another column are renamed.
 * @param others names of the other columns, in lower case
 */
function uniqueKeptNames({ layout, keptColumns }: OutputPlan, others: ReadonlySet<string>): readonly string[] {
  const isRenamed = (folded: string): boolean => others.has(folded) || (layout === "wide" && isWideScoreName(folded));
  const folded = keptColumns.map(({ name }) => name.toLowerCase());
  const taken = new Set(folded.filter((name) => !isRenamed(name)));
  return keptColumns.map(({ name }) => {
    if (!isRenamed(name.toLowerCase())) return name;
    let renamed = name;
    do renamed = `input_${renamed}`;
    while (taken.has(renamed.toLowerCase()) || isRenamed(renamed.toLowerCase()));
    taken.add(renamed.toLowerCase());
    return renamed;
  });
}

/** Returns the metrics of all groups. */
function metricsOf(groups: readonly ScoreGroup[]): readonly MetricName[] {
  const requested = new Set(groups.flatMap(({ metrics }) => metrics));
  return METRIC_NAMES.filter((metric) => requested.has(metric));
}

function longColumns({ groups }: OutputPlan): readonly OutputColumn[] {
  const first = firstColumnsOf(groups);
  const metrics = metricsOf(groups);
  const positions = Int32Array.from(groups.keys());
  const included = {
    hasProbability: metrics.includes("probability"),
    hasTotal: metrics.includes("total_hazard"),
    hasExceedance: groups.some(({ threshold }) => threshold !== undefined),
  };
  return [
    { name: "hazard", type: "text", value: { kind: "hazard" } },
    { name: "scenario", type: "text", value: { kind: "scenario" } },
    { name: "analysis_year", type: "year", value: { kind: "analysisYear" } },
    ...metrics.map((metric): OutputColumn => {
      const columns = Int32Array.from(groups, (group, i) => {
        const index = group.metrics.indexOf(metric);
        return index < 0 ? -1 : (first[i] ?? 0) + index;
      });
      return { name: metric, type: "number", value: { kind: "number", array: "metric", positions: columns } };
    }),
    ...groupValues(included).map(({ name, value }) => groupColumn(name, value, positions)),
    { name: "error", type: "text", value: { kind: "error" } },
  ];
}

function wideColumns({ groups }: OutputPlan): readonly OutputColumn[] {
  const first = firstColumnsOf(groups);
  const columns = groups.flatMap(({ hazard, scenario, analysisYear, metrics, threshold }, group) => {
    const prefix = `${hazard}.${scenario}.${analysisYear}`;
    const included = {
      hasProbability: metrics.includes("probability"),
      hasTotal: metrics.includes("total_hazard"),
      hasExceedance: threshold !== undefined,
    };
    return [
      ...metrics.map((metric, i): OutputColumn => {
        const positions = Int32Array.of((first[group] ?? 0) + i);
        return { name: `${prefix}.${metric}`, type: "number", value: { kind: "number", array: "metric", positions } };
      }),
      ...groupValues(included).map(({ name, value }) => groupColumn(`${prefix}.${name}`, value, Int32Array.of(group))),
    ];
  });
  return [
    ...columns,
    { name: "status", type: "text", value: { kind: "code", array: "rowStatus", positions: Int32Array.of(0) } },
    { name: "error", type: "text", value: { kind: "error" } },
  ];
}

type GroupValue = Exclude<NumberKind, "metric"> | Exclude<CodeKind, "rowStatus">;

/** Returns the values that a group has besides its metrics, and the names of their columns. */
function groupValues(included: {
  readonly hasProbability: boolean;
  readonly hasTotal: boolean;
  readonly hasExceedance: boolean;
}): readonly { readonly name: string; readonly value: GroupValue }[] {
  const values: { name: string; value: GroupValue }[] = [];
  if (included.hasProbability) {
    values.push(
      { name: "probability_bound", value: "bound" },
      { name: "probability_limit", value: "probabilityLimit" },
    );
  }
  if (included.hasTotal) values.push({ name: "total_hazard_limit", value: "totalHazardLimit" });
  if (included.hasExceedance) {
    values.push(
      { name: "exceedance_probability", value: "exceedance" },
      { name: "exceedance_bound", value: "exceedanceBound" },
      { name: "exceedance_limit", value: "exceedanceLimit" },
    );
  }
  values.push({ name: "status", value: "status" });
  return values;
}

function groupColumn(name: string, array: GroupValue, positions: Int32Array): OutputColumn {
  return array === "bound" || array === "exceedanceBound" || array === "status"
    ? { name, type: "text", value: { kind: "code", array, positions } }
    : { name, type: "number", value: { kind: "number", array, positions } };
}

/**
 * Returns a coordinate of a place that is written as a number: also that of an invalid row, if the input has a number.
 * @returns NaN if there is none
 */
export function degreesOf(
  { latitudes, longitudes, kept }: PlaceBlock,
  { kind, index }: Extract<OutputColumn["value"], { kind: "latitude" | "longitude" }>,
  place: number,
): number {
  const degrees = (kind === "latitude" ? latitudes : longitudes)[place] ?? NaN;
  if (!Number.isNaN(degrees)) return degrees;
  const given = numberIn(kept[index]?.[place] ?? null);
  return Number.isFinite(given) ? given : NaN;
}
