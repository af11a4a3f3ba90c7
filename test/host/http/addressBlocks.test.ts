import { expect, test } from "vitest";
import { AddressBlocks } from "../../../src/host/http/addressBlocks.ts";

function blocksWithClock(addressCountMax?: number) {
  let nowMs = 0;
  const options = addressCountMax === undefined ? {} : { addressCountMax };
  const blocks = new AddressBlocks({ ...options, nowMs: () => nowMs });
  /** Counts rejections until the address is blocked. @returns how many, at most 5,000 */
  const rejectUntilBlocked = (network: string): number => {
    for (let count = 1; count <= 5_000; count++) {
      blocks.countRejection(network);
      if (blocks.isBlocked(network)) return count;
    }
    return Infinity;
  };
  return { blocks, rejectUntilBlocked, advance: (durationMs: number): unknown => (nowMs += durationMs) };
}

test("blocks an address after 100 rejections, for 5 s, and no other address", () => {
  const { blocks, rejectUntilBlocked, advance } = blocksWithClock();
  expect(rejectUntilBlocked("192.0.2.1")).toBe(101);
  expect(blocks.isBlocked("192.0.2.2")).toBe(false);
  advance(4_999);
  expect(blocks.isBlocked("192.0.2.1")).toBe(true);
  advance(1);
  expect(blocks.isBlocked("192.0.2.1")).toBe(false);
});

test("blocks an address again after 10 rejections for each second since", () => {
  const { rejectUntilBlocked, advance } = blocksWithClock();
  rejectUntilBlocked("192.0.2.1");
  advance(5_000);
  expect(rejectUntilBlocked("192.0.2.1")).toBe(51);
});

test("never blocks an address with 10 rejections per second", () => {
  const { blocks, advance } = blocksWithClock();
  for (let i = 0; i < 1_000; i++) {
    blocks.countRejection("192.0.2.1");
    expect(blocks.isBlocked("192.0.2.1")).toBe(false);
    advance(100);
  }
});

test("tolerates ten times as many rejections of an address that has sent a valid key in the last minute", () => {
  const { blocks, rejectUntilBlocked, advance } = blocksWithClock();
  blocks.countValidKey("192.0.2.1");
  advance(500);
  blocks.countValidKey("192.0.2.1");
  expect(rejectUntilBlocked("192.0.2.1")).toBe(1_001);
  advance(1_000);
  expect(blocks.isBlocked("192.0.2.1")).toBe(false);
  advance(60_000);
  expect(rejectUntilBlocked("192.0.2.1")).toBe(101);
});

test("forgets the oldest blocks beyond the number that it remembers", () => {
  const { blocks, rejectUntilBlocked, advance } = blocksWithClock(2);
  advance(57_000);
  for (const network of ["192.0.2.1", "192.0.2.2"]) rejectUntilBlocked(network);
  // The rejections of the first minute are forgotten, its blocks are not.
  advance(3_000);
  rejectUntilBlocked("192.0.2.3");
  expect(["192.0.2.1", "192.0.2.2", "192.0.2.3"].map((network) => blocks.isBlocked(network))).toStrictEqual([
    false,
    true,
    true,
  ]);
});

test("blocks no address beyond the number that it counts within a minute", () => {
  const { blocks, rejectUntilBlocked, advance } = blocksWithClock(2);
  for (const network of ["192.0.2.1", "192.0.2.2"]) blocks.countRejection(network);
  expect(rejectUntilBlocked("192.0.2.3")).toBe(Infinity);
  expect(rejectUntilBlocked("192.0.2.2")).toBe(100);
  advance(60_000);
  expect(rejectUntilBlocked("192.0.2.3")).toBe(101);
});
