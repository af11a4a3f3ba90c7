// Builds the explorer, src/explorer, into dist/explorer/: one page, scripts, styles and data files. The page works from any
// path, because its addresses are relative.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

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

export const explorerConfig = {
  configFile: false,
  root: SOURCE,
  base: "./",
  logLevel: "warn",
  plugins: [browserModules],
  worker: { format: "es", plugins: () => [browserModules] },
  build: {
    outDir: fileURLToPath(new URL("../dist/explorer", import.meta.url)),
    assetsDir: "explorer", // the service has these files at /explorer/
    emptyOutDir: true,
    assetsInlineLimit: 0, // the content security policy allows no data: URLs
    modulePreload: { polyfill: false },
  },
};

await build(explorerConfig);
