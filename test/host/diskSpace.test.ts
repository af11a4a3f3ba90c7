import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { diskSpaceReader } from "../../src/host/diskSpace.ts";

test("reads the free space of the disk of a folder", async () => {
  const freeBytes = await diskSpaceReader(tmpdir())();
  expect(freeBytes).toBeGreaterThan(0);
  expect(Number.isSafeInteger(freeBytes)).toBe(true);
});

test("returns NaN if the disk reports an error, and the free space again later", async () => {
  const results = [() => Promise.reject(new Error("EIO: i/o error, statfs")), () => Promise.resolve(512)];
  const read = diskSpaceReader("/data", () => results.shift()?.() ?? Promise.resolve(0));
  expect([await read(), await read()]).toStrictEqual([NaN, 512]);
});

describe("a disk that does not respond", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("is NaN after two seconds, and is read again only when it has responded", async () => {
    let respond = (_freeBytes: number): void => undefined;
    const readFreeBytes = vi.fn(() => new Promise<number>((resolve) => (respond = resolve)));
    const read = diskSpaceReader("/data", readFreeBytes);
    const hung = [read(), read()];
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await Promise.all(hung)).toStrictEqual([NaN, NaN]);
    const late = read();
    expect(readFreeBytes).toHaveBeenCalledTimes(1);
    respond(256);
    expect(await late).toBe(256);
    expect(vi.getTimerCount()).toBe(0);
    const next = read();
    expect(readFreeBytes).toHaveBeenCalledTimes(2);
    respond(512);
    expect(await next).toBe(512);
  });
});
