import { describe, expect, test, vi } from "vitest";
import { httpBlobs } from "../../src/atlas/httpBlobs.ts";
import {
  BYTES,
  OPTIONS,
  page,
  MESSAGE_START,
  RANGE,
  rejectionOf,
  useHttpBlobs,
  withHeaders,
} from "./httpBlobsFixture.ts";
import { type RangeResponse, startRangeServer, withLength } from "./rangeServer.ts";

const http = useHttpBlobs();

/** Wrong responses, some of which resemble a success. None may yield bytes, and none is retried. */
const WRONG: readonly [what: string, transform: (response: RangeResponse) => RangeResponse, message: string][] = [
  [
    "200 and the whole file",
    (response) => withLength({ ...withHeaders(response, { "content-range": undefined }), status: 200, body: BYTES }),
    "responded with 200 OK (application/octet-stream) instead of 206; it does not support ranges",
  ],
  [
    "200 and a page",
    (response) => page(response, 200),
    "responded with 200 OK (text/html) instead of 206; it does not support ranges",
  ],
  ["206 and a page", (response) => page(response, 206), "responded with 206 without a Content-Range header"],
  ["403", (response) => page(response, 403), "responded with 403 Forbidden (text/html) instead of 206"],
  ["500", (response) => page(response, 500), "responded with 500 Internal Server Error (text/html) instead of 206"],
  [
    "a redirect",
    (response) => ({ ...response, status: 302, headers: { location: "/b.tiles" }, body: new Uint8Array(0) }),
    "responded with a redirect; redirects are not followed: use the final address of the atlas",
  ],
  ["304", (response) => ({ ...response, status: 304, body: new Uint8Array(0) }), "responded with 304 Not Modified"],
  [
    "an earlier range",
    (response) => withHeaders(response, { "content-range": "bytes 99-118/300" }),
    "responded with another range (Content-Range: bytes 99-118/300)",
  ],
  [
    "a shorter range",
    (response) =>
      withLength({ ...withHeaders(response, { "content-range": "bytes 100-118/300" }), body: BYTES.slice(100, 119) }),
    "responded with another range (Content-Range: bytes 100-118/300)",
  ],
  [
    "a longer range",
    (response) =>
      withLength({ ...withHeaders(response, { "content-range": "bytes 100-120/300" }), body: BYTES.slice(100, 121) }),
    "responded with another range (Content-Range: bytes 100-120/300)",
  ],
  [
    "a range of unknown size",
    (response) => withHeaders(response, { "content-range": "bytes 100-119/*" }),
    "responded with another range (Content-Range: bytes 100-119/*)",
  ],
  [
    "a range of another unit",
    (response) => withHeaders(response, { "content-range": "rows 100-119/300" }),
    "responded with another range (Content-Range: rows 100-119/300)",
  ],
  [
    "several ranges",
    (response) =>
      withHeaders(response, { "content-range": undefined, "content-type": "multipart/byteranges; boundary=x" }),
    "responded with 206 without a Content-Range header",
  ],
  [
    "too few bytes",
    (response) => withLength({ ...response, body: response.body.subarray(0, 19) }),
    "sent 19 of the announced 20 bytes",
  ],
  [
    "too many bytes",
    (response) => withLength({ ...response, body: BYTES.slice(100, 121) }),
    "sent more than the announced 20 bytes",
  ],
  [
    "a content coding",
    (response) => withHeaders(response, { "content-encoding": "gzip" }),
    "responded with content coding gzip; the files of an atlas must be served without compression",
  ],
  [
    "neither ETag nor Last-Modified",
    (response) => withHeaders(response, { etag: undefined, "last-modified": undefined }),
    "sent neither an ETag nor a Last-Modified header",
  ],
];

