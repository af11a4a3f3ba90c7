import { createHash, randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Catalogue, GroupEntry } from "../atlas/catalogue.ts";
import { withWriteLock } from "../atlas/lock.ts";
import type { Band } from "../atlas/tile.ts";
import { publish, readCatalogue, type WorkSteps, writePack } from "../atlas/writer.ts";
import { Fault } from "../errors.ts";
import { HAZARDS, type MetricSpec } from "../hazard/hazards.ts";
import { Kernel } from "../kernel/instance.ts";
import { STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import { version } from "../version.ts";
import { checkTargetUnchanged, type Target, resolveTarget, resolveTargets } from "./target.ts";
import {
  type GroupReport,
  type HazardPlan,
  type IngestOptions,
  type IngestReport,
  mapsOf,
  type SetAside,
} from "./plan.ts";
import { clampToleranceOf, countRow, type GroupTotals, zeroCounts, provenanceOf } from "./provenance.ts";
import { updateCatalog, checkReleaseName, groupKey, type WrittenPack } from "./release.ts";
import { SlabParts } from "./slabParts.ts";
import { layersOfGroup, mergeLargestRounding, SlabReader } from "./slabReader.ts";
import { KNOWN_HASHES_NAME, type SourceVersions } from "./sourceVersions.ts";

const RELEASE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * Writes the layers of some hazards into an atlas and publishes them together. The atlas answers as before until the
 * last step, and goes on to where any step before it fails.
 *
 * @throws Fault `source_invalid` naming file and place; `invalid_request` for options that cannot be met;
 *   `atlas_unavailable` when the existing atlas is damaged, or another process writes there; the reason of
 *   `options.signal` when that is what stopped it
 */
export async function writeHazards(
  plans: readonly HazardPlan[],
  {
    options,
    setAside,
    sources,
  }: { readonly options: IngestOptions; readonly setAside: readonly SetAside[]; readonly sources: SourceVersions },
): Promise<IngestReport> {
  const startedMs = performance.now();
  checkOptions(options);
  options.signal?.throwIfAborted();
  // What cannot be is refused before a folder is made for it; it is the same look under the lock that counts.
  await findTargets(plans, options);
  const { catalogue, written, replaced } = await withWriteLock(options.out, async () => {
    return writeTargets(await findTargets(plans, options), { options, sources });
  });
  return {
    atlas: options.out,
    release: catalogue.release,
    groups: written.flatMap((pack) => reportsOf(pack, replaced)),
    setAside,
    durationMs: performance.now() - startedMs,
  };
}

async function findTargets(plans: readonly HazardPlan[], options: IngestOptions): Promise<readonly Target[]> {
  const current = await readCatalogue(options.out);
  const targets = resolveTargets(plans, current, options);
  checkReleaseName(options.release, current, plans);
  return targets;
}

interface Context {
  readonly options: IngestOptions;
  readonly sources: SourceVersions;
}

async function writeTargets(
  targets: readonly Target[],
  context: Context,
): Promise<{ readonly catalogue: Catalogue; readonly written: readonly WrittenPack[]; replaced: Set<string> }> {
  const { options } = context;
  const kernel = await Kernel.load();
  const written: WrittenPack[] = [];
  for (const target of targets) written.push(await writeTarget(kernel, target, context));
  const replaced = new Set<string>();
  const catalogue = await publish(options.out, (now) => {
    // Another atlas may have been copied into the folder meanwhile, past any lock: what is published must still fit.
    for (const { target } of written) checkTargetUnchanged(target, resolveTarget(target.plan, now, options));
    return updateCatalog(now, written, { release: options.release, replaced });
  });
  await rm(join(options.out, KNOWN_HASHES_NAME), { force: true });
  return { catalogue, written, replaced };
}

function checkOptions({ release, bbox, clampNegative, clampTolerance, checkpointSeconds }: IngestOptions): void {
  if (release !== undefined && !RELEASE.test(release)) {
    throw new Fault(
      "invalid_request",
      `The release name ${JSON.stringify(release)} may hold letters, digits, ".", "_" and "-", begins with a letter or digit, and has at most 100 characters.`,
    );
  }
  if (checkpointSeconds !== undefined && !(checkpointSeconds >= 0 && checkpointSeconds < Infinity)) {
    throw new Fault(
      "invalid_request",
      `The time between checkpoints must be a finite number of seconds, 0 or more (got ${checkpointSeconds}).`,
    );
  }
  if (clampTolerance !== undefined) {
    if (!(clampTolerance > 0 && clampTolerance < Infinity)) {
      throw new Fault(
        "invalid_request",
        `The clamp tolerance must be a finite number above 0, in the unit of the metric (got ${clampTolerance}).`,
      );
    }
    if (clampNegative !== true) {
      throw new Fault(
        "invalid_request",
        `The clamp tolerance ${clampTolerance} has no effect without --clamp-negative (clampNegative, clamp_negative): give both or neither.`,
      );
    }
  }
  if (bbox === undefined) return;
  const { westDeg, southDeg, eastDeg, northDeg } = bbox;
  const isBox =
    westDeg < eastDeg && southDeg < northDeg && eastDeg - westDeg <= 360 && southDeg >= -90 && northDeg <= 90;
  if (!isBox || !(westDeg >= -360 && eastDeg <= 360)) {
    throw new Fault(
      "invalid_request",
      `The box ${westDeg},${southDeg},${eastDeg},${northDeg} must be W,S,E,N in degrees with W < E, S < N, latitudes from -90 to 90. ` +
        `Across the antimeridian write the east edge as W + width, such as 170,-20,190,-10.`,
    );
  }
}

async function writeTarget(kernel: Kernel, target: Target, context: Context): Promise<WrittenPack> {
  const { options, sources } = context;
  const files = new Set(target.plan.groups.flatMap(mapsOf).map(({ raster }) => raster.file));
  await sources.identify(files);
  const { plan, window, grid, offset } = target;
  const slabs = new SlabReader(kernel, plan, window, { clampTolerance: clampToleranceOf(options) });
  const layers = plan.groups.map((group) => layersOfGroup(plan, group));
  let totals: GroupTotals[] = plan.groups.map(() => ({ counts: zeroCounts(), worst: {} }));

  let parts: SlabParts | undefined;
  const readBand = async (band: Band, steps: WorkSteps): Promise<readonly Uint16Array[]> => {
    parts ??= await SlabParts.open(steps);
    const bands = layers.map(({ length }) =>
      new Uint16Array(band.rowCount * grid.columnCount * length).fill(STEPS_OUTSIDE),
    );
    for (let row = 0; row < band.rowCount; row++) {
      const sourceRow = band.firstRow + row - offset.row + window.firstRow;
      if (sourceRow < window.firstRow || sourceRow >= window.firstRow + window.rowCount) continue;
      const slab = await slabs.slabAt(sourceRow, { parts, signal: options.signal });
      const from = (sourceRow - slab.firstRow) * window.columnCount;
      slab.groups.forEach(({ steps, flags, worst }, index) => {
        const group = layers[index] ?? [];
        const total = totals[index];
        const layerCount = group.length;
        const rowSteps = steps.subarray(from * layerCount, (from + window.columnCount) * layerCount);
        bands[index]?.set(rowSteps, (row * grid.columnCount + offset.column) * layerCount);
        if (total === undefined) return;
        const own = Math.max(
          0,
          group.findIndex(({ metric }) => metric === HAZARDS[plan.hazard].ownMetric),
        );
        countRow(total.counts, rowSteps, flags.subarray(from, from + window.columnCount), { own, layerCount });
        total.worst = mergeLargestRounding(total.worst, worst);
      });
    }
    return bands;
  };

  // Without a validator of every source nothing proves that the rows to come would be of the version of the rows done.
  const isResumable = [...files].every((file) => sources.of(file).version_unknown !== true);
  const pack = await writePack(kernel, options.out, {
    hazard: plan.hazard,
    grid,
    groups: plan.groups.map(({ scenario, year }, i) => ({ scenario, year, layers: (layers[i] ?? []).map(layerEntry) })),
    readBand,
    resumeKey: isResumable ? keyOf(target, context) : randomUUID(),
    isResumable,
    checkpoint: {
      save: () => totals,
      restore: (state) => void (totals = state as GroupTotals[]),
      committed: (rowsDone) => parts?.removeBefore(rowsDone - offset.row + window.firstRow) ?? Promise.resolve(),
    },
    ...(options.checkpointSeconds === undefined ? {} : { checkpointMs: options.checkpointSeconds * 1000 }),
    beforeFinish: () => sources.recheck(files),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    onProgress: (rowsDone, rowCount) => options.onProgress?.({ hazard: plan.hazard, rowsDone, rowCount }),
  });
  const groups = plan.groups.map((group, i): GroupEntry => ({
    scenario: group.scenario,
    year: group.year,
    layers: (layers[i] ?? []).map(layerEntry),
    provenance: provenanceOf(group, totals[i] ?? { counts: zeroCounts(), worst: {} }, context),
  }));
  return { target, pack, groups, totals };
}

function layerEntry({ metric, stepsPerUnit, offset, unit }: MetricSpec): GroupEntry["layers"][number] {
  return { metric, steps_per_unit: stepsPerUnit, offset, unit };
}

/** Changes whenever the cells to be written may: the versions of files, rules, choices, and our own arithmetic. */
function keyOf({ plan, window, grid, offset }: Target, { options, sources }: Context): string {
  const groups = plan.groups.map((group) => ({
    scenario: group.scenario,
    year: group.year,
    maps: mapsOf(group).map((map) => ({
      ...map,
      raster: [map.raster.file, sources.of(map.raster.file), map.raster.notes],
    })),
    names:
      group.content.kind === "curves"
        ? group.content.models.map(({ model }) => model)
        : Object.keys(group.content.metrics),
  }));
  const { holdFlat, nodata } = options;
  // The marker as text: JSON has no infinite numbers.
  const choices = {
    holdFlat,
    nodata: nodata === undefined ? undefined : String(nodata),
    clampTolerance: clampToleranceOf(options),
  };
  const all = [version, plan.hazard, plan.rules, groups, window, grid, offset, choices];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}

function reportsOf({ target, groups, totals }: WrittenPack, replaced: ReadonlySet<string>): readonly GroupReport[] {
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
