import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A response before it is sent, so that a test can change it. */
export interface RangeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** Destroys the connection after this many bytes of the body; 0 destroys it before the response. */
  readonly breakAfterBytes?: number;
  /** Sends the body this many times, as fast as the client reads it. */
  readonly repeatCount?: number;
  /** Sends no response. */
  readonly isUnanswered?: boolean;
}

/** A request as received by the server. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly name: string;
  readonly headers: IncomingMessage["headers"];
}

export interface RangeServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** Maximum number of requests in progress at the same time. */
  readonly parallelMax: () => number;
  /** Responses that are neither finished nor aborted. */
  readonly openCount: () => number;
  /** Body bytes sent so far. */
  readonly sentBytes: () => number;
  /** Changes each correct response before it is sent. Undefined: responses are sent unchanged. */
  transform:
    ((response: RangeResponse, request: ReceivedRequest) => RangeResponse | Promise<RangeResponse>) | undefined;
  close(): Promise<void>;
}

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html"],
  [".js", "text/javascript"],
  [".json", "application/json"],
  [".css", "text/css"],
  [".svg", "image/svg+xml"],
]);

/** Returns the bytes of a file, or undefined if there is no file of that name. */
export type FileReader = (name: string) => Promise<Uint8Array | undefined>;

/** Reads files of a folder whose content does not change. Each file is read once. */
export function filesOf(folder: string): FileReader {
  const files = new Map<string, Promise<Uint8Array | undefined>>();
  return (name) => {
    const file = files.get(name) ?? readFile(join(folder, name)).catch(() => undefined);
    files.set(name, file);
    return file;
  };
}

const etags = new WeakMap<Uint8Array, string>();

function etagOf(bytes: Uint8Array): string {
  const etag = etags.get(bytes) ?? `"${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}"`;
  etags.set(bytes, etag);
  return etag;
}

/**
 * Starts a correct static file server on 127.0.0.1, with ranges, strong ETags and CORS for every origin. Implements
 * RFC 9110 independently of the code under test, so that a test can change each part of a response separately.
 */
export async function startRangeServer(read: FileReader): Promise<RangeServer> {
  let openCount = 0;
  let parallelMax = 0;
  let sentBytes = 0;
  const server = createServer((request, response) => {
    openCount += 1;
    parallelMax = Math.max(parallelMax, openCount);
    response.once("close", () => (openCount -= 1));
    const [path = "/"] = (request.url ?? "/").split("?", 1);
    const received = {
      method: request.method ?? "",
      target: request.url ?? "",
      name: path.slice(path.lastIndexOf("/") + 1),
      headers: request.headers,
    };
    running.requests.push(received);
    const respond = async (): Promise<void> => {
      const correct = await correctResponse(read, received);
      const transformed = (await running.transform?.(correct, received)) ?? correct;
      await send(response, transformed, (sizeBytes) => (sentBytes += sizeBytes));
    };
    respond().catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const running: RangeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    parallelMax: () => parallelMax,
    openCount: () => openCount,
    sentBytes: () => sentBytes,
    transform: undefined,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
  return running;
}

async function correctResponse(read: FileReader, { method, name, headers }: ReceivedRequest): Promise<RangeResponse> {
  const common = {
    "accept-ranges": "bytes",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "Content-Range, ETag",
    "access-control-allow-headers": "Range",
  };
  if (method === "OPTIONS") return { status: 204, headers: common, body: new Uint8Array(0) };
  const bytes = await read(name);
  if (bytes === undefined) return { status: 404, headers: common, body: new TextEncoder().encode("no such file\n") };
  const fileHeaders = {
    ...common,
    "content-type": CONTENT_TYPES.get(name.slice(name.lastIndexOf("."))) ?? "application/octet-stream",
    "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT",
    etag: etagOf(bytes),
  };
  const [first, last] = (/^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? []).slice(1).map(Number);
  if (first === undefined || last === undefined) return withLength({ status: 200, headers: fileHeaders, body: bytes });
  if (first >= bytes.length) {
    const headersBeyondEnd = { ...common, "content-range": `bytes */${bytes.length}` };
    return withLength({ status: 416, headers: headersBeyondEnd, body: new Uint8Array(0) });
  }
  const end = Math.min(last + 1, bytes.length);
  const range = { ...fileHeaders, "content-range": `bytes ${first}-${end - 1}/${bytes.length}` };
  return withLength({ status: 206, headers: range, body: bytes.subarray(first, end) });
}

export function withLength(response: RangeResponse): RangeResponse {
  return { ...response, headers: { ...response.headers, "content-length": String(response.body.length) } };
}

async function send(
  response: ServerResponse,
  { status, headers, body, breakAfterBytes, repeatCount = 1, isUnanswered }: RangeResponse,
  onSent: (sizeBytes: number) => void,
): Promise<void> {
  if (isUnanswered === true) return;
  if (breakAfterBytes === 0) {
    response.destroy();
    return;
  }
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
  response.writeHead(status);
  if (breakAfterBytes !== undefined) {
    response.write(body.subarray(0, breakAfterBytes), () => response.destroy());
    onSent(breakAfterBytes);
    return;
  }
  const chunks = function* (): Generator<Uint8Array> {
    for (let i = 0; i < repeatCount; i++) {
      onSent(body.length);
      yield body;
    }
  };
  // The client may disconnect before the end.
  await pipeline(Readable.from(chunks()), response).catch(() => undefined);
}
