import { execFileSync } from "node:child_process";
import { instantiate } from "@assemblyscript/loader";
import { beforeAll, expect, test } from "vitest";
import { FIELD_BYTES, type KernelExports, SPANS_HEADER_BYTES } from "../../src/kernel/kernel.generated.ts";

let wasm: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  execFileSync(process.execPath, ["scripts/buildKernel.mjs", "--debug"]);
  const file = new URL("../../build/debug/kernel.generated.mjs", import.meta.url).href;
  const { KERNEL_WASM_BASE64 } = (await import(file)) as { readonly KERNEL_WASM_BASE64: string };
  wasm = new Uint8Array(Buffer.from(KERNEL_WASM_BASE64, "base64"));
});

test("a failed assertion in the debug build names the condition, the source line and the kernel", async () => {
  const memory = new WebAssembly.Memory({ initial: 16 });
  const { instance } = await instantiate(wasm, { env: { memory } });
  const kernel = instance.exports as unknown as KernelExports;
  const { HEAP_BASE } = instance.exports as unknown as { readonly HEAP_BASE: WebAssembly.Global };
  const field = Math.ceil(Number(HEAP_BASE.value) / 64) * 64;
  const spans = field + FIELD_BYTES + 8;
  const out = spans + SPANS_HEADER_BYTES + 64;
  // An empty grid, and a circle of two rows.
  new Int32Array(memory.buffer).fill(0, field >> 2, out >> 2);
  new Int32Array(memory.buffer)[(spans >> 2) + 1] = 2;
  let error: unknown;
  try {
    kernel.circleMax(field, spans, out, out + 512, 100, out + 2048);
  } catch (thrown) {
    error = thrown;
  }
  expect(String(error)).toMatch(/abort: the row spans must be inside the grid at assembly\/maximum\.ts:\d+:\d+/);
  expect((error as Error).stack).toContain("assembly/maximum/circleMax");
});
