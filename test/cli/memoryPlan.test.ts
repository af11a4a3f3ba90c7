import { expect, test } from "vitest";
import { planMemory } from "../../src/cli/memoryPlan.ts";

const MIB = 2 ** 20;

test("divides the memory between threads, tiles and requests", () => {
  const plan = planMemory({ memoryBytes: 1024 * MIB, workers: 2 });
  expect(plan.cacheBytes).toBe(256 * MIB);
  expect(plan.requestBytes).toBe(256 * MIB);
  expect(planMemory({ workers: 2, availableBytes: 1024 * MIB })).toEqual(plan);
  expect(planMemory({ memoryBytes: 8192 * MIB, workers: 2 }).cacheBytes).toBe(512 * MIB);
  expect(planMemory({ memoryBytes: 1024 * MIB, workers: 2, cacheBytes: 64 * MIB }).requestBytes).toBe(352 * MIB);
});

test("bounds the memory of requests on large machines", () => {
  const availableBytes = 2 ** 40;
  expect(planMemory({ workers: 1, availableBytes })).toEqual({
    memoryBytes: (160 + 48 + 512 + 2 * 384) * MIB,
    cacheBytes: 512 * MIB,
    requestBytes: 384 * MIB,
  });
  expect(planMemory({ workers: 16, availableBytes }).requestBytes).toBe(2304 * MIB);
  expect(planMemory({ workers: 16, memoryBytes: availableBytes }).requestBytes).toBe(8192 * MIB);
  expect(planMemory({ workers: 0, memoryBytes: availableBytes }).requestBytes).toBe(512 * MIB);
});

test.each([
  [{}, 48, "with 2 workers and bodies of up to 8 MiB (got 256)."],
  [{ cacheBytes: 64 * MIB }, 48, "with 2 workers, 64 MiB for tiles and bodies of up to 8 MiB (got 256)."],
  [{ bodyBytesMax: 20 * MIB }, 120, "with 2 workers and bodies of up to 20 MiB (got 256)."],
])("rejects too little memory for the largest body, and names what is needed: %j", (options, requestMiB, text) => {
  let message = "";
  try {
    planMemory({ memoryBytes: 256 * MIB, workers: 2, ...options });
  } catch (error) {
    expect(error).toMatchObject({ code: "configuration_invalid" });
    ({ message } = error as Error);
  }
  const [, needed = ""] = /^--memory must be at least ([0-9]+) MiB /.exec(message) ?? [];
  expect(message).toBe(`--memory must be at least ${needed} MiB ${text}`);
  const { requestBytes } = planMemory({ memoryBytes: Number(needed) * MIB, workers: 2, ...options });
  expect(requestBytes).toBeGreaterThanOrEqual(requestMiB * MIB);
  expect(requestBytes).toBeLessThan((requestMiB + 1) * MIB);
});

test("gives half of the memory of requests to the largest body, if there is enough", () => {
  const availableBytes = 2 ** 40;
  expect(planMemory({ workers: 1, availableBytes, bodyBytesMax: 100 * MIB }).requestBytes).toBe(600 * MIB);
});
