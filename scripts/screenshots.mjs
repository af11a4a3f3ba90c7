// Takes the pictures of the README, docs/pictures/*.png: the explorer of the demo in headless Chromium.
//
//   npm run build && node scripts/screenshots.mjs
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32, deflateSync } from "node:zlib";
import { chromium } from "playwright-core";
import { PNG } from "pngjs";

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
    const { width, height, data: rgba } = PNG.sync.read(await page.screenshot());
    const pixels = Uint32Array.from({ length: width * height }, (_, index) => rgba.readUIntBE(4 * index, 3));
    writeFileSync(path, encodeIndexedPng(width, height, pixels));
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

/**
 * Encodes pixels as a PNG with a palette of the 256 most frequent colors; other pixels get the nearest of them.
 * @param {number} width
 * @param {number} height
 * @param {Uint32Array} pixels
 */
function encodeIndexedPng(width, height, pixels) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = [...counts]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, 256)
    .map(([color]) => color);
  const indices = new Map(palette.map((color, index) => [color, index]));
  const indexOf = (/** @type {number} */ color) => {
    const known = indices.get(color);
    if (known !== undefined) return known;
    const distances = palette.map((other) => squaredDistance(color, other));
    const nearest = distances.indexOf(Math.min(...distances));
    indices.set(color, nearest);
    return nearest;
  };
  const rows = Buffer.alloc(height * (width + 1)); // each row begins with its filter, 0
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      rows[row * (width + 1) + column + 1] = indexOf(pixels[row * width + column]);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8); // 8 bits, indexed color
  const colors = Buffer.alloc(3 * palette.length);
  for (const [index, color] of palette.entries()) colors.writeUIntBE(color, 3 * index, 3);
  return Buffer.concat([
    Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    chunk("IHDR", header),
    chunk("PLTE", colors),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(/** @type {string} */ type, /** @type {Buffer} */ data) {
  const typed = Buffer.concat([Buffer.from(type), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, checksum]);
}

function squaredDistance(/** @type {number} */ a, /** @type {number} */ b) {
  return [16, 8, 0].reduce((sum, shift) => sum + (((a >> shift) & 255) - ((b >> shift) & 255)) ** 2, 0);
}
