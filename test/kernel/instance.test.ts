import { describe, expect, test } from "vitest";
import { Kernel, KernelError, type Region } from "../../src/kernel/instance.ts";
import { HEAP_BASE, STATUS_OK } from "../../src/kernel/kernel.generated.ts";

const endOf = ({ pointer, sizeBytes }: Region): number => pointer + sizeBytes;

describe("Kernel", () => {
  test("allocates aligned, disjoint scratch above the static data, with padding", async () => {
    const kernel = await Kernel.load({ scratchBytes: 1 << 16 });
    kernel.withScratch((scratch) => {
      const regions = [0, 1, 63, 64, 65, 1000].map((size) => scratch.reserve(size));
      let end = HEAP_BASE;
      for (const region of regions) {
        expect(region.pointer % 64).toBe(0);
        expect(region.pointer).toBeGreaterThanOrEqual(end);
        end = endOf(region) + 64;
      }
    });
  });

  test("releases scratch on return, on throw and in nested calls", async () => {
    const kernel = await Kernel.load({ scratchBytes: 1 << 16 });
    const first = kernel.withScratch((scratch) => scratch.reserve(1000).pointer);
    expect(() =>
      kernel.withScratch((scratch) => {
        scratch.reserve(1000);
        throw new Error("half-way");
      }),
    ).toThrow("half-way");
    kernel.withScratch((outer) => {
      expect(outer.reserve(100).pointer).toBe(first);
      const inside = kernel.withScratch((inner) => inner.reserve(100).pointer);
      expect(outer.reserve(100).pointer).toBe(inside);
    });
    expect(kernel.withScratch((scratch) => scratch.reserve(1).pointer)).toBe(first);
  });

  test("rejects a request for more scratch than is left, and stays usable", async () => {
    const kernel = await Kernel.load({ scratchBytes: 4096 });
    for (const sizeBytes of [4097, 1e12, NaN]) {
      expect(() => kernel.withScratch((scratch) => scratch.reserve(sizeBytes))).toThrow(RangeError);
    }
    expect(() => kernel.withScratch((scratch) => scratch.copyIn(new Uint8Array(5000)))).toThrow(
      "5000 bytes requested, 4096 left",
    );
    expect(kernel.withScratch((scratch) => scratch.reserve(4000).sizeBytes)).toBe(4000);
  });

  test("copies the elements of a view, not its entire buffer", async () => {
    const kernel = await Kernel.load();
    kernel.withScratch((scratch) => {
      const doubles = Float64Array.of(1, -2.5, NaN, 4);
      expect([...kernel.f64(scratch.copyIn(doubles.subarray(1, 3)))]).toEqual([-2.5, NaN]);
      expect([...kernel.i32(scratch.copyIn(Int32Array.of(-7, 8).subarray(1)))]).toEqual([8]);
      expect([...kernel.u16(scratch.copyIn(Uint16Array.of(1, 65_535)))]).toEqual([1, 65_535]);
      expect([...kernel.bytes(scratch.copyIn(Uint8Array.of(9, 255, 0)))]).toEqual([9, 255, 0]);
    });
  });

  test("keeps reserved regions intact when memory grows and scratch is used", async () => {
    const kernel = await Kernel.load({ scratchBytes: 1 << 16 });
    const regions = Array.from({ length: 20 }, (_, i) => {
      const region = kernel.reserve(300_000);
      kernel.bytes(region).fill(i + 1);
      return region;
    });
    kernel.withScratch((scratch) => kernel.bytes(scratch.reserve(60_000)).fill(0xee));
    for (const [i, region] of regions.entries()) {
      expect(region.pointer % 64).toBe(0);
      expect(kernel.bytes(region).every((byte) => byte === i + 1)).toBe(true);
      expect(region.pointer).toBeGreaterThanOrEqual((regions[i - 1] ? endOf(regions[i - 1] as Region) : 1 << 16) + 64);
    }
  });

  test("rejects reservations beyond 4 GiB and continues unaffected", async () => {
    const kernel = await Kernel.load({ scratchBytes: 1 << 16 });
    const before = kernel.reserve(64);
    for (const sizeBytes of [2 ** 32, 2 ** 40, NaN]) expect(() => kernel.reserve(sizeBytes)).toThrow("65535 pages");
    expect(kernel.reserve(64).pointer).toBe(before.pointer + 128);
  });

  test("has separate memory in each instance", async () => {
    const [one, other] = await Promise.all([Kernel.load(), Kernel.load()]);
    const region = one.reserve(8);
    expect(other.reserve(8)).toEqual(region);
    one.bytes(region).fill(1);
    expect([...other.bytes(region)]).toEqual(Array(8).fill(0));
  });

  test("check throws an error that names function and status unless the status is OK", async () => {
    const kernel = await Kernel.load();
    expect(kernel.check(STATUS_OK, "anything")).toBeUndefined();
    expect(() => kernel.check(4, "rowSpans")).toThrow(KernelError);
    expect(() => kernel.check(4, "rowSpans")).toThrow("kernel function rowSpans failed with status STATUS_FULL");
    expect(() => kernel.check(999, "rowSpans")).toThrow("kernel function rowSpans failed with status 999");
  });
});
