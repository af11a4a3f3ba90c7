/** Names of releases. A release name always identifies the same content, in responses and in usage records. */
import { createHash } from "node:crypto";
import { type CatalogContent, type Catalog, contentText, type HazardEntry } from "../atlas/catalog.ts";
import { Fault } from "../errors.ts";
import type { HazardPlan } from "./plan.ts";

/** Hexadecimal digits of the content hash in a derived name. */
const HASH_DIGITS = 8;
const DERIVED_NAME = new RegExp(`^\\d{8}-([0-9a-f]{${HASH_DIGITS}})$`);

/**
 * Returns a name of the form YYYYMMDD-hash, where the hash covers all content of the catalog, including sources and rules.
 * If the current name already ends with that hash, it is returned, so that repeating an ingest on another day does not change
 * the release.
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

/** Returns the hexadecimal SHA-256 of the content of a catalog. */
export function hashReleaseContent(content: CatalogContent): string {
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

export function nameTakenFault(release: string, reason: string): Fault {
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
