/** Writes the cells of one hazard as a pack of the atlas. */
import { randomUUID } from "node:crypto";
import type { GroupEntry, PackEntry } from "../atlas/catalog.ts";
import type { Band } from "../atlas/tile.ts";
import { type WorkSteps, writePack } from "../atlas/writer.ts";
import { HAZARDS, type MetricSpec } from "../hazard/hazards.ts";
import type { Kernel } from "../kernel/instance.ts";
import { STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import { countRow, type GroupTotals, zeroCounts } from "./cellCounts.ts";
import { clampToleranceOf } from "./options.ts";
import { mapsOf } from "./plan.ts";
import { groupProvenance } from "./provenance.ts";
import { resumeKeyOf } from "./resumeKey.ts";
import { SlabParts } from "./slabParts.ts";
import { layersOfGroup, mergeLargestRounding, SlabReader } from "./slabReader.ts";
import type { IngestTarget } from "./target.ts";
import type { WriteContext } from "./writeContext.ts";

/** A pack with its files written but not yet in the catalog. */
export interface WrittenPack {
  readonly target: IngestTarget;
  readonly pack: Pick<PackEntry, "id" | "files">;
  readonly groups: readonly GroupEntry[];
  readonly totals: readonly GroupTotals[];
}

/**
 * Writes the pack of one hazard. Continues an interrupted ingest of the same sources with the same options.
 * @throws Fault `source_invalid` for an invalid value or a source that changed during the ingest
 */
export async function writeHazardPack(
  kernel: Kernel,
  target: IngestTarget,
  context: WriteContext,
): Promise<WrittenPack> {
  const { options, sources } = context;
  const files = new Set(target.plan.groups.flatMap(mapsOf).map(({ raster }) => raster.file));
  await sources.identify(files);
  const { plan, window, grid, offset } = target;
  const slabs = new SlabReader(kernel, plan, window, { clampToleranceOf: (unit) => clampToleranceOf(options, unit) });
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
        const ownLayerIndex = Math.max(
          0,
          group.findIndex(({ metric }) => metric === HAZARDS[plan.hazard].ownMetric),
        );
        countRow(total.counts, rowSteps, flags.subarray(from, from + window.columnCount), {
          own: ownLayerIndex,
          layerCount,
        });
        total.worst = mergeLargestRounding(total.worst, worst);
      });
    }
    return bands;
  };

  // If the version of a source is unknown, finished and remaining rows could be from different versions of it.
  const isResumable = [...files].every((file) => sources.versionOf(file).version_unknown !== true);
  const pack = await writePack(kernel, options.out, {
    hazard: plan.hazard,
    grid,
    groups: plan.groups.map(({ scenario, year }, i) => ({ scenario, year, layers: (layers[i] ?? []).map(layerEntry) })),
    readBand,
    resumeKey: isResumable ? resumeKeyOf(target, context) : randomUUID(),
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
    provenance: groupProvenance(group, totals[i] ?? { counts: zeroCounts(), worst: {} }, {
      ...context,
      hazard: plan.hazard,
    }),
  }));
  return { target, pack, groups, totals };
}

function layerEntry({ metric, stepsPerUnit, offset, unit }: MetricSpec): GroupEntry["layers"][number] {
  return { metric, steps_per_unit: stepsPerUnit, offset, unit };
}
