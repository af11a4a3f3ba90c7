// Packs the package as for publishing and checks it with publint and attw.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
mkdirSync("build", { recursive: true });
const run = (/** @type {string} */ command, /** @type {string[]} */ ...rest) =>
  execFileSync(command, rest, { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });

const packed = JSON.parse(run("npm", "pack", "--ignore-scripts", "--json", "--pack-destination", "build"));
const file = `build/${packed[0].filename}`;
// Read at run time, so that no type check misses it.
const DATA_FILE = "dist/host/openapi/examples.json";
if (!packed[0].files.some((/** @type {{ path: string }} */ { path }) => path === DATA_FILE)) {
  throw new Error(`the package lacks ${DATA_FILE}; npm run build copies it from src`);
}
for (const [command, ...rest] of [
  ["node_modules/.bin/publint", file, "--strict"],
  ["node_modules/.bin/attw", file, "--profile", "esm-only", "--no-emoji"],
]) {
  try {
    run(command, ...rest);
  } catch (error) {
    process.stderr.write(error.stdout);
    throw error;
  }
}
console.log(`${file}: ${packed[0].files.length} files, ${packed[0].size} bytes; no findings by publint and attw`);
