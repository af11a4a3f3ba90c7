import { PassThrough } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { eventually } from "../../eventually.ts";
import type { BodyMemory } from "../../../src/host/admission/admissionControl.ts";
import { readBody, type ReadBodyOptions } from "../../../src/host/http/body.ts";
import { BodySegments, SEGMENT_BYTES } from "../../../src/host/http/bodySegments.ts";

function optionsOf(options: Partial<ReadBodyOptions> = {}): ReadBodyOptions {
  return {
    limitBytes: 8 << 20,
    declaredBytes: undefined,
    contiguousBytesMax: 16_384,
    segments: new BodySegments(),
    structure: { depthMax: 4, keyCountMax: 10, valueCountMax: 100_000 },
    rate: { bytesPerSMin: 0, graceMs: 0 },
    signal: new AbortController().signal,
    shortChunksDelayMs: () => 0,
    onResize: () => undefined,
    ...options,
  };
}

describe("a body that is not complete", () => {
  test("is rejected as soon as it has too many keys, with their position", async () => {
    const stream = new PassThrough();
    const segments = new BodySegments();
    const reading = readBody(stream, optionsOf({ segments }));
    stream.write(`[\n${" ".repeat(40_000)}`);
    stream.write('"é,,,,,,,,,,,,",\n{"a":0,"b":0,"c":0,"d":0,"e":0,');
    stream.write('"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,');
    await expect(reading).rejects.toMatchObject({
      code: "json_malformed",
      message: "Line 3, column 61: the object has more than 10 keys.",
      details: { line: 3, column: 61 },
    });
    // Its memory is used for the next body.
    const { allocatedBytes } = segments;
    expect(allocatedBytes).toBe(2 * SEGMENT_BYTES);
    const next = new PassThrough();
    next.end(" ".repeat(50_000));
    expect((await readBody(next, optionsOf({ segments }))).sizeBytes).toBe(50_000);
    expect(segments.allocatedBytes).toBe(allocatedBytes);
  });

  test("is rejected as soon as it exceeds the limit, if its size was not declared", async () => {
    const stream = new PassThrough();
    const reading = readBody(stream, optionsOf({ limitBytes: 1000 }));
    stream.write(" ".repeat(1000));
    stream.write(" ");
    await expect(reading).rejects.toMatchObject({ code: "body_too_large" });
  });

  test("is read to its end before it is rejected, if the rest is short", async () => {
    const stream = new PassThrough();
    const [head, rest] = ["[[[[[", " ".repeat(100)];
    const settled = vi.fn();
    const reading = readBody(stream, optionsOf({ declaredBytes: head.length + rest.length }));
    reading.then(settled, settled);
    stream.write(head);
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).not.toHaveBeenCalled();
    stream.end(rest);
    await expect(reading).rejects.toMatchObject({ code: "json_malformed" });
    expect(stream.readableEnded).toBe(true);
  });

  test.each([
    [
      "it is aborted",
      (_stream: PassThrough, stop: AbortController) => stop.abort(new Error("stopped")),
      expect.objectContaining({ message: "stopped" }) as Error,
    ],
    [
      "its connection ends",
      (stream: PassThrough) => stream.destroy(),
      expect.objectContaining({ code: "http_malformed" }) as Error,
    ],
  ])("gives its memory back if %s", async (_cause, end, error) => {
    const stream = new PassThrough();
    const segments = new BodySegments();
    const stop = new AbortController();
    const reading = readBody(stream, optionsOf({ segments, signal: stop.signal }));
    stream.write(" ".repeat(100_000));
    await eventually(() => expect(segments.allocatedBytes).toBe(4 * SEGMENT_BYTES));
    end(stream, stop);
    await expect(reading).rejects.toEqual(error);
    const next = new PassThrough();
    next.end(" ".repeat(100_000));
    await readBody(next, optionsOf({ segments }));
    expect(segments.allocatedBytes).toBe(4 * SEGMENT_BYTES);
  });
});

describe("a body in short chunks", () => {
  test("waits after every 1,024 of them, and counts what holds them until it is complete", async () => {
    const stream = new PassThrough();
    const counts: number[] = [];
    const memory: BodyMemory[] = [];
    const reading = readBody(
      stream,
      optionsOf({
        shortChunksDelayMs(chunkCount) {
          counts.push(chunkCount);
          return 1;
        },
        onResize: (each) => memory.push(each),
      }),
    );
    // More than the stream holds, so that each write is a chunk.
    for (let count = 0; count < 3_000; count++) stream.write(" ");
    stream.end();
    const body = await reading;
    expect(body.sizeBytes).toBe(3_000);
    expect(counts).toStrictEqual([1_024, 1_024]);
    expect(memory.map(({ heldBytes }) => heldBytes)).toStrictEqual([16_384, 16_384 + 27_000 * 200, 3_000]);
  });

  test("is not rejected as too slow because it is paused", async () => {
    const stream = new PassThrough();
    const rate = { bytesPerSMin: 20_000, graceMs: 100 };
    const reading = readBody(stream, optionsOf({ rate, shortChunksDelayMs: () => 400 }));
    for (let count = 0; count < 1_500; count++) stream.write(" ");
    stream.end();
    expect((await reading).sizeBytes).toBe(1_500);
  });

  test("is not paused if its chunks are long", async () => {
    const stream = new PassThrough();
    const shortChunksDelayMs = vi.fn(() => 0);
    const reading = readBody(stream, optionsOf({ shortChunksDelayMs }));
    for (let count = 0; count < 2_000; count++) stream.write(" ".repeat(300));
    stream.end();
    expect((await reading).sizeBytes).toBe(600_000);
    expect(shortChunksDelayMs).not.toHaveBeenCalled();
  });
});
