import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { filesBelow } from "./importGraph.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Returns the unit tests that replace modules with `vi.mock` and therefore need separate module instances. */
export function isolatedTests() {
  const files = filesBelow("test").filter((file) => /(?<!\.(?:system|exhaustive))\.test\.ts$/.test(file));
  return files.filter((file) => /^vi\.mock\(/m.test(readFileSync(`${ROOT}${file}`, "utf8")));
}
