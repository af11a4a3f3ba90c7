// The build steps of `npm ci`: the kernel, the coastlines of the demo, the tables, the types
// of the contract, dist/ and the explorer. Needs no network.
import { execFileSync } from "node:child_process";
import { chmod, copyFile, readFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { bundleDependencies } from "./bundleDependencies.mjs";
import { bundlePrograms } from "./bundlePrograms.mjs";
import { pruneDeclarations } from "./declarations.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const run = (/** @type {string[]} */ ...command) => execFileSync(process.execPath, command, { stdio: "inherit" });

run("scripts/buildKernel.mjs");
run("scripts/buildLand.mjs");
run("scripts/buildCoastlines.mjs");
run("scripts/buildGazetteer.mjs");
run("scripts/buildTables.mjs");
run("scripts/generateWireTypes.mjs");
run("scripts/generateSchema.mjs");
await rm("dist", { recursive: true, force: true });
// Comments stay in the declarations, where editors show them.
const tsc = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"];
run(...tsc, "--emitDeclarationOnly");
run(...tsc, "--declaration", "false", "--removeComments", "--noCheck");
await bundleDependencies();
await bundlePrograms();
run("scripts/buildExplorer.mjs");
await copyFile("src/host/openapi/examples.json", "dist/host/openapi/examples.json");
await chmod("dist/cli/main.js", 0o755);
const { exports } = JSON.parse(await readFile("package.json", "utf8"));
pruneDeclarations(
  "dist",
  Object.values(exports).flatMap((entry) => entry.default ?? []),
);
