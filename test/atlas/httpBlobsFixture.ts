import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { Blobs } from "../../src/atlas/blobs.ts";
import { httpBlobs, type HttpBlobsOptions } from "../../src/atlas/httpBlobs.ts";
import { type Fault, isFault } from "../../src/errors.ts";
import { type RangeResponse, type RangeServer, startRangeServer, withLength } from "./rangeServer.ts";

export const BYTES = Uint8Array.from({ length: 300 }, (_, i) => i % 251);
export const RANGE = { offset: 100, sizeBytes: 20 };
/** The start of every message about a read of RANGE from a.tiles. */
export const MESSAGE_START = "a.tiles: at offset 100 (20 bytes), the server ";
export const OPTIONS: HttpBlobsOptions = { retryDelayMs: 1 };

/** A server with some files, and blobs that read from it. */
export interface HttpFixture {
  files: Map<string, Uint8Array>;
  server: RangeServer;
  blobs: Blobs;
}

/** Registers hooks that start one server for the test file, and reset it with new files and blobs for every test. */
export function useHttpBlobs(): HttpFixture {
  const http = {} as HttpFixture;
  beforeAll(async () => {
    http.server = await startRangeServer((name) => Promise.resolve(http.files.get(name)));
  });
  afterAll(() => http.server.close());
  beforeEach(() => {
    http.files = new Map([
      ["a.tiles", BYTES],
      ["b.tiles", BYTES.toReversed()],
      ["empty.tiles", new Uint8Array(0)],
    ]);
    http.blobs = httpBlobs(http.server.url, OPTIONS);
  });
  afterEach(async () => {
    await http.blobs.close();
    http.server.transform = undefined;
    http.server.requests.length = 0;
  });
  return http;
}

/** Returns the fault that the promise must reject with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => expect.fail("expected a rejection"),
    (thrown: unknown) => thrown,
  );
  if (!isFault(error, "atlas_unavailable")) throw error;
  return error;
}

const text = (content: string): Uint8Array => new TextEncoder().encode(content);
/** Returns an HTML page instead of the response. */
export const page = (response: RangeResponse, status: number): RangeResponse =>
  withLength({
    status,
    headers: { "content-type": "text/html; charset=utf-8", etag: response.headers["etag"] },
    body: text("<!doctype html><title>Not found</title>".padEnd(400)),
  });
export const withHeaders = (response: RangeResponse, headers: RangeResponse["headers"]): RangeResponse => ({
  ...response,
  headers: { ...response.headers, ...headers },
});
