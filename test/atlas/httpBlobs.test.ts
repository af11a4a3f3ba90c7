import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Blobs } from "../../src/atlas/blobs.ts";
import { httpBlobs, type HttpBlobsOptions } from "../../src/atlas/httpBlobs.ts";
import { type Fault, isFault } from "../../src/errors.ts";
import { keepsThePromisesOfBlobs } from "../contracts/blobs.ts";
import {
  type RangeResponse,
  type RangeServer,
  type ReceivedRequest,
  startRangeServer,
  withLength,
} from "./rangeServer.ts";

keepsThePromisesOfBlobs("a web server", async (files) => {
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

const BYTES = Uint8Array.from({ length: 300 }, (_, i) => i % 251);
const RANGE = { offset: 100, sizeBytes: 20 };
const PLACE = "a.tiles: at byte 100 (20 bytes wanted) the server ";
const OPTIONS: HttpBlobsOptions = { retryDelayMs: 1 };

let files: Map<string, Uint8Array>;
let server: RangeServer;
let blobs: Blobs;
beforeAll(async () => {
  server = await startRangeServer((name) => Promise.resolve(files.get(name)));
});
afterAll(() => server.close());
beforeEach(() => {
  files = new Map([
    ["a.tiles", BYTES],
    ["b.tiles", BYTES.toReversed()],
    ["empty.tiles", new Uint8Array(0)],
  ]);
  blobs = httpBlobs(server.url, OPTIONS);
});
afterEach(async () => {
  await blobs.close();
  server.transform = undefined;
  server.requests.length = 0;
});

/** Returns the fault that the promise must reject with. */
async function refusalOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => expect.fail("expected a rejection"),
    (thrown: unknown) => thrown,
  );
  if (!isFault(error, "atlas_unavailable")) throw error;
  return error;
}

const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const page = (response: RangeResponse, status: number): RangeResponse =>
  withLength({
    status,
    headers: { "content-type": "text/html; charset=utf-8", etag: response.headers["etag"] },
    body: text("<!doctype html><title>Not what you came for</title>".padEnd(400)),
  });
const withHeaders = (response: RangeResponse, headers: RangeResponse["headers"]): RangeResponse => ({
  ...response,
  headers: { ...response.headers, ...headers },
});

