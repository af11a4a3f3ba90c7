// Compiles assembly/ and writes src/kernel/kernel.generated.ts: the wasm as base64, its exported constants as numbers
// and the type of its exported functions, all taken from compiler output. Because the wasm is inlined, the kernel loads
// the same way in Node, workers, browsers and bundlers, without a second file to locate or serve. Does nothing if the
// file is up to date.
//
//   node scripts/buildKernel.mjs           release: src/kernel/kernel.generated.ts, build/kernel.wasm
//   node scripts/buildKernel.mjs --debug   assertions, names and a source map: build/debug/kernel.generated.mjs,
//                                          build/debug/kernel.wasm, kernel.wasm.map and kernel.wat
import { mkdirSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { hashInputs, inputLine, isUpToDate } from "./generatedSource.mjs";

const ROOT = new URL("../", import.meta.url);
const RELEASE = { name: "release", wasm: "build/kernel.wasm", file: new URL("src/kernel/kernel.generated.ts", ROOT) };
const DEBUG = {
  name: "debug",
  wasm: "build/debug/kernel.wasm",
  file: new URL("build/debug/kernel.generated.mjs", ROOT),
};

/** Compiles the kernel unless the generated file is up to date. */
export async function buildKernel({ isDebug = false } = {}) {
  const target = isDebug ? DEBUG : RELEASE;
  const sources = readdirSync(new URL("assembly/", ROOT)).filter((name) => name.endsWith(".ts"));
  const files = sources.toSorted().map((name) => `assembly/${name}`);
  const hash = hashInputs({
    files: [...files, "asconfig.json", "scripts/buildKernel.mjs"],
    packages: ["assemblyscript"],
  });
  if (isUpToDate(target.file, hash)) return;
  const { wasm, constants, functions } = await compile(target);
  const body = [
    `// Written by scripts/buildKernel.mjs from assembly/ (${target.name}). Do not edit.`,
    inputLine(hash),
    "",
    ...constants,
    "",
    ...(isDebug
      ? []
      : [
          "/** The functions of assembly/index.ts, as the AssemblyScript compiler declares them. */",
          "export interface KernelExports {",
          ...functions,
          "}",
          "",
        ]),
    `/** ${target.wasm} */`,
    `export const KERNEL_WASM_BASE64${isDebug ? "" : ": string"} =`,
    `  "${wasm.toString("base64")}";`,
    "",
  ];
  await writeFile(target.file, body.join("\n"));
  console.log(`kernel (${target.name}): ${wasm.length} bytes, ${functions.length} functions`);
}

/** An error of the compiler; its message contains the source lines. */
class CompileError extends Error {}

/**
 * Runs the compiler. The paths of its output are in asconfig.json. Two warnings are disabled there: AS112 is about
 * functions that are not exported, and AS201 about conversions that are exact in 32-bit WebAssembly.
 * @throws CompileError
 */
async function compile(/** @type {typeof RELEASE} */ { name, wasm: path }) {
  const { default: asc } = await import("assemblyscript/asc");
  process.chdir(fileURLToPath(ROOT));
  mkdirSync("build/debug", { recursive: true });
  const stderr = asc.createMemoryStream();
  const { error } = await asc.main(["--target", name], { stderr });
  if (error) throw new CompileError(stderr.toString(), { cause: error });

  const wasm = await readFile(path);
  const env = { memory: new WebAssembly.Memory({ initial: 1 }), abort: () => undefined };
  const instance = new WebAssembly.Instance(new WebAssembly.Module(wasm), { env });
  const constants = Object.entries(instance.exports)
    .filter(([constant, item]) => /^[A-Z]/.test(constant) && item instanceof WebAssembly.Global)
    .map(([constant, item]) => `export const ${constant} = ${item.value};`);
  const declarations = await readFile(path.replace(/wasm$/, "d.ts"), "utf8");
  const functions = [...declarations.matchAll(/ {2}export function (\w+)(\(.*\): \w+);/g)].map(
    ([, functionName, signature]) => `  ${functionName}${signature};`,
  );
  if (functions.length === 0 || constants.length === 0) {
    throw new Error("found no functions or no constants in the compiler's declarations; their format may have changed");
  }
  return { wasm, constants, functions };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    await buildKernel({ isDebug: process.argv.includes("--debug") });
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    console.error(`${error.message}The kernel was not built.`);
    process.exitCode = 1;
  }
}
