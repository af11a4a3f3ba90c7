import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** An answer before it is sent, so that a test can spoil it. */
export interface RangeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** The connection breaks after so many bytes of the body; 0: instead of any answer. */
  readonly breakAfterBytes?: number;
  /** The body comes so many times over, as fast as it is taken. */
  readonly repeatCount?: number;
  /** Never answered. */
  readonly isHeld?: boolean;
}

/** What was asked of the server. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly name: string;
  readonly headers: IncomingMessage["headers"];
}

export interface RangeServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Requests that were in work at the same time, at most. */
  readonly parallelMax: () => number;
  /** Answers that are neither finished nor broken off. */
  readonly openCount: () => number;
  /** Bytes of bodies so far. */
  readonly sentBytes: () => number;
  /** What becomes of each right answer before it is sent. Undefined: it is sent as it is. */
  spoil: ((right: RangeAnswer, request: SeenRequest) => RangeAnswer | Promise<RangeAnswer>) | undefined;
  close(): Promise<void>;
}

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html"],
  [".js", "text/javascript"],
  [".json", "application/json"],
]);

/** Where a file's bytes come from. @returns undefined when there is none of that name */
export type FileReader = (name: string) => Promise<Uint8Array | undefined>;

/** The files of a folder that does not change. Each is read once. */
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
 * A right server of static files on 127.0.0.1: ranges, strong ETags, open to every origin. Written out here by
 * RFC 9110, with nothing of what it judges, so that each part of an answer can be spoilt by itself.
 */
export async function startRangeServer(read: FileReader): Promise<RangeServer> {
  let inWork = 0;
  let parallelMax = 0;
  let sentBytes = 0;
  const server = createServer((request, response) => {
    inWork += 1;
    parallelMax = Math.max(parallelMax, inWork);
    response.once("close", () => (inWork -= 1));
    const [path = "/"] = (request.url ?? "/").split("?", 1);
    const seen = {
      method: request.method ?? "",
      target: request.url ?? "",
      name: path.slice(path.lastIndexOf("/") + 1),
      headers: request.headers,
    };
    running.seen.push(seen);
    const answered = async (): Promise<void> => {
      const right = await rightAnswer(read, seen);
      const answer = (await running.spoil?.(right, seen)) ?? right;
      await send(response, answer, (sizeBytes) => (sentBytes += sizeBytes));
    };
    answered().catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const running: RangeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: [],
    parallelMax: () => parallelMax,
    openCount: () => inWork,
    sentBytes: () => sentBytes,
    spoil: undefined,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
  return running;
}

async function rightAnswer(read: FileReader, { method, name, headers }: SeenRequest): Promise<RangeAnswer> {
  const common = {
    "accept-ranges": "bytes",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "Content-Range, ETag",
    "access-control-allow-headers": "Range",
  };
  if (method === "OPTIONS") return { status: 204, headers: common, body: new Uint8Array(0) };
  const bytes = await read(name);
  if (bytes === undefined) return { status: 404, headers: common, body: new TextEncoder().encode("no such file\n") };
  const described = {
    ...common,
    "content-type": CONTENT_TYPES.get(name.slice(name.lastIndexOf("."))) ?? "application/octet-stream",
    "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT",
    etag: etagOf(bytes),
  };
  const [first, last] = (/^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? []).slice(1).map(Number);
  if (first === undefined || last === undefined) return withLength({ status: 200, headers: described, body: bytes });
  if (first >= bytes.length) {
    const beyond = { ...common, "content-range": `bytes */${bytes.length}` };
    return withLength({ status: 416, headers: beyond, body: new Uint8Array(0) });
  }
  const end = Math.min(last + 1, bytes.length);
  const range = { ...described, "content-range": `bytes ${first}-${end - 1}/${bytes.length}` };
  return withLength({ status: 206, headers: range, body: bytes.subarray(first, end) });
}

export function withLength(answer: RangeAnswer): RangeAnswer {
  return { ...answer, headers: { ...answer.headers, "content-length": String(answer.body.length) } };
}

async function send(
  response: ServerResponse,
  { status, headers, body, breakAfterBytes, repeatCount = 1, isHeld }: RangeAnswer,
  onSent: (sizeBytes: number) => void,
): Promise<void> {
  if (isHeld === true) return;
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
  const pieces = function* (): Generator<Uint8Array> {
    for (let i = 0; i < repeatCount; i++) {
      onSent(body.length);
      yield body;
    }
  };
  // Whoever asked may have had enough before the end.
  await pipeline(Readable.from(pieces()), response).catch(() => undefined);
}
