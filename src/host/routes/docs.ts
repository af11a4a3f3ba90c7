import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Type } from "typebox";
import { html, type Markup } from "../../text/markup.ts";
import { htmlReply } from "./htmlPage.ts";
import { Fault } from "../../errors.ts";
import { quote } from "../../validation/schemaErrors.ts";
import type { Reply, Route } from "../route.ts";

const require = createRequire(import.meta.url);

/** Version range of the optional peer dependency in package.json. */
const SWAGGER_UI = "swagger-ui-dist@^5.35.0";

/** Derives the URL of the document from that of the script, so that it works under any prefix. */
const START_SCRIPT = `"use strict";
const openApiUrl = new URL("../openapi.json", document.currentScript.src).pathname;
window.addEventListener("load", () => {
  window.SwaggerUIBundle({
    url: openApiUrl,
    dom_id: "#docs",
    deepLinking: true,
    displayRequestDuration: true,
    tryItOutEnabled: true,
  });
});
`;

/** Allows resources of this service only, and requests only to this service. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Swagger UI sets inline styles.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const docsPage = (prefix: string): Markup =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Isotherm API</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${prefix}/docs/swagger-ui.css" />
        <script src="${prefix}/docs/swagger-ui-bundle.js"></script>
        <script src="${prefix}/docs/start.js"></script>
      </head>
      <body>
        <div id="docs"></div>
        <noscript
          >This page needs JavaScript. The OpenAPI document is at
          <a href="${prefix}/openapi.json">${prefix}/openapi.json</a>.</noscript
        >
      </body>
    </html> `;

const notInstalledPage = (prefix: string): Markup =>
  html`<h1>The API page is not installed</h1>
    <p>It needs an optional package. In the folder where Isotherm is installed, run</p>
    <pre>npm install ${SWAGGER_UI}</pre>
    <p>
      and restart the service. The OpenAPI document is at <a href="${prefix}/openapi.json">${prefix}/openapi.json</a>.
    </p>`;

const FILES: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "start.js": "text/javascript; charset=utf-8",
};

function findSwaggerUi(): string | undefined {
  try {
    return join(require.resolve("swagger-ui-dist/package.json"), "..");
  } catch {
    return undefined;
  }
}

interface SwaggerUi {
  /** Folder of swagger-ui-dist; undefined if it is not installed. */
  readonly folder: string | undefined;
}

const INSTALLED_SWAGGER_UI: SwaggerUi = { folder: findSwaggerUi() };

/** GET /docs: the interactive API page. It sends requests to this service only. */
export function docs({ folder }: SwaggerUi = INSTALLED_SWAGGER_UI): Route<undefined, Reply> {
  return {
    method: "GET",
    path: "/docs",
    access: "open",
    description: {
      operationId: "getDocs",
      tag: "Service",
      summary: "Interactive API page",
      responses: {
        200: { description: "The page.", contentType: "text/html" },
        501: {
          description: `The package ${SWAGGER_UI} is not installed.`,
          contentType: "text/html",
        },
      },
      problems: [],
    },
    parse: () => undefined,
    handle: (_request, { services: { prefix } }) =>
      folder === undefined
        ? htmlReply({ title: "The API page is not installed", body: notInstalledPage(prefix) }, { status: 501 })
        : {
            status: 200,
            contentType: "text/html; charset=utf-8",
            body: docsPage(prefix).html,
            headers: { "Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer" },
          },
    reply: (answer) => answer,
  };
}

interface DocsFile {
  readonly contentType: string;
  /** Always the same array, because it is the key under which compressed bodies are cached. */
  readonly parts: readonly Uint8Array[];
}

/** GET /docs/:file: scripts and style sheet of the API page. */
export function docsFile({ folder }: SwaggerUi = INSTALLED_SWAGGER_UI): Route<string, DocsFile> {
  const files = new Map<string, Promise<DocsFile>>([
    [
      "start.js",
      Promise.resolve({ contentType: FILES["start.js"] ?? "", parts: [new TextEncoder().encode(START_SCRIPT)] }),
    ],
  ]);
  return {
    method: "GET",
    path: "/docs/:file",
    access: "open",
    description: {
      operationId: "getDocsFile",
      tag: "Service",
      summary: "Script or style sheet of the API page",
      path: Type.Object({ file: Type.Enum(Object.keys(FILES)) }),
      parameterExamples: { file: "start.js" },
      responses: {
        200: {
          description: "A script or a style sheet.",
          contentType: "text/javascript",
          otherContentTypes: ["text/css"],
        },
      },
      problems: ["route_not_found"],
    },
    parse: ({ path }) => path["file"] ?? "",
    handle(name) {
      const contentType = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
      if (folder === undefined || contentType === undefined) {
        throw new Fault("route_not_found", `The API page has no file ${quote(name)}.`);
      }
      let file = files.get(name);
      if (file === undefined) {
        file = readFile(join(folder, name)).then((bytes) => ({ contentType, parts: [bytes] }));
        files.set(name, file);
        file.catch(() => files.delete(name));
      }
      return file;
    },
    reply: ({ contentType, parts }) => ({
      status: 200,
      contentType,
      body: parts,
      headers: { "Cache-Control": "public, max-age=86400" },
    }),
  };
}
