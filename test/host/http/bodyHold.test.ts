import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { BodyHold } from "../../../src/host/http/bodyHold.ts";

/** Returns a stream that, like a request of node:http, gets its chunks from outside. */
const emptyStream = (): Readable => new Readable({ read: () => undefined });

const holdOf = (stream: Readable, declaredBytes?: number, onChange = (): void => undefined): BodyHold =>
  new BodyHold(stream, { declaredBytes, onChange });

async function chunksOf(stream: Readable): Promise<string[]> {
  const chunks: string[] = [];
  for await (const chunk of stream) chunks.push(String(chunk));
  return chunks;
}

describe("a held body", () => {
  test("leaves nothing in the stream, and is one chunk when it is released", async () => {
    const stream = emptyStream();
    const hold = holdOf(stream);
    for (const character of "abcdef") stream.push(Buffer.from(character));
    stream.push(Buffer.alloc(300, "g"));
    expect(stream.readableLength).toBe(0);
    stream.push(null);
    expect(hold.heldBytes).toBe(306);
    expect(hold.release()).toBe(6);
    expect([hold.release(), hold.heldBytes]).toStrictEqual([0, 0]);
    expect(await chunksOf(stream)).toStrictEqual([`abcdef${"g".repeat(300)}`]);
  });

  test("continues with the chunks that arrive after the release", async () => {
    const stream = emptyStream();
    const hold = holdOf(stream);
    stream.push(Buffer.from("a"));
    hold.release();
    stream.push(Buffer.from("b"));
    stream.push(null);
    expect((await chunksOf(stream)).join("")).toBe("ab");
  });

  test("of no bytes ends when it is released", async () => {
    const stream = emptyStream();
    const hold = holdOf(stream);
    stream.push(null);
    expect(hold.release()).toBe(0);
    expect(await chunksOf(stream)).toStrictEqual([]);
  });

  test("takes memory for 16 KiB at first and for its bytes in the end, and none once it is released", () => {
    const stream = emptyStream();
    const hold = holdOf(stream);
    expect([hold.sizeBytes, hold.heldBytes]).toStrictEqual([0, 0]);
    stream.push(Buffer.alloc(300));
    expect([hold.sizeBytes, hold.heldBytes]).toStrictEqual([300, 16_384]);
    stream.push(Buffer.alloc(16_384));
    expect([hold.sizeBytes, hold.heldBytes]).toStrictEqual([16_684, 32_768]);
    stream.push(null);
    expect([hold.sizeBytes, hold.heldBytes]).toStrictEqual([16_684, 16_684]);
    hold.release();
    expect([hold.sizeBytes, hold.heldBytes]).toStrictEqual([0, 0]);
  });

  test("takes no more memory than its declared size", () => {
    const stream = emptyStream();
    const hold = holdOf(stream, 20_000);
    stream.push(Buffer.alloc(17_000));
    stream.push(Buffer.alloc(2_000));
    expect(hold.heldBytes).toBe(20_000);
  });

  test("reports every change", () => {
    const stream = emptyStream();
    const sizes: number[] = [];
    const hold = holdOf(stream, undefined, () => sizes.push(hold.heldBytes));
    stream.push(Buffer.alloc(300));
    stream.push(Buffer.alloc(300));
    stream.push(null);
    hold.release();
    expect(sizes).toStrictEqual([16_384, 16_384, 600, 0]);
    const discarded = holdOf(stream, undefined, () => sizes.push(discarded.heldBytes));
    stream.push(Buffer.alloc(300));
    discarded.discard();
    expect(sizes.slice(4)).toStrictEqual([16_384, 0]);
  });

  test("never asks Node.js to stop, which would not stop it reliably", () => {
    const stream = emptyStream();
    holdOf(stream);
    expect([stream.push(Buffer.alloc(100_000)), stream.push(null)]).toStrictEqual([true, true]);
  });

  test("of a stream that has been destroyed is dropped", () => {
    const stream = emptyStream();
    const hold = holdOf(stream);
    stream.push(Buffer.from("a"));
    stream.destroy();
    hold.release();
    expect(stream.readableLength).toBe(0);
  });
});

describe("a discarded body", () => {
  test("takes no memory, and leaves nothing in the stream", () => {
    const stream = emptyStream();
    const hold = holdOf(stream);
    stream.push(Buffer.from("a"));
    hold.discard();
    stream.push(Buffer.from("b"));
    expect([hold.sizeBytes, hold.heldBytes, stream.readableLength]).toStrictEqual([0, 0, 0]);
  });

  test("ends when it is released, with what arrives from then on", async () => {
    const [complete, incomplete] = [emptyStream(), emptyStream()];
    for (const stream of [complete, incomplete]) {
      const hold = holdOf(stream);
      hold.discard();
      stream.push(Buffer.from("a"));
      if (stream === complete) stream.push(null);
      hold.release();
    }
    incomplete.push(Buffer.from("b"));
    incomplete.push(null);
    expect([await chunksOf(complete), await chunksOf(incomplete)]).toStrictEqual([[], ["b"]]);
  });

  test.each([
    ["before the release", false],
    ["after the release", true],
  ])("without further use ends when it is complete, %s", async (_, isReleased) => {
    const [complete, incomplete] = [emptyStream(), emptyStream()];
    for (const stream of [complete, incomplete]) {
      const hold = holdOf(stream);
      if (stream === complete) stream.push(null);
      if (isReleased) hold.release();
      hold.discardRest();
      if (stream === incomplete) for (const chunk of [Buffer.from("a"), null]) stream.push(chunk);
    }
    expect([await chunksOf(complete), await chunksOf(incomplete)]).toStrictEqual([[], []]);
  });

  test.each([
    ["held", () => undefined],
    ["discarded", (hold: BodyHold) => hold.discard()],
    ["discarded after a part was read", (hold: BodyHold) => (hold.release(), hold.discardRest())],
  ])("reports 1,024 short chunks: %s", (_, change) => {
    const stream = emptyStream();
    const reports: boolean[] = [];
    const hold = holdOf(stream, undefined, () => reports.push(hold.hasManyShortChunks));
    change(hold);
    for (let i = 0; i < 1_023; i++) stream.push(Buffer.from("a"));
    stream.push(Buffer.alloc(300));
    expect(hold.hasManyShortChunks).toBe(false);
    stream.push(Buffer.from("a"));
    expect(reports.at(-1)).toBe(true);
  });

  test("that is read has no short chunks to report", () => {
    const stream = emptyStream();
    const hold = holdOf(stream);
    for (let i = 0; i < 2_000; i++) stream.push(Buffer.from("a"));
    expect(hold.hasManyShortChunks).toBe(true);
    expect(hold.release()).toBe(2_000);
    expect(hold.hasManyShortChunks).toBe(false);
  });
});