describe("a wrong response", () => {
  test.each(WRONG)(
    "%s is rejected without a retry, with file, position and the received response",
    async (_, transform, message) => {
      http.server.transform = transform;
      const error = await rejectionOf(http.blobs.read("a.tiles", RANGE));
      expect(error.message).toContain(MESSAGE_START + message);
      expect(error.details).toMatchObject({ file: "a.tiles", address: http.server.url, offset: 100, sizeBytes: 20 });
      expect(http.server.requests).toHaveLength(1);
      http.server.transform = undefined;
      expect(await http.blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
    },
  );

  test.each([200, 206, 404, 416, 500])("of a gigabyte with status %i is not read to its end", async (status) => {
    const repeatCount = 1 << 14;
    const chunk = new Uint8Array(1 << 16);
    const length = String(chunk.length * repeatCount);
    http.server.transform = (response) => ({
      ...withHeaders(response, { "content-length": length, "content-range": "bytes 100-119/300" }),
      status,
      body: chunk,
      repeatCount,
    });
    const before = http.server.sentBytes();
    await rejectionOf(http.blobs.read("a.tiles", RANGE));
    await vi.waitFor(() => expect(http.server.openCount()).toBe(0));
    expect(http.server.sentBytes() - before).toBeLessThan(32 << 20); // buffered by the sockets
  });

  test("416 is treated as the end of the file even if the server does not report its size", async () => {
    http.server.transform = (response) => ({ ...withHeaders(response, { "content-range": undefined }), status: 416 });
    expect(String(await rejectionOf(http.blobs.read("a.tiles", RANGE)))).toContain(
      "it ends 20 bytes before the end of the requested range (offset 100, 20 bytes)",
    );
  });

  test("the response for an empty file may be 416, or 200 with no content", async () => {
    expect(await http.blobs.sizeBytes("empty.tiles")).toBe(0);
    http.server.transform = (response) => withLength({ ...response, status: 200, body: new Uint8Array(0) });
    expect(await http.blobs.sizeBytes("empty.tiles")).toBe(0);
  });
});

describe("an atlas that is replaced while it is open", () => {
  const replaced = "the atlas was replaced while open and must be reopened";

  test.each([
    ["another ETag", { etag: '"another"' }],
    ["another weak ETag", { etag: 'W/"another"' }],
    ["an ETag that became weak", { etag: `W/"a"` }],
    ["a removed ETag", { etag: undefined }],
    ["another size", { "content-range": "bytes 100-119/301" }],
  ] as const)("is rejected because of %s", async (_, headers) => {
    http.server.transform = (response) => withHeaders(response, { etag: '"a"' });
    await http.blobs.read("a.tiles", RANGE);
    http.server.transform = (response) => withHeaders(response, { etag: '"a"', ...headers });
    const error = await rejectionOf(http.blobs.read("a.tiles", RANGE));
    expect(error.message).toContain(`${MESSAGE_START}has another version of it`);
    expect(error.message).toContain(`not ETag "a", 300 bytes); ${replaced}`);
    await rejectionOf(http.blobs.read("a.tiles", RANGE)); // the new version is not adopted
    expect(await http.blobs.read("b.tiles", RANGE)).toHaveLength(20); // versions are tracked per file
    http.server.transform = (response) => withHeaders(response, { etag: '"a"' });
    expect(await http.blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
  });

  test("is detected by its date if the server sends no ETag", async () => {
    const day = (date: string) => (response: RangeResponse) =>
      withHeaders(response, { etag: undefined, "last-modified": `Thu, 0${date} Jan 2026 00:00:00 GMT` });
    http.server.transform = day("1");
    await http.blobs.sizeBytes("a.tiles");
    await http.blobs.read("a.tiles", RANGE);
    http.server.transform = day("2");
    expect((await rejectionOf(http.blobs.read("a.tiles", RANGE))).message).toContain(replaced);
  });

  test("is not assumed if only the date changes and the ETag does not", async () => {
    await http.blobs.read("a.tiles", RANGE);
    http.server.transform = (response) => withHeaders(response, { "last-modified": "Fri, 02 Jan 2026 00:00:00 GMT" });
    expect(await http.blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
  });

  test("is detected by a file that is missing, or shorter", async () => {
    await http.blobs.sizeBytes("a.tiles");
    await http.blobs.sizeBytes("b.tiles");
    http.files.set("a.tiles", BYTES.slice(0, 50));
    http.files.delete("b.tiles");
    expect((await rejectionOf(http.blobs.read("a.tiles", RANGE))).message).toContain(
      `its size changed from 300 to 50 bytes; ${replaced}`,
    );
    expect((await rejectionOf(http.blobs.read("b.tiles", RANGE))).message).toBe(
      `b.tiles: it no longer exists on the server; ${replaced}.`,
    );
  });

  test("can be read after it is reopened", async () => {
    await http.blobs.read("a.tiles", RANGE);
    http.files.set("a.tiles", BYTES.toReversed());
    await rejectionOf(http.blobs.read("a.tiles", RANGE));
    const again = httpBlobs(http.server.url, OPTIONS);
    expect(await again.read("a.tiles", { offset: 0, sizeBytes: 1 })).toEqual(BYTES.slice(-1));
    await again.close();
  });
});

describe("a failing read", () => {
  const failures: readonly [what: string, transform: (response: RangeResponse) => RangeResponse, message: string][] = [
    [
      "a connection that breaks",
      (response) => ({ ...response, breakAfterBytes: 0 }),
      "could not be reached or closed the connection",
    ],
    [
      "a body that is cut off",
      (response) => ({ ...response, breakAfterBytes: 7 }),
      "could not be reached or closed the connection",
    ],
    ...([429, 502, 503, 504] as const).map(
      (status) =>
        [String(status), (response: RangeResponse) => page(response, status), `responded with ${status} `] satisfies [
          string,
          (response: RangeResponse) => RangeResponse,
          string,
        ],
    ),
  ];

  test.each(failures)("is retried once after %s", async (_, transform) => {
    http.server.transform = (response) => (http.server.requests.length === 1 ? transform(response) : response);
    expect(await http.blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
    expect(http.server.requests).toHaveLength(2);
  });

  test.each(failures)("fails after %s twice", async (_, transform, message) => {
    http.server.transform = transform;
    const error = await rejectionOf(http.blobs.read("a.tiles", RANGE));
    expect(error.message).toContain(MESSAGE_START + message);
    expect(error.message).toMatch(/, twice\.$/);
    expect(http.server.requests).toHaveLength(2);
  });

  test("times out, and its requests are aborted", async () => {
    const withTimeout = httpBlobs(http.server.url, { ...OPTIONS, timeoutMs: 20 });
    http.server.transform = (response) => ({ ...response, isUnanswered: true });
    const error = await rejectionOf(withTimeout.read("a.tiles", RANGE));
    expect(error.message).toBe(`${MESSAGE_START}did not respond within 20 ms, twice.`);
    await vi.waitFor(() => expect(http.server.openCount()).toBe(0));
    await withTimeout.close();
  });

  test("waits as long as Retry-After states before the retry, within limits", async () => {
    const wait = vi.spyOn(globalThis, "setTimeout");
    try {
      const delays = async (retryAfter: string | undefined): Promise<readonly unknown[]> => {
        http.server.requests.length = 0;
        wait.mockClear();
        http.server.transform = (response) =>
          http.server.requests.length === 1
            ? withHeaders(page(response, 503), { "retry-after": retryAfter })
            : response;
        const reading = http.blobs.read("a.tiles", RANGE);
        reading.catch(() => undefined);
        const isDelay = ([, delayMs]: readonly unknown[]): boolean =>
          Number(delayMs) >= 100 && Number(delayMs) < 30_000;
        if (retryAfter === "86400") {
          await vi.waitFor(() => expect(wait.mock.calls.some(isDelay)).toBe(true));
          await http.blobs.close(); // cancels the wait
          await rejectionOf(reading);
          http.blobs = httpBlobs(http.server.url, OPTIONS);
        } else await reading;
        return wait.mock.calls.map(([, delayMs]) => delayMs);
      };
      expect(await delays("0")).toContain(0);
      expect(await delays("86400")).toContain(5000);
      await http.blobs.close();
      http.blobs = httpBlobs(http.server.url, { retryDelayMs: 40 });
      const jitteredDelays = (await delays("Thu, 01 Jan 2026 00:00:00 GMT"))
        .map(Number)
        .filter((ms) => ms >= 40 && ms <= 80);
      expect(jitteredDelays).toHaveLength(1);
    } finally {
      wait.mockRestore();
    }
  });

  test("reports a server that cannot be reached", async () => {
    const other = await startRangeServer(() => Promise.resolve(undefined));
    await other.close();
    const nowhere = httpBlobs(other.url, OPTIONS);
    const error = await rejectionOf(nowhere.sizeBytes("atlas.json"));
    expect(error.message).toContain("the server could not be reached or closed the connection, twice");
    expect(error.details["address"]).toBe(other.url);
    expect(error.cause).toBeInstanceOf(Error);
    await nowhere.close();
  });
});
