/** The panel of a place, compared with pictures: fixed fonts, the demo, one place. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeWithFixedFonts, type FixedFontBrowser, launchWithFixedFonts } from "../browser/fixedFonts.ts";
import { closeExplorers, type ExplorerOptions, openExplorer, type OpenedExplorer } from "./explorerPage.ts";
import { DJIBOUTI, headline } from "./placePages.ts";
import { expectPicture } from "./referencePictures.ts";

/** The panel fits on the screen without scrolling. */
const DESKTOP = { width: 1200, height: 2400 } as const;
const PHONE = { width: 390, height: 2600 } as const;

const MANILA_CHANGES =
  "view=hazards&hazard=cyclones&metric=wind_speed_mps&scenario=rcp8p5&year=2050&place=14.604,120.982,Manila" +
  "&change=true&total=true";

describeWithFixedFonts("the panel of a place looks like its picture", () => {
  let fixed: FixedFontBrowser;
  let opened: OpenedExplorer | undefined;
  beforeAll(async () => {
    fixed = await launchWithFixedFonts();
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  afterAll(async () => {
    await fixed?.close();
    await closeExplorers();
  });

  /** Opens a place and waits until its values and charts are drawn. */
  async function openPlace(options: ExplorerOptions, chartCount: number): Promise<Page> {
    opened = await openExplorer({ ...options, browser: fixed.browser });
    const { page } = opened;
    if (options.viewport === PHONE) await page.getByRole("button", { name: "Place", exact: true }).click();
    await headline(page).waitFor();
    await page.locator(".place-panel[aria-busy='false']").waitFor();
    await expect.poll(() => page.locator(".metric canvas").count()).toBe(chartCount);
    // This part names the release of the demo, which changes with its content.
    await page.locator(".details details[open]").evaluateAll((all) => {
      for (const details of all) (details as HTMLDetailsElement).open = false;
    });
    await page.evaluate(() => document.fonts.ready.then(() => undefined));
    // Charts are drawn in a task after their canvas was created; two frames later they are on the screen.
    await page.evaluate(
      () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
    );
    return page;
  }

  test("with values of a circle, on a desktop in light colors", async () => {
    const page = await openPlace({ fragment: `${DJIBOUTI}&radius=25`, viewport: DESKTOP }, 3);
    await expectPicture(page.locator(".place-panel"), "panel-light");
  });

  test("with changes since the baseline, on a phone in dark colors", async () => {
    const page = await openPlace({ fragment: MANILA_CHANGES, viewport: PHONE, colorScheme: "dark" }, 4);
    await expectPicture(page.locator(".place-panel"), "panel-dark-phone");
  });

  test("without data", async () => {
    const page = await openPlace({ fragment: DJIBOUTI.replace("11.59,43.15", "0,-30"), viewport: DESKTOP }, 0);
    await expectPicture(page.locator(".place-panel"), "panel-no-data");
  });
});
