// Generates src/contract/wireTypes.ts, the types of all requests and responses, from the schemas of src/contract/. Does
// nothing if the file is up to date.
import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { hashInputs, inputLine, isUpToDate } from "./generatedSource.mjs";
import { wireTypesText } from "./wireTypes.mjs";

const FOLDER = new URL("../src/contract/", import.meta.url);
const TARGET = new URL("wireTypes.ts", FOLDER);

const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".ts") && name !== "wireTypes.ts")
  .toSorted();
const files = [
  "scripts/generateWireTypes.mjs",
  "scripts/wireTypes.mjs",
  ...names.map((name) => `src/contract/${name}`),
];
const inputHash = hashInputs({ files, packages: [] });
if (!isUpToDate(TARGET, inputHash)) {
  const modules = await Promise.all(names.map((name) => import(new URL(name, FOLDER).href)));
  await writeFile(TARGET, `${inputLine(inputHash)}\n\n${wireTypesText(modules)}`);
}
