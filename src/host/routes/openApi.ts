import { createHash } from "node:crypto";
import { encodeJson } from "../../text/json/json.ts";
import { openApiDocument } from "../openapi/document.ts";
import type { Route, Services } from "../route.ts";

/**
 * GET /openapi.json: the OpenAPI 3.1 document.
 *
 * @param routes returns all routes including this one; called when the document is first requested
 */
export function openApi(routes: () => readonly Route<unknown, unknown>[]): Route<undefined, readonly Uint8Array[]> {
  /**
   * The document for the services of each host. Always the same array, because it is the key under which compressed bodies
   * are cached.
   */
  const documents = new WeakMap<Services, readonly [Uint8Array]>();
  const documentOf = (services: Services): readonly [Uint8Array] => {
    const cached = documents.get(services);
    if (cached !== undefined) return cached;
    const parts = [new TextEncoder().encode(encodeJson(openApiDocument(routes(), services.prefix)))] as const;
    documents.set(services, parts);
    return parts;
  };
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
    handle: (_request, { services }) => documentOf(services),
    reply: (body) => ({ status: 200, contentType: "application/json", body }),
    revision: (services) => createHash("sha256").update(documentOf(services)[0]).digest("base64url"),
  };
}
