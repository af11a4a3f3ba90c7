// Writes debug/: the compiled program as in dist/, but with the debug build of the kernel. The folder is next to dist/,
// because src/version.ts reads package.json one level above.
import { execFileSync } from "node:child_process";
import { copyFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const run = (/** @type {string[]} */ ...command) => execFileSync(process.execPath, command, { stdio: "inherit" });

run("scripts/buildKernel.mjs");
run("scripts/buildKernel.mjs", "--debug");
run("scripts/buildLand.mjs");
run("scripts/buildCoastlines.mjs");
run("scripts/buildTables.mjs");
run("scripts/generateSchema.mjs");
await rm("debug", { recursive: true, force: true });
// The release build has no source maps.
const sourceMaps = ["--sourceMap", "--inlineSources"];
run("node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", "debug", ...sourceMaps);
await copyFile("build/debug/kernel.generated.mjs", "debug/kernel/kernel.generated.js");
await copyFile("src/host/openapi/examples.json", "debug/host/openapi/examples.json");
console.log("debug/: run it with node --enable-source-maps debug/cli/main.js");
