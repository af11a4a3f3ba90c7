/** Writes the packs of an ingest under the write lock and publishes them in one catalog. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Catalog } from "../atlas/catalog.ts";
import { publish, readCatalog, withWriteLock } from "../atlas/writer.ts";
import { Kernel } from "../kernel/instance.ts";
import { checkReleaseName, groupKey, updateCatalog } from "./catalogUpdate.ts";
import { checkOptionRanges, type IngestOptions } from "./options.ts";
import { type WriteContext, writeHazardPack, type WrittenPack } from "./packWriter.ts";
import { type HazardPlan, type IgnoredFile, mapCountOf } from "./plan.ts";
import { KNOWN_HASHES_NAME } from "./sourceVersions.ts";
import { checkSupplements, supplementPlans } from "./supplementPlan.ts";
import { checkTargetUnchanged, type IngestTarget, resolveTarget, resolveTargets } from "./target.ts";
import type { HazardName, MetricName, Scenario } from "../hazard/hazards.ts";
import { addCounts, type CellCounts, type LargestRounding, mergeLargestRounding, zeroCounts } from "./metricSteps.ts";

/**
 * Writes layers of one or more hazards into an atlas and publishes them together. The atlas keeps its current release until
 * the last step, and after any failure.
 *
 * @throws Fault `source_invalid` naming file and cell; `invalid_request` for options that are invalid or cannot be
 *   applied; `atlas_unavailable` if the existing atlas is damaged or another process writes to it; the abort reason of
 *   `options.signal`
 */
export async function writeHazards(
  plans: readonly HazardPlan[],
  {
    options,
    ignoredFiles,
    missingFiles = [],
    sources,
  }: WriteContext & {
    readonly ignoredFiles: readonly IgnoredFile[];
    readonly missingFiles?: readonly string[] | undefined;
  },
): Promise<IngestReport> {
  const startedMs = performance.now();
  checkOptionRanges(options);
  options.signal?.throwIfAborted();
  // Checked before a folder is created, and again under the lock, because another process may write to the atlas in between.
  await findTargets(plans, options);
  const { catalog, written, replaced } = await withWriteLock(options.out, async () =>
    writeTargets(await findTargets(plans, options), { options, sources }),
  );
  const metricPacks = written.filter(({ target }) => target.plan.supplement === undefined);
  return {
    atlas: options.out,
    release: catalog.release,
    groups: metricPacks.flatMap((pack) => groupReports(pack, replaced)),
    ignoredFiles,
    missingFiles,
    totals: ingestTotals(metricPacks),
    durationMs: performance.now() - startedMs,
  };
}

async function findTargets(plans: readonly HazardPlan[], options: IngestOptions): Promise<readonly IngestTarget[]> {
  const current = await readCatalog(options.out);
  const targets = resolveTargets(plans, current, options);
  checkReleaseName(options.release, current, plans);
  checkSupplements(plans, options);
  return targets;
}

async function writeTargets(
  targets: readonly IngestTarget[],
  context: WriteContext,
): Promise<{ readonly catalog: Catalog; readonly written: readonly WrittenPack[]; replaced: Set<string> }> {
  const { options } = context;
  const kernel = await Kernel.load();
  const written: WrittenPack[] = [];
  for (const target of targets) {
    written.push(await writeHazardPack(kernel, target, context));
    for (const plan of supplementPlans(target.plan, options)) {
      written.push(await writeHazardPack(kernel, { ...target, plan }, context));
    }
  }
  const replaced = new Set<string>();
  const catalog = await publish(options.out, (now) => {
    // The lock does not prevent another atlas from being copied into the folder, so the grid is checked again.
    for (const target of targets) checkTargetUnchanged(target, resolveTarget(target.plan, now, options));
    return updateCatalog(now, written, { release: options.release, replaced });
  });
  await rm(join(options.out, KNOWN_HASHES_NAME), { force: true });
  return { catalog, written, replaced };
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
function ingestTotals(packs: readonly WrittenPack[]): IngestTotals {
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
function groupReports({ target, groups, totals }: WrittenPack, replaced: ReadonlySet<string>): readonly GroupReport[] {
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
