/** What the company views show and offer while a request is running, and after it has failed. */
import type { Page, Route } from "playwright-core";
import { afterAll, afterEach, expect, test } from "vitest";
import { describeInChromium } from "../../browser/chromium.ts";
import { closeExplorers, openExplorer, type OpenedExplorer } from "../explorerPage.ts";

const COPY_ANSWER = { name: "Copy the answer as JSON" } as const;
const RISK_PATH = "**/analyze/total-climate-risk";
const ALIGNMENT_PATH = "**/temperature-alignment-projections**";

let opened: OpenedExplorer | undefined;

describeInChromium("the latest answer in the company views", () => {
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  afterAll(closeExplorers);

  const open = async (fragment: string): Promise<Page> => {
    opened = await openExplorer({ fragment });
    await opened.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await opened.page.locator(".company-headline").waitFor();
    return opened.page;
  };

  test.each([
    { view: "alignment", path: ALIGNMENT_PATH },
    { view: "climate-risk", path: RISK_PATH },
  ])("the view $view copies an answer only with the request that it belongs to", async ({ view, path }) => {
    const page = await open(`view=${view}`);
    await page.getByText("Copy this request").click();
    await page.getByRole("button", COPY_ANSWER).waitFor();
    const held: Route[] = [];
    await page.route(path, (route) => void held.push(route));
    await page.getByLabel("Name (required)").fill("Another company");
    await expect
      .poll(() => page.getByRole("region", { name: /^Request as/ }).textContent())
      .toContain("Another company");
    await expect.poll(() => held.length).toBe(1);
    expect(await page.getByRole("button", COPY_ANSWER).count()).toBe(0);
    await held[0]?.continue();
    await page.getByRole("button", COPY_ANSWER).click();
    await page.getByText("Answer copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("Another company");
    await page.unroute(path);
    await page.route(path, (route) => route.abort());
    await page.getByLabel("Name (required)").fill("A third company");
    await page.getByRole("button", { name: "Try again" }).waitFor();
    expect(await page.getByRole("button", COPY_ANSWER).count()).toBe(0);
  });

  test("a waterfall of the value that belongs to the previous input is marked as such", async () => {
    const page = await open("view=climate-risk");
    await page.getByLabel("Waterfall of").selectOption("value");
    const note = page.locator(".waterfall-note");
    await note.waitFor();
    const held: Route[] = [];
    await page.route(RISK_PATH, (route) => {
      // The request of the waterfall has all years.
      if (!route.request().postData()?.includes("2049")) return route.continue();
      held.push(route);
      return undefined;
    });
    await page.getByLabel("Discount rate").fill("0.05");
    await expect.poll(() => held.length).toBe(1);
    await note.getByText("This chart belongs to the previous input").waitFor();
    expect(await page.locator(".outdated .waterfalls").count()).toBe(1);
    await held[0]?.continue();
    await note.getByText("at a real discount rate of 5 %").waitFor();
    expect(await page.locator(".outdated").count()).toBe(0);
    expect(await note.textContent()).not.toContain("previous input");
  });
});
