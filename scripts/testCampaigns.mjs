// Runs the campaigns in full, one after the other, and prints a table: npm run test:campaigns [-- words of names …].
// ISOTHERM_CAMPAIGN_SHARE=0.1 reduces their sizes to a tenth. The tests that inject a fault run too.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { CAMPAIGNS } from "./campaigns.mjs";

const SHARE = Number(process.env.ISOTHERM_CAMPAIGN_SHARE ?? 1);
const REPORT = "build/campaign-report.json";

if (!(SHARE > 0 && SHARE <= 1)) throw new Error(`ISOTHERM_CAMPAIGN_SHARE must be above 0 and at most 1 (got ${SHARE})`);
const words = process.argv.slice(2);
const chosen = CAMPAIGNS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
if (chosen.length === 0) throw new Error(`no campaign has a name with ${words.join(" or ")}`);

const rows = [];
mkdirSync("build", { recursive: true });
for (const { name, files, sizes } of chosen) {
  const scaled = Object.entries(sizes).map(([variable, size]) => [
    variable,
    String(Math.max(1, Math.round(size * SHARE))),
  ]);
  console.log(`\n=== ${name}`);
  rmSync(REPORT, { force: true });
  const startMs = Date.now();
  spawnSync("vitest", ["run", "--no-file-parallelism", ...files], {
    stdio: "inherit",
    env: { ...process.env, ...Object.fromEntries(scaled), ISOTHERM_CAMPAIGNS: "1", ISOTHERM_TEST_REPORT: REPORT },
  });
  const size = scaled.map(([variable, value]) => `${variable.replace("ISOTHERM_", "")} ${value}`).join(", ");
  rows.push({ name, size, result: resultOf(REPORT), seconds: Math.round((Date.now() - startMs) / 1000) });
}

function resultOf(file) {
  try {
    const { numPassedTests, numFailedTests, success } = JSON.parse(readFileSync(file, "utf8"));
    return { text: `${numPassedTests} passed, ${numFailedTests} failed`, success: success && numPassedTests > 0 };
  } catch {
    return { text: "no report", success: false };
  }
}

console.log("\n| campaign | size | result | seconds |\n| --- | --- | --- | ---: |");
for (const { name, size, result, seconds } of rows) console.log(`| ${name} | ${size} | ${result.text} | ${seconds} |`);
process.exitCode = rows.every(({ result }) => result.success) ? 0 : 1;
