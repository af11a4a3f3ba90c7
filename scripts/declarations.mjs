// Removes the declarations in dist/ that no entry point needs.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

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
