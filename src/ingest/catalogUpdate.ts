/** Creates the catalog of an atlas after an ingest. */
import { type Catalog, FORMAT_VERSION, catalogGridOf, type HazardEntry } from "../atlas/catalog.ts";
import { HAZARD_NAMES } from "../hazard/hazards.ts";
import type { WrittenPack } from "./packWriter.ts";
import { withKnownOrigin } from "./provenance.ts";
import { hashReleaseContent, derivedReleaseName, groupKey, nameTakenFault } from "./releaseName.ts";

/**
 * Returns the catalog with new packs added. Older groups of the same hazard, scenario and year are marked as superseded; packs
 * in which every group is superseded are removed.
 *
 * @param options `release`: the release name that the user set, if any; `replaced`: receives the keys of superseded
 *   groups
 * @throws Fault `invalid_request` if `release` is the current name and the content differs
 */
export function updateCatalog(
  current: Catalog | undefined,
  written: readonly WrittenPack[],
  { release, replaced }: { readonly release: string | undefined; readonly replaced: Set<string> },
): Omit<Catalog, "sha256"> {
  let hazards: readonly HazardEntry[] = current?.hazards ?? [];
  for (const { target, pack, groups } of written) {
    const { hazard, rules } = target.plan;
    const existing = hazards.find((entry) => entry.hazard === hazard);
    const added = new Set(groups.map((group) => groupKey(hazard, group)));
    const known = (existing?.packs ?? []).flatMap((entry) => (entry.id === pack.id ? entry.groups : []));
    // Superseded groups stay listed, because positions in the pack's files depend on them. Packs are identified by their
    // cells alone, so two scenarios with equal maps share files and an id may occur twice.
    const existingPacks = (existing?.packs ?? [])
      .map((entry) => ({
        ...entry,
        groups: entry.groups.map((group) => {
          if (!added.has(groupKey(hazard, group)) || group.superseded === true) return group;
          replaced.add(groupKey(hazard, group));
          return { ...group, superseded: true };
        }),
      }))
      .filter((entry) => entry.groups.some((group) => group.superseded !== true));
    const entry: HazardEntry = {
      hazard,
      grid: existing?.grid ?? catalogGridOf(target.grid),
      rules: { ...rules },
      packs: [...existingPacks, { ...pack, groups: groups.map((group) => withKnownOrigin(group, known)) }],
    };
    hazards = [...hazards.filter((other) => other.hazard !== hazard), entry];
  }
  const order = (hazard: string): number => (HAZARD_NAMES as readonly string[]).indexOf(hazard);
  const ordered = hazards.toSorted((a, b) => order(a.hazard) - order(b.hazard));
  if (release !== undefined && release === current?.release) {
    const isSame = hashReleaseContent(current) === hashReleaseContent({ synthetic: false, hazards: ordered });
    if (!isSame) throw nameTakenFault(release, "cells, rules or sources differ");
  }
  const createdAt = new Date().toISOString();
  return {
    format: "isotherm-atlas",
    format_version: FORMAT_VERSION,
    release: release ?? derivedReleaseName(ordered, current, createdAt),
    created_at: createdAt,
    synthetic: false,
    hazards: ordered,
  };
}
