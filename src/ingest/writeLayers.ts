import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import type { Catalogue, GroupEntry } from "../atlas/catalogue.ts";
import { withWriteLock } from "../atlas/lock.ts";
import type { Band } from "../atlas/tile.ts";
import { publish, readCatalogue, writePack } from "../atlas/writer.ts";
import { Fault } from "../errors.ts";
import { HAZARDS, type MetricSpec } from "../hazard/hazards.ts";
import { Kernel } from "../kernel/instance.ts";
import { STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import { version } from "../version.ts";
import { checkStillFits, type Target, targetOf, targetsOf } from "./placement.ts";
import type { GroupReport, HazardPlan, IngestOptions, IngestReport, SetAside } from "./plan.ts";
import { clampToleranceOf, countRow, type GroupTotals, noCounts, provenanceOf } from "./provenance.ts";
import { changedCatalogue, checkReleaseName, keyOfGroup, type WrittenPack } from "./release.ts";
import { layersOfGroup, mapsOf, mergedWorst, SlabReader } from "./slabs.ts";

const STAMP_TIMEOUT_MS = 10_000;
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
  { options, setAside }: { readonly options: IngestOptions; readonly setAside: readonly SetAside[] },
): Promise<IngestReport> {
  const startedMs = performance.now();
  checkOptions(options);
  options.signal?.throwIfAborted();
  // What cannot be is refused before a folder is made for it; it is the same look under the lock that counts.
  await findTargets(plans, options);
  const { catalogue, written, replaced } = await withWriteLock(options.out, async () => {
    return writeTargets(await findTargets(plans, options), options);
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
  const targets = targetsOf(plans, current, options);
  checkReleaseName(options.release, current, plans);
  return targets;
}

async function writeTargets(
  targets: readonly Target[],
  options: IngestOptions,
): Promise<{ readonly catalogue: Catalogue; readonly written: readonly WrittenPack[]; replaced: Set<string> }> {
  const kernel = await Kernel.load();
  const written: WrittenPack[] = [];
  for (const target of targets) written.push(await writeTarget(kernel, target, options));
  const replaced = new Set<string>();
  const catalogue = await publish(options.out, (now) => {
    // Another atlas may have been copied into the folder meanwhile, past any lock: what is published must still fit.
    for (const { target } of written) checkStillFits(target, targetOf(target.plan, now, options));
    return changedCatalogue(now, written, { release: options.release, replaced });
  });
  return { catalogue, written, replaced };
}

function checkOptions({ release, bbox, nodata, clampNegative, clampTolerance }: IngestOptions): void {
  if (release !== undefined && !RELEASE.test(release)) {
    throw new Fault(
      "invalid_request",
      `The release name ${JSON.stringify(release)} may hold letters, digits, ".", "_" and "-", begins with a letter or digit, and has at most 100 characters.`,
    );
  }
  if (nodata !== undefined && !Number.isFinite(nodata)) {
    throw new Fault(
      "invalid_request",
      `${nodata} as a marker of missing values must be a finite number; NaN is missing anyway.`,
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

async function writeTarget(kernel: Kernel, target: Target, options: IngestOptions): Promise<WrittenPack> {
  const { plan, window, grid, offset } = target;
  const slabs = new SlabReader(kernel, plan, window, { clampTolerance: clampToleranceOf(options) });
  const layers = plan.groups.map((group) => layersOfGroup(plan, group));
  let totals: GroupTotals[] = plan.groups.map(() => ({ counts: noCounts(), worst: {} }));

  const readBand = async (band: Band): Promise<readonly Uint16Array[]> => {
    const bands = layers.map(({ length }) =>
      new Uint16Array(band.rowCount * grid.columnCount * length).fill(STEPS_OUTSIDE),
    );
    for (let row = 0; row < band.rowCount; row++) {
      const sourceRow = band.firstRow + row - offset.row + window.firstRow;
      if (sourceRow < window.firstRow || sourceRow >= window.firstRow + window.rowCount) continue;
      const slab = await slabs.slabAt(sourceRow);
      const from = (sourceRow - slab.firstRow) * window.columnCount;
      slab.groups.forEach(({ steps, tallies, worst }, index) => {
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
        countRow(total.counts, rowSteps, tallies.subarray(from, from + window.columnCount), { own, layerCount });
        total.worst = mergedWorst(total.worst, worst);
      });
    }
    return bands;
  };

  const pack = await writePack(kernel, options.out, {
    hazard: plan.hazard,
    grid,
    groups: plan.groups.map(({ scenario, year }, i) => ({ scenario, year, layers: (layers[i] ?? []).map(layerEntry) })),
    readBand,
    resumeKey: await keyOf(target, options),
    checkpoint: { save: () => totals, restore: (state) => void (totals = state as GroupTotals[]) },
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    onProgress: (rowsDone, rowCount) => options.onProgress?.({ hazard: plan.hazard, rowsDone, rowCount }),
  });
  const groups = plan.groups.map((group, i): GroupEntry => ({
    scenario: group.scenario,
    year: group.year,
    layers: (layers[i] ?? []).map(layerEntry),
    provenance: provenanceOf(group, totals[i] ?? { counts: noCounts(), worst: {} }, options),
  }));
  return { target, pack, groups, totals };
}

function layerEntry({ metric, stepsPerUnit, offset, unit }: MetricSpec): GroupEntry["layers"][number] {
  return { metric, steps_per_unit: stepsPerUnit, offset, unit };
}

/** Changes whenever the cells to be written may: files, their sizes and times, rules, choices, and our own arithmetic. */
async function keyOf({ plan, window, grid, offset }: Target, options: IngestOptions): Promise<string> {
  const stamps = new Map<string, string>();
  for (const { raster } of plan.groups.flatMap(mapsOf)) {
    if (!stamps.has(raster.file)) stamps.set(raster.file, await stampOf(raster.file));
  }
  const groups = plan.groups.map(({ scenario, year, content }) => ({
    scenario,
    year,
    maps: mapsOf({ scenario, year, content, provenance: {} }).map((map) => ({
      ...map,
      raster: [map.raster.file, stamps.get(map.raster.file) ?? "", map.raster.notes],
    })),
    names: content.kind === "curves" ? content.models.map(({ model }) => model) : Object.keys(content.metrics),
  }));
  const { holdFlat, nodata } = options;
  const choices = { holdFlat, nodata, clampTolerance: clampToleranceOf(options) };
  const all = [version, plan.hazard, plan.rules, groups, window, grid, offset, choices];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}

/** What tells one version of a file from the next. */
async function stampOf(file: string): Promise<string> {
  if (!/^https?:\/\//.test(file)) {
    const { size, mtimeMs } = await stat(file);
    return `${size}/${mtimeMs}`;
  }
  try {
    const { headers } = await fetch(file, { method: "HEAD", signal: AbortSignal.timeout(STAMP_TIMEOUT_MS) });
    return ["etag", "last-modified", "content-length"].map((name) => headers.get(name) ?? "").join("/");
  } catch {
    return ""; // The map is read by other requests, which say what is wrong where something is.
  }
}

function reportsOf({ target, groups, totals }: WrittenPack, replaced: ReadonlySet<string>): readonly GroupReport[] {
  const { hazard } = target.plan;
  return target.plan.groups.map(({ scenario, year }, i) => ({
    hazard,
    scenario,
    year,
    metrics: (groups[i]?.layers ?? []).map(({ metric }) => metric as GroupReport["metrics"][number]),
    cells: totals[i]?.counts ?? noCounts(),
    largestRounding: totals[i]?.worst ?? {},
    replaced: replaced.has(keyOfGroup(hazard, { scenario, year })),
  }));
}