describe("a request to the server", () => {
  test("asks for exactly the range, uncompressed, with no headers that would trigger a CORS preflight", async () => {
    await blobs.read("a.tiles", RANGE);
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({ method: "GET", target: "/a.tiles" });
    const { headers } = server.requests[0] as ReceivedRequest;
    expect(headers).toMatchObject({ range: "bytes=100-119", "accept-encoding": "identity" });
    expect(Object.keys(headers).filter((name) => /^(if-|authorization|x-)/.test(name))).toEqual([]);
  });

  test("reads one byte for an unknown size, once, and nothing for a known size", async () => {
    expect(await blobs.sizeBytes("a.tiles")).toBe(300);
    expect(await blobs.sizeBytes("a.tiles")).toBe(300);
    await blobs.read("b.tiles", RANGE);
    expect(await blobs.sizeBytes("b.tiles")).toBe(300);
    expect(server.requests.map(({ name, headers }) => `${name} ${headers.range}`)).toEqual([
      "a.tiles bytes=0-0",
      "b.tiles bytes=100-119",
    ]);
  });

  test("goes to the folder of the address, with or without a trailing slash, and keeps its query", async () => {
    for (const address of [`${server.url}/one/two`, `${server.url}/one/two/`, `${server.url}/one/two//?sig=a%2Bb`]) {
      const there = httpBlobs(address, OPTIONS);
      expect(await there.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
      expect(there.description).toBe(`${server.url}/one/two`);
      await there.close();
    }
    expect(server.requests.map(({ target }) => target)).toEqual([
      "/one/two/a.tiles",
      "/one/two/a.tiles",
      "/one/two/a.tiles?sig=a%2Bb",
    ]);
  });

  test.each([".", "..", "../a.tiles", "x/a.tiles", "%2e%2e", "a.tiles?x", "", "//example.org"])(
    "refuses the file name %j",
    async (name) => {
      expect(String(await refusalOf(blobs.read(name, RANGE)))).toContain("cannot be the name of a file");
      expect(String(await refusalOf(blobs.sizeBytes(name)))).toContain("cannot be the name of a file");
      expect(server.requests).toEqual([]);
    },
  );

  test("carries the credentials of the address, which no message or detail repeats", async () => {
    const secret = httpBlobs(server.url.replace("//", "//kl%C3%A4re:p%40ss@") + "?sig=topsecret", OPTIONS);
    await secret.read("a.tiles", RANGE);
    const authorization = server.requests[0]?.headers.authorization ?? "";
    expect(Buffer.from(authorization.replace("Basic ", ""), "base64").toString()).toBe("kläre:p@ss");
    expect(server.requests[0]?.target).toBe("/a.tiles?sig=topsecret");
    server.transform = (response) => page(response, 500);
    const refused = await refusalOf(secret.read("a.tiles", RANGE));
    server.transform = (response) => ({ ...response, breakAfterBytes: 0 });
    const broken = await refusalOf(secret.read("a.tiles", RANGE));
    for (const error of [refused, broken]) {
      const reported = JSON.stringify([
        error.message,
        error.details,
        error.stack,
        String(error.cause),
        secret.description,
      ]);
      expect(reported).not.toMatch(/kl|p@ss|p%40ss|topsecret/);
      expect(error.details["address"]).toBe(server.url);
    }
    await secret.close();
  });

  test.each(["data/atlas", "ftp://example.org/x", "file:///srv/atlas", "http://", "https://user:secret@:80/", ""])(
    "is refused for the invalid address %j",
    (address) => {
      expect(() => httpBlobs(address)).toThrow(expect.objectContaining({ code: "configuration_invalid" }) as Error);
      expect(() => httpBlobs(address)).not.toThrow(/secret/);
    },
  );

  test("is refused for a user name that is not UTF-8, or an option out of range", () => {
    expect(() => httpBlobs("https://%ff:x@example.org/")).toThrow(/percent-encoded UTF-8/);
    for (const options of [
      { parallelReadsMax: 0 },
      { timeoutMs: NaN },
      { retryDelayMs: 1.5 },
      { timeoutMs: 2 ** 31 },
    ]) {
      expect(() => httpBlobs(server.url, options)).toThrow(`${Object.keys(options)[0]} must be a whole number`);
    }
  });
});

/** Responses that look like success, or nearly so. None may yield bytes, and none is retried. */
const WRONG: readonly [what: string, transform: (response: RangeResponse) => RangeResponse, message: string][] = [
  [
    "200 and the whole file",
    (response) => withLength({ ...withHeaders(response, { "content-range": undefined }), status: 200, body: BYTES }),
    "answered 200 OK (application/octet-stream) instead of 206; it does not serve ranges",
  ],
  [
    "200 and a page",
    (response) => page(response, 200),
    "answered 200 OK (text/html) instead of 206; it does not serve ranges",
  ],
  ["206 and a page", (response) => page(response, 206), "answered 206 without a Content-Range"],
  ["403", (response) => page(response, 403), "answered 403 Forbidden (text/html) instead of 206"],
  ["500", (response) => page(response, 500), "answered 500 Internal Server Error (text/html) instead of 206"],
  [
    "a redirect",
    (response) => ({ ...response, status: 302, headers: { location: "/b.tiles" }, body: new Uint8Array(0) }),
    "answered with a redirect; redirects are not followed: give the address that the atlas is really at",
  ],
  ["304", (response) => ({ ...response, status: 304, body: new Uint8Array(0) }), "answered with a redirect"],
  [
    "an earlier range",
    (response) => withHeaders(response, { "content-range": "bytes 99-118/300" }),
    "answered with another range (Content-Range: bytes 99-118/300)",
  ],
  [
    "a shorter range",
    (response) =>
      withLength({ ...withHeaders(response, { "content-range": "bytes 100-118/300" }), body: BYTES.slice(100, 119) }),
    "answered with another range (Content-Range: bytes 100-118/300)",
  ],
  [
    "a longer range",
    (response) =>
      withLength({ ...withHeaders(response, { "content-range": "bytes 100-120/300" }), body: BYTES.slice(100, 121) }),
    "answered with another range (Content-Range: bytes 100-120/300)",
  ],
  [
    "a range of unknown size",
    (response) => withHeaders(response, { "content-range": "bytes 100-119/*" }),
    "answered with another range (Content-Range: bytes 100-119/*)",
  ],
  [
    "a range of another unit",
    (response) => withHeaders(response, { "content-range": "rows 100-119/300" }),
    "answered with another range (Content-Range: rows 100-119/300)",
  ],
  [
    "several ranges",
    (response) =>
      withHeaders(response, { "content-range": undefined, "content-type": "multipart/byteranges; boundary=x" }),
    "answered 206 without a Content-Range",
  ],
  [
    "too few bytes",
    (response) => withLength({ ...response, body: response.body.subarray(0, 19) }),
    "sent 19 of the 20 bytes that it announced",
  ],
  [
    "too many bytes",
    (response) => withLength({ ...response, body: BYTES.slice(100, 121) }),
    "sent more than the 20 bytes that it announced",
  ],
  [
    "a content coding",
    (response) => withHeaders(response, { "content-encoding": "gzip" }),
    "answered in content coding gzip; the files of an atlas are served as they are",
  ],
  [
    "neither ETag nor Last-Modified",
    (response) => withHeaders(response, { etag: undefined, "last-modified": undefined }),
    "sends neither an ETag nor a Last-Modified",
  ],
];

describe("a wrong response", () => {
  test.each(WRONG)(
    "%s is refused at once, with file, position and the response received",
    async (_, transform, message) => {
      server.transform = transform;
      const error = await refusalOf(blobs.read("a.tiles", RANGE));
      expect(error.message).toContain(PLACE + message);
      expect(error.details).toMatchObject({ file: "a.tiles", address: server.url, offset: 100, sizeBytes: 20 });
      expect(server.requests).toHaveLength(1);
      server.transform = undefined;
      expect(await blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
    },
  );

  test.each([200, 206, 404, 416, 500])("of a gigabyte with status %i is not read to its end", async (status) => {
    const repeatCount = 1 << 14;
    const chunk = new Uint8Array(1 << 16);
    const length = String(chunk.length * repeatCount);
    server.transform = (response) => ({
      ...withHeaders(response, { "content-length": length, "content-range": "bytes 100-119/300" }),
      status,
      body: chunk,
      repeatCount,
    });
    const before = server.sentBytes();
    await refusalOf(blobs.read("a.tiles", RANGE));
    await vi.waitFor(() => expect(server.openCount()).toBe(0));
    expect(server.sentBytes() - before).toBeLessThan(32 << 20); // buffered by the sockets
  });

  test("416 means the end of the file, whether or not the server reports its size", async () => {
    server.transform = (response) => ({ ...withHeaders(response, { "content-range": undefined }), status: 416 });
    expect(String(await refusalOf(blobs.read("a.tiles", RANGE)))).toContain("it ends 20 bytes short at byte 100");
  });

  test("an empty file may return 416, or 200 with no content", async () => {
    expect(await blobs.sizeBytes("empty.tiles")).toBe(0);
    server.transform = (response) => withLength({ ...response, status: 200, body: new Uint8Array(0) });
    expect(await blobs.sizeBytes("empty.tiles")).toBe(0);
  });
});

describe("an atlas that is replaced while it is open", () => {
  const replaced = "the atlas was replaced while it was open and must be opened again";

  test.each([
    ["another ETag", { etag: '"another"' }],
    ["another weak ETag", { etag: 'W/"another"' }],
    ["an ETag that became weak", { etag: `W/"a"` }],
    ["no ETag any more", { etag: undefined }],
    ["another size", { "content-range": "bytes 100-119/301" }],
  ] as const)("is refused: %s", async (_, headers) => {
    server.transform = (response) => withHeaders(response, { etag: '"a"' });
    await blobs.read("a.tiles", RANGE);
    server.transform = (response) => withHeaders(response, { etag: '"a"', ...headers });
    const error = await refusalOf(blobs.read("a.tiles", RANGE));
    expect(error.message).toContain(`${PLACE}has another version of it`);
    expect(error.message).toContain(`not ETag "a", 300 bytes); ${replaced}`);
    await refusalOf(blobs.read("a.tiles", RANGE)); // the new version is not adopted
    expect(await blobs.read("b.tiles", RANGE)).toHaveLength(20); // versions are tracked per file
    server.transform = (response) => withHeaders(response, { etag: '"a"' });
    expect(await blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
  });

  test("is detected by its date where the server sends no ETag", async () => {
    const day = (date: string) => (response: RangeResponse) =>
      withHeaders(response, { etag: undefined, "last-modified": `Thu, 0${date} Jan 2026 00:00:00 GMT` });
    server.transform = day("1");
    await blobs.sizeBytes("a.tiles");
    await blobs.read("a.tiles", RANGE);
    server.transform = day("2");
    expect((await refusalOf(blobs.read("a.tiles", RANGE))).message).toContain(replaced);
  });

  test("is not assumed where only the date changes and the ETag does not", async () => {
    await blobs.read("a.tiles", RANGE);
    server.transform = (response) => withHeaders(response, { "last-modified": "Fri, 02 Jan 2026 00:00:00 GMT" });
    expect(await blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
  });

  test("is detected by a file that is missing, or shorter", async () => {
    await blobs.sizeBytes("a.tiles");
    await blobs.sizeBytes("b.tiles");
    files.set("a.tiles", BYTES.slice(0, 50));
    files.delete("b.tiles");
    expect((await refusalOf(blobs.read("a.tiles", RANGE))).message).toContain(`50 bytes, no longer 300; ${replaced}`);
    expect((await refusalOf(blobs.read("b.tiles", RANGE))).message).toBe(
      `b.tiles: it is gone from the server; ${replaced}.`,
    );
  });

  test("can be read after it is opened again", async () => {
    await blobs.read("a.tiles", RANGE);
    files.set("a.tiles", BYTES.toReversed());
    await refusalOf(blobs.read("a.tiles", RANGE));
    const again = httpBlobs(server.url, OPTIONS);
    expect(await again.read("a.tiles", { offset: 0, sizeBytes: 1 })).toEqual(BYTES.slice(-1));
    await again.close();
  });
});

describe("a failing read", () => {
  const failures: readonly [what: string, transform: (response: RangeResponse) => RangeResponse, message: string][] = [
    [
      "a connection that breaks",
      (response) => ({ ...response, breakAfterBytes: 0 }),
      "could not be reached, or broke off",
    ],
    [
      "a body that breaks off",
      (response) => ({ ...response, breakAfterBytes: 7 }),
      "could not be reached, or broke off",
    ],
    ...([429, 502, 503, 504] as const).map(
      (status) =>
        [String(status), (response: RangeResponse) => page(response, status), `answered ${status} `] satisfies [
          string,
          (response: RangeResponse) => RangeResponse,
          string,
        ],
    ),
  ];

  test.each(failures)("is retried once after %s", async (_, transform) => {
    server.transform = (response) => (server.requests.length === 1 ? transform(response) : response);
    expect(await blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
    expect(server.requests).toHaveLength(2);
  });

  test.each(failures)("fails after %s twice", async (_, transform, message) => {
    server.transform = transform;
    const error = await refusalOf(blobs.read("a.tiles", RANGE));
    expect(error.message).toContain(PLACE + message);
    expect(error.message).toMatch(/, twice\.$/);
    expect(server.requests).toHaveLength(2);
  });

  test("times out, and its requests are aborted", async () => {
    const withTimeout = httpBlobs(server.url, { ...OPTIONS, timeoutMs: 20 });
    server.transform = (response) => ({ ...response, isUnanswered: true });
    const error = await refusalOf(withTimeout.read("a.tiles", RANGE));
    expect(error.message).toBe(`${PLACE}did not answer within 20 ms, twice.`);
    await vi.waitFor(() => expect(server.openCount()).toBe(0));
    await withTimeout.close();
  });

  test("waits before the retry as long as Retry-After says, within limits", async () => {
    const wait = vi.spyOn(globalThis, "setTimeout");
    try {
      const delays = async (retryAfter: string | undefined): Promise<readonly unknown[]> => {
        server.requests.length = 0;
        wait.mockClear();
        server.transform = (response) =>
          server.requests.length === 1 ? withHeaders(page(response, 503), { "retry-after": retryAfter }) : response;
        const reading = blobs.read("a.tiles", RANGE);
        reading.catch(() => undefined);
        const isDelay = ([, delayMs]: readonly unknown[]): boolean =>
          Number(delayMs) >= 100 && Number(delayMs) < 30_000;
        if (retryAfter === "86400") {
          await vi.waitFor(() => expect(wait.mock.calls.some(isDelay)).toBe(true));
          await blobs.close(); // cancels the wait
          await refusalOf(reading);
          blobs = httpBlobs(server.url, OPTIONS);
        } else await reading;
        return wait.mock.calls.map(([, delayMs]) => delayMs);
      };
      expect(await delays("0")).toContain(0);
      expect(await delays("86400")).toContain(5000);
      await blobs.close();
      blobs = httpBlobs(server.url, { retryDelayMs: 40 });
      const drawn = (await delays("Thu, 01 Jan 2026 00:00:00 GMT")).map(Number).filter((ms) => ms >= 40 && ms <= 80);
      expect(drawn).toHaveLength(1);
    } finally {
      wait.mockRestore();
    }
  });

  test("reports a server that cannot be reached", async () => {
    const other = await startRangeServer(() => Promise.resolve(undefined));
    await other.close();
    const nowhere = httpBlobs(other.url, OPTIONS);
    const error = await refusalOf(nowhere.sizeBytes("atlas.json"));
    expect(error.message).toContain("the server could not be reached, or broke off, twice");
    expect(error.details["address"]).toBe(other.url);
    expect(error.cause).toBeInstanceOf(Error);
    await nowhere.close();
  });
});

describe("parallel reads", () => {
  test.each([1, 3, 8])("are limited to %i at a time and start in order", async (parallelReadsMax) => {
    const limited = httpBlobs(server.url, { ...OPTIONS, parallelReadsMax });
    server.transform = async (response) => {
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
    const limited = httpBlobs(server.url, { ...OPTIONS, parallelReadsMax: 1 });
    server.transform = (response, { headers }) => (headers.range === "bytes=0-0" ? page(response, 500) : response);
    const reads = [0, 1, 0, 2].map((offset) => limited.read("a.tiles", { offset, sizeBytes: 1 }));
    const settled = await Promise.allSettled(reads);
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled"]);
    await limited.close();
  });
});

describe("closing", () => {
  test("aborts running and queued reads, and rejects later ones", async () => {
    const limited = httpBlobs(server.url, { ...OPTIONS, parallelReadsMax: 2 });
    server.transform = (response) => ({ ...response, isUnanswered: true });
    const reads = [0, 1, 2, 3].map((offset) => refusalOf(limited.read("a.tiles", { offset, sizeBytes: 1 })));
    await vi.waitFor(() => expect(server.openCount()).toBe(2));
    await limited.close();
    for (const read of reads) {
      expect((await read).message).toBe("a.tiles: the atlas was closed before this was read.");
    }
    await vi.waitFor(() => expect(server.openCount()).toBe(0));
    expect(server.requests).toHaveLength(2);
    expect((await refusalOf(limited.sizeBytes("a.tiles"))).message).toContain("was closed");
    expect(server.requests).toHaveLength(2);
  });

  test("cancels the wait before a retry", async () => {
    const withLongDelay = httpBlobs(server.url, { retryDelayMs: 2 ** 30 });
    server.transform = (response) => page(response, 503);
    const read = refusalOf(withLongDelay.read("a.tiles", RANGE));
    await vi.waitFor(() => expect(server.openCount()).toBe(0));
    await withLongDelay.close();
    expect((await read).message).toContain("was closed");
  });
});
