/** Computes the key that identifies unfinished work of an interrupted ingest. */
import { createHash } from "node:crypto";
import { version } from "../version.ts";
import { clampToleranceOf, type IngestOptions } from "./options.ts";
import { mapsOf } from "./plan.ts";
import { type FileSpec, partsOf, type RasterSpec } from "./raster.ts";
import type { SourceVersions } from "./sourceVersions.ts";
import type { IngestTarget } from "./target.ts";

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
