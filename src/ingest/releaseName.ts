/** Names of releases. A name denotes one content, in answers and in usage records. */
import { createHash } from "node:crypto";
import { type CatalogContent, type Catalog, contentText, type HazardEntry } from "../atlas/catalog.ts";
import { Fault } from "../errors.ts";
import type { HazardPlan } from "./plan.ts";

/** Hexadecimal digits of the content hash in a derived name. */
const HASH_DIGITS = 8;
const DERIVED_NAME = new RegExp(`^\\d{8}-([0-9a-f]{${HASH_DIGITS}})$`);

/**
 * Returns a name of the form YYYYMMDD-hash, where the hash covers all content of the catalog including sources and rules.
 * An atlas whose name already ends with that hash keeps its name, so that repeating an ingest on another day does not
 * change the release.
 */
export function derivedReleaseName(
  hazards: readonly HazardEntry[],
  current: Catalog | undefined,
  createdAt: string,
): string {
  const hash = hashReleaseContent({ synthetic: false, hazards }).slice(0, HASH_DIGITS);
  if (current !== undefined && DERIVED_NAME.exec(current.release)?.[1] === hash) return current.release;
  return `${createdAt.slice(0, 10).replaceAll("-", "")}-${hash}`;
}

export function hashReleaseContent(content: CatalogContent): string {
  return createHash("sha256").update(contentText(content)).digest("hex");
}

/**
 * Refuses the name of the current release if the ingest adds a group. Whether an ingest that only replaces groups changes
 * the content is known when the catalog is updated.
 * @throws Fault `invalid_request` naming the first group that the atlas does not have
 */
export function checkReleaseName(
  release: string | undefined,
  current: Catalog | undefined,
  plans: readonly HazardPlan[],
): void {
  if (release === undefined || current?.release !== release) return;
  const held = new Set(
    current.hazards.flatMap(({ hazard, packs }) =>
      packs.flatMap(({ groups }) => groups.map((group) => groupKey(hazard, group))),
    ),
  );
  const planned = plans.flatMap(({ hazard, groups }) => groups.map((group) => groupKey(hazard, group)));
  const first = planned.find((key) => !held.has(key));
  if (first !== undefined) throw nameTakenFault(release, `it has no ${first}`);
}

export function nameTakenFault(release: string, why: string): Fault {
  return new Fault(
    "invalid_request",
    `The release name ${release} is already used by the atlas for different content: ${why}. ` +
      `A release name denotes one content; give another --release, or none.`,
    { details: { release } },
  );
}

/** Returns the key of a group within an atlas: hazard/scenario/year. */
export const groupKey = (hazard: string, group: { readonly scenario: string; readonly year: number }): string =>
  `${hazard}/${group.scenario}/${group.year}`;
