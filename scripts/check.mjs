// Runs the checks of `npm run check`, as many at a time as there are processors, the longest first.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

const CHECKS = ["check:format", "check:lint", "check:types", "check:unused", "check:package"];

/** Prints the output of a check when it has finished. @returns whether it passed */
function run(name) {
  const startMs = Date.now();
  return new Promise((resolve) => {
    const child = spawn("npm", ["run", "--silent", name], { stdio: ["ignore", "pipe", "pipe"] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => output.push(part));
    child.once("close", (code) => {
      const seconds = ((Date.now() - startMs) / 1000).toFixed(1);
      console.log(`${name} ${code === 0 ? "passed" : "failed"} in ${seconds} s`);
      process.stdout.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });
}

const waiting = [...CHECKS];
const failed = [];
async function work() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (!(await run(name))) failed.push(name);
  }
}
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
if (failed.length > 0) console.log(`failed: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
