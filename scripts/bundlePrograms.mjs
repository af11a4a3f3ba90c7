// Bundles the command line and the entry points of its threads, so that they load a few files instead of hundreds. The
// modules of dist/ that the library consists of stay as they are.
import { join, relative, resolve, sep } from "node:path";
import { rolldown } from "rolldown";

const ROOT = resolve("dist");
/** Each is one folder below dist/, and so are the files that they share. */
const PROGRAMS = ["cli/main", "worker/main", "ledger/sqliteWorkerMain", "ingest/partThreadMain"];

/** Replaces the built entry points by bundles. */
export async function bundlePrograms() {
  const build = await rolldown({
    input: Object.fromEntries(PROGRAMS.map((program) => [program, join(ROOT, `${program}.js`)])),
    platform: "node",
    // The library loads large tables from the same files. Packages are installed.
    external: (id) => id.endsWith(".generated.js") || !/^[./\0]/.test(id),
    plugins: [{ name: "module-addresses", transform: keepAddresses }],
  });
  await build.write({
    dir: ROOT,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "programs/[name].js",
  });
  await build.close();
}

/** Makes the addresses that a module derives from its own refer to the same files from a bundle, one folder below dist/. */
function keepAddresses(/** @type {string} */ code, /** @type {string} */ id) {
  const path = `../${relative(ROOT, id).split(sep).join("/")}`;
  return code.replaceAll("import.meta.url", `new URL(${JSON.stringify(path)}, import.meta.url).href`);
}
