import { createHash } from "node:crypto";
import { encodeJson } from "../http/json.ts";
import { openApiDocument } from "../openapi/document.ts";
import type { Route } from "./route.ts";

/**
 * GET /openapi.json: all of this as OpenAPI 3.1.
 * @param routes all that the host answers, this route too; asked for when it is needed
 */
export function openApi(routes: () => readonly Route<unknown, unknown>[]): Route<undefined, readonly Uint8Array[]> {
  /** The very same list each time, so that it is packed once. */
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
      summary: "This document",
      responses: { 200: { description: "OpenAPI 3.1.", schema: { type: "object" } } },
      problems: [],
    },
    parse: () => undefined,
    handle: document,
    reply: (body) => ({ status: 200, contentType: "application/json", body }),
    revision: () => createHash("sha256").update(document()[0]).digest("base64url"),
  };
}
