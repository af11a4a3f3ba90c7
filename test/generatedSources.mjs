// Global setup of the tests: writes the generated sources that are missing or out of date, so that tests of src/ need no
// `npm run build`. In watch mode, writes them also before each rerun.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const SCRIPTS = [
  ["buildKernel.mjs"],
  ...(process.env["ISOTHERM_KERNEL"] === "debug" ? [["buildKernel.mjs", "--debug"]] : []),
  ["buildLand.mjs"],
  ["buildTables.mjs"],
];

function writeGeneratedSources() {
  for (const [name, ...options] of SCRIPTS) {
    const script = fileURLToPath(new URL(`../scripts/${name}`, import.meta.url));
    execFileSync(process.execPath, [script, ...options], { stdio: ["ignore", "inherit", "inherit"] });
  }
}

/** @param {import("vitest/node").TestProject} project */
export default function setup(project) {
  writeGeneratedSources();
  project.onTestsRerun(writeGeneratedSources);
}
