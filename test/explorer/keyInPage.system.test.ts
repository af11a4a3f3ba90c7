/** The key, the permalink and the history of the explorer in Chromium. */
import type { Page } from "playwright-core";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { describeInChromium } from "../browser/chromium.ts";
import { closeExplorers, type ExplorerOptions, type OpenedExplorer, openExplorer } from "./explorerPage.ts";

async function open(options: ExplorerOptions = {}): Promise<OpenedExplorer> {
  const explorer = await openExplorer(options);
  onTestFinished(() => explorer.close());
  return explorer;
}

async function opened(page: Page): Promise<void> {
  await page.locator(".map-container[aria-busy='false']").waitFor();
}

/** Everything in which a browser could keep the key beyond the tab, or show it. */
function traces(page: Page): Promise<Readonly<Record<string, string>>> {
  return page.evaluate(async () => {
    const { navigation } = window as unknown as { navigation: { entries(): { url: string }[] } };
    return {
      address: window.location.href,
      history: navigation
        .entries()
        .map(({ url }) => url)
        .join("\n"),
      state: JSON.stringify(window.history.state),
      localStorage: JSON.stringify(Object.entries(window.localStorage)),
      cookies: document.cookie,
      databases: JSON.stringify(await window.indexedDB.databases()),
      caches: JSON.stringify(await window.caches.keys()),
      page: document.documentElement.outerHTML,
    };
  });
}

/** Returns the label of the field that has the focus. */
function focusedLabel(page: Page): Promise<string | undefined> {
  return page.evaluate(() =>
    (document.activeElement as HTMLInputElement | null)?.labels?.[0]?.firstChild?.textContent?.trim(),
  );
}

const linkOf = (page: Page): string => new URL(page.url()).hash;
const yearOf = (page: Page): string | null => new URLSearchParams(linkOf(page).slice(1)).get("year");

