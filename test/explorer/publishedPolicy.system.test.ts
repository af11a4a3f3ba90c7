/** A published folder behind a host that sends the content security policy of the documentation with every file. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Response } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { EXPLORER_POLICY } from "../../src/host/routes/explorer.ts";
import type { RangeResponse, RangeServer, ReceivedRequest } from "../atlas/rangeServer.ts";
import { describeInChromium } from "../browser/chromium.ts";
import { writeGeneratedAtlas } from "./atlases.ts";
import { closeExplorers, openExplorer, type OpenedExplorer, publishedServer } from "./explorerPage.ts";

/** Inside the generated maps. */
const PLACE = "hazard=riverine_floods&metric=depth_meters&scenario=rcp4p5&year=2030&place=11.9,43.1&map=9/11.9/43.1";
const WORKER_NAME = /^engineWorker-[\w-]+\.js$/;

async function documentedPolicy(): Promise<string> {
  const page = await readFile(new URL("../../docs/explorer.md", import.meta.url), "utf8");
  const policies = [...page.matchAll(/add_header Content-Security-Policy "([^"]+)" always;/g)];
  expect(policies).toHaveLength(1);
  return policies[0]?.[1] ?? "";
}

describeInChromium("a published folder with a strict policy", () => {
  let folder: string;
  let atlas: string;
  let server: RangeServer;
  let policy: string;
  let opened: OpenedExplorer | undefined;
  beforeAll(async () => {
    policy = await documentedPolicy();
    folder = await mkdtemp(join(tmpdir(), "isotherm-policy-"));
    atlas = await writeGeneratedAtlas(folder);
    server = await publishedServer({ atlas });
  });
  afterEach(async () => {
    server.transform = undefined;
    await opened?.close();
    opened = undefined;
  });
  afterAll(async () => {
    await closeExplorers();
    await rm(folder, { recursive: true, force: true });
  });

  /** Sends a policy with every response, or with those of the files for which `policyOf` returns one. */
  function sendPolicy(policyOf: (request: ReceivedRequest) => string | undefined): void {
    server.transform = (response: RangeResponse, request) => ({
      ...response,
      headers: { ...response.headers, "content-security-policy": policyOf(request) },
    });
  }

  test("the documented policy is that of the service", () => {
    expect(policy).toBe(EXPLORER_POLICY);
  });

  test("the map, a place, a curve and the company views work without a violation", async () => {
    sendPolicy(() => policy);
    opened = await openExplorer({ atlas, published: true, fragment: PLACE });
    const { page, problems } = opened;
    const workerScripts: Response[] = [];
    page.on("response", (response) => {
      if (WORKER_NAME.test(new URL(response.url()).pathname.split("/").at(-1) ?? "")) workerScripts.push(response);
    });
    await page.reload();
    await page.locator(".map-container[aria-busy='false']").waitFor();
    await page.getByRole("region", { name: "Values of the layer on the map" }).getByText(/\d m$/).first().waitFor();
    await page.getByText("Return-period curve", { exact: true }).click();
    await page.getByRole("table", { name: "Flood depth by return period, m" }).waitFor();
    expect(page.workers()).toHaveLength(1);
    expect(workerScripts.map((response) => response.headers()["content-security-policy"])).toEqual([policy]);
    for (const view of ["Temperature", "Climate risk"]) {
      await page.getByRole("link", { name: view, exact: true }).click();
      await page.locator(".company-headline").waitFor();
    }
    await page.waitForLoadState("networkidle");
    expect(problems).toEqual([]);
  });

  test("the worker is under the policy of its script: without WebAssembly there, the page says that the engine failed", async () => {
    const withoutWebAssembly = policy.replace(" 'wasm-unsafe-eval'", "");
    expect(withoutWebAssembly).not.toBe(policy);
    sendPolicy(({ name }) => (WORKER_NAME.test(name) ? withoutWebAssembly : policy));
    opened = await openExplorer({ atlas, published: true, fragment: PLACE });
    const alert = opened.page.getByRole("alert").first();
    await alert.waitFor();
    expect(await alert.innerText()).toMatch(/engine failed.*WebAssembly/is);
  });
});
