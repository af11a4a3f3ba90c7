// Generated sources record a hash of their inputs, so that they are written again only when an input has changed.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const require = createRequire(import.meta.url);

/**
 * Returns the SHA-256 of files of the repository and of the versions of packages.
 * @param {{ files: readonly string[], packages: readonly string[] }} inputs files as paths from the root
 */
export function hashInputs({ files, packages }) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)));
  for (const name of packages) hash.update(`${name} ${require(`${name}/package.json`).version}\n`);
  return hash.digest("hex");
}

/** Returns the line that records the hash in a generated file. */
export const inputLine = (/** @type {string} */ hash) => `// Inputs: ${hash}`;

/** Returns whether a generated file exists and was written from inputs with this hash. */
export function isUpToDate(/** @type {URL} */ file, /** @type {string} */ hash) {
  try {
    return readFileSync(file, "utf8").slice(0, 400).split("\n").includes(inputLine(hash));
  } catch (error) {
    if (error.code === "ENOENT") return false;
    throw error;
  }
}
