// Packs the package with the manifest that users install: without scripts and other settings of a clone.
//
//   npm pack                                             runs `prepack` and `postpack` below, which replace and
//                                                        restore package.json
//   import { packTarball } from "./packageTarball.mjs"   packs a copy once, for checks and tests that run in parallel
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MANIFEST = join(ROOT, "package.json");
const ORIGINAL = join(ROOT, "build/package.original.json");
const TARBALLS = join(ROOT, "build/tarballs");
const DESCRIPTION = "tarball.json";

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
 * Packs a copy of the built package, without running scripts, unless the same files have already been packed.
 *
 * @returns {{ file: string, sizeBytes: number, files: readonly { path: string, size: number }[] }}
 */
export function packTarball() {
  const manifest = JSON.parse(readFileSync(MANIFEST, "utf8"));
  const version = versionOfFiles(["package.json", "README.md", "LICENSE", ...manifest.files]);
  const folder = join(TARBALLS, version);
  if (!existsSync(folder)) {
    mkdirSync(TARBALLS, { recursive: true });
    const draft = mkdtempSync(join(TARBALLS, "draft-"));
    const copy = join(draft, "package");
    const [{ files: original }] = npmPack(ROOT, ["--dry-run"]);
    for (const { path } of original) cpSync(join(ROOT, path), join(copy, path));
    writeFileSync(join(copy, "package.json"), serialize(publishedManifest(manifest)));
    const [{ filename, size, files }] = npmPack(copy, ["--pack-destination", draft]);
    rmSync(copy, { recursive: true });
    writeFileSync(join(draft, DESCRIPTION), serialize({ filename, sizeBytes: size, files }));
    for (const name of readdirSync(TARBALLS)) {
      if (name !== version && !name.startsWith("draft-"))
        rmSync(join(TARBALLS, name), { recursive: true, force: true });
    }
    try {
      renameSync(draft, folder);
    } catch (error) {
      // Another process has packed the same files at the same time.
      if (!existsSync(folder)) throw error;
      rmSync(draft, { recursive: true });
    }
  }
  const { filename, sizeBytes, files } = JSON.parse(readFileSync(join(folder, DESCRIPTION), "utf8"));
  return { file: join(folder, filename), sizeBytes, files };
}

/** Returns a hash of the names, sizes and times of files and of the files in folders; names that do not exist are ignored. */
function versionOfFiles(/** @type {readonly string[]} */ names) {
  const hash = createHash("sha256");
  const add = (/** @type {string} */ path) => {
    const { size, mtimeMs } = statSync(join(ROOT, path));
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  };
  for (const name of names.filter((name) => existsSync(join(ROOT, name)))) {
    const children = statSync(join(ROOT, name)).isDirectory()
      ? readdirSync(join(ROOT, name), { recursive: true, encoding: "utf8" }).toSorted()
      : [];
    for (const path of [name, ...children.map((child) => join(name, child))]) add(path);
  }
  return hash.digest("hex").slice(0, 16);
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
