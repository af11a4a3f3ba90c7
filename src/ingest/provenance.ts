/** What is counted of a group's cells while they are written, and what the catalog states of their origin. */
import { STEPS_NODATA } from "../kernel/kernel.generated.ts";
import {
  FLAG_AT_FIRST_RETURN_PERIOD,
  FLAG_CLAMPED,
  FLAG_PARTLY_MISSING,
  FLAG_MADE_NON_DECREASING,
  type LargestRounding,
} from "./curve.ts";
import type { CellCounts, GroupPlan, IngestOptions } from "./plan.ts";
import type { Raster } from "./raster.ts";
import type { SourceVersions } from "./sourceVersions.ts";

/** In the unit of the metric, whatever that is. */
const CLAMP_TOLERANCE_DEFAULT = 1;

/** Returns how far below zero values count as zero, in the metric's unit; undefined where none does. */
export function clampToleranceOf({ clampNegative, clampTolerance }: IngestOptions): number | undefined {
  return clampNegative === true ? (clampTolerance ?? CLAMP_TOLERANCE_DEFAULT) : undefined;
}

export interface GroupTotals {
  counts: { -readonly [K in keyof CellCounts]: number };
  worst: LargestRounding;
}

export function zeroCounts(): GroupTotals["counts"] {
  return { valid: 0, nodata: 0, zero: 0, clampedNegative: 0, partlyMissing: 0, reachedAtFirst: 0, raised: 0 };
}

export function countRow(
  counts: GroupTotals["counts"],
  steps: Uint16Array,
  flags: Uint8Array,
  { own, layerCount }: { readonly own: number; readonly layerCount: number },
): void {
  for (let column = 0; column < flags.length; column++) {
    const step = steps[column * layerCount + own] ?? STEPS_NODATA;
    if (step === STEPS_NODATA) counts.nodata++;
    else counts.valid++;
    if (step === 0) counts.zero++;
    const bits = flags[column] ?? 0;
    if (bits === 0) continue;
    if ((bits & FLAG_CLAMPED) !== 0) counts.clampedNegative++;
    if ((bits & FLAG_PARTLY_MISSING) !== 0) counts.partlyMissing++;
    if ((bits & FLAG_AT_FIRST_RETURN_PERIOD) !== 0) counts.reachedAtFirst++;
    if ((bits & FLAG_MADE_NON_DECREASING) !== 0) counts.raised++;
  }
}

/** What the catalogue says of a group: the recipe's own words, the files, the choices, and what they led to. */
export function provenanceOf(
  group: GroupPlan,
  { counts, worst }: GroupTotals,
  { options, sources }: { readonly options: IngestOptions; readonly sources: SourceVersions },
): Record<string, unknown> {
  const { content } = group;
  const file = (raster: Raster, band: number): Record<string, unknown> => ({
    file: nameOf(raster.file),
    ...sources.of(raster.file),
    ...(raster.bandCount > 1 ? { band } : {}),
    ...(Object.keys(raster.notes).length > 0 ? { notes: raster.notes } : {}),
  });
  const maps =
    content.kind === "curves"
      ? {
          return_period_maps: content.models.map(({ model, maps }) => ({
            ...(model === "" ? {} : { model }),
            maps: maps.map(({ raster, band, unitFactor, returnPeriodYears }) => ({
              return_period_years: returnPeriodYears,
              ...(unitFactor === 1 ? {} : { unit_factor: unitFactor }),
              ...file(raster, band),
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
            ...file(raster, band),
          })),
        };
  return {
    ...group.provenance,
    ...maps,
    ...(options.holdFlat === true && content.kind === "curves" ? { hold_flat: true } : {}),
    ...(options.clampNegative === true
      ? {
          clamp_negative: true,
          clamp_tolerance: clampToleranceOf(options),
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
  };
}

/** Where a file lay on the machine that made the atlas is nobody's business: its name is. */
function nameOf(file: string): string {
  return /^https?:\/\//.test(file) ? file : (file.split(/[/\\]/).at(-1) ?? file);
}
