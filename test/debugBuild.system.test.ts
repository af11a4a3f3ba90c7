import { execFileSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeAll, expect, test } from "vitest";
import type * as generated from "../src/kernel/kernel.generated.ts";
import type * as instances from "../src/kernel/instance.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const QUERY =
  "query --atlas demo --lat 11.6 --lon 43.1 --hazards riverine_floods --years 2050 --scenarios rcp8p5 --radius 10 --json";

function runNode(...words: readonly string[]): string {
  return execFileSync(process.execPath, words, { cwd: ROOT, encoding: "utf8", stdio: "pipe" });
}

const importDebug = (file: string): Promise<unknown> => import(pathToFileURL(`${ROOT}debug/${file}`).href);

beforeAll(() => {
  runNode("scripts/buildDebug.mjs");
}, 120_000);

test("the debug build gives the same result for a query as the release build", () => {
  const answer = runNode("debug/cli/main.js", ...QUERY.split(" "));
  expect(JSON.parse(answer)).toEqual(JSON.parse(runNode("dist/cli/main.js", ...QUERY.split(" "))));
});

test("the debug build runs kernels with assertions", async () => {
  const { Kernel } = (await importDebug("kernel/instance.js")) as typeof instances;
  const { FIELD_BYTES, SPANS_HEADER_BYTES } = (await importDebug("kernel/kernel.generated.js")) as typeof generated;
  const kernel = await Kernel.load();
  const field = kernel.reserve(FIELD_BYTES);
  const spans = kernel.reserve(SPANS_HEADER_BYTES + 64);
  const out = kernel.reserve(4096).pointer;
  // An empty grid, and a circle of two rows.
  kernel.words[(spans.pointer >> 2) + 1] = 2;
  const { circleMax } = kernel.exports;
  expect(() => circleMax(field.pointer, spans.pointer, out, out + 512, 100, out + 2048)).toThrow(
    "the row spans must be inside the grid",
  );
});

test("a stack trace of the debug build contains the names of TypeScript files", () => {
  const program = `
    const { Kernel } = await import("./debug/kernel/instance.js");
    try {
      (await Kernel.load()).check(-1, "example");
    } catch (error) {
      console.log(error.stack);
    }`;
  expect(runNode("--enable-source-maps", "--input-type=module", "--eval", program)).toMatch(
    /src\/kernel\/instance\.ts:\d+:\d+/,
  );
});
