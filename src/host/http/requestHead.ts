import type { IncomingMessage } from "node:http";
import { Fault } from "../../errors.ts";
import { Refusal } from "../problems/problem.ts";
import { readUuid } from "./uuid.ts";

/** So long the address and headers of a request may be, all together. */
export const HEAD_BYTES_MAX = 16_384;

/** The target of a request in either of its forms, origin ("/path?query") or absolute ("http://host/path?query"). */
export function splitTarget(target: string): { readonly path: string; readonly queryText: string } {
  // Of an address that ends with the server's name the path is that of its root (RFC 9110, 4.2.3).
  const local = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*\/?/i, "/");
  const mark = local.indexOf("?");
  return mark < 0 ? { path: local, queryText: "" } : { path: local.slice(0, mark), queryText: local.slice(mark + 1) };
}

/** RFC 9112, 3.2: one Host field, no more; none only before HTTP/1.1. */
export function checkHostHeader(request: IncomingMessage): void {
  // Counted in what came: of two Hosts the parsed headers show one.
  const { rawHeaders } = request;
  let given = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host") given++;
  }
  if (given === 1 || (given === 0 && request.httpVersionMinor === 0)) return;
  throw new Refusal("http_malformed", `The request has ${given} Host fields; HTTP/1.1 wants exactly one.`);
}

/** A body where none has a meaning: whoever sends one means something that we would not do. */
export function rejectBody(request: IncomingMessage): void {
  if (!hasBody(request)) return;
  const header = request.headers["transfer-encoding"] === undefined ? "Content-Length" : "Transfer-Encoding";
  const detail = `A ${request.method} is asked by its address alone; send no body.`;
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
 * The key that a request presents.
 * @throws Refusal `api_key_missing`; `api_key_invalid` where there are two, since only one can be meant
 */
export function readApiKey(request: IncomingMessage): string {
  const text = request.headers["x-api-key"];
  if (text === undefined || text === "") {
    const detail = "Send the account's API key in the header X-API-Key.";
    throw new Refusal("api_key_missing", detail, {}, { items: [{ header: "X-API-Key", code: "missing", detail }] });
  }
  // Several fields arrive joined by commas, and no key has one.
  if (typeof text !== "string" || text.includes(",")) {
    const detail = "X-API-Key holds more than one key; send one.";
    throw new Refusal("api_key_invalid", detail, {}, { items: [{ header: "X-API-Key", code: "repeated", detail }] });
  }
  return text;
}

/** @throws Refusal `customer_id_missing`, `customer_id_malformed` */
export function readCustomerId(request: IncomingMessage): string {
  const text = request.headers["x-customer-id"];
  if (text === undefined || text === "") {
    const detail = "Say in the header X-Customer-ID for which customer this is: the UUID that registering it gave.";
    const items = [{ header: "X-Customer-ID", code: "missing", detail }] as const;
    throw new Refusal("customer_id_missing", detail, {}, { items });
  }
  const id = typeof text === "string" ? readUuid(text) : undefined;
  if (id !== undefined) return id;
  const detail = "X-Customer-ID must be one UUID, as registering the customer gave it.";
  const items = [{ header: "X-Customer-ID", code: "malformed", detail }] as const;
  throw new Refusal("customer_id_malformed", detail, {}, { items });
}

const VISIBLE_ASCII = /^[!-~]{1,255}$/;

/**
 * The key by which a repetition of a request is known, where one was sent.
 * @throws Refusal `invalid_request`
 */
export function readIdempotencyKey(request: IncomingMessage): string | undefined {
  const text = request.headers["idempotency-key"];
  if (text === undefined) return undefined;
  if (typeof text === "string" && VISIBLE_ASCII.test(text)) return text;
  const detail = "Idempotency-Key must be given once: 1 to 255 visible ASCII characters.";
  const items = [{ header: "Idempotency-Key", code: "malformed", detail }] as const;
  throw new Refusal("invalid_request", detail, {}, { items });
}
