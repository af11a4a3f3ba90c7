// Bundles third-party packages into dist/bundled/, so that users do not have to install them, and makes the modules in
// dist/ import the bundled files. Also writes the licenses of all bundled code.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { rolldown } from "rolldown";

/**
 * The modules that are bundled for each platform, and the file that each is bundled from if it is not the package's main
 * file. The modules that the library core imports are built for browsers, which have no `createRequire`. A package that
 * a public declaration mentions must also be a dependency: typebox is a dependency, and is bundled only because loading
 * its 683 modules takes 0.2 s.
 */
const MODULES = {
  browser: new Map([
    ["@stdlib/math-base-special-erfc", undefined],
    ["@stdlib/math-base-special-exp", undefined],
    ["@stdlib/math-base-special-expm1", undefined],
    ["@stdlib/math-base-special-ln", undefined],
    ["@stdlib/math-base-special-log1p", undefined],
    ["@stdlib/math-base-special-pow", undefined],
    ["typebox", undefined],
    ["typebox/compile", undefined],
  ]),
  node: new Map([
    ["cli-progress", undefined],
    ["cli-table3", undefined],
    ["commander", undefined],
    ["find-my-way", undefined],
    // The main file cannot be tree-shaken and contains 20 other algorithms (260 kB).
    ["hash-wasm", "hash-wasm/dist/sha256.umd.min.js"],
    ["lerc", undefined],
    ["sax", undefined],
    ["uuid", undefined],
    ["yauzl", undefined],
    ["zstddec", undefined],
  ]),
};
const SOURCES = new Map([...MODULES.browser, ...MODULES.node]);

const FOLDER = "dist/bundled";
const LICENSES = `${FOLDER}/LICENSES.txt`;
const ENTRY_PREFIX = "\0bundled:";

