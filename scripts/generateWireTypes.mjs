// Generates src/contract/wireTypes.ts from the schemas of src/contract/. With --check, writes nothing and fails if
// the committed types do not match the schemas.
import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { wireTypesText } from "./wireTypes.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const SOURCES = "src/contract";
const TARGET = `${SOURCES}/wireTypes.ts`;

const files = readdirSync(SOURCES)
  .filter((name) => name.endsWith(".ts") && `${SOURCES}/${name}` !== TARGET)
  .toSorted();
const modules = await Promise.all(files.map((name) => import(`../${SOURCES}/${name}`)));
const text = await format(wireTypesText(modules), { ...(await resolveConfig(TARGET)), filepath: TARGET });
if (!process.argv.includes("--check")) await writeFile(TARGET, text);
else if ((await readFile(TARGET, "utf8").catch(() => "")) !== text) {
  console.error(`${TARGET} does not match the schemas of ${SOURCES}: run npm run build:wire-types`);
  process.exitCode = 1;
}
