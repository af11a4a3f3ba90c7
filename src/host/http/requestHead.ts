import type { IncomingMessage } from "node:http";
import { Fault } from "../../errors.ts";
import { Refusal } from "../problems/problem.ts";
import { readUuid } from "./uuid.ts";

/** Limit of the request line and headers together. */
export const HEAD_BYTES_MAX = 16_384;

/** Splits a request target in either of its forms, origin ("/path?query") or absolute ("http://host/path?query"). */
export function splitTarget(target: string): { readonly path: string; readonly queryText: string } {
  // An absolute target without a path means "/" (RFC 9110, 4.2.3).
  const local = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*\/?/i, "/");
  const mark = local.indexOf("?");
  return mark < 0 ? { path: local, queryText: "" } : { path: local.slice(0, mark), queryText: local.slice(mark + 1) };
}

/** Requires exactly one Host field, or none before HTTP/1.1 (RFC 9112, 3.2). @throws Refusal `http_malformed` */
export function checkHostHeader(request: IncomingMessage): void {
  // Counts raw headers, because the parsed headers keep only one of several Host fields.
  const { rawHeaders } = request;
  let hostCount = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host") hostCount++;
  }
  if (hostCount === 1 || (hostCount === 0 && request.httpVersionMinor === 0)) return;
  throw new Refusal("http_malformed", `HTTP/1.1 requires exactly one Host header (got ${hostCount}).`);
}

/** Rejects a body on methods that do not take one, where ignoring it could hide a mistake. @throws Fault `invalid_request` */
export function rejectBody(request: IncomingMessage): void {
  if (!hasBody(request)) return;
  const header = request.headers["transfer-encoding"] === undefined ? "Content-Length" : "Transfer-Encoding";
  const detail = `${request.method} requests must not have a body.`;
  throw new Fault("invalid_request", detail, { items: [{ header, code: "not_expected", detail }] });
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return (
    headers["transfer-encoding"] !== undefined ||
    (headers["content-length"] !== undefined && Number(headers["content-length"]) > 0)
  );
}

export function isAwaitingContinue(request: IncomingMessage): boolean {
  const { expect } = request.headers;
  return expect !== undefined && request.httpVersionMinor !== 0 && /^100-continue$/i.test(expect);
}

/**
 * Returns the API key of a request.
 * @throws Refusal `api_key_missing`; `api_key_invalid` if there are several
 */
export function readApiKey(request: IncomingMessage): string {
  const text = request.headers["x-api-key"];
  if (text === undefined || text === "") {
    const detail = "The header X-API-Key with the account's API key is required.";
    throw new Refusal("api_key_missing", detail, {}, { items: [{ header: "X-API-Key", code: "missing", detail }] });
  }
  // Node joins repeated header fields with commas, which keys do not contain.
  if (typeof text !== "string" || text.includes(",")) {
    const detail = "X-API-Key must contain one key (got several).";
    throw new Refusal("api_key_invalid", detail, {}, { items: [{ header: "X-API-Key", code: "repeated", detail }] });
  }
  return text;
}

/** Returns the customer id of a request, in lower case. @throws Refusal `customer_id_missing`, `customer_id_malformed` */
export function readCustomerId(request: IncomingMessage): string {
  const text = request.headers["x-customer-id"];
  if (text === undefined || text === "") {
    const detail = "The header X-Customer-ID with the UUID of a registered customer is required.";
    const items = [{ header: "X-Customer-ID", code: "missing", detail }] as const;
    throw new Refusal("customer_id_missing", detail, {}, { items });
  }
  const id = typeof text === "string" ? readUuid(text) : undefined;
  if (id !== undefined) return id;
  const detail = "X-Customer-ID must be the UUID of a registered customer.";
  const items = [{ header: "X-Customer-ID", code: "malformed", detail }] as const;
  throw new Refusal("customer_id_malformed", detail, {}, { items });
}

const VISIBLE_ASCII = /^[!-~]{1,255}$/;

/**
 * Returns the idempotency key of a request, if it has one.
 * @throws Refusal `invalid_request`
 */
export function readIdempotencyKey(request: IncomingMessage): string | undefined {
  const text = request.headers["idempotency-key"];
  if (text === undefined) return undefined;
  if (typeof text === "string" && VISIBLE_ASCII.test(text)) return text;
  const detail = "Idempotency-Key must occur once and have 1 to 255 visible ASCII characters.";
  const items = [{ header: "Idempotency-Key", code: "malformed", detail }] as const;
  throw new Refusal("invalid_request", detail, {}, { items });
}
