// Builds the explorer, src/explorer, into dist/explorer/: one page, scripts, styles and data files. The page works from any
// path, because its addresses are relative.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { licensesOf } from "./bundleDependencies.mjs";

const SOURCE = fileURLToPath(new URL("../src/explorer", import.meta.url));

/** Replaces modules that need Node with those for browsers, as the field `browser` of package.json does for the package. */
const browserModules = {
  name: "browser-modules",
  enforce: "pre",
  async resolveId(source, importer, options) {
    if (!source.startsWith(".") || !source.endsWith(".ts")) return null;
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
    const replacement = resolved?.id.replace(/\.ts$/, ".browser.ts");
    return replacement !== undefined && existsSync(replacement) ? replacement : resolved;
  },
};

/** Modules and files of other packages that the bundles contain. */
const bundledFiles = new Set();

/** Collects the files of other packages, for their licenses. */
const licenseCollector = {
  name: "license-collector",
  generateBundle(_options, bundle) {
    for (const output of Object.values(bundle)) {
      const files =
        output.type === "chunk" ? output.moduleIds : output.originalFileNames.map((name) => join(SOURCE, name));
      for (const file of files) if (file.includes("/node_modules/")) bundledFiles.add(file.replace(/\?.*$/, ""));
    }
  },
};

/**
 * Gives `import url from "file.json?gzip"` the address of the compressed file. The page decompresses it, because not every static
 * host compresses what it sends.
 */
const compressedFiles = {
  name: "compressed-files",
  enforce: "pre",
  async load(id) {
    if (!id.endsWith(".json?gzip")) return null;
    const path = id.replace(/\?gzip$/, "");
    bundledFiles.add(path);
    const name = `${basename(path, ".json")}.bin`;
    const file = this.emitFile({ type: "asset", name, source: gzipSync(await readFile(path), { level: 9 }) });
    return `export default import.meta.ROLLUP_FILE_URL_${file};`;
  },
};

export const explorerConfig = {
  configFile: false,
  root: SOURCE,
  base: "./",
  logLevel: "warn",
  plugins: [browserModules, compressedFiles, licenseCollector],
  worker: { format: "es", plugins: () => [browserModules, licenseCollector] },
  build: {
    outDir: fileURLToPath(new URL("../dist/explorer", import.meta.url)),
    assetsDir: "explorer", // the service has these files at /explorer/
    emptyOutDir: true,
    assetsInlineLimit: 0, // the content security policy allows no data: URLs
    modulePreload: { polyfill: false },
    rolldownOptions: { checks: { pluginTimings: false } },
  },
};

/** Returns the sources of the data that the page contains, from the NOTICE of the project. */
async function dataCredits() {
  const notice = await readFile(new URL("../NOTICE", import.meta.url), "utf8");
  const [, sources] = notice.split(/^The published package also contains .*\n(?:.+\n)*\n/m);
  if (sources === undefined) throw new Error("NOTICE has no list of sources after the paragraph on other packages");
  const rule = "-".repeat(80);
  return `${rule}\nThe files in this folder also contain data of the following sources. Paths are those of the repository.\n\n${sources}`;
}

await build(explorerConfig);
const licenses = `${licensesOf([...bundledFiles])}\n${await dataCredits()}`;
await writeFile(join(explorerConfig.build.outDir, "explorer/LICENSES.txt"), licenses);
