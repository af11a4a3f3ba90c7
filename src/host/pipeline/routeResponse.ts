import { type Coding, COMPRESSED_BYTES_MIN, selectCoding } from "../http/contentCoding.ts";
import { encodeJson } from "../../text/json/json.ts";
import type { Reply, Route } from "../route.ts";

/** A route's response before it is compressed and metered. */
export interface RouteResponse {
  readonly status: number;
  /** Header fields in addition to those of every response, as a flat list: name, value, … */
  readonly fields: readonly string[];
  readonly contentType: string;
  readonly body: Reply["body"];
  readonly units: number;
  readonly isCompressed?: boolean;
}

export const NO_FIELDS: readonly string[] = [];
export const JSON_CONTENT_TYPE = "application/json";

/** Encodes the result of a route's handler. */
export function toRouteResponse(route: Route<unknown, unknown>, answer: unknown): RouteResponse {
  const units = route.metered?.units(answer) ?? 0;
  const reply = route.reply?.(answer);
  if (reply === undefined) {
    return { status: 200, fields: NO_FIELDS, contentType: JSON_CONTENT_TYPE, body: encodeJson(answer), units };
  }
  const { status, contentType, body, headers, isCompressed = false } = reply;
  const fields = headers === undefined ? NO_FIELDS : flatFields(headers);
  return { status, fields, contentType, body, units, isCompressed };
}

/** Selects the content coding of a body; streams and short bodies are not compressed. */
export function selectBodyCoding(accepted: string | string[] | undefined, body: Reply["body"]): Coding | undefined {
  if (accepted === undefined || isStream(body) || bodySizeBytes(body) < COMPRESSED_BYTES_MIN) return undefined;
  return selectCoding(typeof accepted === "string" ? accepted : String(accepted));
}

/**
 * Returns the Cache-Control value of a route. Authenticated responses may be cached only by the client, which must
 * revalidate them unless the route has a maximum age.
 */
export function cacheControl({ access, revision, maxAgeS }: Route<unknown, unknown>): string {
  if (revision === undefined) return "no-store";
  if (maxAgeS !== undefined) return `${access === "open" ? "public" : "private"}, max-age=${maxAgeS}`;
  return access === "open" ? "no-cache" : "private, no-cache";
}

export function isStream(body: Reply["body"]): body is AsyncIterable<string> {
  return typeof body === "object" && Symbol.asyncIterator in body;
}

/** Returns the size of a body. Text is measured in UTF-16 code units, which is exact for ASCII. */
export function bodySizeBytes(body: string | readonly Uint8Array[]): number {
  return typeof body === "string" ? body.length : body.reduce((size, part) => size + part.length, 0);
}

/** Returns header fields as a flat list: name, value, … */
export function flatFields(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat();
}
