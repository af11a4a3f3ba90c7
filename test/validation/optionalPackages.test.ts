import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isFault } from "../../src/errors.ts";
import { type Installation, ledgerPackages, requirePackages } from "../../src/validation/optionalPackages.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<
  "dependencies" | "devDependencies" | "peerDependencies",
  Readonly<Record<string, string>>
>;

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "isotherm-packages-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Creates an installed package in a folder and returns the message about its missing packages, "" if there is none. */
function adviceIn(path: string, at: Partial<Installation> & { readonly files?: readonly string[] } = {}): string {
  const root = join(folder, path);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "package.json"), JSON.stringify({ peerDependencies: { pg: "^8.1.0", kysely: "^0.28.0" } }));
  for (const file of at.files ?? []) writeFileSync(join(folder, file), "{}");
  const here = { root: `${root}/`, cwd: folder, platform: "linux", isInstalled: () => false, ...at } as const;
  try {
    requirePackages("The ledger", ["pg", "kysely"], here);
  } catch (error) {
    if (isFault(error, "configuration_invalid")) return error.message.replaceAll(folder, "");
    throw error;
  }
  return "";
}

const commandIn = (message: string): string | undefined => /^ {2}(npm .*)$/m.exec(message)?.[1];
const PACKAGES = '"pg@^8.1.0" "kysely@^0.28.0"';

describe("missing packages", () => {
  test("are listed together with a single install command on a separate line", () => {
    expect(adviceIn("node_modules/isotherm", { files: ["package.json"] })).toBe(
      `The ledger needs 2 packages that are not installed: pg, kysely. Run:\n\n  npm install ${PACKAGES}`,
    );
  });

  test("do not include installed packages", () => {
    const isInstalled = (name: string): boolean => name === "pg";
    expect(adviceIn("node_modules/isotherm", { isInstalled, files: ["package.json"] })).toBe(
      'The ledger needs a package that is not installed: kysely. Run:\n\n  npm install "kysely@^0.28.0"',
    );
    expect(adviceIn("node_modules/isotherm", { isInstalled: () => true })).toBe("");
  });

  test.each([
    ["a project, from another folder", "node_modules/isotherm", { cwd: "/", files: ["package.json"] }, ' --prefix ""'],
    ["a project without package.json", "node_modules/isotherm", {}, ""],
    ["a global prefix", "p/lib/node_modules/isotherm", {}, ' --global --prefix "/p"'],
    ["a global prefix of Windows", "p/node_modules/isotherm", { platform: "win32" }, ' --global --prefix "/p"'],
    ["a project named lib", "lib/node_modules/isotherm", { files: ["lib/package.json"] }, ' --prefix "/lib"'],
    ["the npx cache", "_npx/1f/node_modules/isotherm", { files: ["_npx/1f/package.json"] }, ' --prefix "/_npx/1f"'],
  ] as const)("are installed into %s", (_where, path, at, flags) => {
    if ("files" in at) mkdirSync(join(folder, path), { recursive: true });
    expect(commandIn(adviceIn(path, at))).toBe(`npm install${flags} ${PACKAGES}`);
  });

  test("are installed with npm ci in a clone", () => {
    expect(commandIn(adviceIn("isotherm"))).toBe('npm ci --prefix "/isotherm"');
  });

  test("are left to the package manager that owns the folder", () => {
    const message = adviceIn("node_modules/.pnpm/isotherm@0.1.0/node_modules/isotherm");
    expect(commandIn(message)).toBeUndefined();
    expect(message).toContain(`Add them with your package manager: ${PACKAGES}`);
  });
});

test("a ledger needs only the driver of its storage", () => {
  expect(ledgerPackages({})).toEqual(["better-sqlite3", "kysely"]);
  expect(ledgerPackages({ database: "postgres://h/d" })).toEqual(["pg", "kysely"]);
});

test("peer ranges include the version of the tests; other versions are exact", () => {
  const { dependencies, devDependencies, peerDependencies } = manifest;
  for (const [name, range] of Object.entries(peerDependencies)) {
    const alternatives = range.split(" || ");
    expect(alternatives.filter((alternative) => !/^\^\d+\.\d+\.\d+$/.test(alternative))).toEqual([]);
    // The caret of a version below 1 fixes its minor number.
    const newest = alternatives.at(-1) ?? "";
    const [major, minor] = newest.slice(1).split(".");
    const prefix = major === "0" ? `0.${minor}.` : `${major}.`;
    expect([name, devDependencies[name]]).toEqual([name, expect.stringMatching(`^${prefix.replaceAll(".", "\\.")}`)]);
  }
  for (const version of Object.values({ ...dependencies, ...devDependencies })) expect(version).toMatch(/^[0-9]/);
});

test("advice for an alternative range is a single quoted argument", () => {
  const root = join(folder, "node_modules/isotherm");
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "package.json"), "{}");
  const at: Installation = { root: `${root}/`, cwd: folder, platform: "linux", isInstalled: () => false };
  expect(() => requirePackages("The ledger", ["kysely"], at)).toThrow(
    `npm install "kysely@${manifest.peerDependencies["kysely"]}"`,
  );
});

test.each(["README.md", "docs/operations.md"])("%s installs all packages that the service needs", (document) => {
  const onlyElsewhere = new Set([
    "h5wasm",
    "hyparquet",
    "hyparquet-compressors",
    "hyparquet-writer",
    "netcdfjs",
    "pg",
    "proj4",
    "zarrita",
  ]);
  const ranges = Object.entries(manifest.peerDependencies).filter(([name]) => !onlyElsewhere.has(name));
  const words = ranges.map(([name, range]) => `"${name}@${range}"`).join(" ");
  expect(readFileSync(join(ROOT, document), "utf8")).toContain(`\nnpm install isotherm ${words}\n`);
});
