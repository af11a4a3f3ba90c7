import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Type } from "typebox";
import { html, htmlReply } from "./htmlPage.ts";
import { Refusal } from "../problems/problem.ts";
import type { Reply, Route } from "./route.ts";

const require = createRequire(import.meta.url);

/** The range of package.json. */
const SWAGGER_UI = "swagger-ui-dist@^5.35.0";

const START = `"use strict";
window.addEventListener("load", () => {
  window.SwaggerUIBundle({
    url: "/openapi.json",
    dom_id: "#docs",
    deepLinking: true,
    displayRequestDuration: true,
    tryItOutEnabled: true,
  });
});
`;

/** Nothing from elsewhere, and questions to this service alone. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The page sets styles of single elements.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE = html`<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>Isotherm · every call, to be read and tried</title>
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href="/docs/swagger-ui.css" />
      <script src="/docs/swagger-ui-bundle.js"></script>
      <script src="/docs/start.js"></script>
    </head>
    <body>
      <div id="docs"></div>
      <noscript
        >This page needs scripts. The same for programs is at <a href="/openapi.json">/openapi.json</a>.</noscript
      >
    </body>
  </html> `;

const MISSING = html`<h1>The interactive page is not installed</h1>
  <p>It comes from a package of its own, which embedding Isotherm does not need. Beside Isotherm, run</p>
  <pre>npm install ${SWAGGER_UI}</pre>
  <p>
    and start the service again. The same contract, for programs, is at <a href="/openapi.json">/openapi.json</a>.
  </p>`;

const FILES: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "start.js": "text/javascript; charset=utf-8",
};

function installedFolder(): string | undefined {
  try {
    return join(require.resolve("swagger-ui-dist/package.json"), "..");
  } catch {
    return undefined;
  }
}

interface Installed {
  /** Where the page's package lies; undefined where it is not installed. */
  readonly folder: string | undefined;
}

const INSTALLED: Installed = { folder: installedFolder() };

/** GET /docs: every call, to be read and tried. It asks nobody but this service. */
export function docs({ folder }: Installed = INSTALLED): Route<undefined, Reply> {
  return {
    method: "GET",
    path: "/docs",
    access: "open",
    description: {
      operationId: "getDocs",
      tag: "Service",
      summary: "This document as a page where calls can be tried",
      responses: {
        200: { description: "The page.", contentType: "text/html" },
        501: {
          description: `The package ${SWAGGER_UI} is not installed beside the service.`,
          contentType: "text/html",
        },
      },
      problems: [],
    },
    parse: () => undefined,
    handle: () =>
      folder === undefined
        ? htmlReply({ title: "The interactive page is not installed", body: MISSING }, { status: 501 })
        : {
            status: 200,
            contentType: "text/html; charset=utf-8",
            body: PAGE.html,
            headers: { "Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer" },
          },
    reply: (answer) => answer,
  };
}

interface DocsFile {
  readonly contentType: string;
  /** The very same list each time, so that it is packed once. */
  readonly parts: readonly Uint8Array[];
}

/** GET /docs/:file: what that page is made of. */
export function docsFile({ folder }: Installed = INSTALLED): Route<string, DocsFile> {
  const files = new Map<string, Promise<DocsFile>>([
    ["start.js", Promise.resolve({ contentType: FILES["start.js"] ?? "", parts: [new TextEncoder().encode(START)] })],
  ]);
  return {
    method: "GET",
    path: "/docs/:file",
    access: "open",
    description: {
      operationId: "getDocsFile",
      tag: "Service",
      summary: "A part of that page",
      path: Type.Object({ file: Type.Enum(Object.keys(FILES)) }),
      parameterExamples: { file: "start.js" },
      responses: {
        200: { description: "A script, or a style sheet.", contentType: "text/javascript", alsoAs: ["text/css"] },
      },
      problems: ["route_not_found"],
    },
    parse: ({ path }) => path["file"] ?? "",
    handle(name) {
      const contentType = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
      if (folder === undefined || contentType === undefined) {
        throw new Refusal("route_not_found", "The page has no part of this name.");
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
