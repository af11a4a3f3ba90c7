import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Blobs } from "../../src/atlas/blobs.ts";
import { httpBlobs, type HttpBlobsOptions } from "../../src/atlas/httpBlobs.ts";
import { type Fault, isFault } from "../../src/errors.ts";
import { keepsThePromisesOfBlobs } from "../contracts/blobs.ts";
import { type RangeAnswer, type RangeServer, type SeenRequest, startRangeServer, withLength } from "./rangeServer.ts";

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
  server.spoil = undefined;
  server.seen.length = 0;
});

/** The refusal that the promise must end in. */
async function refusalOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => expect.fail("it was not refused"),
    (thrown: unknown) => thrown,
  );
  if (!isFault(error, "atlas_unavailable")) throw error;
  return error;
}

const text = (words: string): Uint8Array => new TextEncoder().encode(words);
const page = (right: RangeAnswer, status: number): RangeAnswer =>
  withLength({
    status,
    headers: { "content-type": "text/html; charset=utf-8", etag: right.headers["etag"] },
    body: text("<!doctype html><title>Not what you came for</title>".padEnd(400)),
  });
const withHeaders = (right: RangeAnswer, headers: RangeAnswer["headers"]): RangeAnswer => ({
  ...right,
  headers: { ...right.headers, ...headers },
});

