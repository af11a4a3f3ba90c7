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
    const { ownReason, followed } = useOf(file);
    if (ownReason !== undefined) return ownReason;
    for (const path of followed) {
      const reason = visit(path);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
  return visit(testFile);
}

interface FileUse {
  /** Why the file itself reaches outside the process. */
  readonly ownReason: string | undefined;
  /** The files that it imports. */
  readonly followed: readonly string[];
}
const usesByFile = new Map<string, FileUse>();

function useOf(file: string): FileUse {
  let use = usesByFile.get(file);
  if (use === undefined) {
    use = readUse(file);
    usesByFile.set(file, use);
  }
  return use;
}

function readUse(file: string): FileUse {
  const text = readFileSync(file, "utf8");
  const isTest = file.startsWith("test/");
  if (isTest && BUILD_OUTPUT.test(text)) return { ownReason: `${file} uses build output`, followed: [] };
  const dynamic = new Set([...text.matchAll(/\bimport\(\s*["']([^"']+)["']/g)].map(([, path = ""]) => basename(path)));
  const imports = importsOf(file, { typeOnly: false });
  const outside = imports.find((path) => OUTSIDE.has(path) || (isTest && path === "node:net"));
  return {
    ownReason: outside === undefined ? undefined : `${file} imports ${outside}`,
    followed: imports.filter(
      (path) =>
        /^(src|test|scripts)\/.*\.m?[jt]s$/.test(path) && existsSync(path) && (isTest || !dynamic.has(basename(path))),
    ),
  };
}

describe("the projects of the tests", () => {
  test("unit and exhaustive tests stay inside the process", () => {
    const inside = testFiles.filter((file) => kindOf(file) !== "system");
    const reasons = inside.map((file) => [file, reasonToBeSystem(file)] as const);
    expect(reasons.filter(([, reason]) => reason !== undefined)).toEqual([]);
  });

  test("system tests reach outside the process", () => {
    const system = testFiles.filter((file) => kindOf(file) === "system");
    expect(system.filter((file) => reasonToBeSystem(file) === undefined)).toEqual([]);
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

  test("test files call the functions that register the hooks of the modules they import", () => {
    const registrars = new Map(
      filesBelow("test").flatMap((file) => {
        const name = /^export function (use[A-Z]\w*)\(\): void \{$/m.exec(readFileSync(file, "utf8"))?.[1];
        return name === undefined ? [] : [[file, name] as const];
      }),
    );
    expect(registrars.get("test/ingest/ingestFixture.ts")).toBe("useIngestFolder");
    const missing = testFiles.flatMap((file) => {
      const text = readFileSync(file, "utf8");
      const names = importsOf(file, { typeOnly: false }).flatMap((path) => registrars.get(path) ?? []);
      return names.filter((name) => !text.includes(`\n${name}();\n`)).map((name) => `${file} must call ${name}()`);
    });
    expect(missing).toEqual([]);
  });

  test("no two test files differ only in their kind", () => {
    const names = testFiles.map((file) =>
      join(dirname(file), basename(file).replace(/(\.(system|exhaustive))?\.test\.ts$/, "")),
    );
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