describeInChromium("session of the explorer", () => {
  afterAll(closeExplorers);

  test("takes the key from the fragment and keeps it in the session storage only", async () => {
    const { page, credentials, problems } = await open({ fragment: "year=2030" });
    await opened(page);
    const { api_key: key = "", customer_id: customer = "" } = credentials ?? {};
    for (const [name, text] of Object.entries(await traces(page))) {
      expect(text, name).not.toContain(key);
      expect(text, name).not.toContain(customer);
    }
    await expect.poll(() => yearOf(page)).toBe("2030");
    const stored = await page.evaluate(() => Object.values(window.sessionStorage).join());
    expect(stored).toContain(key);
    expect(stored).toContain(customer);
    await page.reload();
    await opened(page);
    expect(problems).toStrictEqual([]);
  });

  test("asks for the key once, shows the error of a faulty one, and forgets it on request", async () => {
    const { page, credentials } = await open({ hasKey: false, fragment: "year=2080" });
    const submit = async (key: string, customer: string): Promise<void> => {
      await page.getByLabel("API key").fill(key);
      await page.getByLabel("Customer ID").fill(customer);
      await page.getByRole("button", { name: "Open the explorer" }).click();
    };
    await submit("iso_sk_wrong", credentials?.customer_id ?? "");
    await expect.poll(() => page.getByRole("alert").innerText()).toMatch(/key/i);
    expect(await focusedLabel(page)).toBe("API key");
    await submit(credentials?.api_key ?? "", "00000000-0000-4000-8000-000000000000");
    await expect.poll(() => page.getByRole("alert").innerText()).toMatch(/customer/i);
    // The key was accepted, so that only the customer must be entered again.
    expect(await focusedLabel(page)).toBe("Customer ID");
    expect(await page.getByLabel("API key").inputValue()).toBe(credentials?.api_key);
    await page.getByLabel("Customer ID").fill(credentials?.customer_id ?? "");
    await page.keyboard.press("Enter");
    await opened(page);
    await expect.poll(() => yearOf(page)).toBe("2080");
    await page.getByRole("button", { name: "Forget key" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await page.evaluate(() => window.sessionStorage.length)).toBe(0);
    await page.reload();
    await page.getByLabel("API key").waitFor();
  });

  test("takes the key of a link that is opened in a tab that shows the page already", async () => {
    const { page, credentials } = await open({ hasKey: false, fragment: "year=2080" });
    await page.getByLabel("API key").waitFor();
    const link = `key=${credentials?.api_key}&customer=${credentials?.customer_id}`;
    await page.evaluate((fragment) => (window.location.hash = fragment), link);
    await opened(page);
    await expect.poll(() => yearOf(page)).toBe("2080");
    for (const [name, text] of Object.entries(await traces(page))) {
      expect(text, name).not.toContain(credentials?.api_key ?? "");
    }
  });

  test("a link with another key does not replace that of the tab unless the user agrees", async () => {
    const { page, credentials } = await open();
    await opened(page);
    const storedKey = (): Promise<string> => page.evaluate(() => Object.values(window.sessionStorage).join());
    const openLink = (): Promise<void> =>
      page.evaluate((fragment) => {
        window.location.hash = fragment;
      }, "year=2080&key=iso_sk_other&customer=00000000-0000-4000-8000-000000000000");
    await openLink();
    await page.getByText("The link contains another API key or customer.").waitFor();
    await expect.poll(() => yearOf(page)).toBe("2080");
    await expect.poll(() => page.url()).not.toContain("iso_sk_other");
    expect(await storedKey()).toContain(credentials?.api_key);
    await page.getByRole("button", { name: "Keep the present ones" }).click();
    await page.getByText("The link contains another API key or customer.").waitFor({ state: "detached" });
    expect(await storedKey()).not.toContain("iso_sk_other");
    await openLink();
    await page.getByRole("button", { name: "Use those of the link" }).click();
    // The service rejects this key, and the form has what was tried.
    await expect.poll(() => page.getByRole("alert").innerText()).toMatch(/key/i);
    await expect.poll(() => page.getByLabel("API key").inputValue()).toBe("iso_sk_other");
  });

  test("a link is offered if the service no longer accepts the key of the tab", async () => {
    const { page, url, credentials } = await open({ hasKey: false });
    await page.getByLabel("API key").waitFor();
    const stale = { apiKey: "iso_sk_stale", customerId: credentials?.customer_id };
    await page.evaluate((text) => window.sessionStorage.setItem("isotherm.credentials", text), JSON.stringify(stale));
    await page.goto("about:blank");
    await page.goto(`${url}#key=${credentials?.api_key}&customer=${credentials?.customer_id}`);
    await expect.poll(() => page.getByRole("alert").innerText()).toMatch(/The link contains another key and customer/);
    await page.getByRole("button", { name: "Open the explorer" }).click();
    await opened(page);
  });

  test("a permalink opens the same state in another window", async () => {
    const first = await open({ fragment: "hazard=cyclones&metric=rp_100&scenario=rcp4p5&year=2040&map=5/15.5/120.25" });
    await opened(first.page);
    await first.page.getByLabel("Subtract").selectOption({ label: "Baseline (1980)" });
    await first.page.getByLabel("Threshold in m/s").fill("2");
    await first.page.getByLabel("Threshold in m/s").press("Enter");
    await first.page.locator(".map-container").click({ position: { x: 200, y: 200 } });
    await expect.poll(() => linkOf(first.page)).toMatch(/place=.*&map=/);
    const link = linkOf(first.page);
    expect(link).toMatch(/minus=baseline&threshold=2&place=/);
    const legend = await first.page.locator(".legend").innerText();
    const second = await open({ fragment: link.slice(1) });
    await opened(second.page);
    await expect.poll(() => linkOf(second.page)).toBe(link);
    await expect.poll(() => second.page.locator(".legend").innerText()).toBe(legend);
    expect([...first.problems, ...second.problems]).toStrictEqual([]);
  });

  test("back and forward return to what was shown; moving the map adds no step", async () => {
    const { page } = await open({ fragment: "year=2030" });
    await opened(page);
    const lengthBefore = await page.evaluate(() => window.history.length);
    await page.locator(".map-container").focus();
    await page.keyboard.press("+");
    await expect.poll(() => linkOf(page)).toContain("map=3/");
    expect(await page.evaluate(() => window.history.length)).toBe(lengthBefore);
    await page.getByLabel("Year", { exact: true }).selectOption("2050");
    await page.getByRole("link", { name: "Temperature" }).click();
    await expect.poll(() => linkOf(page)).toContain("view=alignment");
    expect(await page.evaluate(() => window.history.length)).toBe(lengthBefore + 2);
    await page.goBack();
    await opened(page);
    await expect.poll(() => yearOf(page)).toBe("2050");
    await page.goBack();
    await expect.poll(() => yearOf(page)).toBe("2030");
    expect(await page.getByLabel("Year", { exact: true }).inputValue()).toBe("2030");
    await page.goForward();
    await expect.poll(() => yearOf(page)).toBe("2050");
  });

  test("says which parts of an address it does not understand", async () => {
    const { page } = await open({ fragment: "year=soon&color=red" });
    await opened(page);
    expect(await page.getByText("The address contains values").innerText()).toContain("color, year");
    await expect.poll(() => yearOf(page)).toBe("2050");
    const notice = page.getByRole("status").getByText("The address contains values");
    await page.evaluate(() => (window.location.hash = "year=2030"));
    await expect.poll(() => notice.count()).toBe(0);
    await page.evaluate(() => (window.location.hash = "year=2030&radius=101"));
    await expect.poll(() => notice.allInnerTexts()).toStrictEqual([expect.stringMatching(/ignored: radius\.$/)]);
    await page.getByLabel("Year", { exact: true }).selectOption("2080");
    await expect.poll(() => notice.count()).toBe(0);
  });

  test("offers to forget a key that the service rejects", async () => {
    const { page } = await open();
    await opened(page);
    await page.route("**/api/v1/hazard-risk?*", (route) =>
      route.fulfill({
        status: 401,
        contentType: "application/problem+json",
        body: JSON.stringify({ status: 401, code: "api_key_revoked", title: "Revoked", detail: "The key is revoked." }),
      }),
    );
    await page.locator(".map-container").click({ position: { x: 200, y: 200 } });
    const failure = page.getByRole("region", { name: "Place" }).getByRole("alert");
    await failure.getByText("The key is revoked.").waitFor();
    expect(await failure.getByRole("button").allInnerTexts()).toStrictEqual(["Forget key"]);
    await failure.getByRole("button").click();
    await page.getByLabel("API key").waitFor();
  });
});
