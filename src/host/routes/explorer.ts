import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Type } from "typebox";
import { quote } from "../../validation/schemaErrors.ts";
import { version } from "../../version.ts";
import { Fault } from "../../errors.ts";
import type { Reply, Route } from "../route.ts";

/** Allows files of this service and requests to it only. WebAssembly needs `wasm-unsafe-eval`; no JavaScript is evaluated. */
export const EXPLORER_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".bin": "application/octet-stream",
  ".css": "text/css; charset=utf-8",
  ".csv": "text/csv; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
};

/** Names of files that contain a hash of their content, such as `main-B7k2x_9Q.js`. */
const HASHED_NAME = /-[\w-]{8}\.\w+$/;
const YEAR_S = 31_536_000;
const DAY_S = 86_400;

/** The page of the explorer and its files, as the build writes them. */
export interface ExplorerFiles {
  /** The page; addresses in it start with `./`. */
  readonly html: string;
  readonly folder: string;
  /** Names of the files that can be requested. */
  readonly names: ReadonlySet<string>;
}

/** Lists the files of a built explorer: `index.html`, and the folder `explorer` beside it. Returns undefined if there is none. */
export function findExplorer(folder: URL): ExplorerFiles | undefined {
  try {
    const files = fileURLToPath(new URL("explorer/", folder));
    const names = readdirSync(files).filter((name) => extname(name) in CONTENT_TYPES);
    return { html: readFileSync(new URL("index.html", folder), "utf8"), folder: files, names: new Set(names) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The explorer in the package. */
export interface InstalledExplorer {
  /** Undefined if the package was built without it. */
  readonly explorer: ExplorerFiles | undefined;
}

export const INSTALLED_EXPLORER: InstalledExplorer = {
  explorer: findExplorer(new URL("../../explorer/", import.meta.url)),
};

/** Returns the page as a reply. Its addresses contain the prefix, because the page is also at the prefix without a slash. */
export function explorerReply({ html }: ExplorerFiles, prefix: string): Reply {
  return {
    status: 200,
    contentType: "text/html; charset=utf-8",
    body: html.replaceAll(/(?<=\b(?:src|href)=")\.\//g, `${prefix}/`),
    headers: {
      "Content-Security-Policy": EXPLORER_POLICY,
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-cache",
      Vary: "Accept",
    },
  };
}

interface ExplorerFile {
  readonly name: string;
  /** Always the same array, because it is the key under which compressed bodies are cached. */
  readonly parts: readonly Uint8Array[];
}

/** GET /explorer/:file: scripts, styles and data of the explorer. */
export function explorerFile({ explorer }: InstalledExplorer = INSTALLED_EXPLORER): Route<string, ExplorerFile> {
  const files = new Map<string, Promise<ExplorerFile>>();
  const load = async (name: string, folder: string): Promise<ExplorerFile> => ({
    name,
    parts: [await readFile(`${folder}${name}`)],
  });
  const checkName = (name: string): ExplorerFiles => {
    if (explorer?.names.has(name) === true) return explorer;
    throw new Fault("route_not_found", `The explorer has no file ${quote(name)}.`);
  };
  return {
    method: "GET",
    path: "/explorer/:file",
    access: "open",
    description: {
      operationId: "getExplorerFile",
      tag: "Service",
      summary: "Script, style sheet or data file of the explorer",
      path: Type.Object({ file: Type.String({ description: "Name of a file that the page at `/` refers to." }) }),
      parameterExamples: { file: "icon.svg" },
      responses: {
        200: {
          description: "The file.",
          contentType: "image/svg+xml",
          otherContentTypes: [...new Set(Object.values(CONTENT_TYPES))]
            .map((type) => type.replace(/;.*/, ""))
            .filter((type) => type !== "image/svg+xml" && type !== "application/json"),
        },
      },
      problems: ["route_not_found"],
    },
    revision: () => [version, ...(explorer?.names ?? [])].join("\n"),
    parse: ({ path }) => path["file"] ?? "",
    checkAvailability: checkName,
    handle(name) {
      const { folder } = checkName(name);
      let file = files.get(name);
      if (file === undefined) {
        file = load(name, folder);
        files.set(name, file);
        file.catch(() => files.delete(name));
      }
      return file;
    },
    reply: ({ name, parts }) => ({
      status: 200,
      contentType: CONTENT_TYPES[extname(name)] ?? "application/octet-stream",
      body: parts,
      headers: {
        "Cache-Control": HASHED_NAME.test(name) ? `public, max-age=${YEAR_S}, immutable` : `public, max-age=${DAY_S}`,
        "Referrer-Policy": "no-referrer",
      },
    }),
  };
}
