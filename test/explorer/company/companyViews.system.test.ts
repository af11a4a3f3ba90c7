import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Locator, Page, Route } from "playwright-core";
import { afterAll, afterEach, expect, test } from "vitest";
import {
  alignmentCallOf,
  type AlignmentForm,
  encodeAlignmentForm,
  EXAMPLE_ALIGNMENT,
} from "../../../src/explorer/company/alignmentForm.ts";
import {
  formatMoneyChange,
  formatPercent,
  moneyScaleFor,
  transitionScenarioTitle,
} from "../../../src/explorer/company/companyFormat.ts";
import { EXAMPLE_RISK, type RiskForm, riskCallOf } from "../../../src/explorer/company/riskForm.ts";
import { alignTemperature, roundTemperatures, totalClimateRisk } from "../../../src/index.ts";
import { describeInChromium } from "../../browser/chromium.ts";
import { axeFindings } from "../axeFindings.ts";
import { closeExplorers, type ExplorerOptions, openExplorer, type OpenedExplorer, PHONE } from "../explorerPage.ts";

/** Inside the repository, so that programs find the package. */
const BUILD = fileURLToPath(new URL("../../../build/", import.meta.url));
const EXAMPLE_NAMES = { alignment: EXAMPLE_ALIGNMENT.name, risk: EXAMPLE_RISK.name } as const;

let opened: OpenedExplorer | undefined;

