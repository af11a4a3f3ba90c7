/** Creates the catalog of an atlas after an ingest. */
import { type Catalog, FORMAT_VERSION, catalogGridOf, type GroupEntry, type HazardEntry } from "../atlas/catalog.ts";
import { supplementedHazard, supplementName } from "../atlas/supplement.ts";
import { HAZARD_NAMES } from "../hazard/hazards.ts";
import type { WrittenPack } from "./packWriter.ts";
import { withKnownOrigin } from "./provenance.ts";
import { hashReleaseContent, derivedReleaseName, groupKey, nameTakenFault } from "./releaseName.ts";
import { catalogNameOf } from "./supplementPlan.ts";

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
  /** Pack of the metrics of each hazard; it is written before the supplements. */
  const metricsPacks = new Map<string, string>();
  for (const { target, pack, groups } of written) {
    const { hazard, rules, supplement } = target.plan;
    const name = catalogNameOf(target.plan);
    const known = hazards.flatMap((entry) =>
      entry.hazard === name ? entry.packs.flatMap((each) => (each.id === pack.id ? each.groups : [])) : [],
    );
    if (supplement === undefined) {
      metricsPacks.set(hazard, pack.id);
      // A supplement belongs to the metrics of the same maps.
      hazards = [hazard, supplementName(hazard)].reduce(
        (all, each) => superseded(all, each, groups, replaced),
        hazards,
      );
    }
    const existing = hazards.find((entry) => entry.hazard === name);
    const metricsPack = supplement === undefined ? undefined : metricsPacks.get(hazard);
    const entry: HazardEntry = {
      hazard: name,
      grid: existing?.grid ?? catalogGridOf(target.grid),
      rules: supplement === undefined ? { ...rules } : {},
      packs: [
        ...(existing?.packs ?? []),
        {
          ...pack,
          groups: groups.map((group) =>
            metricsPack === undefined
              ? withKnownOrigin(group, known)
              : { ...group, provenance: { ...group.provenance, metrics_pack: metricsPack } },
          ),
        },
      ],
    };
    hazards = [...hazards.filter((other) => other.hazard !== name), entry];
  }
  hazards = hazards.filter(({ packs }) => packs.length > 0);
  const order = (name: string): number => {
    const hazard = supplementedHazard(name);
    return (HAZARD_NAMES as readonly string[]).indexOf(hazard ?? name) + (hazard === undefined ? 0 : 0.5);
  };
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

/**
 * Returns the hazards with groups of one entry marked as superseded; packs in which every group is superseded are removed.
 * @param added groups that replace those of the same scenario and year
 * @param replaced receives the keys of the superseded groups
 */
function superseded(
  hazards: readonly HazardEntry[],
  name: string,
  added: readonly GroupEntry[],
  replaced: Set<string>,
): readonly HazardEntry[] {
  const keys = new Set(added.map((group) => groupKey(name, group)));
  return hazards.map((entry) => {
    if (entry.hazard !== name) return entry;
    // Superseded groups stay listed, because positions in the pack's files depend on them. Packs are identified by their
    // cells alone, so two scenarios with equal maps share files and an id may occur twice.
    const packs = entry.packs
      .map((pack) => ({
        ...pack,
        groups: pack.groups.map((group) => {
          if (!keys.has(groupKey(name, group)) || group.superseded === true) return group;
          replaced.add(groupKey(name, group));
          return { ...group, superseded: true };
        }),
      }))
      .filter((pack) => pack.groups.some((group) => group.superseded !== true));
    return { ...entry, packs };
  });
}
