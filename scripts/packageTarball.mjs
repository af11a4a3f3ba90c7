// Packs the package with the manifest that users install: without scripts and other settings of a clone.
//
//   npm pack                                             runs `prepack` and `postpack` below, which replace and
//                                                        restore package.json
//   import { packTarball } from "./packageTarball.mjs"   packs a copy, for tests that run in parallel with others
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MANIFEST = join(ROOT, "package.json");
const ORIGINAL = join(ROOT, "build/package.original.json");

/** Members of package.json that only a clone uses. */
const CLONE_MEMBERS = new Set(["scripts", "devDependencies", "scarfSettings", "allowScripts"]);

/**
 * Returns the manifest of the published package.
 * @param {Readonly<Record<string, unknown>>} manifest
 */
export function publishedManifest(manifest) {
  return Object.fromEntries(Object.entries(manifest).filter(([name]) => !CLONE_MEMBERS.has(name)));
}

/**
 * Packs a copy of the built package, without running scripts.
 *
 * @param {string} destination folder for the tarball
 * @returns {{ file: string, sizeBytes: number, unpackedSizeBytes: number, files: readonly { path: string, size: number }[] }}
 */
export function packTarball(destination) {
  const copy = mkdtempSync(join(tmpdir(), "isotherm-pack-"));
  try {
    const [{ files: original }] = npmPack(ROOT, ["--dry-run"]);
    for (const { path } of original) cpSync(join(ROOT, path), join(copy, path));
    writeFileSync(join(copy, "package.json"), serialize(publishedManifest(JSON.parse(readFileSync(MANIFEST, "utf8")))));
    mkdirSync(destination, { recursive: true });
    const [{ filename, size, unpackedSize, files }] = npmPack(copy, ["--pack-destination", resolve(destination)]);
    return { file: join(destination, filename), sizeBytes: size, unpackedSizeBytes: unpackedSize, files };
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Runs npm pack without scripts. Returns what it prints: the name of the tarball, its size and its files. */
function npmPack(/** @type {string} */ folder, /** @type {readonly string[]} */ flags) {
  const args = ["pack", "--ignore-scripts", "--json", ...flags];
  return JSON.parse(execFileSync("npm", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }));
}

const serialize = (/** @type {unknown} */ manifest) => `${JSON.stringify(manifest, undefined, 2)}\n`;

/** Builds the package and replaces package.json by the published manifest until `restoreManifest` runs. */
function prepareManifest() {
  execFileSync(process.execPath, [join(ROOT, "scripts/build.mjs")], { stdio: ["ignore", "ignore", "inherit"] });
  mkdirSync(join(ROOT, "build"), { recursive: true });
  const text = readFileSync(MANIFEST, "utf8");
  writeFileSync(ORIGINAL, text);
  writeFileSync(MANIFEST, serialize(publishedManifest(JSON.parse(text))));
}

/** Restores package.json. If packing was interrupted, run the step `postpack` manually. */
function restoreManifest() {
  if (existsSync(ORIGINAL)) renameSync(ORIGINAL, MANIFEST);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [, , step] = process.argv;
  if (step === "prepack") prepareManifest();
  else if (step === "postpack") restoreManifest();
  else throw new Error(`unknown step ${step}; accepted: prepack, postpack`);
}