describeInChromium("the company views of the explorer", () => {
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  afterAll(closeExplorers);

  const open = async (options: ExplorerOptions): Promise<Page> => {
    opened = await openExplorer(options);
    return opened.page;
  };

  test("an edited entity gets the temperatures that the library computes for it", async () => {
    const page = await open({ fragment: "view=alignment" });
    await expectTemperatures(page, EXAMPLE_ALIGNMENT);
    await page.getByLabel("Projection 5, scope 3").fill("900000");
    await page.getByLabel("Country").fill("Japan");
    await page.getByLabel("Compared quantity (basis)").selectOption("emissions");
    await page.getByRole("button", { name: "Remove Projection 2" }).click();
    expect(await isFocused(page.getByLabel("Projection 1, year"))).toBe(true);
    const projections = EXAMPLE_ALIGNMENT.projections
      .map((row, index) => (index === 4 ? { ...row, scope3: "900000" } : row))
      .filter((_, index) => index !== 1);
    await expectTemperatures(page, { ...EXAMPLE_ALIGNMENT, country: "Japan", basis: "emissions", projections });
    expect(opened?.problems).toEqual([]);
  });

  test("the permalink keeps an edited entity, without the key", async () => {
    const page = await open({ fragment: "view=alignment" });
    await page.getByLabel("Name (required)").fill("Zoë & Co");
    await expect.poll(() => page.evaluate(() => decodeURIComponent(location.hash))).toContain("Zoë & Co");
    const { hash } = new URL(page.url());
    expect(hash).not.toContain(opened?.credentials?.api_key);
    await page.reload();
    expect(await page.getByLabel("Name (required)").inputValue()).toBe("Zoë & Co");
    await page.getByRole("button", { name: "Reset to the example" }).click();
    await expect.poll(() => page.getByLabel("Name (required)").inputValue()).toBe("Example Steel AG");
    await expect.poll(() => new URL(page.url()).hash).not.toContain("entity=");
  });

  test("text that is no number, and a value that the API rejects, are reported at their field", async () => {
    const page = await open({ fragment: "view=alignment" });
    await expectTemperatures(page, EXAMPLE_ALIGNMENT);
    const year = page.getByLabel("Projection 1, year");
    await year.fill("2020");
    await expect.poll(() => errorsOf(page, year)).toEqual(["year must be after the baseline year 2023 (got 2020)."]);
    expect(await page.getByRole("alert").textContent()).toContain("One value needs correction");
    expect(await axeFindings(page)).toEqual([]);
    await year.fill("2o30");
    await expect
      .poll(() => errorsOf(page, year))
      .toEqual(['year must be a number without separators, such as 1250000 or 1.25e6 (got "2o30").']);
    await year.fill("2030");
    await expect.poll(() => errorsOf(page, year)).toEqual([]);
    // The console reports the response 400 that was asked for above.
    expect(opened?.problems.every((problem) => /400/.test(problem))).toBe(true);
  });

  test("a request that a later edit makes outdated is canceled", async () => {
    const page = await open({ fragment: "view=alignment" });
    await expectTemperatures(page, EXAMPLE_ALIGNMENT);
    const held: Route[] = [];
    await page.route("**/temperature-alignment-projections**", (route) => {
      if (held.length > 0) return route.continue();
      held.push(route);
      return undefined;
    });
    await page.getByLabel("Country").fill("India");
    await expect.poll(() => held.length).toBe(1);
    await page.getByLabel("Country").fill("Japan");
    await expectTemperatures(page, { ...EXAMPLE_ALIGNMENT, country: "Japan" });
    await expect.poll(() => held[0]?.request().failure()?.errorText).toBe("net::ERR_ABORTED");
  });

  test("a service that cannot be reached is reported, and the request can be repeated", async () => {
    const page = await open({ fragment: "view=climate-risk" });
    await expectLosses(page, EXAMPLE_RISK);
    const path = "**/analyze/total-climate-risk";
    await page.route(path, (route) => route.abort());
    await page.getByLabel("Years").fill("2035");
    await expect
      .poll(() => page.getByRole("alert").allTextContents())
      .toEqual([expect.stringContaining("cannot be reached")]);
    await page.unroute(path);
    await page.getByRole("button", { name: "Try again" }).click();
    await expectLosses(page, { ...EXAMPLE_RISK, years: "2035" });
  });

  test("an unknown country is explained by its flag, and the suggested name can be used", async () => {
    const page = await open({ fragment: "view=alignment" });
    await page.getByLabel("Country").fill("Germny");
    await page.getByRole("button", { name: "Use “Germany”" }).click();
    expect(await page.getByLabel("Country").inputValue()).toBe("Germany");
    expect(await isFocused(page.getByLabel("Country"))).toBe(true);
    await page.getByLabel("Country").fill("");
    await expect.poll(() => page.locator(".flag-list").textContent()).toContain("growth_default");
  });

  test("labels make several projections, and years have a mean over the labels", async () => {
    const form: AlignmentForm = {
      ...EXAMPLE_ALIGNMENT,
      projections: EXAMPLE_ALIGNMENT.projections.flatMap((row) => [
        { ...row, label: "target", probability: "0.3" },
        { ...row, scope1: "450000", label: "trajectory", probability: "0.7" },
      ]),
      include: ["overall", "climate_range", "by_scope", "budget"],
    };
    const page = await open({
      fragment: `view=alignment&entity=${encodeURIComponent(encodeAlignmentForm(form) ?? "")}`,
    });
    await expectTemperatures(page, form);
    expect(await page.getByRole("row", { name: /^2050, mean of labels/ }).count()).toBe(1);
    expect(await page.locator(".company-legend li").allTextContents()).toEqual(
      expect.arrayContaining(["target", "trajectory"]),
    );
    expect(opened?.problems).toEqual([]);
  });

  test("the scenarios side by side have the numbers of the library", async () => {
    const page = await open({ fragment: "view=climate-risk" });
    await expectLosses(page, EXAMPLE_RISK);
    await page.getByLabel("Discount rate").fill("0.03");
    await page.getByLabel("Total debt").fill("2000000000");
    await page.getByLabel("Pass-through").fill("0.2");
    await page.getByRole("checkbox", { name: "NGFS_DELAYED_TRANSITION" }).uncheck();
    await page.getByRole("checkbox", { name: "NGFS_NDC" }).check();
    const form: RiskForm = {
      ...EXAMPLE_RISK,
      discount_rate: "0.03",
      total_debt: "2000000000",
      pass_through: "0.2",
      scenarios: ["NGFS_NET_ZERO_2050", "NGFS_CURRENT_POLICIES", "NGFS_NDC"],
    };
    await expectLosses(page, form);
    await expectParts(page, form, 2030);
    await page.getByLabel("Waterfall of").selectOption("2050");
    await expectParts(page, form, 2050);
    expect(opened?.problems).toEqual([]);
  });

  test("scenarios have titles, and the form has their ids beside them", async () => {
    const page = await open({ fragment: "view=climate-risk" });
    const titles = ["Net Zero 2050", "Delayed Transition", "Current Policies"];
    await expect.poll(() => page.locator(".panel-name").allTextContents()).toEqual(titles);
    expect(await page.locator(".company-headline").textContent()).toContain("in the worst case: Net Zero 2050 in");
    for (const table of await page
      .getByRole("table")
      .filter({ hasText: titles[0] ?? "" })
      .all()) {
      expect((await table.getByRole("columnheader").allTextContents()).slice(1)).toEqual(titles);
    }
    await page.getByRole("checkbox", { name: "Net Zero 2050 NGFS_NET_ZERO_2050 Orderly" }).waitFor();
  });

  test("the waterfall of the value ends at the value after the losses", async () => {
    const page = await open({ fragment: "view=climate-risk" });
    await page.getByLabel("Waterfall of").selectOption("value");
    const { valuation } = totalClimateRisk(requestOf(EXAMPLE_RISK));
    const scale = moneyScaleFor(valuation.map(({ value_before }) => value_before));
    const row = page.getByRole("table", { name: /^Parts/ }).getByRole("row", { name: /^Value after losses/ });
    await expect
      .poll(() => row.getByRole("cell").allTextContents())
      .toEqual(valuation.map((value) => formatMoneyChange(value.value_before - value.npv_of_losses, scale).slice(1)));
    expect(await page.locator(".waterfalls svg").count()).toBe(3);
    // 0.07 * 100 is not exactly 7.
    await page.getByLabel("Discount rate").fill("0.07");
    await expect
      .poll(() => page.locator(".waterfall-note").textContent())
      .toContain("at a real discount rate of 7 %. This");
  });

  test("an unknown industry is reported at its field, with names to choose from", async () => {
    const page = await open({ fragment: "view=climate-risk" });
    const industry = page.getByLabel("Industry (required)");
    await industry.fill("Banks");
    await expect.poll(() => errorsOf(page, industry)).toEqual([expect.stringContaining("matches several industries")]);
    await page.getByRole("button", { name: "Use “Banks, regional”" }).click();
    await expect.poll(() => errorsOf(page, industry)).toEqual([]);
    await expectLosses(page, { ...EXAMPLE_RISK, industry: "Banks, regional" });
    await page.getByLabel("Years").fill("2030, 20x0");
    await expect
      .poll(() => errorsOf(page, page.getByLabel("Years")))
      .toEqual([expect.stringContaining('such as 2030, 2050 (got "20x0")')]);
  });

  test("a published folder computes the same in the browser", async () => {
    const page = await open({ published: true, fragment: "view=alignment" });
    await expectTemperatures(page, EXAMPLE_ALIGNMENT);
    await page.getByLabel("Baseline, scope 1").fill("900000");
    const baseline = { ...EXAMPLE_ALIGNMENT.baseline, scope1: "900000" };
    await expectTemperatures(page, { ...EXAMPLE_ALIGNMENT, baseline });
    const year = page.getByLabel("Projection 1, year");
    await year.fill("2020");
    await expect.poll(() => errorsOf(page, year)).toEqual(["year must be after the baseline year 2023 (got 2020)."]);
    await page.getByRole("link", { name: "Climate risk" }).click();
    await expectLosses(page, EXAMPLE_RISK);
    expect(opened?.problems).toEqual([]);
  });

  test.each([
    ["alignment", EXAMPLE_NAMES.alignment],
    ["climate-risk", EXAMPLE_NAMES.risk],
  ])("the programs of the view %s run and print the answer", async (view, name) => {
    const page = await open({ fragment: `view=${view}` });
    await page.locator(".company-headline").waitFor();
    await page.getByText("Copy this request").click();
    const codeIn = async (language: string): Promise<string> => {
      await page.getByRole("button", { name: language, exact: true }).click();
      return (await page.getByRole("region", { name: `Request as ${language}` }).textContent()) ?? "";
    };
    const folder = await mkdtemp(join(BUILD, "snippets-"));
    try {
      const program = join(folder, "program.mjs");
      await writeFile(program, await codeIn("TypeScript"));
      const script = join(folder, "program.py");
      await writeFile(script, await codeIn("Python"));
      const answers = [await run(process.execPath, program), await run("/usr/bin/python3", script)];
      expect(answers[0]).toContain(name);
      expect(JSON.parse(answers[1] ?? "")).toEqual(JSON.parse(answers[0] ?? ""));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("the tables of emissions fit a phone", async () => {
    const labeled = EXAMPLE_ALIGNMENT.projections.map((row) => ({ ...row, label: "target", probability: "1" }));
    for (const projections of [EXAMPLE_ALIGNMENT.projections, labeled]) {
      const form: AlignmentForm = { ...EXAMPLE_ALIGNMENT, projections };
      const page = await open({
        fragment: `view=alignment&entity=${encodeURIComponent(encodeAlignmentForm(form) ?? "")}`,
        viewport: PHONE,
      });
      const table = page.getByRole("region", { name: "Emissions and revenue" });
      expect(await hiddenWidthPx(table)).toBe(0);
      // Every figure is visible, below the name of its column.
      const scope = page.getByLabel("Projection 5, scope 3");
      await scope.fill("1234567");
      expect(await scope.evaluate((field) => field.scrollWidth - field.clientWidth)).toBe(0);
      const name = await scope.evaluate((field) => getComputedStyle(field.parentElement ?? field, "::before").content);
      expect(name).toBe('"Scope 3"');
      await page.getByLabel("Projection 1, year").fill("2020");
      await expect.poll(() => errorsOf(page, page.getByLabel("Projection 1, year"))).toHaveLength(1);
      expect(await hiddenWidthPx(table)).toBe(0);
      expect(await axeFindings(page)).toEqual([]);
      await opened?.close();
    }
    const page = await open({ fragment: "view=climate-risk", viewport: PHONE });
    expect(await hiddenWidthPx(page.getByRole("region", { name: /^Emissions, / }))).toBe(0);
  });

  test.each(["alignment", "climate-risk"])("the view %s fits a phone, and axe finds nothing", async (view) => {
    for (const [viewport, colorScheme] of [
      [PHONE, "dark"],
      [undefined, "light"],
    ] as const) {
      const page = await open({
        fragment: `view=${view}`,
        colorScheme,
        ...(viewport === undefined ? {} : { viewport }),
      });
      await page.locator(".company-headline").waitFor();
      expect(await axeFindings(page)).toEqual([]);
      const widths = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
      expect(widths[0]).toBe(widths[1]);
      await opened?.close();
    }
  });
});

async function expectTemperatures(page: Page, form: AlignmentForm): Promise<void> {
  const { request, parameters } = alignmentCallOf(form);
  if (request === undefined) throw new Error("the form must be readable");
  const { basis, include } = parameters;
  const { results } = roundTemperatures(await alignTemperature(request, { basis, include }));
  const [result] = results;
  const expected = [
    ...(result?.data.map(({ temperature_alignment }) => temperature_alignment) ?? []),
    ...(result?.overall === undefined || result.overall === null ? [] : [result.overall.temperature_alignment]),
  ];
  expect(expected.length).toBeGreaterThan(3);
  await expect
    .poll(() => page.locator("td.temperature").allTextContents())
    .toEqual(expected.map((temperatureC) => temperatureC?.toFixed(2)));
}

function requestOf(form: RiskForm) {
  const { request } = riskCallOf(form);
  if (request === undefined) throw new Error("the form must be readable");
  return request;
}

async function expectLosses(page: Page, form: RiskForm): Promise<void> {
  const { results } = totalClimateRisk(requestOf(form));
  const years = [...new Set(results.map(({ year }) => year))];
  const table = page.getByRole("table", { name: "Annual loss by scenario and year" });
  const rows = table.getByRole("row", { name: /^Loss in percent of EBITDA/ });
  await expect
    .poll(async () => Promise.all((await rows.all()).map((row) => row.getByRole("cell").allTextContents())))
    .toEqual(
      years.map((year) =>
        results.filter((result) => result.year === year).map(({ total }) => formatPercent(total.pct_of_ebitda)),
      ),
    );
  expect((await table.getByRole("columnheader").allTextContents()).slice(1)).toEqual(
    form.scenarios.map(transitionScenarioTitle),
  );
}

async function expectParts(page: Page, form: RiskForm, year: number): Promise<void> {
  const { results, company } = totalClimateRisk(requestOf(form));
  const scale = moneyScaleFor([company.figures.normalized_ebitda]);
  const row = page.getByRole("table", { name: /^Parts/ }).getByRole("row", { name: /^Transition/ });
  await expect
    .poll(() => row.getByRole("cell").allTextContents())
    .toEqual(
      results
        .filter((result) => result.year === year)
        .map(({ transition }) => formatMoneyChange(0 - transition.loss, scale)),
    );
}

/** Returns by how much an element can scroll sideways. */
function hiddenWidthPx(element: Locator): Promise<number> {
  return element.evaluate((box) => box.scrollWidth - box.clientWidth);
}

function isFocused(field: Locator): Promise<boolean> {
  return field.evaluate((element) => element === document.activeElement);
}

/** Returns the errors that describe a field for assistive technology. */
async function errorsOf(page: Page, field: Locator): Promise<readonly string[]> {
  if ((await field.getAttribute("aria-invalid")) !== "true") return [];
  const ids = (await field.getAttribute("aria-describedby"))?.split(" ") ?? [];
  const texts = await Promise.all(
    ids
      .filter((id) => !id.endsWith("-hint"))
      .map((id) =>
        page.locator(`#${id} li`).evaluateAll((items) => items.map((item) => item.firstChild?.textContent ?? "")),
      ),
  );
  return texts.flat();
}

/** Runs a program with the key of the service, and returns its output. */
async function run(command: string, file: string): Promise<string> {
  const { api_key = "", customer_id = "" } = opened?.credentials ?? {};
  const env = { ...process.env, ISOTHERM_KEY: api_key, ISOTHERM_CUSTOMER: customer_id };
  const { stdout } = await promisify(execFile)(command, [file], { env });
  return stdout;
}
