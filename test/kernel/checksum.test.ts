import { beforeAll, describe, expect, test } from "vitest";
import { crc32 } from "../../src/kernel/tiles.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { crc32ByZlib } from "../oracle/checksum.ts";
import { randomFrom } from "../seededRandom.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

function randomBytes(count: number, seed: number): Uint8Array {
  const random = randomFrom(seed);
  return Uint8Array.from({ length: count }, () => random.below(256));
}

describe("crc32", () => {
  test("returns the published check value", () => {
    // The catalog of CRC algorithms lists cbf43926 for these nine digits.
    expect(crc32(kernel, new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
    expect(crc32(kernel, new Uint8Array(0))).toBe(0);
    expect(crc32(kernel, Uint8Array.of(0))).toBe(0xd202ef8d);
  });

  test("matches zlib for every length up to 300 and every alignment to eight bytes", () => {
    const bytes = randomBytes(320, 1);
    for (let length = 0; length <= 300; length++) {
      const piece = bytes.subarray(length % 8, (length % 8) + length);
      expect(crc32(kernel, piece), `${length} bytes`).toBe(crc32ByZlib(piece));
    }
  });

  test("matches zlib across the chunks of 1 MiB in which bytes are copied to the kernel", () => {
    const bytes = randomBytes(2 * 2 ** 20 + 13, 2);
    for (const length of [2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1, 2 ** 20 + 9, bytes.length]) {
      const piece = bytes.subarray(0, length);
      expect(crc32(kernel, piece), `${length} bytes`).toBe(crc32ByZlib(piece));
    }
  });

  test("changes with any single bit", () => {
    const bytes = randomBytes(41, 3);
    const original = crc32(kernel, bytes);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Uint8Array.from(bytes, (byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      expect(crc32(kernel, flipped), `bit ${bit}`).not.toBe(original);
    }
  });

  test("continues from the CRC of the preceding bytes", () => {
    const bytes = randomBytes(100, 4);
    kernel.withScratch((scratch) => {
      const table = scratch.reserve(8 * 256 * 4);
      kernel.bytes(table).fill(0);
      for (const cut of [0, 1, 7, 8, 50, 99, 100]) {
        const front = scratch.copyIn(bytes.subarray(0, cut));
        const back = scratch.copyIn(bytes.subarray(cut));
        const before = kernel.exports.crc32(front.pointer, cut, table.pointer, 0);
        const whole = kernel.exports.crc32(back.pointer, bytes.length - cut, table.pointer, before);
        expect(whole >>> 0, `cut at ${cut}`).toBe(crc32ByZlib(bytes));
      }
    });
  });

  test("works in several kernels and leaves its input unchanged", async () => {
    const other = await Kernel.load({ scratchBytes: 2 << 20 });
    const bytes = randomBytes(1000, 5);
    const copy = bytes.slice();
    expect([crc32(other, bytes), crc32(kernel, bytes), crc32(other, bytes)]).toEqual(Array(3).fill(crc32ByZlib(bytes)));
    expect(bytes).toEqual(copy);
  });
});
