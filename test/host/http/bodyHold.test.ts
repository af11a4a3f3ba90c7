import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { BodyHold, discardBody } from "../../../src/host/http/bodyHold.ts";

/** Returns a stream that, like a request of node:http, gets its chunks from outside. */
const emptyStream = (): Readable => new Readable({ read: () => undefined });

async function chunksOf(stream: Readable): Promise<string[]> {
  const chunks: string[] = [];
  for await (const chunk of stream) chunks.push(String(chunk));
  return chunks;
}

describe("a held body", () => {
  test("leaves nothing in the stream, and is one chunk when it is released", async () => {
    const stream = emptyStream();
    const hold = new BodyHold(stream);
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
    const hold = new BodyHold(stream);
    stream.push(Buffer.from("a"));
    hold.release();
    stream.push(Buffer.from("b"));
    stream.push(null);
    expect((await chunksOf(stream)).join("")).toBe("ab");
  });

  test("of no bytes ends when it is released", async () => {
    const stream = emptyStream();
    const hold = new BodyHold(stream);
    stream.push(null);
    expect(hold.release()).toBe(0);
    expect(await chunksOf(stream)).toStrictEqual([]);
  });

  test("asks for no more than 16 KiB", () => {
    const stream = emptyStream();
    const hold = new BodyHold(stream);
    expect(stream.push(Buffer.alloc(16_383))).toBe(true);
    expect(stream.push(Buffer.alloc(1))).toBe(false);
    expect(hold.heldBytes).toBe(16_384);
  });

  test("of a stream that has been destroyed is dropped", () => {
    const stream = emptyStream();
    const hold = new BodyHold(stream);
    stream.push(Buffer.from("a"));
    stream.destroy();
    hold.release();
    expect(stream.readableLength).toBe(0);
  });
});

test("a discarded body leaves nothing in the stream, and says whether to continue reading", () => {
  const stream = emptyStream();
  let leftCount = 2;
  discardBody(stream, () => leftCount-- > 0);
  expect([1, 2, 3].map(() => stream.push(Buffer.from("a")))).toStrictEqual([true, true, false]);
  expect(stream.readableLength).toBe(0);
});
