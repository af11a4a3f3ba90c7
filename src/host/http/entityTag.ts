import { createHash } from "node:crypto";

/** Returns the part of an ETag that identifies a revision: the first 72 bits of its SHA-256. */
export function revisionTag(revision: string): string {
  return createHash("sha256").update(revision).digest("base64url").slice(0, 12);
}

/**
 * Returns the strong ETag of a request target. The revision alone distinguishes versions of a response; the hash of the
 * target (32-bit FNV-1a) only makes the tags of different targets differ.
 */
export function entityTag(revisionTag: string, target: string): string {
  let hash = 0xcbf29ce4;
  for (let index = 0; index < target.length; index++) {
    hash = Math.imul(hash ^ target.charCodeAt(index), 0x01000193);
  }
  return `${revisionTag}-${(hash >>> 0).toString(36)}`;
}

/** Returns the value of the header ETag. Each content coding has its own tag, because its bytes differ. */
export function quotedTag(tag: string, coding: string | undefined): string {
  return coding === undefined ? `"${tag}"` : `"${tag}-${coding}"`;
}

const CODING_SUFFIX = /-(?:br|gzip)$/;

/**
 * Finds the tag of the current response, in any coding, in If-None-Match (RFC 9110, 13.1.2).
 * @returns the matching tag in quotes, for the header ETag
 */
export function matchingTag(ifNoneMatch: string, tag: string): string | undefined {
  if (ifNoneMatch.trim() === "*") return quotedTag(tag, undefined);
  for (const item of ifNoneMatch.split(",")) {
    const stated = /^\s*(?:W\/)?"([^"]*)"\s*$/.exec(item)?.[1];
    if (stated?.replace(CODING_SUFFIX, "") === tag) return `"${stated}"`;
  }
  return undefined;
}
