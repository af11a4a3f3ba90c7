// Runs compiled benches, each in a process of its own so that none warms another up:
//
//   npm run bench                                 all of them, for people
//   npm run bench -- engine lat45 --json          those whose name contains "engine", one grid, one JSON line a row
//   npm run bench -- --starts 5 --json            every bench started five times, medians over the starts
//   npm run bench -- --starts 5 --page            the same, written into docs/performance.md
//   npm run bench -- --page --from rows.jsonl     the page alone, from lines of an earlier run
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fillPerformancePage, mediansOver } from "./performancePage.mjs";

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
  const folder = "build/bench/bench";
  const files = readdirSync(folder).filter((file) => file.endsWith(".bench.js"));
  const benchOf = (file) => file.replace(/\.bench\.js$/, "");
  // Words that name a bench choose it; the others (a grid, say) go to the benches.
  const chosenBy = positionals.filter((word) => files.some((file) => benchOf(file).includes(word)));
  const rest = positionals.filter((word) => !chosenBy.includes(word));
  const chosen = files.filter((file) => chosenBy.length === 0 || chosenBy.some((word) => benchOf(file).includes(word)));
  const isForPeople = !options.json && !options.page && starts === 1;
  const runs = [];
  for (let start = 0; start < starts; start++) {
    for (const file of chosen) runs.push(await run([`${folder}/${file}`, ...rest], { isForPeople }));
  }
  if (!isForPeople) await publish(mediansOver(runs.flat()));
} else {
  await publish(mediansOver(rowsIn(readFileSync(options.from, "utf8"))));
}

async function publish(rows) {
  for (const row of rows) if (!options.page) console.log(JSON.stringify(row));
  if (options.page) await fillPerformancePage(rows);
}

/** @returns {Promise<object[]>} the rows that the bench printed */
function run(words, { isForPeople }) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, isForPeople ? words : [...words, "--json"], {
      stdio: ["ignore", isForPeople ? "inherit" : "pipe", "inherit"],
    });
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (piece) => (text += piece));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(rowsIn(text));
      else reject(new Error(`${words.join(" ")} ended with ${code}.`));
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
