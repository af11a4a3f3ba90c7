import { createHash } from "node:crypto";
import { encodeJson } from "../http/json.ts";
import { openApiDocument } from "../openapi/document.ts";
import type { Route } from "./route.ts";

/**
 * GET /openapi.json: the OpenAPI 3.1 document.
 *
 * @param routes returns all routes including this one; called when the document is first requested
 */
export function openApi(routes: () => readonly Route<unknown, unknown>[]): Route<undefined, readonly Uint8Array[]> {
  /** Always the same array: the content coding caches compressed bodies by identity. */
  let parts: readonly [Uint8Array] | undefined;
  const document = (): readonly [Uint8Array] =>
    (parts ??= [new TextEncoder().encode(encodeJson(openApiDocument(routes())))]);
  return {
    method: "GET",
    path: "/openapi.json",
    access: "open",
    description: {
      operationId: "getOpenApi",
      tag: "Service",
      summary: "OpenAPI document",
      responses: { 200: { description: "This document.", schema: { type: "object" } } },
      problems: [],
    },
    parse: () => undefined,
    handle: document,
    reply: (body) => ({ status: 200, contentType: "application/json", body }),
    revision: () => createHash("sha256").update(document()[0]).digest("base64url"),
  };
}
