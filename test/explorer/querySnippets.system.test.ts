import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeInChromium } from "../browser/chromium.ts";
import { closeExplorers } from "./explorerPage.ts";
import { DJIBOUTI, headline, PlacePages } from "./placePages.ts";

const run = promisify(execFile);

describeInChromium("the programs of the panel", () => {
  const pages = new PlacePages();
  afterEach(() => pages.close());
  /** Inside the repository, so that programs find the package by its name. */
  let programs: string;

  beforeAll(async () => {
    const build = fileURLToPath(new URL("../../build", import.meta.url));
    await mkdir(build, { recursive: true });
    programs = await mkdtemp(join(build, "snippets-"));
  });
  afterAll(async () => {
    await closeExplorers();
    await rm(programs, { recursive: true, force: true });
  });

  const copied = async (page: Page, language: string): Promise<string> => {
    const section = page.locator(".place-panel > div > details", { hasText: "Copy the query of the values" });
    await section.getByRole("button", { name: language, exact: true }).click();
    await section.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByText(`${language} copied.`).waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const copiedAnswer = async (page: Page): Promise<unknown> => {
    const section = page.locator(".place-panel > div > details", { hasText: "Copy the query of the values" });
    await section.getByRole("button", { name: "Copy the answer as JSON" }).click();
    await page.getByText("Answer copied.").waitFor();
    return JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  };

  test("copies programs that return the values of the panel when they are run", async () => {
    const page = await pages.open({ fragment: `${DJIBOUTI}&radius=12.5&method=mean&total=true` });
    await headline(page).waitFor();
    await page.getByText("Copy the query of the values").click();
    const answer = await copiedAnswer(page);
    expect(answer).toMatchObject({ aggregation: { radius_km: 12.5, method: "mean" } });
    const { credentials } = pages;
    const { url } = pages.opened;
    const env = {
      ...process.env,
      ISOTHERM_KEY: credentials.api_key,
      ISOTHERM_CUSTOMER: credentials.customer_id,
    };
    const texts = {
      curl: await copied(page, "curl"),
      typescript: await copied(page, "TypeScript"),
      python: await copied(page, "Python"),
      json: await copied(page, "JSON"),
    };
    for (const text of Object.values(texts)) {
      expect(text).not.toContain(credentials.api_key);
      expect(text).not.toContain(credentials.customer_id);
    }
    const python = join(programs, "query.py");
    const program = join(programs, "query.mjs");
    const typescript = join(programs, "query.ts");
    await writeFile(python, texts.python);
    await writeFile(program, texts.typescript);
    await writeFile(typescript, texts.typescript);
    const printed = await Promise.all([
      run("bash", ["-c", texts.curl], { env }),
      run("python3", [python], { env }),
      run(process.execPath, [program], { env }),
    ]);
    for (const { stdout } of printed) expect(JSON.parse(stdout)).toEqual(answer);
    const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
    await run(process.execPath, [
      tsc,
      "--ignoreConfig",
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--types",
      "node",
      typescript,
    ]);
    const batch = await fetch(`${url}api/v1/hazard-risk/batch`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": credentials.api_key,
        "x-customer-id": credentials.customer_id,
      },
      body: texts.json,
    });
    expect(await batch.json()).toEqual({ results: [answer] });
  });

  test("copies a program for the library on a published atlas, and explains that there is no other", async () => {
    const page = await pages.open({ fragment: DJIBOUTI, published: true });
    await headline(page).waitFor();
    await page.getByText("Copy the query of the values").click();
    const program = join(programs, "published.mjs");
    await writeFile(program, await copied(page, "TypeScript"));
    const answer = await copiedAnswer(page);
    const { stdout } = await run(process.execPath, [program]);
    expect(JSON.parse(stdout)).toEqual(answer);
    await page.getByRole("button", { name: "curl", exact: true }).click();
    await page.getByText("A published atlas has no HTTP service").waitFor();
  });
});
