import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Blobs, readBlob } from "../../src/atlas/blobs.ts";
import { isFault } from "../../src/errors.ts";
import { randomFrom } from "../seededRandom.ts";

/** A blob storage with test files, and a function that closes the storage and removes the files. */
export interface OpenedBlobs {
  readonly blobs: Blobs;
  readonly done: () => Promise<void>;
}

function noise(sizeBytes: number, seed: number): Uint8Array {
  const random = randomFrom(seed);
  return Uint8Array.from({ length: sizeBytes }, () => random.below(256));
}

const FILES: ReadonlyMap<string, Uint8Array> = new Map([
  ["atlas.json", new TextEncoder().encode('{ "format": "isotherm-atlas" }\n')],
  ["one-byte.root", Uint8Array.of(7)],
  ["empty.tiles", new Uint8Array(0)],
  ["small.pyramid", noise(1000, 1)],
  ["large.tiles", noise(3 << 20, 2)],
]);

/** Defines the tests that every implementation of `Blobs` must pass. */
export function describeBlobsContract(
  name: string,
  open: (files: ReadonlyMap<string, Uint8Array>) => Promise<OpenedBlobs>,
): void {
  describe(`${name}, as a blob storage`, () => {
    let opened: OpenedBlobs;
    let blobs: Blobs;
    beforeAll(async () => {
      opened = await open(FILES);
      blobs = opened.blobs;
    });
    afterAll(() => opened.done());

    const rejectionOf = (promise: Promise<unknown>): Promise<unknown> =>
      promise.then(
        () => expect.fail("expected the promise to be rejected"),
        (error: unknown) => error,
      );

    test("has a description", () => {
      expect(blobs.description).not.toBe("");
    });

    test.each([...FILES])("returns the size of %s before and after it is read", async (name, bytes) => {
      expect(await blobs.sizeBytes(name)).toBe(bytes.length);
      await blobs.read(name, { offset: 0, sizeBytes: bytes.length });
      expect(await blobs.sizeBytes(name)).toBe(bytes.length);
    });

    test("returns undefined as the size and content of a missing file", async () => {
      expect(await blobs.sizeBytes("absent.tiles")).toBeUndefined();
      expect(await readBlob(blobs, "absent.tiles")).toBeUndefined();
    });

    test.each([...FILES])("reads %s completely", async (name, bytes) => {
      const whole = await readBlob(blobs, name);
      expect(whole?.length).toBe(bytes.length);
      expect(Buffer.from(whole ?? []).equals(bytes)).toBe(true);
    });

    test("returns exactly the ranges of concurrent reads, each in a separate buffer", async () => {
      const random = randomFrom(3);
      const ranges = Array.from({ length: 200 }, () => {
        const name = random.pick(["small.pyramid", "large.tiles"]);
        const length = FILES.get(name)?.length ?? 0;
        const offset = random.below(length);
        return { name, range: { offset, sizeBytes: 1 + random.below(Math.min(length - offset, 5000)) } };
      });
      ranges.push(
        { name: "small.pyramid", range: { offset: 0, sizeBytes: 1 } },
        { name: "small.pyramid", range: { offset: 999, sizeBytes: 1 } },
        { name: "one-byte.root", range: { offset: 0, sizeBytes: 1 } },
      );
      const found = await Promise.all(ranges.map(({ name, range }) => blobs.read(name, range)));
      for (const [i, { name, range }] of ranges.entries()) {
        const { offset, sizeBytes } = range;
        const bytes = found[i] ?? new Uint8Array();
        expect(
          Buffer.from(FILES.get(name) ?? [])
            .subarray(offset, offset + sizeBytes)
            .equals(bytes),
        ).toBe(true);
        expect([bytes.byteOffset, bytes.buffer.byteLength]).toEqual([0, sizeBytes]);
      }
      expect(new Set(found.map(({ buffer }) => buffer)).size).toBe(found.length);
    });

    test("returns no bytes for an empty range, and still rejects a missing file", async () => {
      expect(await blobs.read("small.pyramid", { offset: 10, sizeBytes: 0 })).toHaveLength(0);
      expect(await blobs.read("empty.tiles", { offset: 0, sizeBytes: 0 })).toHaveLength(0);
      await expect(blobs.read("absent.tiles", { offset: 0, sizeBytes: 0 })).rejects.toThrow(
        "absent.tiles: there is no",
      );
    });

    test.each([
      { name: "small.pyramid", offset: 990, sizeBytes: 15, shortBytes: 5 },
      { name: "small.pyramid", offset: 1000, sizeBytes: 3, shortBytes: 3 },
      { name: "small.pyramid", offset: 1e9, sizeBytes: 5, shortBytes: 5 },
      { name: "one-byte.root", offset: 0, sizeBytes: 2, shortBytes: 1 },
      { name: "empty.tiles", offset: 0, sizeBytes: 1, shortBytes: 1 },
    ])(
      "rejects a range beyond the end of $name: $sizeBytes bytes at $offset",
      async ({ name, shortBytes, ...range }) => {
        const error = await rejectionOf(blobs.read(name, range));
        expect(isFault(error, "atlas_unavailable") && error.details["file"]).toBe(name);
        const { offset, sizeBytes } = range;
        expect(String(error)).toContain(
          `${name}: it ends ${shortBytes} bytes before the end of the requested range (offset ${offset}, ${sizeBytes} bytes)`,
        );
      },
    );

    test("rejects a missing file, and can still read the others", async () => {
      const error = await rejectionOf(blobs.read("absent.tiles", { offset: 0, sizeBytes: 1 }));
      expect(isFault(error, "atlas_unavailable") && error.details["file"]).toBe("absent.tiles");
      expect(String(error)).toContain("absent.tiles: there is no such file");
      expect(await blobs.read("one-byte.root", { offset: 0, sizeBytes: 1 })).toEqual(FILES.get("one-byte.root"));
    });

    test("can be closed more than once", async () => {
      const second = await open(FILES);
      await second.blobs.read("small.pyramid", { offset: 0, sizeBytes: 10 });
      await second.blobs.close();
      await expect(second.blobs.close()).resolves.toBeUndefined();
      await second.done();
    });
  });
}