/** Matches the static imports and the `import()` calls that tsc writes. */
const IMPORT = /\bimport\s+([^;"]+?)\s+from\s+"([^"]+)"|\bimport\("([^"]+)"\)/g;

/** Bundles the packages that the modules in dist/ import. */
export async function bundleDependencies() {
  const files = modulesBelow("dist");
  const names = importedNames(files);
  const modules = [...(await bundle("browser", names)), ...(await bundle("node", names))];
  for (const file of files) redirectImports(file);
  writeFileSync(LICENSES, licensesOf(modules));
}

/**
 * Bundles the modules of one platform.
 *
 * @param {keyof typeof MODULES} platform
 * @param {ReadonlyMap<string, ReadonlySet<string>>} names
 * @returns the files that the bundle contains
 */
async function bundle(platform, names) {
  const used = [...MODULES[platform].keys()].filter((module) => names.has(module));
  const build = await rolldown({
    input: Object.fromEntries(used.map((module) => [fileNameOf(module), ENTRY_PREFIX + module])),
    platform,
    plugins: [entryPlugin(names)],
  });
  const { output } = await build.write({
    dir: FOLDER,
    format: "esm",
    // Removes only whitespace and comments, so that stack traces and Error.name keep the original names.
    minify: { mangle: false, compress: false, codegen: true },
    entryFileNames: "[name].js",
    chunkFileNames: (chunk) => sharedFileName(chunk, platform),
  });
  await build.close();
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}

/**
 * Names a file of modules that several bundled files share after the package of the first of them.
 * @param {{ readonly moduleIds: readonly string[] }} chunk
 */
function sharedFileName({ moduleIds }, /** @type {string} */ platform) {
  const module = moduleIds.find((id) => !id.startsWith("\0"));
  return module === undefined ? `${platform}-runtime.js` : `${basename(packageFolderOf(module))}-shared.js`;
}

/**
 * Returns the names that dist/ imports from each bundled module, so that the other exports can be removed.
 * @param {readonly string[]} files
 */
function importedNames(files) {
  /** @type {Map<string, Set<string>>} */
  const names = new Map();
  for (const file of files) {
    for (const [, clause, source, dynamicSource] of readFileSync(file, "utf8").matchAll(IMPORT)) {
      const module = source ?? dynamicSource ?? "";
      if (!SOURCES.has(module)) continue;
      const used = names.get(module) ?? new Set();
      for (const name of namesIn(clause ?? "*")) used.add(name);
      names.set(module, used);
    }
  }
  return names;
}

/** Returns the names that an import clause binds: `default`, `*` or the names in its braces. */
function namesIn(/** @type {string} */ clause) {
  const [, outside = "", braces = ""] = /^([^{]*)(?:\{([^}]*)\})?/.exec(clause) ?? [];
  const named = braces.split(",").map((part) => part.trim().split(/\s+as\s+/)[0] ?? "");
  const rest = outside.replace(/,\s*$/, "").trim();
  return [...named, rest === "" ? "" : rest.startsWith("*") ? "*" : "default"].filter((name) => name !== "");
}

/** @param {ReadonlyMap<string, ReadonlySet<string>>} names */
function entryPlugin(names) {
  return {
    name: "bundled-entries",
    resolveId: (/** @type {string} */ id) => (id.startsWith(ENTRY_PREFIX) ? id : undefined),
    load(/** @type {string} */ id) {
      if (!id.startsWith(ENTRY_PREFIX)) return undefined;
      const module = id.slice(ENTRY_PREFIX.length);
      const used = names.get(module) ?? new Set();
      const source = JSON.stringify(SOURCES.get(module) ?? module);
      return used.has("*") ? `export * from ${source};` : `export { ${[...used].join(", ")} } from ${source};`;
    },
  };
}

/** Replaces the names of bundled modules in a built file by relative paths. */
function redirectImports(/** @type {string} */ file) {
  const text = readFileSync(file, "utf8");
  const redirected = text.replace(IMPORT, (statement, _clause, source, dynamicSource) => {
    const module = source ?? dynamicSource;
    if (!SOURCES.has(module)) return statement;
    const path = relative(dirname(file), `${FOLDER}/${fileNameOf(module)}.js`)
      .split(sep)
      .join("/");
    return statement.replace(`"${module}"`, `"${path.startsWith(".") ? path : `./${path}`}"`);
  });
  if (redirected !== text) writeFileSync(file, redirected);
}

/** Packages without a license file, by the file whose first comment states the license. */
const LICENSE_COMMENTS = new Map([["lerc", "LercDecode.js"]]);

/** Packages without a license file, by the folder of the package of the same project that has it. */
const LICENSE_FOLDERS = new Map([["@assemblyscript/loader", "node_modules/assemblyscript"]]);

/** @returns {string} */
function licenseOf(/** @type {string} */ ownFolder, /** @type {string} */ name) {
  const folder = LICENSE_FOLDERS.get(name) ?? ownFolder;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file !== undefined) return readFileSync(join(folder, file), "utf8").trim();
  const source = LICENSE_COMMENTS.get(name);
  const text = source === undefined ? "" : readFileSync(join(folder, source), "utf8");
  const comment = /\/\*\s*(Copyright[^]*?)\*\//.exec(text)?.[1];
  if (comment === undefined) throw new Error(`${name} is bundled but has no license file in ${folder}`);
  return comment.trim();
}

/**
 * Returns the licenses of the packages that modules belong to.
 * @param {readonly string[]} modules paths, or names of virtual modules, which begin with a null character
 * @returns {string}
 */
export function licensesOf(modules) {
  const folders = new Set(modules.filter((id) => !id.startsWith("\0")).map(packageFolderOf));
  const packages = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { title: `${name} ${version} (${license})`, text: licenseOf(folder, name).replaceAll("\r\n", "\n") };
  });
  packages.sort((a, b) => a.title.localeCompare(b.title));
  // Packages of one project have the same text, which is long.
  /** @type {Map<string, string[]>} */
  const titles = new Map();
  for (const { title, text } of packages) titles.set(text, [...(titles.get(text) ?? []), title]);
  const rule = "-".repeat(80);
  return [
    "The files in this folder contain code of the following packages.",
    ...[...titles].map(([text, names]) => `${rule}\n${names.join("\n")}\n\n${text}`),
    "",
  ].join("\n\n");
}

/** @returns the folder of the package that a module belongs to */
function packageFolderOf(/** @type {string} */ module) {
  const [, folder = ""] = /^(.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+)[/\\]/.exec(module) ?? [];
  if (folder === "") throw new Error(`${module} is bundled but does not belong to a package`);
  return folder;
}

function modulesBelow(/** @type {string} */ folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => file.endsWith(".js") && statSync(file).isFile());
}

const fileNameOf = (/** @type {string} */ module) => module.replaceAll("/", "-");
