import { describe, expect, test } from "vitest";
import { Kernel, KernelError, type Region } from "../../src/kernel/instance.ts";
import { HEAP_BASE, STATUS_OK } from "../../src/kernel/kernel.generated.ts";

const endOf = ({ pointer, sizeBytes }: Region): number => pointer + sizeBytes;

describe("Kernel", () => {
  test("lends scratch above its constants, aligned, with room to overread, no byte twice", async () => {
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

  test("takes scratch back on return, on throw and from within", async () => {
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

  test("refuses a call more scratch than there is, and stays usable", async () => {
    const kernel = await Kernel.load({ scratchBytes: 4096 });
    for (const sizeBytes of [4097, 1e12, NaN]) {
      expect(() => kernel.withScratch((scratch) => scratch.reserve(sizeBytes))).toThrow(RangeError);
    }
    expect(() => kernel.withScratch((scratch) => scratch.copyIn(new Uint8Array(5000)))).toThrow(
      "5000 bytes more scratch",
    );
    expect(kernel.withScratch((scratch) => scratch.reserve(4000).sizeBytes)).toBe(4000);
  });

  test("copies in what a view shows, not the buffer behind it", async () => {
    const kernel = await Kernel.load();
    kernel.withScratch((scratch) => {
      const doubles = Float64Array.of(1, -2.5, NaN, 4);
      expect([...kernel.f64(scratch.copyIn(doubles.subarray(1, 3)))]).toEqual([-2.5, NaN]);
      expect([...kernel.i32(scratch.copyIn(Int32Array.of(-7, 8).subarray(1)))]).toEqual([8]);
      expect([...kernel.u16(scratch.copyIn(Uint16Array.of(1, 65_535)))]).toEqual([1, 65_535]);
      expect([...kernel.bytes(scratch.copyIn(Uint8Array.of(9, 255, 0)))]).toEqual([9, 255, 0]);
    });
  });

  test("reserves for good: what is there outlives growth and scratch", async () => {
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

  test("refuses to reserve beyond 4 GiB, and reserves on as if nobody had asked", async () => {
    const kernel = await Kernel.load({ scratchBytes: 1 << 16 });
    const before = kernel.reserve(64);
    for (const sizeBytes of [2 ** 32, 2 ** 40, NaN]) expect(() => kernel.reserve(sizeBytes)).toThrow("65535 pages");
    expect(kernel.reserve(64).pointer).toBe(before.pointer + 128);
  });

  test("has a memory of its own in each instance", async () => {
    const [one, other] = await Promise.all([Kernel.load(), Kernel.load()]);
    const region = one.reserve(8);
    expect(other.reserve(8)).toEqual(region);
    one.bytes(region).fill(1);
    expect([...other.bytes(region)]).toEqual(Array(8).fill(0));
  });

  test("turns a status into an error that names call and status, and OK into none", async () => {
    const kernel = await Kernel.load();
    expect(kernel.check(STATUS_OK, "anything")).toBeUndefined();
    expect(() => kernel.check(4, "rowSpans")).toThrow(KernelError);
    expect(() => kernel.check(4, "rowSpans")).toThrow("The kernel's rowSpans answered STATUS_FULL.");
    expect(() => kernel.check(999, "rowSpans")).toThrow("The kernel's rowSpans answered 999.");
  });
});
