/** The catalog of an atlas after an ingest, and the name of its release. */
import { createHash } from "node:crypto";
import {
  type CatalogContent,
  type Catalogue,
  contentText,
  FORMAT_VERSION,
  gridEntryOf,
  type GroupEntry,
  type HazardEntry,
  type PackEntry,
} from "../atlas/catalogue.ts";
import { Fault } from "../errors.ts";
import { HAZARD_NAMES } from "../hazard/hazards.ts";
import type { Target } from "./target.ts";
import type { HazardPlan } from "./plan.ts";
import type { GroupTotals } from "./provenance.ts";

export interface WrittenPack {
  readonly target: Target;
  readonly pack: Pick<PackEntry, "id" | "files">;
  readonly groups: readonly GroupEntry[];
  readonly totals: readonly GroupTotals[];
}

/** Digits of the content's hash in a release name. */
const HASH_DIGITS = 8;

/**
 * Returns the day and a hash of all content of the catalog, sources and rules included: equal content has an equal hash.
 * What the atlas already has under such a name keeps it, so that writing it again on another day changes no answer.
 */
function releaseName(hazards: readonly HazardEntry[], current: Catalogue | undefined, createdAt: string): string {
  const hash = hashOf({ synthetic: false, hazards }).slice(0, HASH_DIGITS);
  if (current !== undefined && MADE_NAME.exec(current.release)?.[1] === hash) return current.release;
  return `${createdAt.slice(0, 10).replaceAll("-", "")}-${hash}`;
}

const MADE_NAME = new RegExp(`^\\d{8}-([0-9a-f]{${HASH_DIGITS}})$`);

function hashOf(catalogue: CatalogContent): string {
  return createHash("sha256").update(contentText(catalogue)).digest("hex");
}

/**
 * Refuses a chosen release name that the atlas has now, when what is to be written certainly changes its content. A run
 * that replaces everything it writes may write the same again: that is known at the end only.
 */
export function checkReleaseName(
  release: string | undefined,
  current: Catalogue | undefined,
  plans: readonly HazardPlan[],
) {
  if (release === undefined || current?.release !== release) return;
  const held = new Set(
    current.hazards.flatMap(({ hazard, packs }) =>
      packs.flatMap(({ groups }) => groups.map((group) => groupKey(hazard, group))),
    ),
  );
  const added = plans.flatMap(({ hazard, groups }) => groups.map((group) => groupKey(hazard, group)));
  const first = added.find((key) => !held.has(key));
  if (first !== undefined) throw nameTakenFault(release, `it has no ${first}`);
}

function nameTakenFault(release: string, why: string): Fault {
  return new Fault(
    "invalid_request",
    `The release name ${release} is that of the atlas as it is now, whose content is another: ${why}. ` +
      `A name stands for one content, in answers and in usage records; give another --release, or none.`,
    { details: { release } },
  );
}

export const groupKey = (hazard: string, group: { readonly scenario: string; readonly year: number }): string =>
  `${hazard}/${group.scenario}/${group.year}`;

export function updateCatalog(
  current: Catalogue | undefined,
  written: readonly WrittenPack[],
  { release, replaced }: { readonly release: string | undefined; readonly replaced: Set<string> },
): Omit<Catalogue, "sha256"> {
  let hazards: readonly HazardEntry[] = current?.hazards ?? [];
  for (const { target, pack, groups } of written) {
    const { hazard, rules } = target.plan;
    const existing = hazards.find((entry) => entry.hazard === hazard);
    const fresh = new Set(groups.map((group) => groupKey(hazard, group)));
    // Groups keep their places in the packs they were written to: positions in the files count on it. Packs are
    // named by their cells alone, so that two scenarios with equal maps share files: an id may stand here twice.
    const older = (existing?.packs ?? [])
      .map((entry) => ({
        ...entry,
        groups: entry.groups.map((group) => {
          if (!fresh.has(groupKey(hazard, group)) || group.superseded === true) return group;
          replaced.add(groupKey(hazard, group));
          return { ...group, superseded: true };
        }),
      }))
      .filter((entry) => entry.groups.some((group) => group.superseded !== true));
    const entry: HazardEntry = {
      hazard,
      grid: existing?.grid ?? gridEntryOf(target.grid),
      rules: { ...rules },
      packs: [...older, { ...pack, groups: [...groups] }],
    };
    hazards = [...hazards.filter((other) => other.hazard !== hazard), entry];
  }
  const order = (hazard: string): number => (HAZARD_NAMES as readonly string[]).indexOf(hazard);
  const ordered = hazards.toSorted((a, b) => order(a.hazard) - order(b.hazard));
  if (release !== undefined && release === current?.release) {
    const isSame = hashOf(current) === hashOf({ synthetic: false, hazards: ordered });
    if (!isSame) throw nameTakenFault(release, "cells, rules or sources differ");
  }
  const createdAt = new Date().toISOString();
  return {
    format: "isotherm-atlas",
    format_version: FORMAT_VERSION,
    release: release ?? releaseName(ordered, current, createdAt),
    created_at: createdAt,
    synthetic: false,
    hazards: ordered,
  };
}
