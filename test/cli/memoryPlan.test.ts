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
