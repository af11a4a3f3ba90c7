// Removes the declarations in dist/ that no entry point needs, and writes the CommonJS entry points.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Removes the declarations that are not reachable from an entry point of the package. Users cannot import them, and the
 * declarations of the command line refer to packages that are bundled and therefore not installed.
 *
 * @param {string} folder the folder that holds the entry points, usually dist/
 * @param {readonly string[]} entries paths of the entry points, which end in .js
 */
export function pruneDeclarations(folder, entries) {
  const reachable = new Set();
  const visit = (/** @type {string} */ file) => {
    if (reachable.has(file)) return;
    reachable.add(file);
    for (const specifier of specifiersIn(file)) {
      if (specifier.startsWith(".")) visit(resolve(dirname(file), specifier.replace(/(\.d)?\.[jt]s$/, ".d.ts")));
    }
  };
  for (const entry of entries) visit(resolve(entry.replace(/\.js$/, ".d.ts")));
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = resolve(join(folder, name));
    if (file.endsWith(".d.ts") && !reachable.has(file)) rmSync(file);
  }
}

/** @returns the modules that a declaration file imports, re-exports or names in an `import()` type */
function specifiersIn(/** @type {string} */ file) {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)"([^"]+)"/g)].map(([, specifier = ""]) => specifier);
}

/**
 * Writes a CommonJS file and its declarations next to each entry point: `require()` then returns the same module as
 * `import`, and TypeScript accepts it in CommonJS files, in which it rejects `require()` of an ES module. With a second
 * build for CommonJS, a program that uses both would have two copies of the state and of the classes.
 *
 * @param {readonly string[]} entries paths of the entry points, which end in .js
 */
export async function writeCommonJsEntries(entries) {
  for (const entry of entries) {
    const module = await import(pathToFileURL(entry).href);
    const specifier = `./${basename(entry)}`;
    const declarations = Object.entries(module).flatMap(([name, value]) => [
      `export declare const ${name}: Module["${name}"];`,
      // The constant declares only the value of a class, so its type is declared separately.
      ...(isClass(value) ? [`export type ${name} = InstanceType<Module["${name}"]>;`] : []),
    ]);
    const lines = [
      `type Module = typeof import("${specifier}", { with: { "resolution-mode": "import" } });`,
      `export type * from "${specifier}" with { "resolution-mode": "import" };`,
      ...declarations,
      "",
    ];
    writeFileSync(entry.replace(/\.js$/, ".d.cts"), lines.join("\n"));
    writeFileSync(entry.replace(/\.js$/, ".cjs"), `"use strict";\nmodule.exports = require("${specifier}");\n`);
  }
}

const isClass = (/** @type {unknown} */ value) => typeof value === "function" && /^class\b/.test(String(value));
