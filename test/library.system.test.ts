import type { Atlas, LocalAtlas } from "../src/hazard/answer.ts";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as client from "../src/client/client.ts";
import * as host from "../src/host/main.ts";
import * as library from "../src/index.ts";
import * as ingest from "../src/ingest/ingest.ts";
import { LedgerBase } from "../src/ledger/ledgerBase.ts";
import { makeGeoTiff } from "./ingest/makeGeoTiff.ts";

/**
 * Runs the examples of docs/library.md against the built package and compares their output with the page.
 * ISOTHERM_UPDATE_EXAMPLES=1 writes the output into the page instead.
 */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = join(ROOT, "docs", "library.md");
const IS_UPDATING = process.env["ISOTHERM_UPDATE_EXAMPLES"] === "1";
const run = promisify(execFile);
const page = readFileSync(PAGE, "utf8");

const EXAMPLES = [...page.matchAll(/```js\n([\s\S]*?)```\n(?:\n```text\n([\s\S]*?)```\n)?/g)].map(
  ([whole, code = "", output]) => ({ whole, code, output, first: code.split("\n")[0] ?? "" }),
);
const [, manifest = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];

let folder: string;
const outputs = new Map<string, string>();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-library-"));
  mkdirSync(join(ROOT, "build"), { recursive: true });
  mkdirSync(join(folder, "maps", "aqueduct"), { recursive: true });
  const grid = { rowCount: 8, columnCount: 8, tiePoint: [10, 20], pixelScale: [0.1, 0.1] } as const;
  const map = (name: string, value: number): void => {
    const values = new Float32Array(64).fill(value);
    writeFileSync(join(folder, "maps", name), makeGeoTiff({ ...grid, nodata: "-9999", values }));
  };
  for (const years of ["00010", "00050", "00100", "00500"]) {
    map(`aqueduct/inunriver_rcp4p5_00000NorESM1-M_2030_rp${years}.tif`, Number(years) / 100);
  }
  map("fire-danger-days.tif", 12);
  for (const years of [10, 20, 50, 100, 200, 500]) {
    const name = `floodMapGL_rp${years}y.zip`;
    cpSync(join(ROOT, "test", "fixtures", "recipes", name), join(folder, "maps", "jrc", name));
  }
  writeFileSync(join(folder, "maps", "fire.json"), manifest);
  // Sequentially, because later examples use the files of earlier ones.
  for (const [index, { code }] of EXAMPLES.entries()) {
    const file = join(ROOT, "build", `library-example-${index}.mjs`);
    writeFileSync(file, code);
    const printed = await run(process.execPath, [file], { cwd: folder, timeout: 60_000 }).then(
      ({ stdout }) => stdout,
      (error: unknown) => `It failed: ${String(error)}`,
    );
    outputs.set(code, printed);
  }
}, 300_000);
afterAll(() => {
  rmSync(folder, { recursive: true });
  if (!IS_UPDATING) return;
  const text = EXAMPLES.reduce((whole, example) => {
    const block = `\`\`\`js\n${example.code}\`\`\`\n\n\`\`\`text\n${outputs.get(example.code) ?? ""}\`\`\`\n`;
    return whole.replace(example.whole, () => block);
  }, page);
  writeFileSync(PAGE, text);
});

describe("the examples of docs/library.md", () => {
  test.each(EXAMPLES.map((example, index) => [index, example.first, example] as const))(
    "%i (%s) prints the output on the page",
    (_index, _first, { code, output }) => {
      const printed = outputs.get(code);
      expect(printed).not.toMatch(/^It failed/);
      if (!IS_UPDATING) expect(printed).toBe(output);
    },
  );
});

/** Returns the names of the methods of a class. */
function methodsOf({ prototype }: { readonly prototype: object }): readonly string[] {
  return Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor");
}

describe("docs/library.md", () => {
  const code = EXAMPLES.map((example) => example.code).join("\n");

  test.each([
    ["isotherm", library],
    ["isotherm/ingest", ingest],
    ["isotherm/host", host],
    ["isotherm/client", client],
  ])("documents every value that %s exports", (specifier, exported) => {
    const names = Object.keys(exported);
    expect(names.length).toBeGreaterThan(1);
    expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(page))).toStrictEqual([]);
    // Values that the core exports too, such as Fault, need only one example.
    const shown = names.filter((name) => specifier === "isotherm" || !Object.hasOwn(library, name));
    expect(shown.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toStrictEqual([]);
    const imported = new RegExp(`import \\{ ([^}]+) \\} from "${specifier}";`, "g");
    const used = [...code.matchAll(imported)].flatMap(([, list = ""]) => list.split(", "));
    expect(used.filter((name) => !names.includes(name))).toStrictEqual([]);
  });

  test("documents every member of an atlas and every method of a ledger and a client", async () => {
    const atlas = await library.openAtlas("demo");
    const hostOnly: readonly string[] = [
      "tileUse",
      "isLong",
      "estimateWork",
      "checkCurve",
      "neighborhoodOf",
      "readHazardRisk",
      "score",
    ] satisfies Exclude<keyof LocalAtlas, keyof Atlas>[];
    const members = Object.keys(atlas).filter((name) => !hostOnly.includes(name));
    await atlas.close();
    const internal = new Set(
      "fail notifyChange notifyCommit noteRejection clockDriftFault startChain closeChain checkStorage".split(" "),
    );
    const methods = [...methodsOf(LedgerBase), ...methodsOf(client.IsothermClient)].filter(
      (name) => !internal.has(name),
    );
    expect(members.length).toBeGreaterThan(5);
    expect(methods.length).toBeGreaterThan(25);
    const missing = [...members, ...methods].filter((name) => !new RegExp(`[\`.]${name}\\b`).test(page));
    expect(missing).toStrictEqual([]);
  });
});
