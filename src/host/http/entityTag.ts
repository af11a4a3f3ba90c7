import { createHash } from "node:crypto";

/** What tells the answers of one revision from those of another: the first 72 bits of a SHA-256. */
export function revisionTag(revision: string): string {
  return createHash("sha256").update(revision).digest("base64url").slice(0, 12);
}

/**
 * A strong ETag of what is at an address. Only the revision tells versions of an answer apart, as it must: the rest is
 * there so that caches and people do not take different addresses for the same thing, and needs no strong hash.
 */
export function entityTag(revisionTag: string, target: string): string {
  let hash = 0xcbf29ce4;
  for (let index = 0; index < target.length; index++) {
    hash = Math.imul(hash ^ target.charCodeAt(index), 0x01000193);
  }
  return `${revisionTag}-${(hash >>> 0).toString(36)}`;
}

/** The tag of one coding of an answer, as it stands in `ETag`: other bytes, another tag. */
export function quotedTag(tag: string, coding: string | undefined): string {
  return coding === undefined ? `"${tag}"` : `"${tag}-${coding}"`;
}

const CODED = /-(?:br|gzip)$/;

/**
 * Whether If-None-Match names what would be answered, in any coding (RFC 9110, 13.1.2).
 * @returns the tag that does, for `ETag`
 */
export function matchingTag(ifNoneMatch: string, tag: string): string | undefined {
  if (ifNoneMatch.trim() === "*") return quotedTag(tag, undefined);
  for (const item of ifNoneMatch.split(",")) {
    const stated = /^\s*(?:W\/)?"([^"]*)"\s*$/.exec(item)?.[1];
    if (stated?.replace(CODED, "") === tag) return `"${stated}"`;
  }
  return undefined;
}
