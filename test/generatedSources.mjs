// Global setup of the tests: writes the generated sources that are missing or out of date, so that tests of src/ need no
// `npm run build`. In watch mode, writes them also before each rerun.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { fileURLToPath } from "node:url";

const SCRIPTS = [
  ["buildKernel.mjs"],
  ...(process.env["ISOTHERM_KERNEL"] === "debug" ? [["buildKernel.mjs", "--debug"]] : []),
  ["buildLand.mjs"],
  ["buildCoastlines.mjs"],
  ["buildGazetteer.mjs"],
  ["buildTables.mjs"],
  ["generateWireTypes.mjs"],
  ["generateSchema.mjs"],
];

function writeGeneratedSources() {
  for (const [name, ...options] of SCRIPTS) {
    const script = fileURLToPath(new URL(`../scripts/${name}`, import.meta.url));
    execFileSync(process.execPath, [script, ...options], { stdio: ["ignore", "inherit", "inherit"] });
  }
}

/** Folders whose content the scripts read. */
const INPUT_FOLDERS = ["assembly", "src/reference/data", "src/company/data", "src/contract"];

async function nextInputChange() {
  const watchers = INPUT_FOLDERS.map((folder) => watch(fileURLToPath(new URL(`../${folder}`, import.meta.url))));
  await Promise.race(watchers.map((watcher) => once(watcher, "change")));
  for (const watcher of watchers) watcher.close();
}

/** Writes the generated sources. If that fails, waits for a change and tries again, so that no test runs on old ones. */
async function writeWhenCorrect() {
  for (;;) {
    try {
      writeGeneratedSources();
      return;
    } catch (error) {
      if (!("status" in error)) throw error; // a script that failed has printed why
      console.error(`Tests run again when a file in ${INPUT_FOLDERS.join(", ")} has changed.`);
    }
    await nextInputChange();
  }
}

/** @param {import("vitest/node").TestProject} project */
export default function setup(project) {
  writeGeneratedSources();
  project.onTestsRerun(writeWhenCorrect);
}
