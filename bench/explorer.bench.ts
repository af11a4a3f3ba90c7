/**
 * Time in headless Chromium until the explorer of the demo is painted and shows the first answer, and processor time of the
 * page's process, against a page of one paragraph on bare node:http that fetches the same answer. Every load has a new
 * profile; the pages are interleaved in rounds. Needs `npm run build` and Chromium (ISOTHERM_CHROMIUM).
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { startedUrl } from "../test/startedUrl.ts";
import { median } from "./measure.ts";
import { servePages, serveFolder } from "./pageServer.ts";
import { print } from "./row.ts";

const ROUNDS = 9;
const WARMUP_ROUNDS = 1;
const CLI = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const CHROMIUM = process.env["ISOTHERM_CHROMIUM"] ?? "/usr/bin/chromium";
const VIEWPORT = { width: 1440, height: 900 };
const PLACE = { latitude: "11.59", longitude: "43.15" };
const FRAGMENT = `hazard=riverine_floods&metric=depth_meters&scenario=rcp8p5&year=2050&place=${PLACE.latitude},${PLACE.longitude}&map=8/11.6/43.1`;
/** Shows the answer when it has arrived, as the panel of the explorer does. */
const FLOOR_SCRIPT = `const response = await fetch("answer.json");
const { results } = await response.json();
const value = results[0].scenarios[0].analysis_years[0].metrics.depth_meters;
document.querySelector(".headline dd").textContent = value + " m";
`;
const FLOOR_PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Floor</title></head>
<body><p>One paragraph.</p><dl class="headline"><dt>Flood depth</dt><dd></dd></dl>
<script type="module" src="main.js"></script></body></html>`;

/** Milliseconds since the navigation, and of processor time. */
interface Load {
  readonly firstPaintMs: number;
  readonly firstAnswerMs: number;
  readonly processorMs: number;
}

interface Contender {
  readonly name: string;
  readonly url: string;
  readonly loads: Load[];
}

if (!existsSync(CHROMIUM) || !existsSync(CLI)) {
  const missing = existsSync(CLI) ? `Chromium is not at ${CHROMIUM}` : "npm run build has not been run";
  print({ bench: "explorer", name: "first paint", unit: "ms", note: `not measured: ${missing}` });
} else {
  await compare();
}

async function compare(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "isotherm-bench-explorer-"));
  const data = join(folder, "data");
  const service = spawn(
    process.execPath,
    [CLI, "serve", "--demo", "--port", "0", "--admin-port", "none", "--data", data],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const close: (() => void | Promise<void>)[] = [() => void service.kill()];
  try {
    const url = await urlOf(service);
    const { api_key, customer_id } = JSON.parse(readFileSync(join(data, "demo-credentials.json"), "utf8")) as {
      readonly api_key: string;
      readonly customer_id: string;
    };
    const site = join(folder, "site");
    await promisify(execFile)(process.execPath, [CLI, "atlas", "publish", "demo", site, "--explorer"]);
    const published = await serveFolder(site);
    close.push(() => published.close());
    const floor = await servePages(
      new Map([
        ["/index.html", FLOOR_PAGE],
        ["/main.js", FLOOR_SCRIPT],
        ["/answer.json", await answerOf(url, { "X-API-Key": api_key, "X-Customer-ID": customer_id })],
      ]),
    );
    close.push(() => floor.close());
    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    });
    close.push(() => browser.close());
    const contenders: readonly Contender[] = [
      { name: "page of a service", url: `${url}/#${FRAGMENT}&key=${api_key}&customer=${customer_id}`, loads: [] },
      { name: "published page", url: `${published.url}/index.html#${FRAGMENT}`, loads: [] },
      { name: "floor", url: `${floor.url}/index.html`, loads: [] },
    ];
    for (let round = -WARMUP_ROUNDS; round < ROUNDS; round++) {
      for (const contender of contenders) {
        const load = await loadPage(browser, contender.url);
        if (round >= 0) contender.loads.push(load);
      }
    }
    printRows(contenders);
  } finally {
    for (const step of close.toReversed()) await step();
    rmSync(folder, { recursive: true, force: true });
  }
}

function printRows(contenders: readonly Contender[]): void {
  const figure = ({ loads }: Contender, name: keyof Load): number => median(loads.map((load) => load[name]));
  const floor = contenders.at(-1);
  if (floor === undefined) throw new Error("the floor must be a contender");
  const figures = [
    { name: "firstPaintMs", title: "first paint", unit: "ms" },
    { name: "firstAnswerMs", title: "first answer", unit: "ms" },
    { name: "processorMs", title: "processor time until the first answer", unit: "ms of CPU, page and workers" },
  ] as const;
  for (const contender of contenders.slice(0, -1)) {
    for (const { name, title, unit } of figures) {
      const [ours, theirs] = [figure(contender, name), figure(floor, name)];
      print({
        bench: "explorer",
        name: `${title}, ${contender.name}`,
        unit,
        ours,
        against: "one paragraph on bare node:http",
        theirs,
        note: `${ROUNDS} loads`,
      });
    }
  }
}

/** Loads a page in a new profile until it shows an answer. */
async function loadPage(browser: Browser, url: string): Promise<Load> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    const page = await context.newPage();
    await page.addInitScript(() => {
      const observer = new MutationObserver(() => {
        const text = document.querySelector(".headline dd")?.textContent ?? "";
        if (text === "") return;
        performance.mark("first-answer");
        observer.disconnect();
      });
      observer.observe(document, { childList: true, characterData: true, subtree: true });
    });
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable");
    await page.goto(url);
    await page.locator(".headline dd").filter({ hasText: /\d/ }).first().waitFor({ state: "attached" });
    const { metrics } = await session.send("Performance.getMetrics");
    const processS = metrics.find(({ name }) => name === "ProcessTime")?.value ?? NaN;
    const firstPaintMs = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const observer = new PerformanceObserver((list) => {
            const [paint] = list.getEntriesByName("first-contentful-paint");
            if (paint !== undefined) resolve(paint.startTime);
          });
          observer.observe({ type: "paint", buffered: true });
        }),
    );
    const firstAnswerMs = await page.evaluate(() => performance.getEntriesByName("first-answer")[0]?.startTime ?? NaN);
    return { firstPaintMs, firstAnswerMs, processorMs: processS * 1000 };
  } finally {
    await context.close();
  }
}

/** Requests the answer of the panel: all scenarios and years of the hazard. */
async function answerOf(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const query = new URLSearchParams({
    ...PLACE,
    hazards: "riverine_floods",
    scenarios: "rcp4p5,rcp8p5",
    analysis_years: "1980,2030,2050,2080",
    detail: "true",
  });
  const response = await fetch(`${url}/api/v1/hazard-risk?${query.toString()}`, { headers });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

async function urlOf(service: ChildProcess): Promise<string> {
  let output = "";
  for await (const part of service.stdout ?? []) {
    output += String(part);
    const url = startedUrl(output);
    if (url !== undefined) return url;
  }
  throw new Error(`the service did not start: ${output}`);
}
