import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, type InlineConfig, type Rolldown } from "vite";

/**
 * Bundles an entry file with the built package.
 * @returns the text of each file of the bundle, by name
 */
export async function bundle(entry: URL, target: "browser" | "node"): Promise<ReadonlyMap<string, string>> {
  const built = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
  if (!existsSync(built)) throw new Error("dist/ does not exist: run `npm run build` first");
  const config: InlineConfig = {
    configFile: false,
    root: fileURLToPath(new URL(".", import.meta.url)),
    logLevel: "warn",
    // Tests import the source, for TypeScript and the linter; the bundle uses the built package, as users do.
    resolve: { alias: [{ find: /^.*\/src\/index\.ts$/, replacement: built }] },
    worker: { format: "es" },
    build: {
      write: false,
      minify: false,
      chunkSizeWarningLimit: 8192, // the demo's coastlines
      ...(target === "node" ? { ssr: fileURLToPath(entry) } : {}),
      rolldownOptions: {
        input: fileURLToPath(entry),
        output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
      },
    },
  };
  const { output } = (await build(config)) as Rolldown.RolldownOutput;
  return new Map(
    output.map((file) => [file.fileName, file.type === "chunk" ? file.code : Buffer.from(file.source).toString()]),
  );
}
