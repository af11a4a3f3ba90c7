// The build steps of `npm ci`: the kernel, the demo's coastlines, and dist/. Needs no network.
import { execFileSync } from "node:child_process";
import { chmod, copyFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const run = (/** @type {string[]} */ ...command) => execFileSync(process.execPath, command, { stdio: "inherit" });

run("scripts/buildKernel.mjs");
run("scripts/buildLand.mjs");
await rm("dist", { recursive: true, force: true });
run("node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json");
await copyFile("src/host/openapi/examples.json", "dist/host/openapi/examples.json");
await chmod("dist/cli/main.js", 0o755);
