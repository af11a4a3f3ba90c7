// Generates src/contract/wireTypes.ts from the schemas of src/contract/. With --check, writes nothing and fails if
// the committed types do not match the schemas.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { wireTypesText } from "./wireTypes.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const SOURCES = "src/contract";
const TARGET = `${SOURCES}/wireTypes.ts`;
/** Node 20 cannot import TypeScript. */
const COMPILED = "build/contract";

const files = readdirSync(SOURCES)
  .filter((name) => name.endsWith(".ts") && `${SOURCES}/${name}` !== TARGET)
  .toSorted();
await rm(COMPILED, { recursive: true, force: true });
const options = `--ignoreConfig --rootDir ${SOURCES} --outDir ${COMPILED} --target ES2023 --module NodeNext --strict
  --skipLibCheck --rewriteRelativeImportExtensions`.split(/\s+/);
execFileSync(
  process.execPath,
  ["node_modules/typescript/bin/tsc", ...options, ...files.map((name) => `${SOURCES}/${name}`)],
  { stdio: "inherit" },
);
const modules = [];
for (const name of files) {
  modules.push(await import(new URL(`../${COMPILED}/${name.replace(/\.ts$/, ".js")}`, import.meta.url).href));
}
const text = await format(wireTypesText(modules), { ...(await resolveConfig(TARGET)), filepath: TARGET });
if (!process.argv.includes("--check")) await writeFile(TARGET, text);
else if ((await readFile(TARGET, "utf8").catch(() => "")) !== text) {
  console.error(`${TARGET} does not match the schemas of ${SOURCES}: run npm run build:wire-types`);
  process.exitCode = 1;
}
