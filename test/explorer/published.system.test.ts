/** A published folder behind a static file server, as a user sees it. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RangeServer } from "../atlas/rangeServer.ts";
import { describeInChromium, launchChromium } from "../browser/chromium.ts";
import { writeGeneratedAtlas } from "./atlases.ts";
import { closeExplorers, openExplorer, type OpenedExplorer, publishedServer } from "./explorerPage.ts";

/** Goal of the bytes until the first answer, without compression by the host. */
const FIRST_ANSWER_BYTES_MAX = 1_500_000;
const JAVASCRIPT_GZIP_BYTES_MAX = 250_000;
const BUILT = fileURLToPath(new URL("../../dist/explorer/", import.meta.url));
/** Inside the generated maps. */
const PLACE = "place=11.9,43.1";

describe("the built page", () => {
  test(`loads at most ${JAVASCRIPT_GZIP_BYTES_MAX} bytes of gzipped JavaScript before the first paint`, async () => {
    const html = await readFile(join(BUILT, "index.html"), "utf8");
    const loaded = [...html.matchAll(/(?:src|href)="\.\/(explorer\/[^"]+\.js)"/g)].map(([, path = ""]) => path);
    expect(loaded.length).toBeGreaterThan(0);
    // Static imports are loaded before the entry runs.
    for (const path of loaded) {
      const text = await readFile(join(BUILT, path), "utf8");
      for (const [, name = ""] of text.matchAll(/\bfrom\s*"\.\/([^"]+\.js)"|\bimport\s*"\.\/([^"]+\.js)"/g)) {
        if (name !== "" && !loaded.includes(`explorer/${name}`)) loaded.push(`explorer/${name}`);
      }
    }
    const files = await Promise.all(loaded.map((path) => readFile(join(BUILT, path))));
    const sizeBytes = files.reduce((sum, bytes) => sum + gzipSync(bytes).length, 0);
    expect(sizeBytes).toBeLessThanOrEqual(JAVASCRIPT_GZIP_BYTES_MAX);
    expect(sizeBytes).toBeGreaterThan(20_000);
  });

  test("contains no address of another host, except in texts of licenses, names of formats and sources", async () => {
    const names = (await readdir(join(BUILT, "explorer"))).filter((name) => name.endsWith(".js"));
    for (const name of names) {
      const text = await readFile(join(BUILT, "explorer", name), "utf8");
      expect(text.match(/(?:fetch|importScripts|import)\(\s*["'`]https?:/g) ?? [], name).toEqual([]);
    }
  });
});

describeInChromium("a published folder", () => {
  let folder: string;
  let atlas: string;
  let server: RangeServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "isotherm-published-"));
    atlas = await writeGeneratedAtlas(folder);
    server = await publishedServer({ atlas });
  });
  afterEach(() => {
    server.transform = undefined;
  });
  afterAll(async () => {
    await closeExplorers();
    await rm(folder, { recursive: true, force: true });
  });

  const open = (fragment?: string): Promise<OpenedExplorer> =>
    openExplorer({ atlas, published: true, ...(fragment === undefined ? {} : { fragment }) });
  const depth = ({ page }: OpenedExplorer) =>
    page.getByRole("region", { name: "Values of the layer on the map" }).getByText(/\d m$/);

  test("shows the map without asking for a key, and does nothing that it must not do", async () => {
    const opened = await open();
    const { page, problems } = opened;
    await page.getByRole("application", { name: /^Hazard map/ }).waitFor();
    await page.waitForLoadState("networkidle");
    await expect(page.getByLabel(/API key/).count()).resolves.toBe(0);
    expect(problems).toEqual([]);
    await opened.close();
  });

  test("credits the maps, the outlines and the cities below the map", async () => {
    const opened = await open();
    const credits = opened.page.getByText(/^Values: /);
    await expect
      .poll(() => credits.textContent())
      .toMatch(
        /WRI Aqueduct Floods .*Ward, P\. J\..*License: CC BY 4\.0\. Outlines: Natural Earth .*Cities: GeoNames \(CC BY 4\.0\)\.$/,
      );
    await opened.close();
  });

  test(`shows the first answer within ${FIRST_ANSWER_BYTES_MAX} bytes, and a further one with few more`, async () => {
    const startBytes = server.sentBytes();
    const opened = await open(PLACE);
    const { page, problems } = opened;
    await depth(opened).first().waitFor();
    await page.waitForLoadState("networkidle");
    const firstBytes = server.sentBytes() - startBytes;
    expect(firstBytes).toBeLessThan(FIRST_ANSWER_BYTES_MAX);
    const before = server.sentBytes();
    await page.getByLabel("Radius in kilometers").fill("5");
    await page.getByLabel("Radius in kilometers").press("Enter");
    await expect.poll(() => server.sentBytes()).toBeGreaterThan(before);
    await depth(opened).first().waitFor();
    await page.waitForLoadState("networkidle");
    const furtherBytes = server.sentBytes() - before;
    console.log(`first answer ${firstBytes} bytes, further answer ${furtherBytes} bytes`);
    expect(furtherBytes).toBeLessThan(100_000);
    expect(problems).toEqual([]);
    await opened.close();
  });

  test("reads the tiles of the atlas by ranges only, and asks the host not to compress them", async () => {
    server.requests.length = 0;
    const opened = await open(PLACE);
    await depth(opened).first().waitFor();
    const reads = server.requests.filter(({ name }) => /\.(root|pyramid|tiles)$/.test(name));
    expect(reads.length).toBeGreaterThan(2);
    for (const { name, headers } of reads) {
      expect(headers.range, name).toMatch(/^bytes=\d+-\d+$/);
      expect(headers["accept-encoding"], name).toBe("identity");
    }
    await opened.close();
  });

  async function messageAfter(transform: RangeServer["transform"]): Promise<string> {
    server.transform = transform;
    const opened = await open();
    const alert = opened.page.getByRole("alert");
    await alert.waitFor();
    const text = await alert.innerText();
    await opened.close();
    return text;
  }

  test("says so if the host answers ranges with the whole file", async () => {
    const text = await messageAfter((response, { name }) =>
      name === "atlas.json" ? { ...response, status: 200 } : response,
    );
    expect(text).toContain("responded with 200 OK");
    expect(text).toContain("instead of 206");
  });

  test("says so if the configuration or the atlas is missing", async () => {
    const missing = (missingName: string): Promise<string> =>
      messageAfter((response, { name }) => (name === missingName ? { ...response, status: 404 } : response));
    expect(await missing("explorer.json")).toContain("This page is not published completely");
    expect(await missing("atlas.json")).toContain("atlas");
  });

  test.each(["an atlas", "the demo"])(
    "says so if %s is opened over http on a host that is not localhost",
    async (what) => {
      const browser = await launchChromium({ flags: ["--host-resolver-rules=MAP intranet.test 127.0.0.1"] });
      onTestFinished(() => browser.close());
      const { url } = what === "the demo" ? await publishedServer() : server;
      const page = await browser.newPage();
      await page.goto(`${url.replace("127.0.0.1", "intranet.test")}/index.html`);
      const alert = page.getByRole("alert");
      await alert.waitFor();
      expect(await alert.innerText()).toContain("must be opened over https or on localhost");
    },
  );

  test("can be tried again when the host is back", async () => {
    server.transform = (response, { name }) => (name === "atlas.json" ? { ...response, status: 500 } : response);
    const opened = await open();
    await opened.page.getByRole("alert").waitFor();
    server.transform = undefined;
    await opened.page.getByRole("button", { name: "Try again" }).click();
    await opened.page.getByRole("application", { name: /^Hazard map/ }).waitFor();
    await opened.close();
  });

  test("of the demo computes its values in the browser", async () => {
    const opened = await openExplorer({ published: true, fragment: "place=11.59,43.15" });
    await opened.page.getByText("Synthetic data.").waitFor();
    await depth(opened).first().waitFor();
    expect(opened.problems).toEqual([]);
    await opened.close();
  });
});
