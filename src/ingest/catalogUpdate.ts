/**
 * Creates the catalog of an atlas after an ingest. A release name always identifies the same content, in responses and in
 * usage records.
 */
import {
  type Catalog,
  type CatalogContent,
  catalogGridOf,
  contentText,
  FORMAT_VERSION,
  type GroupEntry,
  type HazardEntry,
} from "../atlas/catalog.ts";
import { supplementedHazard, supplementName } from "../atlas/supplement.ts";
import { HAZARD_NAMES } from "../hazard/hazards.ts";
import { withKnownOrigin, type WrittenPack } from "./packWriter.ts";
import { catalogNameOf } from "./supplementPlan.ts";
import { createHash } from "node:crypto";
import { Fault } from "../errors.ts";
import type { HazardPlan } from "./plan.ts";

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

/** Hexadecimal digits of the content hash in a derived name. */
const HASH_DIGITS = 8;
const DERIVED_NAME = new RegExp(`^\\d{8}-([0-9a-f]{${HASH_DIGITS}})$`);

/**
 * Returns a name of the form YYYYMMDD-hash, where the hash covers all content of the catalog, including sources and rules.
 * If the current name already ends with that hash, it is returned, so that repeating an ingest on another day does not change
 * the release.
 */
function derivedReleaseName(hazards: readonly HazardEntry[], current: Catalog | undefined, createdAt: string): string {
  const hash = hashReleaseContent({ synthetic: false, hazards }).slice(0, HASH_DIGITS);
  if (current !== undefined && DERIVED_NAME.exec(current.release)?.[1] === hash) return current.release;
  return `${createdAt.slice(0, 10).replaceAll("-", "")}-${hash}`;
}

/** Returns the hexadecimal SHA-256 of the content of a catalog. */
function hashReleaseContent(content: CatalogContent): string {
  return createHash("sha256").update(contentText(content)).digest("hex");
}

/**
 * Rejects the name of the current release if the ingest adds a group. If an ingest only replaces groups, `updateCatalog`
 * checks whether the content changes.
 * @throws Fault `invalid_request` naming the first group that the atlas does not have
 */
export function checkReleaseName(
  release: string | undefined,
  current: Catalog | undefined,
  plans: readonly HazardPlan[],
): void {
  if (release === undefined || current?.release !== release) return;
  const existingKeys = new Set(
    current.hazards.flatMap(({ hazard, packs }) =>
      packs.flatMap(({ groups }) => groups.map((group) => groupKey(hazard, group))),
    ),
  );
  const plannedKeys = plans.flatMap(({ hazard, groups }) => groups.map((group) => groupKey(hazard, group)));
  const first = plannedKeys.find((key) => !existingKeys.has(key));
  if (first !== undefined) throw nameTakenFault(release, `it has no ${first}`);
}

function nameTakenFault(release: string, reason: string): Fault {
  return new Fault(
    "invalid_request",
    `The release name ${release} is already used by the atlas for different content: ${reason}. ` +
      `A release name always identifies the same content; set another --release, or none.`,
    { details: { release } },
  );
}

/** Returns the key of a group within an atlas: hazard/scenario/year. */
export const groupKey = (hazard: string, group: { readonly scenario: string; readonly year: number }): string =>
  `${hazard}/${group.scenario}/${group.year}`;
