import { expect, test } from "vitest";
import { estimateParsedBytes, MemoryBudget } from "../../../src/host/admission/memoryBudget.ts";

test("limits the sum over all accounts and the share of each, but never a request that is alone", () => {
  const budget = new MemoryBudget({ limitBytes: 1000, accountShare: 0.5 });
  const [first, second] = [{ memoryBytes: 0 }, { memoryBytes: 0 }];
  expect(budget.shortage(first, 5000, 0)).toBeUndefined();
  budget.add(first, 400);
  expect(budget.shortage(first, 5000, 400)).toBeUndefined();
  expect(budget.shortage(first, 101, 0)).toBe("account");
  expect(budget.shortage(first, 100, 0)).toBeUndefined();
  expect(budget.shortage(second, 601, 0)).toBe("total");
  budget.add(second, 500);
  budget.add(first, -400);
  expect([budget.heldBytes, first.memoryBytes, second.memoryBytes]).toEqual([500, 0, 500]);
});

test("estimates at least the memory of parsed lists", () => {
  // 14 nested lists take 784 bytes.
  expect(estimateParsedBytes(29, 15)).toBeGreaterThan(784);
});
