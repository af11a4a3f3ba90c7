import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { filesBelow, importsOf } from "./importGraph.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** A hook that a module registers when it is loaded. Other test files that import the loaded module would lack it. */
const HOOK_AT_LOAD = /^(?:before|after)(?:All|Each)\(/m;

/**
 * The unit tests that need separate module instances: they replace modules with `vi.mock`, or import a module of `test/` that
 * registers hooks when it is loaded.
 */
export function isolatedTests() {
  const files = filesBelow("test").filter((file) => /(?<!\.(?:system|exhaustive))\.test\.ts$/.test(file));
  return files.filter((file) => /^vi\.mock\(/m.test(textOf(file)) || importsHooks(file, new Set()));
}

function importsHooks(file, visited) {
  return importsOf(file, { typeOnly: false })
    .filter((path) => /^test\/.*\.ts$/.test(path) && existsSync(`${ROOT}${path}`) && !visited.has(path))
    .some((path) => {
      visited.add(path);
      return HOOK_AT_LOAD.test(textOf(path)) || importsHooks(path, visited);
    });
}

function textOf(file) {
  return readFileSync(`${ROOT}${file}`, "utf8");
}