describe("what is asked of the server", () => {
  test("exactly the range, uncompressed, and nothing that a browser would have to ask permission for", async () => {
    await blobs.read("a.tiles", RANGE);
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]).toMatchObject({ method: "GET", target: "/a.tiles" });
    const { headers } = server.seen[0] as SeenRequest;
    expect(headers).toMatchObject({ range: "bytes=100-119", "accept-encoding": "identity" });
    expect(Object.keys(headers).filter((name) => /^(if-|authorization|x-)/.test(name))).toEqual([]);
  });

  test("one byte for a size, once; none for what is known", async () => {
    expect(await blobs.sizeBytes("a.tiles")).toBe(300);
    expect(await blobs.sizeBytes("a.tiles")).toBe(300);
    await blobs.read("b.tiles", RANGE);
    expect(await blobs.sizeBytes("b.tiles")).toBe(300);
    expect(server.seen.map(({ name, headers }) => `${name} ${headers.range}`)).toEqual([
      "a.tiles bytes=0-0",
      "b.tiles bytes=100-119",
    ]);
  });

  test("below the address's folder, with or without a slash at its end, with its query", async () => {
    for (const address of [`${server.url}/one/two`, `${server.url}/one/two/`, `${server.url}/one/two//?sig=a%2Bb`]) {
      const there = httpBlobs(address, OPTIONS);
      expect(await there.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
      expect(there.description).toBe(`${server.url}/one/two`);
      await there.close();
    }
    expect(server.seen.map(({ target }) => target)).toEqual([
      "/one/two/a.tiles",
      "/one/two/a.tiles",
      "/one/two/a.tiles?sig=a%2Bb",
    ]);
  });

  test.each([".", "..", "../a.tiles", "x/a.tiles", "%2e%2e", "a.tiles?x", "", "//example.org"])(
    "no file %j: no name may lead out of the folder",
    async (name) => {
      expect(String(await refusalOf(blobs.read(name, RANGE)))).toContain("cannot be the name of a file");
      expect(String(await refusalOf(blobs.sizeBytes(name)))).toContain("cannot be the name of a file");
      expect(server.seen).toEqual([]);
    },
  );

  test("with the user name and password of the address, which no message and no detail repeats", async () => {
    const secret = httpBlobs(server.url.replace("//", "//kl%C3%A4re:p%40ss@") + "?sig=topsecret", OPTIONS);
    await secret.read("a.tiles", RANGE);
    const authorization = server.seen[0]?.headers.authorization ?? "";
    expect(Buffer.from(authorization.replace("Basic ", ""), "base64").toString()).toBe("kläre:p@ss");
    expect(server.seen[0]?.target).toBe("/a.tiles?sig=topsecret");
    server.spoil = (right) => page(right, 500);
    const refused = await refusalOf(secret.read("a.tiles", RANGE));
    server.spoil = (right) => ({ ...right, breakAfterBytes: 0 });
    const broken = await refusalOf(secret.read("a.tiles", RANGE));
    for (const error of [refused, broken]) {
      const told = JSON.stringify([error.message, error.details, error.stack, String(error.cause), secret.description]);
      expect(told).not.toMatch(/kl|p@ss|p%40ss|topsecret/);
      expect(error.details["address"]).toBe(server.url);
    }
    await secret.close();
  });

  test.each(["data/atlas", "ftp://example.org/x", "file:///srv/atlas", "http://", "https://user:secret@:80/", ""])(
    "nothing of %j, which is no address of one",
    (address) => {
      expect(() => httpBlobs(address)).toThrow(expect.objectContaining({ code: "configuration_invalid" }) as Error);
      expect(() => httpBlobs(address)).not.toThrow(/secret/);
    },
  );

  test("nothing with a user name that is not UTF-8, or an option out of range", () => {
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

/** Answers that look like success, or nearly. None may give bytes, and none is asked for again. */
const WRONG: readonly [what: string, spoil: (right: RangeAnswer) => RangeAnswer, message: string][] = [
  [
    "200 and the whole file",
    (right) => withLength({ ...withHeaders(right, { "content-range": undefined }), status: 200, body: BYTES }),
    "answered 200 OK (application/octet-stream) instead of 206; it does not serve ranges",
  ],
  [
    "200 and a page",
    (right) => page(right, 200),
    "answered 200 OK (text/html) instead of 206; it does not serve ranges",
  ],
  ["206 and a page", (right) => page(right, 206), "answered 206 without a Content-Range"],
  ["403", (right) => page(right, 403), "answered 403 Forbidden (text/html) instead of 206"],
  ["500", (right) => page(right, 500), "answered 500 Internal Server Error (text/html) instead of 206"],
  [
    "a redirect",
    (right) => ({ ...right, status: 302, headers: { location: "/b.tiles" }, body: new Uint8Array(0) }),
    "answered with a redirect; redirects are not followed: give the address that the atlas is really at",
  ],
  ["304", (right) => ({ ...right, status: 304, body: new Uint8Array(0) }), "answered with a redirect"],
  [
    "an earlier range",
    (right) => withHeaders(right, { "content-range": "bytes 99-118/300" }),
    "answered with another range (Content-Range: bytes 99-118/300)",
  ],
  [
    "a shorter range",
    (right) =>
      withLength({ ...withHeaders(right, { "content-range": "bytes 100-118/300" }), body: BYTES.slice(100, 119) }),
    "answered with another range (Content-Range: bytes 100-118/300)",
  ],
  [
    "a longer range",
    (right) =>
      withLength({ ...withHeaders(right, { "content-range": "bytes 100-120/300" }), body: BYTES.slice(100, 121) }),
    "answered with another range (Content-Range: bytes 100-120/300)",
  ],
  [
    "a range of unknown size",
    (right) => withHeaders(right, { "content-range": "bytes 100-119/*" }),
    "answered with another range (Content-Range: bytes 100-119/*)",
  ],
  [
    "a range of another unit",
    (right) => withHeaders(right, { "content-range": "rows 100-119/300" }),
    "answered with another range (Content-Range: rows 100-119/300)",
  ],
  [
    "several ranges",
    (right) => withHeaders(right, { "content-range": undefined, "content-type": "multipart/byteranges; boundary=x" }),
    "answered 206 without a Content-Range",
  ],
  [
    "too few bytes",
    (right) => withLength({ ...right, body: right.body.subarray(0, 19) }),
    "sent 19 of the 20 bytes that it announced",
  ],
  [
    "too many bytes",
    (right) => withLength({ ...right, body: BYTES.slice(100, 121) }),
    "sent more than the 20 bytes that it announced",
  ],
  [
    "a content coding",
    (right) => withHeaders(right, { "content-encoding": "gzip" }),
    "answered in content coding gzip; the files of an atlas are served as they are",
  ],
  [
    "neither ETag nor Last-Modified",
    (right) => withHeaders(right, { etag: undefined, "last-modified": undefined }),
    "sends neither an ETag nor a Last-Modified",
  ],
];

describe("a wrong answer", () => {
  test.each(WRONG)("%s is refused at once, with file, place and what came", async (_, spoil, message) => {
    server.spoil = spoil;
    const error = await refusalOf(blobs.read("a.tiles", RANGE));
    expect(error.message).toContain(PLACE + message);
    expect(error.details).toMatchObject({ file: "a.tiles", address: server.url, offset: 100, sizeBytes: 20 });
    expect(server.seen).toHaveLength(1);
    server.spoil = undefined;
    expect(await blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
  });

  test.each([200, 206, 404, 416, 500])("of a gigabyte with status %i is not read to its end", async (status) => {
    const repeatCount = 1 << 14;
    const piece = new Uint8Array(1 << 16);
    const length = String(piece.length * repeatCount);
    server.spoil = (right) => ({
      ...withHeaders(right, { "content-length": length, "content-range": "bytes 100-119/300" }),
      status,
      body: piece,
      repeatCount,
    });
    const before = server.sentBytes();
    await refusalOf(blobs.read("a.tiles", RANGE));
    await vi.waitFor(() => expect(server.openCount()).toBe(0));
    expect(server.sentBytes() - before).toBeLessThan(32 << 20); // what the buffers on the way hold
  });

  test("416 is the end of the file, whether the server says its size or not", async () => {
    server.spoil = (right) => ({ ...withHeaders(right, { "content-range": undefined }), status: 416 });
    expect(String(await refusalOf(blobs.read("a.tiles", RANGE)))).toContain("it ends 20 bytes short at byte 100");
  });

  test("an empty file may answer 416, or 200 with nothing in it", async () => {
    expect(await blobs.sizeBytes("empty.tiles")).toBe(0);
    server.spoil = (right) => withLength({ ...right, status: 200, body: new Uint8Array(0) });
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
    server.spoil = (right) => withHeaders(right, { etag: '"a"' });
    await blobs.read("a.tiles", RANGE);
    server.spoil = (right) => withHeaders(right, { etag: '"a"', ...headers });
    const error = await refusalOf(blobs.read("a.tiles", RANGE));
    expect(error.message).toContain(`${PLACE}has another version of it`);
    expect(error.message).toContain(`not ETag "a", 300 bytes); ${replaced}`);
    await refusalOf(blobs.read("a.tiles", RANGE)); // the new version does not take the old one's place
    expect(await blobs.read("b.tiles", RANGE)).toHaveLength(20); // and each file has its own
    server.spoil = (right) => withHeaders(right, { etag: '"a"' });
    expect(await blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
  });

  test("is noticed by its date where the server sends no ETag", async () => {
    const day = (date: string) => (right: RangeAnswer) =>
      withHeaders(right, { etag: undefined, "last-modified": `Thu, 0${date} Jan 2026 00:00:00 GMT` });
    server.spoil = day("1");
    await blobs.sizeBytes("a.tiles");
    await blobs.read("a.tiles", RANGE);
    server.spoil = day("2");
    expect((await refusalOf(blobs.read("a.tiles", RANGE))).message).toContain(replaced);
  });

  test("is not suspected where only the date changes and the ETag does not", async () => {
    await blobs.read("a.tiles", RANGE);
    server.spoil = (right) => withHeaders(right, { "last-modified": "Fri, 02 Jan 2026 00:00:00 GMT" });
    expect(await blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
  });

  test("is noticed by a file that is gone, or shorter", async () => {
    await blobs.sizeBytes("a.tiles");
    await blobs.sizeBytes("b.tiles");
    files.set("a.tiles", BYTES.slice(0, 50));
    files.delete("b.tiles");
    expect((await refusalOf(blobs.read("a.tiles", RANGE))).message).toContain(`50 bytes, no longer 300; ${replaced}`);
    expect((await refusalOf(blobs.read("b.tiles", RANGE))).message).toBe(
      `b.tiles: it is gone from the server; ${replaced}.`,
    );
  });

  test("is read after all when it is opened again", async () => {
    await blobs.read("a.tiles", RANGE);
    files.set("a.tiles", BYTES.toReversed());
    await refusalOf(blobs.read("a.tiles", RANGE));
    const again = httpBlobs(server.url, OPTIONS);
    expect(await again.read("a.tiles", { offset: 0, sizeBytes: 1 })).toEqual(BYTES.slice(-1));
    await again.close();
  });
});

describe("a read that fails on the way", () => {
  const failures: readonly [what: string, spoil: (right: RangeAnswer) => RangeAnswer, message: string][] = [
    ["a connection that breaks", (right) => ({ ...right, breakAfterBytes: 0 }), "could not be reached, or broke off"],
    ["a body that breaks off", (right) => ({ ...right, breakAfterBytes: 7 }), "could not be reached, or broke off"],
    ...([429, 502, 503, 504] as const).map(
      (status) =>
        [String(status), (right: RangeAnswer) => page(right, status), `answered ${status} `] satisfies [
          string,
          (right: RangeAnswer) => RangeAnswer,
          string,
        ],
    ),
  ];

  test.each(failures)("is tried once more after %s", async (_, spoil) => {
    server.spoil = (right) => (server.seen.length === 1 ? spoil(right) : right);
    expect(await blobs.read("a.tiles", RANGE)).toEqual(BYTES.slice(100, 120));
    expect(server.seen).toHaveLength(2);
  });

  test.each(failures)("is given up after %s twice", async (_, spoil, message) => {
    server.spoil = spoil;
    const error = await refusalOf(blobs.read("a.tiles", RANGE));
    expect(error.message).toContain(PLACE + message);
    expect(error.message).toMatch(/, twice\.$/);
    expect(server.seen).toHaveLength(2);
  });

  test("is given up after a time, and what was asked is let go", async () => {
    const impatient = httpBlobs(server.url, { ...OPTIONS, timeoutMs: 20 });
    server.spoil = (right) => ({ ...right, isHeld: true });
    const error = await refusalOf(impatient.read("a.tiles", RANGE));
    expect(error.message).toBe(`${PLACE}did not answer within 20 ms, twice.`);
    await vi.waitFor(() => expect(server.openCount()).toBe(0));
    await impatient.close();
  });

  test("waits before the second try as long as the server wishes, within limits", async () => {
    const wait = vi.spyOn(globalThis, "setTimeout");
    try {
      const delays = async (retryAfter: string | undefined): Promise<readonly unknown[]> => {
        server.seen.length = 0;
        wait.mockClear();
        server.spoil = (right) =>
          server.seen.length === 1 ? withHeaders(page(right, 503), { "retry-after": retryAfter }) : right;
        const reading = blobs.read("a.tiles", RANGE);
        reading.catch(() => undefined);
        const isDelay = ([, delayMs]: readonly unknown[]): boolean =>
          Number(delayMs) >= 100 && Number(delayMs) < 30_000;
        if (retryAfter === "86400") {
          await vi.waitFor(() => expect(wait.mock.calls.some(isDelay)).toBe(true));
          await blobs.close(); // nobody wants to wait here
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

  test("says so where there is no server at all", async () => {
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

describe("many reads at once", () => {
  test.each([1, 3, 8])("%i at a time, in the order they came", async (parallelReadsMax) => {
    const gate = httpBlobs(server.url, { ...OPTIONS, parallelReadsMax });
    server.spoil = async (right) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return right;
    };
    let inside = 0;
    let most = 0;
    const plain = globalThis.fetch;
    const counted = vi.spyOn(globalThis, "fetch").mockImplementation(async (...request) => {
      most = Math.max(most, ++inside);
      try {
        return await plain(...request);
      } finally {
        inside -= 1;
      }
    });
    try {
      const offsets = Array.from({ length: 30 }, (_, i) => i);
      const found = await Promise.all(offsets.map((offset) => gate.read("a.tiles", { offset, sizeBytes: 1 })));
      expect(found.map(([byte]) => byte)).toEqual(offsets);
      const asked = counted.mock.calls.map(([, init]) => new Headers(init?.headers).get("range"));
      expect(asked).toEqual(offsets.map((offset) => `bytes=${offset}-${offset}`));
      expect(most).toBe(parallelReadsMax);
    } finally {
      counted.mockRestore();
      await gate.close();
    }
  });

  test("a failed one gives its place to the next", async () => {
    const gate = httpBlobs(server.url, { ...OPTIONS, parallelReadsMax: 1 });
    server.spoil = (right, { headers }) => (headers.range === "bytes=0-0" ? page(right, 500) : right);
    const reads = [0, 1, 0, 2].map((offset) => gate.read("a.tiles", { offset, sizeBytes: 1 }));
    const settled = await Promise.allSettled(reads);
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled"]);
    await gate.close();
  });
});

describe("closing", () => {
  test("breaks off what is under way and what waits its turn, and answers nothing any more", async () => {
    const gate = httpBlobs(server.url, { ...OPTIONS, parallelReadsMax: 2 });
    server.spoil = (right) => ({ ...right, isHeld: true });
    const reads = [0, 1, 2, 3].map((offset) => refusalOf(gate.read("a.tiles", { offset, sizeBytes: 1 })));
    await vi.waitFor(() => expect(server.openCount()).toBe(2));
    await gate.close();
    for (const read of reads) {
      expect((await read).message).toBe("a.tiles: the atlas was closed before this was read.");
    }
    await vi.waitFor(() => expect(server.openCount()).toBe(0));
    expect(server.seen).toHaveLength(2);
    expect((await refusalOf(gate.sizeBytes("a.tiles"))).message).toContain("was closed");
    expect(server.seen).toHaveLength(2);
  });

  test("ends the wait before a second try", async () => {
    const patient = httpBlobs(server.url, { retryDelayMs: 2 ** 30 });
    server.spoil = (right) => page(right, 503);
    const read = refusalOf(patient.read("a.tiles", RANGE));
    await vi.waitFor(() => expect(server.openCount()).toBe(0));
    await patient.close();
    expect((await read).message).toContain("was closed");
  });
});
