import { expect, test } from "vitest";
import { jsonLimits, JsonStructureScan } from "../../../src/text/json/jsonScan.ts";
import { estimateParsedBytes, MemoryBudget } from "../../../src/host/admission/resources.ts";

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

test.each([
  // What V8 takes for each unit of a document of 8 MiB, without the text.
  ["14 nested lists", `${"[".repeat(14)}${"]".repeat(14)}`, 770],
  ["14 nested objects whose keys all differ", `${'{"abcd":'.repeat(14)}0${"}".repeat(14)}`, 2_470],
  ["an object with a number as key", '{"17":0}', 224],
  ["an object with the same 20 keys in another order", `{${'"a":0,'.repeat(20).slice(0, -1)}}`, 2_060],
  ["a short string", '"abcd"', 32],
])("estimates at least the memory of %s", (_what, unit, takenBytes) => {
  const scan = new JsonStructureScan(jsonLimits(8 << 20));
  scan.advance(Buffer.from(`[${unit},`));
  const listBytes = 64;
  expect(estimateParsedBytes(unit.length + 1, scan.valueBytes - listBytes)).toBeGreaterThan(takenBytes + unit.length);
});
