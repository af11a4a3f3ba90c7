import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesBelow, importsOf } from "../scripts/importGraph.mjs";
import { isolatedTests } from "../scripts/isolatedTests.mjs";

/**
 * Modules that reach outside the process. `pg` and `better-sqlite3` are databases, even with the file name `:memory:`.
 */
const OUTSIDE = new Set([
  "node:child_process",
  "node:cluster",
  "node:http",
  "node:https",
  "playwright-core",
  "pg",
  "better-sqlite3",
]);
/** The guard imports the modules whose functions it replaces. */
const EXEMPT = new Set(["test/unitGuard.ts"]);
/** Paths of build output. Composed from parts, so that this file does not match the pattern. */
const BUILD_OUTPUT = new RegExp(`["'\`/](${["dist", "build"].join("|")})/`);

const testFiles = filesBelow("test").filter((file) => file.endsWith(".test.ts"));
const kindOf = (file: string): string => /\.(system|exhaustive)\.test\.ts$/.exec(file)?.[1] ?? "unit";

/**
 * Returns why a test file reaches outside the process, following the static imports at run time; undefined if it does
 * not. In src/, `node:net` is allowed, because some modules use it to parse IP addresses.
 */
function reasonToBeSystem(testFile: string): string | undefined {
  const visited = new Set<string>();
  const visit = (file: string): string | undefined => {
    if (visited.has(file) || EXEMPT.has(file)) return undefined;
    visited.add(file);
    const text = readFileSync(file, "utf8");
    const isTest = file.startsWith("test/");
    if (isTest && BUILD_OUTPUT.test(text)) return `${file} uses build output`;
    const dynamic = new Set(
      [...text.matchAll(/\bimport\(\s*["']([^"']+)["']/g)].map(([, path = ""]) => basename(path)),
    );
    for (const path of importsOf(file, { typeOnly: false })) {
      if (OUTSIDE.has(path) || (isTest && path === "node:net")) return `${file} imports ${path}`;
      const isFollowed =
        /^(src|test|scripts)\/.*\.m?[jt]s$/.test(path) && existsSync(path) && (isTest || !dynamic.has(basename(path)));
      const reason = isFollowed ? visit(path) : undefined;
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
  return visit(testFile);
}

describe("the projects of the tests", () => {
  test.each(testFiles.filter((file) => kindOf(file) !== "system"))("%s stays inside the process", (file) => {
    expect(reasonToBeSystem(file)).toBeUndefined();
  });

  test.each(testFiles.filter((file) => kindOf(file) === "system"))("%s reaches outside the process", (file) => {
    expect(reasonToBeSystem(file)).toBeDefined();
  });

  test("unit tests that replace modules have separate module instances, and exhaustive tests replace none", () => {
    const isolated = isolatedTests();
    expect(isolated).toEqual(expect.arrayContaining(["test/cli/ingest.test.ts", "test/cli/program.test.ts"]));
    const others = testFiles.filter((file) => kindOf(file) !== "system" && !isolated.includes(file));
    const replacing = others.filter((file) => /^\s*vi\.(?:mock|doMock)\(/m.test(readFileSync(file, "utf8")));
    expect(replacing).toEqual([]);
  });

  // Files that share module instances load such a module once, so only the first one would get the hooks.
  test("modules that test files import register no hooks when they are loaded", () => {
    const modules = filesBelow("test").filter((file) => !file.endsWith(".test.ts") && !EXEMPT.has(file));
    const registering = modules.filter((file) => /^(?:before|after)(?:All|Each)\(/m.test(readFileSync(file, "utf8")));
    expect(registering).toEqual([]);
  });

  test("no two test files differ only in their kind", () => {
    const names = testFiles.map((file) =>
      join(dirname(file), basename(file).replace(/(\.(system|exhaustive))?\.test\.ts$/, "")),
    );
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
