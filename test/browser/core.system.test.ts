import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { deflateRawSync } from "node:zlib";
import type { Browser, Page as BrowserPage } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/instance.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { filesOf, type RangeServer, startRangeServer } from "../atlas/rangeServer.ts";
import { goldenHash, type GoldenResult } from "../goldenQueries.ts";
import { bundle } from "./bundle.ts";
import { describeInChromium, launchChromium } from "./chromium.ts";
import { GOLDEN_REGION, makeGoldenAtlas } from "./goldenAtlas.ts";
import type { Page, PageRun } from "./page.ts";

/** Number of golden queries. A full run uses 100,000; the default keeps ordinary test runs fast. */
const QUERY_COUNT = Number(process.env["ISOTHERM_GOLDEN_QUERIES"] ?? 2000);
const MS_PER_QUERY_MAX = 50;
describeInChromium("the core in Chromium", () => {
  let folder: string;
  let atlasServer: RangeServer;
  /** Serves the page from a different origin than the atlas, as in production. */
  let pageServer: RangeServer;
  let browser: Browser;
  let tab: BrowserPage;
  let bundleFiles: ReadonlyMap<string, string>;
  let run: PageRun;
  let expected: GoldenResult;

  beforeAll(
    async () => {
      const build = fileURLToPath(new URL("../../build", import.meta.url));
      await mkdir(build, { recursive: true });
      // Inside the repository, so that the bundle of the worker thread finds node_modules.
      folder = await mkdtemp(join(build, "browser-test-"));
      await makeGoldenAtlas(await Kernel.load(), folder);
      atlasServer = await startRangeServer(filesOf(folder));
      bundleFiles = await bundle(new URL("page.ts", import.meta.url), "browser");
      pageServer = await startRangeServer((name) => {
        const text =
          name === "page.html" ? '<script type="module" src="page.js"></script>' : fileNamed(bundleFiles, name);
        return Promise.resolve(text === undefined ? undefined : new TextEncoder().encode(text));
      });
      browser = await launchChromium();
      tab = await browser.newPage();
      await tab.goto(`${pageServer.url}/page.html`);
      await tab.waitForFunction("globalThis.page !== undefined");
      run = { address: atlasServer.url, count: QUERY_COUNT, seed: 20_260_101, region: GOLDEN_REGION };
      expected = await goldenOf(folder);
    },
    60_000 + QUERY_COUNT * MS_PER_QUERY_MAX,
  );
  afterAll(async () => {
    await browser?.close();
    await pageServer?.close();
    await atlasServer?.close();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(() => {
    atlasServer.transform = undefined;
    atlasServer.requests.length = 0;
  });

  /** Runs the golden queries on this thread, from source. */
  async function goldenOf(address: string): Promise<GoldenResult> {
    const atlas = await openAtlas(address);
    try {
      return await goldenHash(atlas, run);
    } finally {
      await atlas.close();
    }
  }

  const inPage = (call: "golden" | "goldenInWorker", run: PageRun): Promise<GoldenResult> =>
    tab.evaluate(([name, argument]) => (globalThis as unknown as { page: Page }).page[name](argument), [
      call,
      run,
    ] as const);
  const rejectionInPage = (address: string): ReturnType<Page["rejection"]> =>
    tab.evaluate((argument) => (globalThis as unknown as { page: Page }).page.rejection(argument), address);
  const inflateInPage = (bytes: Uint8Array, sizeBytes: number): ReturnType<Page["inflate"]> =>
    tab.evaluate(([packed, size]) => (globalThis as unknown as { page: Page }).page.inflate(packed, size), [
      [...bytes],
      sizeBytes,
    ] as const);

  test("the golden queries return many numbers and many nulls", () => {
    expect(expected.values).toBeGreaterThan(QUERY_COUNT * 3);
    expect(expected.nulls).toBeGreaterThan(QUERY_COUNT * 3);
  });

  test("a bundle for browsers contains no Node modules", () => {
    const texts = [...bundleFiles.values()].join("\n");
    expect(texts).toContain("openAtlas");
    expect(texts.match(/["'`]node:[a-z/_]+["'`]/g) ?? []).toEqual([]);
    expect(texts).not.toContain("browser-external");
  });

  describe("returns the same bytes as Node on a folder", () => {
    const timeout = 60_000 + QUERY_COUNT * MS_PER_QUERY_MAX;

    test("in Node, over HTTP", async () => expect(await goldenOf(run.address)).toEqual(expected), timeout);

    test(
      "in a Node worker thread, over HTTP, with the built package",
      async () => {
        const files = await bundle(new URL("thread.ts", import.meta.url), "node");
        for (const [name, text] of files) await writeFile(join(folder, name), text);
        const thread = new Worker(join(folder, "thread.js"), { workerData: run });
        const result = new Promise((resolve, reject) => thread.once("message", resolve).once("error", reject));
        expect(await result).toEqual(expected);
      },
      timeout,
    );

    test("in Chromium, over HTTP", async () => expect(await inPage("golden", run)).toEqual(expected), timeout);

    test(
      "in a module worker in Chromium, over HTTP, reading ranges only",
      async () => {
        expect(await inPage("goldenInWorker", run)).toEqual(expected);
        expect(atlasServer.requests.filter(({ method }) => method !== "GET")).toEqual([]); // no preflight requests
        expect(atlasServer.requests.length).toBeGreaterThan(100);
        for (const { name, headers } of atlasServer.requests) {
          const [first, last] = (/^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? []).slice(1).map(Number);
          expect(first, `${name}: ${headers.range}`).toBeDefined();
          if (!/\.(tiles|pyramid)$/.test(name)) continue;
          const { size } = await stat(join(folder, name));
          expect((last ?? 0) - (first ?? 0) + 1, name).toBeLessThan(size / 2);
        }
      },
      timeout,
    );

    test(
      "in Chromium and in its worker, for the demo",
      async () => {
        const demo = { address: "demo", count: 300, seed: 7 };
        const atlas = await openAtlas("demo");
        const expectedDemo = await goldenHash(atlas, demo);
        await atlas.close();
        expect(expectedDemo.values).toBeGreaterThan(300);
        expect(await inPage("golden", demo)).toEqual(expectedDemo);
        expect(await inPage("goldenInWorker", demo)).toEqual(expectedDemo);
      },
      timeout,
    );
  });

  describe("rejects invalid input in Chromium", () => {
    test("a folder", async () => {
      expect(await rejectionInPage("data/atlas")).toMatchObject({ code: "configuration_invalid" });
    });

    test("an address without an atlas", async () => {
      const found = await rejectionInPage(`${pageServer.url}/nowhere`);
      expect(found).toMatchObject({ code: "atlas_not_found" });
    });

    test("a redirect, with a message that says so", async () => {
      atlasServer.transform = (response) => ({
        ...response,
        status: 302,
        headers: { ...response.headers, location: "/elsewhere" },
      });
      const found = await rejectionInPage(atlasServer.url);
      expect(found?.message).toContain("responded with a redirect; redirects are not followed");
      expect(atlasServer.requests).toHaveLength(1);
    });

    test("a server that does not expose Content-Range, with a message that names the missing header", async () => {
      atlasServer.transform = (response) => ({
        ...response,
        headers: { ...response.headers, "access-control-expose-headers": undefined },
      });
      const found = await rejectionInPage(atlasServer.url);
      expect(found?.message).toContain("Access-Control-Expose-Headers: Content-Range, ETag");
    });

    test("a whole file instead of a range", async () => {
      atlasServer.transform = (response) => ({ ...response, status: 200 });
      expect((await rejectionInPage(atlasServer.url))?.message).toContain(
        "responded with 200 OK (application/json) instead of 206",
      );
    });

    test("a file that changed while it was open", async () => {
      let responseCount = 0;
      atlasServer.transform = (response) => ({
        ...response,
        headers: { ...response.headers, etag: `"${responseCount++}"` },
      });
      expect((await rejectionInPage(atlasServer.url))?.message).toContain("must be reopened");
    });

    test("compressed data that are damaged, truncated, followed by other bytes, or of another size", async () => {
      const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * i) % 251);
      const packed = deflateRawSync(bytes);
      expect(await inflateInPage(packed, 5000)).toEqual([...bytes]);
      const damaged = Uint8Array.from(packed);
      damaged[0] = 0xff;
      expect(await inflateInPage(damaged, 5000)).toBeTypeOf("string");
      expect(await inflateInPage(packed.subarray(0, -3), 5000)).toBeTypeOf("string");
      expect(await inflateInPage(Buffer.concat([packed, Buffer.from("more")]), 5000)).toBeTypeOf("string");
      expect(await inflateInPage(packed, 4999)).toBe("Error: The decompressed size must be 4999 bytes (got more).");
      expect(await inflateInPage(packed, 5001)).toBe("Error: The decompressed size must be 5001 bytes (got 5000).");
    });
  });
});

/** Returns the text of a file by its name without the folder, because the server does not know folders. */
function fileNamed(files: ReadonlyMap<string, string>, name: string): string | undefined {
  return [...files].find(([path]) => path.endsWith(name))?.[1];
}
