/** The key by which an interrupted ingest recognizes work that it can continue. */
import { createHash } from "node:crypto";
import { version } from "../version.ts";
import { clampToleranceOf, type IngestOptions } from "./options.ts";
import { mapsOf } from "./plan.ts";
import type { SourceVersions } from "./sourceVersions.ts";
import type { Target } from "./target.ts";

/**
 * Returns a hash of everything that determines the cells to be written: versions of the sources, rules, options, grid,
 * and the release of this package, whose arithmetic may change.
 */
export function resumeKeyOf(
  { plan, window, grid, offset }: Target,
  { options, sources }: { readonly options: IngestOptions; readonly sources: SourceVersions },
): string {
  const groups = plan.groups.map((group) => ({
    scenario: group.scenario,
    year: group.year,
    maps: mapsOf(group).map((map) => ({
      ...map,
      raster: [map.raster.file, sources.versionOf(map.raster.file), map.raster.notes],
    })),
    names:
      group.content.kind === "curves"
        ? group.content.models.map(({ model }) => model)
        : Object.keys(group.content.metrics),
  }));
  const { holdFlat, nodata } = options;
  // nodata as text: JSON has no infinite numbers.
  const choices = {
    holdFlat,
    nodata: nodata === undefined ? undefined : String(nodata),
    clampTolerance: (["1", "m"] as const).map((unit) => clampToleranceOf(options, unit)),
  };
  const all = [version, plan.hazard, plan.rules, groups, window, grid, offset, choices];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}
