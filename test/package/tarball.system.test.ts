import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { isBuiltin } from "node:module";
import { homedir } from "node:os";
import { dirname, join, posix } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packTarball, type PackedTarball } from "../../scripts/packageTarball.mjs";

/** Tests of the packed package, without installing it. They need dist/. */
const TARBALL_BYTES_MAX = 3_700_000;
/** Matches string literals that are so long that they are embedded data, whose type should be declared as `string`. */
const EMBEDDED_DATA = /"[^"\n]{1000,}"/;
const DEPENDENCY_COUNT_MAX = 4;

interface Manifest {
  readonly scripts?: unknown;
  readonly devDependencies?: unknown;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

let folder: string;
let packed: PackedTarball;
let manifest: Manifest;
beforeAll(() => {
  folder = mkdtempSync(join(homedir(), ".isotherm-tarball-"));
  packed = packTarball();
  execFileSync("tar", ["xzf", packed.file, "-C", folder]);
  manifest = JSON.parse(read("package.json")) as Manifest;
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (path: string): string => readFileSync(join(folder, "package", path), "utf8");
const filesEnding = (...ends: readonly string[]): readonly string[] =>
  packed.files.map(({ path }) => path).filter((path) => ends.some((end) => path.endsWith(end)));

/**
 * Returns the specifiers of all imports, exports and `require` calls of a built file; `isStatic` selects static ones.
 */
function importsOf(path: string, { isStatic = false } = {}): readonly string[] {
  const pattern = isStatic
    ? /^(?:import|export)\b[^;"]*?\bfrom\s*"([@\w./:-]+)"|^import\s*"([@\w./:-]+)"/gm
    : /\bfrom\s*"([@\w./:-]+)"|\bimport\(?\s*"([@\w./:-]+)"|\b__require\(["`]([@\w./:-]+)["`]\)/gm;
  return [...read(path).matchAll(pattern)].map((match) => match.slice(1).find((part) => part !== undefined) ?? "");
}

/** Returns the names of the packages that files import. */
function packagesIn(paths: readonly string[], options?: { readonly isStatic?: boolean }): readonly string[] {
  const specifiers = paths.flatMap((path) => importsOf(path, options));
  const bare = specifiers.filter((name) => !name.startsWith(".") && !isBuiltin(name));
  const names = bare.map((name) =>
    name
      .split("/")
      .slice(0, name.startsWith("@") ? 2 : 1)
      .join("/"),
  );
  return [...new Set(names)].toSorted();
}

/** Returns a module and all modules of the package that it imports statically. */
function staticClosure(entry: string, seen = new Set<string>()): Set<string> {
  if (seen.has(entry)) return seen;
  seen.add(entry);
  for (const name of importsOf(entry, { isStatic: true }))
    if (name.startsWith(".")) staticClosure(posix.join(dirname(entry), name), seen);
  return seen;
}

const modules = (): readonly string[] => filesEnding(".js").filter((path) => !path.startsWith("dist/bundled/"));
const entries = (): readonly string[] =>
  Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [posix.normalize(entry.default)],
  );

describe("the tarball", () => {
  test("stays below its maximum size", () => {
    expect(packed.sizeBytes).toBeLessThan(TARBALL_BYTES_MAX);
  });

  test("has no source maps and no declarations with embedded data", () => {
    expect(filesEnding(".map")).toEqual([]);
    expect(filesEnding(".ts").filter((path) => EMBEDDED_DATA.test(read(path)))).toEqual([]);
  });

  test("has the files that are read at run time, and the licenses", () => {
    expect(packed.files.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        "dist/worker/main.js",
        "dist/ledger/sqliteWorkerMain.js",
        "dist/host/openapi/examples.json",
        "dist/bundled/LICENSES.txt",
        "dist/explorer/index.html",
        "dist/explorer/explorer/LICENSES.txt",
        "LICENSE",
        "NOTICE",
      ]),
    );
  });

  test("has the license of every bundled package", () => {
    // Packages with the same text are listed together.
    const titles = read("dist/bundled/LICENSES.txt").matchAll(/^-{80}\n((?:\S+ \S+ \(.+\)\n)+)\n(?=\S)/gm);
    const names = [...titles].flatMap(([, lines = ""]) => [...lines.matchAll(/^\S+/gm)].map(([name]) => name));
    expect(names).toEqual(
      expect.arrayContaining(["@stdlib/math-base-special-exp", "commander", "hash-wasm", "sax", "typebox", "zstddec"]),
    );
    expect(names.length).toBeGreaterThanOrEqual(15);
    const explorer = read("dist/explorer/explorer/LICENSES.txt");
    for (const name of ["preact", "@preact/signals", "leaflet", "uplot", "world-atlas", "@assemblyscript/loader"]) {
      expect(explorer).toMatch(
        new RegExp(`^-{80}\n(?:\\S+ \\S+ \\(.+\\)\n)*${name} \\S+ \\(.+\\)\n(?:\\S+ \\S+ \\(.+\\)\n)*\n(?=\\S)`, "m"),
      );
    }
  });

  test("credits the data of the explorer in a file that a published folder contains", () => {
    const explorer = read("dist/explorer/explorer/LICENSES.txt");
    for (const source of [
      "GeoNames (https://www.geonames.org)",
      "https://creativecommons.org/licenses/by/4.0/",
      "Natural Earth",
      "EDGAR 2024 Greenhouse Gas Emissions",
    ]) {
      expect(explorer).toContain(source);
    }
  });

  test("has every file that its documents link to", () => {
    const broken = filesEnding(".md").flatMap((document) => {
      const targets = [...read(document).matchAll(/\]\(([^)#\s]+)/g)].map(([, target = ""]) => target);
      // The pictures of the README are only in the repository.
      const local = targets.filter((target) => !/^[a-z]+:|^docs\/pictures\//.test(target));
      const paths = local.map((target) => posix.join(dirname(document), target).replace(/\/$/, ""));
      return paths
        .filter((path) => !packed.files.some((file) => file.path === path || file.path.startsWith(`${path}/`)))
        .map((path) => `${document}: ${path}`);
    });
    expect(broken).toEqual([]);
  });
});

describe("the packed manifest", () => {
  test("has no scripts and no development dependencies", () => {
    expect(manifest.scripts).toBeUndefined();
    expect(manifest.devDependencies).toBeUndefined();
  });

  test(`has at most ${DEPENDENCY_COUNT_MAX} dependencies, all of which are used`, () => {
    const names = Object.keys(manifest.dependencies);
    expect(names.length).toBeLessThanOrEqual(DEPENDENCY_COUNT_MAX);
    expect(names).toEqual(expect.arrayContaining(["@assemblyscript/loader", "flatbuffers"]));
    const used = packagesIn([...modules(), ...filesEnding(".d.ts")]);
    expect(names.filter((name) => !used.includes(name))).toEqual([]);
  });

  test("lists every package that a module imports", () => {
    const declaredNames = new Set([...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)]);
    // The scripts of the explorer are bundled with everything that they need; their snippets contain imports as text.
    const scripts = filesEnding(".js").filter((path) => !path.startsWith("dist/explorer/"));
    expect(packagesIn(scripts).filter((name) => !declaredNames.has(name))).toEqual([]);
  });

  test("has only optional peer dependencies", () => {
    const optional = Object.keys(manifest.peerDependencies).filter(
      (name) => manifest.peerDependenciesMeta[name]?.optional === true,
    );
    expect(optional).toEqual(Object.keys(manifest.peerDependencies));
  });
});

describe("the entry points", () => {
  test("import only packages that are installed without the optional ones", () => {
    const installed = Object.keys(manifest.dependencies);
    const loaded = entries().flatMap((entry) => packagesIn([...staticClosure(entry)], { isStatic: true }));
    expect(loaded.filter((name) => !installed.includes(name))).toEqual([]);
    const declared = packagesIn(filesEnding(".d.ts"));
    expect(declared.filter((name) => !installed.includes(name))).toEqual([]);
  });

  test("have no top-level await, which require() rejects", () => {
    for (const entry of entries()) {
      const files = [...staticClosure(entry)];
      expect(files.length).toBeGreaterThan(0);
      expect(files.filter((path) => /^(?:(?:export )?(?:const|let) [^=]+= )?await\b/m.test(read(path)))).toEqual([]);
    }
  });
});
