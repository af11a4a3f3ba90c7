import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Blobs, readBlob } from "../../src/atlas/blobs.ts";
import { isFault } from "../../src/errors.ts";
import { randomFrom } from "../seededRandom.ts";

/** A storage that holds some files, and what takes it down again. */
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

/** What every storage of an atlas promises, whatever it is made of. */
export function describeBlobsContract(
  what: string,
  open: (files: ReadonlyMap<string, Uint8Array>) => Promise<OpenedBlobs>,
): void {
  describe(`${what}, as any storage of an atlas`, () => {
    let opened: OpenedBlobs;
    let blobs: Blobs;
    beforeAll(async () => {
      opened = await open(FILES);
      blobs = opened.blobs;
    });
    afterAll(() => opened.done());

    const refusalOf = (promise: Promise<unknown>): Promise<unknown> =>
      promise.then(
        () => expect.fail("it was not refused"),
        (error: unknown) => error,
      );

    test("says where it is", () => {
      expect(blobs.description).not.toBe("");
    });

    test.each([...FILES])("knows the size of %s, before and after it is read", async (name, bytes) => {
      expect(await blobs.sizeBytes(name)).toBe(bytes.length);
      await blobs.read(name, { offset: 0, sizeBytes: bytes.length });
      expect(await blobs.sizeBytes(name)).toBe(bytes.length);
    });

    test("knows no size of what is not there", async () => {
      expect(await blobs.sizeBytes("absent.tiles")).toBeUndefined();
      expect(await readBlob(blobs, "absent.tiles")).toBeUndefined();
    });

    test.each([...FILES])("gives all of %s", async (name, bytes) => {
      const whole = await readBlob(blobs, name);
      expect(whole?.length).toBe(bytes.length);
      expect(Buffer.from(whole ?? []).equals(bytes)).toBe(true);
    });

    test("gives exactly the range, many at a time, each in a buffer of its own", async () => {
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

    test("gives no bytes when none are asked for, and still no file that is not there", async () => {
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
    ])("refuses $sizeBytes bytes at $offset of $name, which ends before", async ({ name, shortBytes, ...range }) => {
      const error = await refusalOf(blobs.read(name, range));
      expect(isFault(error, "atlas_unavailable") && error.details["file"]).toBe(name);
      const { offset, sizeBytes } = range;
      expect(String(error)).toContain(
        `${name}: it ends ${shortBytes} bytes short at byte ${offset} (${sizeBytes} bytes wanted)`,
      );
    });

    test("refuses to read a file that is not there, and goes on with the others", async () => {
      const error = await refusalOf(blobs.read("absent.tiles", { offset: 0, sizeBytes: 1 }));
      expect(isFault(error, "atlas_unavailable") && error.details["file"]).toBe("absent.tiles");
      expect(String(error)).toContain("absent.tiles: there is no such file");
      expect(await blobs.read("one-byte.root", { offset: 0, sizeBytes: 1 })).toEqual(FILES.get("one-byte.root"));
    });

    test("can be closed more than once", async () => {
      const other = await open(FILES);
      await other.blobs.read("small.pyramid", { offset: 0, sizeBytes: 10 });
      await other.blobs.close();
      await expect(other.blobs.close()).resolves.toBeUndefined();
      await other.done();
    });
  });
}
