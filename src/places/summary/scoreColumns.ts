import { HAZARD_NAMES, METRIC_NAMES, SCENARIOS } from "../../contract/names.ts";
import { Fault } from "../../errors.ts";
import { type HazardName, HAZARDS, type Scenario } from "../../hazard/hazards.ts";
import { SCORE_STATUSES } from "../../hazard/scoring/scoreRequest.ts";
import { quote } from "../../validation/schemaErrors.ts";
import { WIDE_NAME } from "../writers/outputColumns.ts";

/** Columns with a value for each place and group: the metrics, and the probability of reaching a threshold of the user. */
export const SUMMARY_METRICS = [...METRIC_NAMES, "exceedance_probability"] as const;
export type SummaryMetric = (typeof SUMMARY_METRICS)[number];

/** A value at or above which places are counted. */
export interface MetricThreshold {
  readonly metric: SummaryMetric;
  readonly value: number;
}

type StatedRules = Readonly<Record<string, unknown>>;

export function isSummaryMetric(name: string): name is SummaryMetric {
  return (SUMMARY_METRICS as readonly string[]).includes(name);
}

/** Returns whether a hazard can have values of a metric. The columns of the long layout are those of all hazards. */
export function hasMetric(hazard: HazardName, metric: SummaryMetric): boolean {
  return metric === "exceedance_probability" || HAZARDS[hazard].metrics.some((spec) => spec.metric === metric);
}

/** Returns the unit of a metric; "1" means a share or a probability. */
export function unitOfMetric(hazard: HazardName, metric: SummaryMetric): string {
  return HAZARDS[hazard].metrics.find((spec) => spec.metric === metric)?.unit ?? "1";
}

/** Returns the hazard's own metric if it is among those present, else the first of them. */
export function leadingMetric(hazard: HazardName, present: readonly SummaryMetric[]): SummaryMetric | undefined {
  return present.find((metric) => metric === HAZARDS[hazard].ownMetric) ?? present[0];
}

/**
 * Returns the thresholds that the rules of a hazard imply: the threshold of its probability, in its own metric and as
 * intensity, and the probability of the design return period. Without a rule there is no threshold.
 *
 * @param rules rules of the atlas; the default rules of the hazard if undefined
 */
export function impliedThresholds(hazard: HazardName, rules?: StatedRules): readonly MetricThreshold[] {
  const { ownMetric, metrics, rules: defaultRules } = HAZARDS[hazard];
  const stated: StatedRules = rules ?? { ...defaultRules };
  const { threshold, threshold_unit: thresholdUnit, intensity_reference: reference } = stated;
  const designYears = stated["design_return_period_years"];
  const ownUnit = metrics.find(({ metric }) => metric === ownMetric)?.unit;
  return [
    ...(isPositive(threshold) && isPositive(reference) && threshold <= reference
      ? // 12 digits, because 0.3 / 6 is 0.049999999999999996.
        [{ metric: "intensity" as const, value: Number((threshold / reference).toPrecision(12)) }]
      : []),
    ...(isPositive(threshold) && thresholdUnit === ownUnit ? [{ metric: ownMetric, value: threshold }] : []),
    ...(isPositive(designYears) ? [{ metric: "probability" as const, value: 1 / designYears }] : []),
  ];
}

function isPositive(value: unknown): value is number {
  return typeof value === "number" && value > 0;
}

/** Hazard, scenario and analysis year of a value. */
export interface ScoreKey {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly analysisYear: number;
}

/** Names of the columns with the values and the status of one group. */
export interface GroupColumns {
  readonly status: string;
  /** Bounds of `probability` and of `exceedance_probability`. */
  readonly bounds: ReadonlyMap<SummaryMetric, string>;
  readonly metrics: ReadonlyMap<SummaryMetric, string>;
}

/** How the columns of an output hold the scores. */
export type ScoreLayout =
  /** One row for each place and group, which the columns `hazard`, `scenario` and `analysis_year` name. */
  | { readonly kind: "long"; readonly columns: GroupColumns }
  /** One row for each place, with columns for each group. */
  | { readonly kind: "wide"; readonly groups: readonly { readonly key: ScoreKey; readonly columns: GroupColumns }[] };

export const KEY_COLUMNS = ["hazard", "scenario", "analysis_year"] as const;
/** Status of the row in both layouts, and why an invalid row has no scores. */
export const ROW_COLUMNS = { status: "status", error: "error" } as const;
export const INVALID_ROW = "invalid_row";

const BOUND_COLUMNS: readonly (readonly [SummaryMetric, string])[] = [
  ["probability", "probability_bound"],
  ["exceedance_probability", "exceedance_bound"],
];
const LONG_COLUMNS: ReadonlySet<string> = new Set([
  ...KEY_COLUMNS,
  ...SUMMARY_METRICS,
  ...BOUND_COLUMNS.map(([, column]) => column),
  "probability_limit",
  "total_hazard_limit",
  "exceedance_limit",
  "status",
  "error",
]);

/**
 * Recognizes the layout of an output by its column names.
 * @param statedGroups names of the groups, if the manifest states them; others are kept columns
 * @throws Fault `invalid_request` if it is not an output of `isotherm portfolio`
 */
