/** Writes the cells of one hazard, or of one of its supplements, as a pack of the atlas. */
import { createHash, randomUUID } from "node:crypto";
import type { GroupEntry, PackEntry } from "../atlas/catalog.ts";
import { writePack } from "../atlas/writer.ts";
import type { Kernel } from "../kernel/instance.ts";
import { BandReader } from "./bandReader.ts";
import { type GroupTotals, zeroCounts } from "./metricSteps.ts";
import { mapCountOf, mapsOf } from "./plan.ts";
import { type FileSpec, partsOf, type RasterSpec, sourceFilesOf } from "./raster.ts";
import { groupProvenance, type WriteContext } from "./provenance.ts";
import { startPartRunner } from "./partThreads.ts";
import { catalogNameOf, storedGroupsOf } from "./supplementPlan.ts";
import type { IngestTarget } from "./target.ts";
import { version } from "../version.ts";
import { clampToleranceOf, type IngestOptions } from "./options.ts";
import type { SourceVersions } from "./sourceVersions.ts";

/** A pack with its files written but not yet in the catalog. */
export interface WrittenPack {
  readonly target: IngestTarget;
  readonly pack: Pick<PackEntry, "id" | "files">;
  /** Of a supplement, without the pack of its metrics, which `updateCatalog` adds. */
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
  const files = new Set(target.plan.groups.flatMap(mapsOf).flatMap(({ raster }) => sourceFilesOf(raster)));
  await sources.identify(files);
  const runner = startPartRunner(kernel, target, { options });
  const bands = new BandReader(target, { runner, signal: options.signal });
  try {
    return await writeBands(kernel, target, { context, files, bands });
  } finally {
    await runner.close();
  }
}

async function writeBands(
  kernel: Kernel,
  target: IngestTarget,
  {
    context,
    files,
    bands,
  }: { readonly context: WriteContext; readonly files: ReadonlySet<string>; readonly bands: BandReader },
): Promise<WrittenPack> {
  const { options, sources } = context;
  const { plan, grid } = target;
  const [group] = plan.groups;
  const sourceCellsPerRow = plan.groups.reduce((sum, each) => sum + mapCountOf(each), 0) * target.window.columnCount;
  const stored = plan.groups.map((group) => storedGroupsOf(plan, group));
  // If the version of a source is unknown, finished and remaining rows could be from different versions of it.
  const isResumable = [...files].every((file) => sources.versionOf(file).version_unknown !== true);
  const pack = await writePack(kernel, options.out, {
    hazard: catalogNameOf(plan),
    grid,
    groups: plan.groups.flatMap(({ scenario, year }, i) =>
      (stored[i] ?? []).map(({ layers }) => ({ scenario, year, layers: [...layers] })),
    ),
    readBand: (band, steps) => bands.read(band, steps),
    resumeKey: isResumable ? resumeKeyOf(target, context) : randomUUID(),
    isResumable,
    checkpoint: {
      save: () => bands.totals,
      restore: (state) => void (bands.totals = state as GroupTotals[]),
      committed: (rowsDone) => bands.committed(rowsDone),
    },
    ...(options.checkpointSeconds === undefined ? {} : { checkpointMs: options.checkpointSeconds * 1000 }),
    beforeFinish: () => sources.recheck(files),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    onProgress: (rowsDone, rowCount) =>
      options.onProgress?.({
        hazard: plan.hazard,
        ...(plan.supplement === undefined || group === undefined
          ? {}
          : { supplementOf: { scenario: group.scenario, year: group.year } }),
        rowsDone,
        rowCount,
        sourceCellsPerRow,
      }),
  });
  const { totals } = bands;
  const groups = plan.groups.flatMap((group, i) =>
    (stored[i] ?? []).map(({ layers, provenance }): GroupEntry => ({
      scenario: group.scenario,
      year: group.year,
      layers: [...layers],
      provenance:
        plan.supplement === undefined
          ? groupProvenance(group, totals[i] ?? { counts: zeroCounts(), worst: {} }, {
              ...context,
              hazard: plan.hazard,
            })
          : { ...provenance },
    })),
  );
  return { target, pack, groups, totals };
}

/**
 * Returns a hash of everything that determines the cells to be written: the versions of the sources, the rules, the options,
 * the grid, and the version of this package, because its arithmetic may change between versions.
 */
export function resumeKeyOf(
  { plan, window, grid, offset }: IngestTarget,
  { options, sources }: { readonly options: IngestOptions; readonly sources: SourceVersions },
): string {
  const groups = plan.groups.map((group) => ({
    scenario: group.scenario,
    year: group.year,
    maps: mapsOf(group).map((map) => ({
      ...map,
      raster: partsOf(map.raster).map(({ file, sidecarFiles = [], notes }) => [
        ...[file, ...sidecarFiles].map((name) => [name, sources.versionOf(name)]),
        notes,
      ]),
      spec: specText(map.raster.spec),
    })),
    names:
      group.content.kind === "curves"
        ? group.content.models.map(({ model }) => model)
        : Object.keys(group.content.metrics),
  }));
  const { holdFlat, nodata } = options;
  // nodata is hashed as text: JSON has no infinite numbers.
  const optionValues = {
    holdFlat,
    nodata: nodata === undefined ? undefined : String(nodata),
    clampTolerance: (["1", "m"] as const).map((unit) => clampToleranceOf(options, unit)),
  };
  const hashedValues = [version, plan.hazard, plan.rules, groups, window, grid, offset, optionValues];
  return createHash("sha256").update(JSON.stringify(hashedValues)).digest("hex");
}

/**
 * Returns a raster's description as text, including those of the rasters it is made of: their bands, unit factors, order and
 * selected positions. Paths of files that were extracted or converted are left out, because they differ between runs.
 */
function specText(spec: RasterSpec): string {
  return JSON.stringify(spec, (_, value: unknown) => {
    // JSON has no infinite numbers.
    if (typeof value === "number" && !Number.isFinite(value)) return String(value);
    return isFileSpec(value) ? { ...value, path: undefined } : value;
  });
}

function isFileSpec(value: unknown): value is FileSpec {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}
