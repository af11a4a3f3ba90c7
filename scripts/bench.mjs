// Runs compiled benches, each in a process of its own so that none warms another up:
//
//   npm run bench                                 all of them, for people
//   npm run bench -- engine lat45 --json          those whose name contains "engine", one grid, one JSON line a row
//   npm run bench -- --starts 5 --json            every bench started five times, medians over the starts
//   npm run bench -- --starts 5 --page            the same, written into docs/performance.md
//   npm run bench -- --page --from rows.jsonl     the page alone, from lines of an earlier run
//
// A run may be left alone: each row is kept in build/bench/rows.jsonl as soon as it is measured, and a bench that fails
// or takes more than its time costs its own rows and no other's; then the run ends with 1.
import { spawn } from "node:child_process";
import { appendFileSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fillPerformancePage, mediansOver } from "./performancePage.mjs";

const KEPT_ROWS = "build/bench/rows.jsonl";
/** One start of one bench, its workloads made on the way; several times what it takes. */
const MINUTES_MAX = 45;

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
  throw new Error(`--starts is a whole number from 1, not ${options.starts}.`);

if (options.from === undefined) {
  copyFileSync("package.json", "build/bench/package.json"); // the host looks up its version one folder above it
  const folder = "build/bench/bench";
  const files = readdirSync(folder).filter((file) => file.endsWith(".bench.js"));
  const benchOf = (file) => file.replace(/\.bench\.js$/, "");
  // Words that name a bench choose it; the others (a grid, say) go to the benches.
  const chosenBy = positionals.filter((word) => files.some((file) => benchOf(file).includes(word)));
  const rest = positionals.filter((word) => !chosenBy.includes(word));
  const chosen = files.filter((file) => chosenBy.length === 0 || chosenBy.some((word) => benchOf(file).includes(word)));
  const isForPeople = !options.json && !options.page && starts === 1;
  const rows = [];
  if (!isForPeople) writeFileSync(KEPT_ROWS, "");
  for (let start = 0; start < starts; start++) {
    for (const file of chosen) rows.push(...(await run([`${folder}/${file}`, ...rest], { isForPeople })));
  }
  if (!isForPeople) await publish(mediansOver(rows));
} else {
  await publish(mediansOver(rowsIn(readFileSync(options.from, "utf8"))));
}

async function publish(rows) {
  for (const row of rows) if (!options.page) console.log(JSON.stringify(row));
  if (options.page) await fillPerformancePage(rows);
}

/** @returns {Promise<object[]>} the rows that the bench printed, all or those before it failed */
function run(words, { isForPeople }) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, isForPeople ? words : [...words, "--json"], {
      stdio: ["ignore", isForPeople ? "inherit" : "pipe", "inherit"],
      timeout: MINUTES_MAX * 60_000,
      killSignal: "SIGKILL",
    });
    const rows = [];
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (piece) => {
      text += piece;
      const end = text.lastIndexOf("\n") + 1;
      for (const row of rowsIn(text.slice(0, end))) {
        rows.push(row);
        appendFileSync(KEPT_ROWS, `${JSON.stringify(row)}\n`);
      }
      text = text.slice(end);
    });
    const fail = (why) => {
      console.error(`${words.join(" ")} ${why}.`);
      process.exitCode = 1;
    };
    child.on("error", (error) => fail(`could not be started: ${error.message}`));
    child.on("close", (code, signal) => {
      if (signal !== null) fail(`was ended by ${signal}, after at most ${MINUTES_MAX} minutes`);
      else if (code !== 0) fail(`ended with ${code}`);
      resolve(rows);
    });
  });
}

/** Lines that are no JSON are what a rival had to say. */
function rowsIn(text) {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}
