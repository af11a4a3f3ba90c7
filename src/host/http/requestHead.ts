import { IDEMPOTENCY_KEY_PATTERN } from "../../contract/ranges.ts";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Fault } from "../../errors.ts";

/** Maximum size of the request line and the headers together. */
export const HEAD_BYTES_MAX = 16_384;

/** Returns the target as the client sent it. Frameworks that remove a mount path from `url` keep it in `originalUrl`. */
export function requestTarget(request: IncomingMessage & { readonly originalUrl?: unknown }): string {
  return typeof request.originalUrl === "string" ? request.originalUrl : (request.url ?? "");
}

/** Returns the part of a path below the prefix, with its leading slash; undefined if the path is not below it. */
export function pathBelow(prefix: string, path: string): string | undefined {
  if (prefix === "") return path;
  if (path === prefix) return "/";
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined;
}

/** Splits a request target, whose form is either origin ("/path?query") or absolute ("http://host/path?query"). */
export function splitTarget(target: string): { readonly path: string; readonly queryText: string } {
  // An absolute target without a path means "/" (RFC 9110, 4.2.3).
  const local = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*\/?/i, "/");
  const queryIndex = local.indexOf("?");
  if (queryIndex < 0) return { path: local, queryText: "" };
  return { path: local.slice(0, queryIndex), queryText: local.slice(queryIndex + 1) };
}

/**
 * Returns the error of a request whose end another server on the way could find elsewhere: one that is not HTTP/1.0 or
 * HTTP/1.1, or has a transfer coding that is not applied here. Its connection must be closed (RFC 9112, 6.1).
 */
export function findFramingError(request: IncomingMessage): Fault | undefined {
  const { httpVersionMajor, httpVersionMinor, httpVersion } = request;
  if (httpVersionMajor !== 1 || httpVersionMinor > 1) {
    return new Fault("http_malformed", `The version must be HTTP/1.1 or HTTP/1.0 (got HTTP/${httpVersion}).`);
  }
  const coding = request.headers["transfer-encoding"];
  if (coding === undefined) return undefined;
  if (httpVersionMinor === 0) {
    return new Fault("http_malformed", "HTTP/1.0 has no Transfer-Encoding; send Content-Length.");
  }
  if (coding.toLowerCase() === "chunked") return undefined;
  return new Fault("http_malformed", `Transfer-Encoding must be chunked (got ${coding}).`);
}

/**
 * Returns whether a client offers to change the protocol. Without a listener for it, Node.js ignores the offer, but also the
 * rest of what it has read of the connection, so that the next bytes may be the body of a request whose head is lost.
 */
export function offersUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && /(^|[,\s])upgrade([,\s]|$)/i.test(headers.connection ?? "");
}

/**
 * Reads the target of a request: as the client sent it, its path, and its query string without the question mark. Requires a
 * path, except that OPTIONS may have the target `*`; and exactly one Host field, or none before HTTP/1.1 (RFC 9112, 3.2).
 * @throws Fault `http_malformed`
 */
export function readTarget(request: IncomingMessage): {
  readonly url: string;
  readonly path: string;
  readonly queryText: string;
} {
  // Counts raw headers, because the parsed headers keep only one of several Host fields.
  const { rawHeaders, method } = request;
  let hostCount = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host") hostCount++;
  }
  if (hostCount > 1 || (hostCount === 0 && request.httpVersionMinor > 0)) {
    throw new Fault("http_malformed", `HTTP/1.1 requires exactly one Host header (got ${hostCount}).`);
  }
  const url = requestTarget(request);
  const { path, queryText } = splitTarget(url);
  if (!path.startsWith("/") && !(path === "*" && method === "OPTIONS")) {
    throw new Fault("http_malformed", `The request target must begin with a slash (got ${path}).`);
  }
  return { url, path, queryText };
}

/** Rejects the body of a request that takes none: ignoring it could hide a mistake. @throws Fault `invalid_request` */
export function rejectBody(method: string, headers: IncomingHttpHeaders): void {
  if (!hasBody({ headers })) return;
  const header = headers["transfer-encoding"] === undefined ? "Content-Length" : "Transfer-Encoding";
  const detail = `${method} requests must not have a body.`;
  throw new Fault("invalid_request", detail, { items: [{ header, code: "not_expected", detail }] });
}

/** Returns whether a request declares a body that is not empty. */
export function hasBody({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  return (
    headers["transfer-encoding"] !== undefined ||
    (headers["content-length"] !== undefined && Number(headers["content-length"]) > 0)
  );
}

/** Returns whether the client waits for `100 Continue` before it sends the body. */
export function isAwaitingContinue(request: IncomingMessage): boolean {
  const { expect } = request.headers;
  return expect !== undefined && request.httpVersionMinor !== 0 && /^100-continue$/i.test(expect);
}

/**
 * Returns the API key of a request.
 * @throws Fault `api_key_missing`; `api_key_invalid` if there are several
 */
export function readApiKey(headers: IncomingHttpHeaders): string {
  const text = headers["x-api-key"];
  if (text === undefined || text === "") {
    const detail = "The header X-API-Key with the account's API key is required.";
    throw new Fault("api_key_missing", detail, { items: [{ header: "X-API-Key", code: "missing", detail }] });
  }
  // Node joins repeated header fields with commas, which keys do not contain.
  if (typeof text !== "string" || text.includes(",")) {
    const detail = "X-API-Key must contain one key (got several).";
    throw new Fault("api_key_invalid", detail, { items: [{ header: "X-API-Key", code: "repeated", detail }] });
  }
  return text;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns a UUID in lower case, as the ledger stores it, or undefined if the text is not a UUID. */
export function readUuid(text: string): string | undefined {
  const id = text.toLowerCase();
  return UUID.test(id) ? id : undefined;
}

/** Returns the customer id of a request, in lower case. @throws Fault `customer_id_missing`, `customer_id_malformed` */
export function readCustomerId(headers: IncomingHttpHeaders): string {
  const text = headers["x-customer-id"];
  if (text === undefined || text === "") {
    const detail = "The header X-Customer-ID with the UUID of a registered customer is required.";
    const items = [{ header: "X-Customer-ID", code: "missing", detail }] as const;
    throw new Fault("customer_id_missing", detail, { items });
  }
  const id = typeof text === "string" ? text.toLowerCase() : "";
  if (UUID.test(id)) return id;
  const detail = "X-Customer-ID must be the UUID of a registered customer.";
  const items = [{ header: "X-Customer-ID", code: "malformed", detail }] as const;
  throw new Fault("customer_id_malformed", detail, { items });
}

const IDEMPOTENCY_KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN);

/**
 * Returns the idempotency key of a request, if it has one.
 * @throws Fault `invalid_request`
 */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const text = headers["idempotency-key"];
  if (text === undefined) return undefined;
  if (typeof text === "string" && IDEMPOTENCY_KEY.test(text)) return text;
  const detail = "Idempotency-Key must occur once and have 1 to 255 visible ASCII characters.";
  const items = [{ header: "Idempotency-Key", code: "malformed", detail }] as const;
  throw new Fault("invalid_request", detail, { items });
}
