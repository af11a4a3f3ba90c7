// Takes the pictures of the README, docs/pictures/*.png: the explorer of the demo in headless Chromium.
//
//   npm run build && node scripts/screenshots.mjs
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { PNG } from "pngjs";
import { encodeIndexedPng } from "./indexedPng.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const FOLDER = "docs/pictures";
const SIZE_BYTES_MAX = 150_000;
const PICTURES = [
  {
    name: "explorer-hazards",
    fragment:
      "view=hazards&hazard=cyclones&metric=wind_speed_mps&scenario=rcp8p5&year=2050&map=5/14/121" +
      "&place=14.604,120.982,Manila&radius=100",
    ready: ".headline dd",
  },
  { name: "explorer-temperature", fragment: "view=alignment", ready: ".company-headline" },
];

const data = mkdtempSync(join(tmpdir(), "isotherm-pictures-"));
const service = spawn(
  process.execPath,
  ["dist/cli/main.js", "serve", "--demo", "--port", "0", "--admin-port", "none", "--data", data],
  { stdio: ["ignore", "pipe", "inherit"] },
);
try {
  const url = await startedUrl();
  const { api_key, customer_id } = JSON.parse(readFileSync(join(data, "demo-credentials.json"), "utf8"));
  const browser = await chromium.launch({
    executablePath: process.env["ISOTHERM_CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu"],
  });
  mkdirSync(FOLDER, { recursive: true });
  for (const { name, fragment, ready } of PICTURES) {
    const page = await browser.newPage({ viewport: { width: 1200, height: 750 }, colorScheme: "light" });
    await page.goto(`${url}/#${fragment}&key=${api_key}&customer=${customer_id}`);
    await page.locator(ready).first().waitFor();
    await page.waitForLoadState("networkidle");
    const path = join(FOLDER, `${name}.png`);
    writeFileSync(path, encodeIndexedPng(PNG.sync.read(await page.screenshot())));
    const { size } = statSync(path);
    if (size > SIZE_BYTES_MAX) throw new Error(`${path} must have at most ${SIZE_BYTES_MAX} bytes (it has ${size})`);
    console.log(`${path}: ${size} bytes`);
    await page.close();
  }
  await browser.close();
} finally {
  service.kill();
  rmSync(data, { recursive: true, force: true });
}

/** @returns {Promise<string>} the address of the service, from its log */
async function startedUrl() {
  let output = "";
  for await (const chunk of service.stdout) {
    output += chunk;
    const url = /"event":"started","url":"([^"]+)"/.exec(output)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`the service did not start: ${output}`);
}
