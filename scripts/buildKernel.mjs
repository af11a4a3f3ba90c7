// Compiles assembly/ and writes src/kernel/kernel.generated.ts: the wasm as base64, its exported constants as numbers
// and the type of its exported functions, all taken from compiler output. Because the wasm is inlined, the kernel loads
// the same way in Node, workers, browsers and bundlers, without a second file to locate or serve.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import asc from "assemblyscript/asc";

const TARGET = new URL("../src/kernel/kernel.generated.ts", import.meta.url);

process.chdir(new URL("..", import.meta.url).pathname);
await mkdir("build", { recursive: true });
const stderr = asc.createMemoryStream();
const { error } = await asc.main(["--target", "release"], { stderr });
if (error) {
  throw new Error(stderr.toString(), { cause: error });
}

const wasm = await readFile("build/kernel.wasm");
const instance = new WebAssembly.Instance(new WebAssembly.Module(wasm), {
  env: { memory: new WebAssembly.Memory({ initial: 1 }) },
});

const constants = Object.entries(instance.exports)
  .filter(([name, item]) => /^[A-Z]/.test(name) && item instanceof WebAssembly.Global)
  .map(([name, item]) => `export const ${name} = ${item.value};`);

const declarations = await readFile("build/kernel.d.ts", "utf8");
const functions = [...declarations.matchAll(/ {2}export function (\w+)(\(.*\): \w+);/g)].map(
  ([, name, signature]) => `  ${name}${signature};`,
);
if (functions.length === 0 || constants.length === 0) {
  throw new Error("found no functions or no constants in the compiler's declarations; their format may have changed");
}

await writeFile(
  TARGET,
  `// Written by scripts/buildKernel.mjs from assembly/. Do not edit.

${constants.join("\n")}

/** The functions of assembly/index.ts, as the AssemblyScript compiler declares them. */
export interface KernelExports {
${functions.join("\n")}
}

/** build/kernel.wasm */
export const KERNEL_WASM_BASE64 =
  "${wasm.toString("base64")}";
`,
);
console.log(`kernel: ${wasm.length} bytes, ${functions.length} functions`);
