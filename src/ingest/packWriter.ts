/** Writes the cells of one hazard, or of one of its supplements, as a pack of the atlas, and describes their origin. */
import { createHash, randomUUID } from "node:crypto";
import type { GroupEntry, PackEntry } from "../atlas/catalog.ts";
import { writePack } from "../atlas/writer.ts";
import type { Kernel } from "../kernel/instance.ts";
import { BandReader } from "./bandReader.ts";
import { type GroupTotals, zeroCounts } from "./metricSteps.ts";
import { type GroupPlan, mapCountOf, mapsOf } from "./plan.ts";
import { type FileSpec, partsOf, type Raster, type RasterSpec, sourceFilesOf } from "./raster.ts";
import { startChunkRunner } from "./chunkThreads.ts";
import { catalogNameOf, storedGroupsOf } from "./supplementPlan.ts";
import type { IngestTarget } from "./target.ts";
import { version } from "../version.ts";
import { clampToleranceOf, type IngestOptions } from "./options.ts";
import type { SourceVersions } from "./sourceVersions.ts";
import { isDeepStrictEqual } from "node:util";
import { type HazardName, HAZARDS } from "../hazard/hazards.ts";
import { fileBandsOf } from "./derivedRasters.ts";

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
  const runner = startChunkRunner(kernel, target, { options });
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

/** Returns the provenance of a group: the recipe's description, the source files, the options and their effects. */
function groupProvenance(
  group: GroupPlan,
  { counts, worst }: GroupTotals,
  { hazard, options, sources }: WriteContext & { readonly hazard: HazardName },
): Record<string, unknown> {
  const { content } = group;
  const toleranceOf = (name: string): number | undefined =>
    clampToleranceOf(options, HAZARDS[hazard].metrics.find(({ metric }) => metric === name)?.unit ?? "1");
  const fileProvenance = (
    { file, sidecarFiles = [], bands, notes }: Raster,
    band: number | undefined,
  ): Record<string, unknown> => ({
    file: publicName(file),
    ...sources.versionOf(file),
    ...(bands.length > 1 && band !== undefined ? { band } : {}),
    ...(sidecarFiles.length === 0
      ? {}
      : { sidecar_files: sidecarFiles.map((name) => ({ file: publicName(name), ...sources.versionOf(name) })) }),
    ...(Object.keys(notes).length > 0 ? { notes } : {}),
  });
  const mapProvenance = (raster: Raster, band: number): Record<string, unknown> => {
    if (raster.parts === undefined) return fileProvenance(raster, band);
    // The files of a series are listed once, under source_maps.
    if (isComputed(raster)) return {};
    const files = fileBandsOf({ raster, band }).map((file) => fileProvenance(file.raster, file.band));
    return { ...raster.notes, files };
  };
  const series = [...new Set(mapsOf(group).map(({ raster }) => raster))].filter(isComputed);
  const maps =
    content.kind === "curves"
      ? {
          return_period_maps: content.models.map(({ model, maps }) => ({
            ...(model === "" ? {} : { model }),
            maps: maps.map(({ raster, band, unitFactor, returnPeriodYears }) => ({
              return_period_years: returnPeriodYears,
              ...(unitFactor === 1 ? {} : { unit_factor: unitFactor }),
              ...mapProvenance(raster, band),
            })),
          })),
          ...(content.models.length > 1
            ? { models: "mean of the metrics over models with data, at least half of them" }
            : {}),
        }
      : {
          metric_maps: Object.entries(content.metrics).map(([metric, { raster, band, unitFactor, saturate }]) => ({
            metric,
            ...(unitFactor === 1 ? {} : { unit_factor: unitFactor }),
            ...(saturate ? { saturated: true } : {}),
            ...(options.clampNegative === true ? { clamp_tolerance: toleranceOf(metric) } : {}),
            ...mapProvenance(raster, band),
          })),
          ...(series.length === 0
            ? {}
            : {
                source_maps: series.map(({ notes, parts = [] }) => ({
                  ...notes,
                  files: parts.map((part) => fileProvenance(part, undefined)),
                })),
              }),
        };
  return {
    ...group.provenance,
    ...maps,
    ...(options.holdFlat === true && content.kind === "curves" ? { hold_flat: true } : {}),
    ...(options.clampNegative === true
      ? {
          clamp_negative: true,
          // With maps of metrics, the tolerance is recorded with each map.
          ...(content.kind === "curves" ? { clamp_tolerance: toleranceOf(HAZARDS[hazard].ownMetric) } : {}),
          clamped_cells: counts.clampedNegative,
        }
      : {}),
    ...(options.bbox === undefined
      ? {}
      : { bbox_deg: [options.bbox.westDeg, options.bbox.southDeg, options.bbox.eastDeg, options.bbox.northDeg] }),
    ...(content.kind === "curves"
      ? {
          lower_bound_at_first_return_period: counts.reachedAtFirst > 0,
          cells_at_first_return_period: counts.reachedAtFirst,
          cells_partly_missing: counts.partlyMissing,
          cells_made_non_decreasing: counts.raised,
        }
      : {}),
    cells: { valid: counts.valid, nodata: counts.nodata, zero: counts.zero },
    largest_rounding: worst,
    program: `isotherm ${version}`,
    ingested_on: new Date().toISOString().slice(0, 10),
  };
}

/**
 * Returns a group with the program and date of an equal group that the atlas already has, so that repeating an ingest changes
 * nothing.
 * @param known groups of the atlas with the same cells
 */
export function withKnownOrigin(group: GroupEntry, known: readonly GroupEntry[]): GroupEntry {
  const same = known.find((other) => isDeepStrictEqual(withoutOrigin(other), withoutOrigin(group)));
  return same === undefined ? group : { ...group, provenance: same.provenance };
}

function withoutOrigin({ superseded: _superseded, provenance, ...group }: GroupEntry): unknown {
  const { program: _program, ingested_on: _ingestedOn, ...others } = provenance;
  return { ...group, provenance: others };
}

/** Returns whether a raster is computed from a series of maps. */
function isComputed({ spec }: Raster): boolean {
  return spec.kind === "computed";
}

/** Returns an address as it is, and a path without its folders, because local paths are private. */
function publicName(file: string): string {
  return /^https?:\/\//.test(file) ? file : (file.split(/[/\\]/).at(-1) ?? file);
}

/** Everything besides its plan that is needed to write a pack. */
export interface WriteContext {
  readonly options: IngestOptions;
  readonly sources: SourceVersions;
}
