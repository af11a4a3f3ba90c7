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

test("rejects too little memory, and names what is needed", () => {
  let needed = "";
  try {
    planMemory({ memoryBytes: 256 * MIB, workers: 2 });
  } catch (error) {
    expect(error).toMatchObject({ code: "configuration_invalid" });
    [, needed = ""] = /at least ([0-9]+) MiB/.exec((error as Error).message) ?? [];
  }
  expect(planMemory({ memoryBytes: Number(needed) * MIB, workers: 2 }).requestBytes).toBeGreaterThanOrEqual(32 * MIB);
});
