// Runs every compiled bench, each in a process of its own so that none warms another up; arguments go to all:
// `npm run bench -- radius --json` runs those whose name contains "radius" and prints JSON lines.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const flags = process.argv.slice(2).filter((word) => word.startsWith("-"));
const names = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const files = readdirSync("build/bench/bench").filter((file) => file.endsWith(".bench.js"));
const chosen = files.filter((file) => names.length === 0 || names.some((name) => file.includes(name)));
if (chosen.length === 0)
  throw new Error(`There is no bench called ${names.join(" or ")}; there are ${files.join(", ")}.`);
for (const file of chosen)
  execFileSync(process.execPath, [`build/bench/bench/${file}`, ...flags], { stdio: "inherit" });
