import { describe, expect, test, vi } from "vitest";
import { httpBlobs } from "../../src/atlas/httpBlobs.ts";
import { describeBlobsContract } from "../contracts/blobs.ts";
import { BYTES, OPTIONS, page, RANGE, rejectionOf, useHttpBlobs } from "./httpBlobsFixture.ts";
import { type ReceivedRequest, startRangeServer } from "./rangeServer.ts";

describeBlobsContract("a web server", async (files) => {
  const server = await startRangeServer((name) => Promise.resolve(files.get(name)));
  const blobs = httpBlobs(`${server.url}/atlases/1`);
  return {
    blobs,
    done: async () => {
      await blobs.close();
      await server.close();
    },
  };
});

const http = useHttpBlobs();

describe("httpBlobs", () => {
  test("requests exactly the range, uncompressed, with no headers that would trigger a CORS preflight", async () => {
    await http.blobs.read("a.tiles", RANGE);
    expect(http.server.requests).toHaveLength(1);
    expect(http.server.requests[0]).toMatchObject({ method: "GET", target: "/a.tiles" });
    const { headers } = http.server.requests[0] as ReceivedRequest;
    expect(headers).toMatchObject({ range: "bytes=100-119", "accept-encoding": "identity" });
    expect(Object.keys(headers).filter((name) => /^(if-|authorization|x-)/.test(name))).toEqual([]);
  });

  test("reads one byte to determine a size, unless an earlier response stated it", async () => {
    expect(await http.blobs.sizeBytes("a.tiles")).toBe(300);
    expect(await http.blobs.sizeBytes("a.tiles")).toBe(300);
    await http.blobs.read("b.tiles", RANGE);
    expect(await http.blobs.sizeBytes("b.tiles")).toBe(300);
    expect(http.server.requests.map(({ name, headers }) => `${name} ${headers.range}`)).toEqual([
      "a.tiles bytes=0-0",
      "b.tiles bytes=100-119",
    ]);
  });

  test("uses the folder of the address, with or without a trailing slash, and keeps its query", async () => {
    for (const address of [
      `${http.server.url}/one/two`,
      `${http.server.url}/one/two/`,
      `${http.server.url}/one/two//?sig=a%2Bb`,
    ]) {
      const nested = httpBlobs(address, OPTIONS);
      expect(await nested.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
      expect(nested.description).toBe(`${http.server.url}/one/two`);
      await nested.close();
    }
    expect(http.server.requests.map(({ target }) => target)).toEqual([
      "/one/two/a.tiles",
      "/one/two/a.tiles",
      "/one/two/a.tiles?sig=a%2Bb",
    ]);
  });

  test.each([".", "..", "../a.tiles", "x/a.tiles", "%2e%2e", "a.tiles?x", "", "//example.org"])(
    "rejects the file name %j",
    async (name) => {
      expect(String(await rejectionOf(http.blobs.read(name, RANGE)))).toContain("not a valid file name in an atlas");
      expect(String(await rejectionOf(http.blobs.sizeBytes(name)))).toContain("not a valid file name in an atlas");
      expect(http.server.requests).toEqual([]);
    },
  );

  test("sends the credentials of the address, which no message or detail repeats", async () => {
    const secret = httpBlobs(http.server.url.replace("//", "//kl%C3%A4re:p%40ss@") + "?sig=topsecret", OPTIONS);
    await secret.read("a.tiles", RANGE);
    const authorization = http.server.requests[0]?.headers.authorization ?? "";
    expect(Buffer.from(authorization.replace("Basic ", ""), "base64").toString()).toBe("kläre:p@ss");
    expect(http.server.requests[0]?.target).toBe("/a.tiles?sig=topsecret");
    http.server.transform = (response) => page(response, 500);
    const serverError = await rejectionOf(secret.read("a.tiles", RANGE));
    http.server.transform = (response) => ({ ...response, breakAfterBytes: 0 });
    const connectionError = await rejectionOf(secret.read("a.tiles", RANGE));
    for (const error of [serverError, connectionError]) {
      const reported = JSON.stringify([
        error.message,
        error.details,
        error.stack,
        String(error.cause),
        secret.description,
      ]);
      expect(reported).not.toMatch(/kl|p@ss|p%40ss|topsecret/);
      expect(error.details["address"]).toBe(http.server.url);
    }
    await secret.close();
  });

  test.each(["data/atlas", "ftp://example.org/x", "file:///srv/atlas", "http://", "https://user:secret@:80/", ""])(
    "rejects the invalid address %j",
    (address) => {
      expect(() => httpBlobs(address)).toThrow(expect.objectContaining({ code: "configuration_invalid" }) as Error);
      expect(() => httpBlobs(address)).not.toThrow(/secret/);
    },
  );

  test("rejects a user name that is not UTF-8 and options that are out of range", () => {
    expect(() => httpBlobs("https://%ff:x@example.org/")).toThrow(/percent-encoded UTF-8/);
    for (const options of [
      { parallelReadsMax: 0 },
      { timeoutMs: NaN },
      { retryDelayMs: 1.5 },
      { timeoutMs: 2 ** 31 },
    ]) {
      expect(() => httpBlobs(http.server.url, options)).toThrow(
        `${Object.keys(options)[0]} must be an integer between 1 and 2147483647`,
      );
    }
  });
});

describe("parallel reads", () => {
  test.each([1, 3, 8])("are limited to %i at a time and start in order", async (parallelReadsMax) => {
    const limited = httpBlobs(http.server.url, { ...OPTIONS, parallelReadsMax });
    http.server.transform = async (response) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return response;
    };
    let inProgress = 0;
    let peak = 0;
    const originalFetch = globalThis.fetch;
    const counted = vi.spyOn(globalThis, "fetch").mockImplementation(async (...request) => {
      peak = Math.max(peak, ++inProgress);
      try {
        return await originalFetch(...request);
      } finally {
        inProgress -= 1;
      }
    });
    try {
      const offsets = Array.from({ length: 30 }, (_, i) => i);
      const found = await Promise.all(offsets.map((offset) => limited.read("a.tiles", { offset, sizeBytes: 1 })));
      expect(found.map(([byte]) => byte)).toEqual(offsets);
      const requested = counted.mock.calls.map(([, init]) => new Headers(init?.headers).get("range"));
      expect(requested).toEqual(offsets.map((offset) => `bytes=${offset}-${offset}`));
      expect(peak).toBe(parallelReadsMax);
    } finally {
      counted.mockRestore();
      await limited.close();
    }
  });

  test("release their slot when they fail", async () => {
    const limited = httpBlobs(http.server.url, { ...OPTIONS, parallelReadsMax: 1 });
    http.server.transform = (response, { headers }) => (headers.range === "bytes=0-0" ? page(response, 500) : response);
    const reads = [0, 1, 0, 2].map((offset) => limited.read("a.tiles", { offset, sizeBytes: 1 }));
    const settled = await Promise.allSettled(reads);
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled"]);
    await limited.close();
  });
});

