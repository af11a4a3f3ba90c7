// Runs the compiled benchmarks, each in a separate process so that none warms up another:
//
//   npm run bench                                 all benchmarks, printed as text
//   npm run bench -- engine lat45 --json          "engine" benchmarks, one grid, one JSON line per row
//   npm run bench -- --starts 5 --json            starts every benchmark five times and takes medians over the starts
//   npm run bench -- --starts 5 --page            the same, written to docs/performance.md
//   npm run bench -- --page --from rows.jsonl     writes the page from the lines of an earlier run
//
// Except with text output, each row is appended to build/bench/rows.jsonl as soon as it is measured. If a benchmark fails or
// times out, only its remaining rows are lost, and the exit code is 1.
import { spawn } from "node:child_process";
import { appendFileSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fillPerformancePage, mediansOver } from "./performancePage.mjs";

const ROWS_FILE = "build/bench/rows.jsonl";
/** Time limit for one start of one benchmark, including the generation of its workloads: several times the usual time. */
const TIMEOUT_MINUTES = 45;

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    starts: { type: "string", default: "1" },
    page: { type: "boolean", default: false },
    from: { type: "string" },
  },
});
const starts = Number(options.starts);
if (!(Number.isInteger(starts) && starts >= 1))
  throw new Error(`--starts must be a whole number of at least 1 (got ${options.starts})`);

if (options.from === undefined) {
  // src/version.ts reads ../package.json, which here is build/bench/package.json.
  copyFileSync("package.json", "build/bench/package.json");
  copyFileSync("src/host/openapi/examples.json", "build/bench/src/host/openapi/examples.json");
  // Listed from the sources, because the build folder may contain benchmarks that no longer exist.
  const names = readdirSync("bench").flatMap((file) => (file.endsWith(".bench.ts") ? [file.slice(0, -9)] : []));
  // Arguments that match the name of a benchmark select it; the others are passed to the selected benchmarks.
  const selectors = positionals.filter((word) => names.some((name) => name.includes(word)));
  const rest = positionals.filter((word) => !selectors.includes(word));
  const selected = names.filter((name) => selectors.length === 0 || selectors.some((word) => name.includes(word)));
  // Only the engine benchmark has arguments without "=", which are grids; it rejects unknown ones.
  const hasGrids = selectors.length > 0 && selected.includes("engine");
  const unknown = rest.filter((word) => !word.includes("=") && !hasGrids);
  if (unknown.length > 0)
    throw new Error(`arguments must name a benchmark: ${names.join(", ")} (got ${unknown.join(", ")})`);
  const isTextOutput = !options.json && !options.page && starts === 1;
  const rows = [];
  if (!isTextOutput) writeFileSync(ROWS_FILE, "");
  for (let start = 0; start < starts; start++) {
    for (const name of selected) {
      rows.push(...(await run([`build/bench/bench/${name}.bench.js`, ...rest], { isTextOutput })));
    }
  }
  if (!isTextOutput) await output(mediansOver(rows));
} else {
  await output(mediansOver(parseRows(readFileSync(options.from, "utf8"))));
}

/** Prints rows as JSON lines, or writes them to the page. */
async function output(rows) {
  for (const row of rows) if (!options.page) console.log(JSON.stringify(row));
  if (options.page) await fillPerformancePage(rows);
}

/** @returns {Promise<object[]>} the rows that the benchmark printed, up to the failure if it failed */
function run(args, { isTextOutput }) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, isTextOutput ? args : [...args, "--json"], {
      stdio: ["ignore", isTextOutput ? "inherit" : "pipe", "inherit"],
      timeout: TIMEOUT_MINUTES * 60_000,
      killSignal: "SIGKILL",
    });
    const rows = [];
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
      const end = text.lastIndexOf("\n") + 1;
      for (const row of parseRows(text.slice(0, end))) {
        rows.push(row);
        appendFileSync(ROWS_FILE, `${JSON.stringify(row)}\n`);
      }
      text = text.slice(end);
    });
    const fail = (reason) => {
      console.error(`${args.join(" ")} ${reason}`);
      process.exitCode = 1;
    };
    child.on("error", (error) => fail(`could not be started: ${error.message}`));
    child.on("close", (code, signal) => {
      const possibleCause = signal === "SIGKILL" ? `, possibly at the time limit of ${TIMEOUT_MINUTES} minutes` : "";
      if (signal !== null) fail(`was killed by ${signal}${possibleCause}`);
      else if (code !== 0) fail(`exited with code ${code}`);
      resolve(rows);
    });
  });
}

/** Parses the JSON lines of a benchmark's output; other lines are output of competitors. */
function parseRows(text) {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}
