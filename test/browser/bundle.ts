import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, type InlineConfig, type Rolldown } from "vite";

/**
 * Bundles an entry with the package as it was built.
 * @returns the text of each file of the bundle, by name
 */
export async function bundle(entry: URL, target: "browser" | "node"): Promise<ReadonlyMap<string, string>> {
  const built = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
  if (!existsSync(built)) throw new Error("dist/ is not there: run `npm run build` first.");
  const config: InlineConfig = {
    configFile: false,
    root: fileURLToPath(new URL(".", import.meta.url)),
    logLevel: "warn",
    // Tests name the source, which TypeScript and the linter know; what is to be bundled is what a user gets.
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