describe("closing", () => {
  test("aborts running and queued reads, and rejects later ones", async () => {
    const limited = httpBlobs(http.server.url, { ...OPTIONS, parallelReadsMax: 2 });
    http.server.transform = (response) => ({ ...response, isUnanswered: true });
    const reads = [0, 1, 2, 3].map((offset) => rejectionOf(limited.read("a.tiles", { offset, sizeBytes: 1 })));
    await vi.waitFor(() => expect(http.server.openCount()).toBe(2));
    await limited.close();
    for (const read of reads) {
      expect((await read).message).toBe("a.tiles: the atlas is closed.");
    }
    await vi.waitFor(() => expect(http.server.openCount()).toBe(0));
    expect(http.server.requests).toHaveLength(2);
    expect((await rejectionOf(limited.sizeBytes("a.tiles"))).message).toContain("the atlas is closed");
    expect(http.server.requests).toHaveLength(2);
  });

  test("cancels the wait before a retry", async () => {
    const withLongDelay = httpBlobs(http.server.url, { retryDelayMs: 2 ** 30 });
    http.server.transform = (response) => page(response, 503);
    const read = rejectionOf(withLongDelay.read("a.tiles", RANGE));
    await vi.waitFor(() => expect(http.server.openCount()).toBe(0));
    await withLongDelay.close();
    expect((await read).message).toContain("the atlas is closed");
  });
});
