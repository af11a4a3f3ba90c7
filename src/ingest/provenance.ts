/** Describes the origin of a group for the catalog. */
import { isDeepStrictEqual } from "node:util";
import type { GroupEntry } from "../atlas/catalog.ts";
import { type HazardName, HAZARDS } from "../hazard/hazards.ts";
import { version } from "../version.ts";
import { fileBandsOf } from "./derivedRasters.ts";
import { clampToleranceOf, type IngestOptions } from "./options.ts";
import type { GroupTotals } from "./metricSteps.ts";
import { type GroupPlan, mapsOf } from "./plan.ts";
import type { Raster } from "./raster.ts";
import type { SourceVersions } from "./sourceVersions.ts";

/** Returns the provenance of a group: the recipe's description, the source files, the options and their effects. */
export function groupProvenance(
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
