// Runs the compiled benchmarks, each in a separate process so that none warms up another:
//
//   npm run bench                                 all benchmarks, printed as text
//   npm run bench -- engine lat45 --json          "engine" benchmarks, one grid, one JSON line per row
//   npm run bench -- --starts 5 --json            starts every benchmark five times and takes medians over the starts
//   npm run bench -- --starts 5 --page            the same, written to docs/performance.md
//   npm run bench -- --page --from rows.jsonl     writes the page from the lines of an earlier run
//
// Each row is appended to build/bench/rows.jsonl as soon as it is measured. If a benchmark fails or times out, only its
// remaining rows are lost, and the exit code is 1.
import { spawn } from "node:child_process";
import { appendFileSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fillPerformancePage, mediansOver } from "./performancePage.mjs";

const ROWS_FILE = "build/bench/rows.jsonl";
/** Time limit for one start of one benchmark, including generation of its workloads: several times the usual time. */
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
  // The host reads its version from package.json, one folder above its own.
  copyFileSync("package.json", "build/bench/package.json");
  const folder = "build/bench/bench";
  const files = readdirSync(folder).filter((file) => file.endsWith(".bench.js"));
  const benchOf = (file) => file.replace(/\.bench\.js$/, "");
  // Arguments that match a benchmark's name select it; the others, such as a grid, are passed to the benchmarks.
  const chosenBy = positionals.filter((word) => files.some((file) => benchOf(file).includes(word)));
  const rest = positionals.filter((word) => !chosenBy.includes(word));
  const chosen = files.filter((file) => chosenBy.length === 0 || chosenBy.some((word) => benchOf(file).includes(word)));
  const isTextOutput = !options.json && !options.page && starts === 1;
  const rows = [];
  if (!isTextOutput) writeFileSync(ROWS_FILE, "");
  for (let start = 0; start < starts; start++) {
    for (const file of chosen) rows.push(...(await run([`${folder}/${file}`, ...rest], { isTextOutput })));
  }
  if (!isTextOutput) await publish(mediansOver(rows));
} else {
  await publish(mediansOver(parseRows(readFileSync(options.from, "utf8"))));
}

async function publish(rows) {
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
      if (signal !== null) fail(`was killed by ${signal} (time limit ${TIMEOUT_MINUTES} minutes)`);
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
