import { expect, test } from "vitest";
import { newRequestId } from "../../../src/host/http/requestId.ts";

test("returns UUIDv7, which sorts by time", () => {
  const id = newRequestId(0x0123456789ab);
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newRequestId(0x0123456789ac) > id).toBe(true);
  expect(newRequestId(5).startsWith("00000000-0005-7")).toBe(true);
});

test("never returns the same id twice", () => {
  const ids = Array.from({ length: 10_000 }, () => newRequestId(1));
  expect(new Set(ids).size).toBe(ids.length);
});

test("has 74 random bits, each equally often 0 and 1", () => {
  const count = 20_000;
  const ones = Array.from({ length: 128 }, () => 0);
  for (let made = 0; made < count; made++) {
    const bits = BigInt(`0x${newRequestId(1).replaceAll("-", "")}`);
    for (let bit = 0; bit < 128; bit++) if ((bits >> BigInt(bit)) & 1n) ones[bit] = (ones[bit] ?? 0) + 1;
  }
  // Six standard deviations: once in seven million runs of the test.
  const isByChance = (times: number): boolean => Math.abs(times - count / 2) < 6 * Math.sqrt(count / 4);
  expect(ones.filter(isByChance)).toHaveLength(74);
});