export function scoreLayoutOf(columnNames: readonly string[], statedGroups?: ReadonlySet<string>): ScoreLayout {
  const names = new Set(columnNames);
  // A wide output may keep the columns of an earlier long one; its own columns come last.
  const isWide = WIDE_NAME.test(columnNames[columnNames.lastIndexOf(ROW_COLUMNS.status) - 1] ?? "");
  if (!isWide && KEY_COLUMNS.every((name) => names.has(name))) {
    const scoreNames = scoreNamesOf(columnNames);
    const columns = groupColumns((name) => (scoreNames.has(name) ? name : undefined));
    if (columns !== undefined) return { kind: "long", columns };
  }
  const keys = new Map<string, ScoreKey>();
  for (const name of columnNames) {
    const [, hazard = "", scenario = "", year = ""] = WIDE_NAME.exec(name) ?? [];
    const key = scoreKeyOf(hazard, scenario, year);
    if (key === undefined) continue;
    const text = scoreKeyText(key);
    if (statedGroups?.has(text) !== false) keys.set(text, key);
  }
  const groups = [...keys].flatMap(([text, key]) => {
    const columns = groupColumns((name) => (names.has(`${text}.${name}`) ? `${text}.${name}` : undefined));
    return columns === undefined ? [] : [{ key, columns }];
  });
  if (groups.length > 0) return { kind: "wide", groups };
  const message =
    `The file is not an output of isotherm portfolio: it has neither the columns ${KEY_COLUMNS.join(", ")}, ` +
    `${ROW_COLUMNS.status} and a metric, nor columns such as riverine_floods.rcp8p5.2050.depth_meters. ` +
    `Its columns are ${columnNames.slice(0, 20).map(quote).join(", ")}${columnNames.length > 20 ? ", ..." : ""}.`;
  throw new Fault("invalid_request", message);
}

/**
 * Returns the score columns of the long layout. They follow the kept columns; a kept column may be named like a metric that
 * was not requested.
 */
function scoreNamesOf(columnNames: readonly string[]): ReadonlySet<string> {
  return new Set(columnNames.slice(columnNames.indexOf(KEY_COLUMNS[0])).filter((name) => LONG_COLUMNS.has(name)));
}

/** Returns the key of a group, or undefined if a part is not a known name. */
export function scoreKeyOf(hazard: unknown, scenario: unknown, year: unknown): ScoreKey | undefined {
  const knownHazard = HAZARD_NAMES.find((name) => name === hazard);
  const knownScenario = SCENARIOS.find((name) => name === scenario);
  const analysisYear = Number(year);
  if (knownHazard === undefined || knownScenario === undefined || !Number.isInteger(analysisYear)) return undefined;
  return { hazard: knownHazard, scenario: knownScenario, analysisYear };
}

/** Returns the name of a group, as in the column names of the wide layout. */
export function scoreKeyText({ hazard, scenario, analysisYear }: ScoreKey): string {
  return `${hazard}.${scenario}.${analysisYear}`;
}

/** Returns the columns of a file that are not scores but were kept from the input. */
export function keptColumnNames(columnNames: readonly string[], layout: ScoreLayout): readonly string[] {
  if (layout.kind === "long") {
    const scoreNames = scoreNamesOf(columnNames);
    return columnNames.filter((name) => !scoreNames.has(name));
  }
  const rowColumns: readonly string[] = Object.values(ROW_COLUMNS);
  const groups = new Set(layout.groups.map(({ key }) => scoreKeyText(key)));
  return columnNames.filter((name) => !rowColumns.includes(name) && !groups.has(name.split(".").slice(0, 3).join(".")));
}

/** Returns the columns of a group; undefined if it has no status or no metric. */
function groupColumns(find: (name: string) => string | undefined): GroupColumns | undefined {
  const status = find(ROW_COLUMNS.status);
  const present = <Key>(pairs: readonly (readonly [Key, string | undefined])[]): ReadonlyMap<Key, string> =>
    new Map(pairs.flatMap(([key, name]) => (name === undefined ? [] : [[key, name] as const])));
  const metrics = present(SUMMARY_METRICS.map((metric) => [metric, find(metric)] as const));
  if (status === undefined || metrics.size === 0) return undefined;
  return { status, bounds: present(BOUND_COLUMNS.map(([metric, name]) => [metric, find(name)] as const)), metrics };
}

/** A column of values, as `--by` names it. */
export interface SeriesName extends ScoreKey {
  readonly metric: SummaryMetric;
}

/** Parses a name such as `riverine_floods.rcp8p5.2050.depth_meters`; undefined if it is not one. */
export function parseSeriesName(text: string): SeriesName | undefined {
  const [, hazard = "", scenario = "", year = "", metric = ""] = WIDE_NAME.exec(text) ?? [];
  const key = scoreKeyOf(hazard, scenario, year);
  return key === undefined || !isSummaryMetric(metric) ? undefined : { ...key, metric };
}

/** Returns the index of a status in SCORE_STATUSES. */
export function statusIndex(status: unknown): number | undefined {
  const index = (SCORE_STATUSES as readonly unknown[]).indexOf(status);
  return index < 0 ? undefined : index;
}
