/** The report that an ingest returns. */
import type { HazardName, MetricName, Scenario } from "../hazard/hazards.ts";
import { addCounts, type CellCounts, zeroCounts } from "./cellCounts.ts";
import { type LargestRounding, mergeLargestRounding } from "./metricSteps.ts";
import type { WrittenPack } from "./packWriter.ts";
import { mapCountOf } from "./plan.ts";
import { groupKey } from "./releaseName.ts";

/** A file that was given or found in a folder but that the recipe does not use. */
export interface IgnoredFile {
  readonly file: string;
  readonly reason: string;
}

export interface IngestReport {
  readonly atlas: string;
  readonly release: string;
  readonly groups: readonly GroupReport[];
  readonly ignoredFiles: readonly IgnoredFile[];
  /** Names of files of the product that are not among the sources, such as other return periods. */
  readonly missingFiles: readonly string[];
  readonly totals: IngestTotals;
  readonly durationMs: number;
}

/** Figures of all groups of an ingest together. */
export interface IngestTotals {
  /** Cells of all source maps. */
  readonly sourceCells: number;
  readonly cells: CellCounts;
  /** Largest rounding error of each metric, in its unit. */
  readonly largestRounding: Readonly<Partial<Record<MetricName, number>>>;
}

export interface GroupReport {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly year: number;
  readonly metrics: readonly MetricName[];
  /** Cells of the hazard's own metric, or of the group's first metric if it is absent. */
  readonly cells: CellCounts;
  /** Largest rounding error of each metric, in its unit. */
  readonly largestRounding: Readonly<Partial<Record<MetricName, number>>>;
  /** Whether the atlas already had this (scenario, year). */
  readonly replaced: boolean;
}

/** Returns the totals of all packs. */
export function ingestTotals(packs: readonly WrittenPack[]): IngestTotals {
  const cells = zeroCounts();
  let largestRounding: LargestRounding = {};
  let sourceCells = 0;
  for (const { target, totals } of packs) {
    const { plan, window } = target;
    for (const group of plan.groups) sourceCells += mapCountOf(group) * window.rowCount * window.columnCount;
    for (const { counts, worst } of totals) {
      addCounts(cells, counts);
      largestRounding = mergeLargestRounding(largestRounding, worst);
    }
  }
  return { sourceCells, cells, largestRounding };
}

/**
 * Returns one report for each group of a pack.
 * @param replaced keys of the groups that the new ones superseded, see `groupKey`
 */
export function groupReports(
  { target, groups, totals }: WrittenPack,
  replaced: ReadonlySet<string>,
): readonly GroupReport[] {
  const { hazard } = target.plan;
  return target.plan.groups.map(({ scenario, year }, i) => ({
    hazard,
    scenario,
    year,
    metrics: (groups[i]?.layers ?? []).map(({ metric }) => metric as GroupReport["metrics"][number]),
    cells: totals[i]?.counts ?? zeroCounts(),
    largestRounding: totals[i]?.worst ?? {},
    replaced: replaced.has(groupKey(hazard, { scenario, year })),
  }));
}
