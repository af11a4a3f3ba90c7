// Packs the package as for publishing and checks it with publint and attw.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { packTarball } from "./packageTarball.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const { file, files, sizeBytes } = packTarball();
for (const [command, ...args] of [
  ["node_modules/.bin/publint", file, "--strict"],
  // Does not check TypeScript's resolution `node10`, which ignores `exports` and finds no subpaths, nor that of CommonJS
  // files with `module: node16`, which rejects every ES module, although Node.js loads them with require().
  ["node_modules/.bin/attw", file, "--profile", "esm-only", "--no-emoji"],
]) {
  try {
    execFileSync(command, args, { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
  } catch (error) {
    process.stderr.write(error.stdout);
    throw error;
  }
}
console.log(`${file}: ${files.length} files, ${sizeBytes} bytes; no findings by publint and attw`);
