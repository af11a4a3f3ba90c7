/**
 * Opens the explorer in Chromium as a user would: the page of a service on loopback, or a published folder behind a static file
 * server. Collects everything that the page must not do.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import type * as publishModule from "../../src/cli/atlasPublish.ts";
import type { DemoCredentials } from "../../src/cli/demoCredentials.ts";
import { type RangeServer, startRangeServer } from "../atlas/rangeServer.ts";
import { launchChromium } from "../browser/chromium.ts";
import { newAccount, type Service, startService, withLedger } from "../durability/service.ts";

export interface ExplorerOptions {
  /** Folder of the atlas; default: the demo. */
  readonly atlas?: string;
  /** Whether to publish the explorer and to open the published folder instead of the page of a service. */
  readonly published?: boolean;
  /** Default: a desktop of 1440 x 900. */
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
  /** Parameters of a permalink, such as "view=alignment". */
  readonly fragment?: string;
  /** Whether the address has the key and the customer of the service, as the one that `npm start` prints. Default true. */
  readonly hasKey?: boolean;
  /** Default: a browser that all pages of the test file share. */
  readonly browser?: Browser;
}

export interface OpenedExplorer {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Address of the folder of the page. */
  readonly url: string;
  /** Errors of the console, violations of the policy, requests to other origins, failed requests and error responses. */
  readonly problems: readonly string[];
  /** Key and customer of the service. */
  readonly credentials: Pick<DemoCredentials, "api_key" | "customer_id"> | undefined;
  /** Closes the page. Services and published folders stay until `closeExplorers`. */
  close(): Promise<void>;
}

/** A started service, or a published folder with its server. */
interface Host {
  readonly url: string;
  readonly credentials?: Pick<DemoCredentials, "api_key" | "customer_id">;
  readonly server?: RangeServer;
  close(): Promise<void>;
}

const DESKTOP = { width: 1440, height: 900 } as const;
export const PHONE = { width: 390, height: 844 } as const;

let sharedBrowser: Promise<Browser> | undefined;
/** Hosts by what they serve, because a service takes seconds to start. */
const hosts = new Map<string, Promise<Host>>();

/** Opens the explorer in a new window without stored data. */
export async function openExplorer(options: ExplorerOptions = {}): Promise<OpenedExplorer> {
  const { viewport = DESKTOP, colorScheme = "light", fragment, hasKey = true } = options;
  const { url, credentials } = await hostOf(options);
  const browser = options.browser ?? (await (sharedBrowser ??= launchChromium()));
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce", acceptDownloads: true });
  const page = await context.newPage();
  const problems = collectProblems(page, new URL(url).origin);
  // The static server has no index of a folder.
  const name = options.published === true ? "index.html" : "";
  await page.goto(`${url}/${name}${fragmentOf(fragment, hasKey ? credentials : undefined)}`);
  return { page, context, url: `${url}/`, problems, credentials, close: () => context.close() };
}

/** Returns the server of a published folder, which counts its requests and can change its responses. */
export async function publishedServer(options: Pick<ExplorerOptions, "atlas"> = {}): Promise<RangeServer> {
  const { server } = await hostOf({ ...options, published: true });
  if (server === undefined) throw new Error("the host must have a server");
  return server;
}

/** Ends the browser, the services and the servers, and deletes their folders. */
export async function closeExplorers(): Promise<void> {
  await (await sharedBrowser)?.close();
  sharedBrowser = undefined;
  const started = await Promise.allSettled(hosts.values());
  hosts.clear();
  for (const host of started) if (host.status === "fulfilled") await host.value.close();
}

function hostOf({ atlas, published = false }: ExplorerOptions): Promise<Host> {
  const key = `${published} ${atlas ?? "demo"}`;
  const host = hosts.get(key) ?? (published ? startPublished(atlas ?? "demo") : startServiceOf(atlas));
  hosts.set(key, host);
  return host;
}

async function startServiceOf(atlas: string | undefined): Promise<Host> {
  const data = await mkdtemp(join(tmpdir(), "isotherm-explorer-"));
  const created = atlas === undefined ? undefined : await createCredentials(data);
  const service: Service = await startService({ data }, { atlas });
  const credentials =
    created ?? (JSON.parse(await readFile(join(data, "demo-credentials.json"), "utf8")) as DemoCredentials);
  return {
    url: service.url,
    credentials,
    async close() {
      await service.stop();
      await rm(data, { recursive: true });
    },
  };
}

function createCredentials(data: string): Promise<Pick<DemoCredentials, "api_key" | "customer_id">> {
  return withLedger({ data }, async (ledger) => {
    const { apiKey, customerIds } = await newAccount(ledger, { name: "Explorer", internalIds: ["explorer"] });
    return { api_key: apiKey, customer_id: customerIds[0] ?? "" };
  });
}

async function startPublished(atlas: string): Promise<Host> {
  const { publishAtlas } = (await import(
    new URL("../../dist/cli/atlasPublish.js", import.meta.url).href
  )) as typeof publishModule;
  const parent = await mkdtemp(join(tmpdir(), "isotherm-explorer-"));
  const folder = join(parent, "site");
  await publishAtlas({ atlas, out: folder, explorer: true });
  const server = await startRangeServer(await publishedFiles(folder));
  return {
    url: server.url,
    server,
    async close() {
      await server.close();
      await rm(parent, { recursive: true });
    },
  };
}

/** Returns a reader of published files by name. Their names are unique. */
async function publishedFiles(folder: string) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const pathByName = new Map(paths.map((path) => [basename(path), path]));
  if (pathByName.size !== paths.length) throw new Error("published files must have different names");
  const files = new Map<string, Promise<Uint8Array>>();
  return (name: string): Promise<Uint8Array | undefined> => {
    const path = pathByName.get(name);
    if (path === undefined) return Promise.resolve(undefined);
    const file = files.get(path) ?? readFile(path);
    files.set(path, file);
    return file;
  };
}

function fragmentOf(fragment: string | undefined, credentials: Host["credentials"]): string {
  const key = credentials && `key=${credentials.api_key}&customer=${credentials.customer_id}`;
  const parts = [fragment, key].filter((part) => part !== undefined);
  return parts.length === 0 ? "" : `#${parts.join("&")}`;
}

function collectProblems(page: Page, origin: string): readonly string[] {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`uncaught error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !/^(?:blob|data):/.test(url))
      problems.push(`request to another origin: ${url}`);
  });
  page.on("requestfailed", (request) => {
    // The page aborts requests that are out of date.
    const reason = request.failure()?.errorText;
    if (reason !== "net::ERR_ABORTED") problems.push(`failed request: ${request.url()} (${reason})`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) problems.push(`response ${response.status()}: ${response.url()}`);
  });
  return problems;
}
