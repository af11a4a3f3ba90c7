import { expect, test } from "vitest";
import { newRequestId } from "../../../src/host/http/exchange.ts";

test("returns a UUIDv7, which sorts by time", () => {
  const id = newRequestId(0x0123456789ab);
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newRequestId(0x0123456789ac) > id).toBe(true);
  expect(newRequestId(5).startsWith("00000000-0005-7")).toBe(true);
});

test("never returns the same id twice", () => {
  const ids = Array.from({ length: 10_000 }, () => newRequestId(1));
  expect(new Set(ids).size).toBe(ids.length);
});

test("has 74 random bits, each 0 or 1 with equal probability", () => {
  const count = 20_000;
  const oneCounts = Array.from({ length: 128 }, () => 0);
  for (let i = 0; i < count; i++) {
    const bits = BigInt(`0x${newRequestId(1).replaceAll("-", "")}`);
    for (let bit = 0; bit < 128; bit++) if ((bits >> BigInt(bit)) & 1n) oneCounts[bit] = (oneCounts[bit] ?? 0) + 1;
  }
  // Six standard deviations: a false failure in one of seven million runs.
  const isRandomBit = (oneCount: number): boolean => Math.abs(oneCount - count / 2) < 6 * Math.sqrt(count / 4);
  expect(oneCounts.filter(isRandomBit)).toHaveLength(74);
});
