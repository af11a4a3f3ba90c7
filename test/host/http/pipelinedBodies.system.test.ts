import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RequestProcessor } from "../../../src/host/http/exchange.ts";
import { RequestListener } from "../../../src/host/http/requestListener.ts";
import { ENTITY } from "../entities.ts";
import {
  ALIGNMENT_PATH,
  exchangeBytes,
  fakeAtlas,
  HEADER_LINES,
  parseResponses,
  quarterResult,
  QUERY_TARGET,
  startTestHost,
  type TestHost,
} from "../testHost.ts";

const head = (line: string, ...fields: string[]): string =>
  [`${line} HTTP/1.1`, "Host: h", ...HEADER_LINES, ...fields, "", ""].join("\r\n");
const getHead = (...fields: string[]): string => head(`GET ${QUERY_TARGET}`, ...fields);
const postHead = (...fields: string[]): string =>
  head(`POST ${ALIGNMENT_PATH}`, "Content-Type: application/json", ...fields);
const ENTITIES = JSON.stringify([ENTITY]);

const postOf = (body: string): string => postHead(`Content-Length: ${body.length}`) + body;
/** Returns a request that has a body in chunks of one byte. */
const chunkedPostOf = (body: string): string =>
  `${postHead("Transfer-Encoding: chunked")}${body.replaceAll(/./gs, "1\r\n$&\r\n")}0\r\n\r\n`;

describe("bodies that are pipelined behind a request in progress", () => {
  let host: TestHost;
  let release: () => void;
  let reached: Promise<void>;
  beforeEach(async () => {
    const opened = new Promise<void>((resolve) => (release = resolve));
    let reach: () => void;
    reached = new Promise<void>((resolve) => (reach = resolve));
    host = await startTestHost({
      atlas: fakeAtlas(async (query) => {
        reach();
        await opened;
        return quarterResult(query);
      }),
    });
  });
  afterEach(() => host.close());

  test.each([
    ["small", postOf(ENTITIES), 7],
    ["small, in chunks of one byte", chunkedPostOf(ENTITIES), 7],
    ["longer than what is held", postOf(ENTITIES.padEnd(300_000, " ")), 1],
    ["longer than what is held, in chunks of one byte", chunkedPostOf(ENTITIES.padEnd(40_000, " ")), 1],
  ])("get their responses: %s", { timeout: 60_000 }, async (_, post, count) => {
    const alone = await host.ask(ALIGNMENT_PATH, {
      method: "POST",
      body: ENTITIES,
      headers: { "Content-Type": "application/json", "Accept-Encoding": "identity" },
    });
    const expectedBody = await alone.text();
    const text = exchangeBytes(host.address.port, getHead() + post.repeat(count) + getHead("Connection: close"));
    await reached;
    release();
    const responses = parseResponses(await text);
    expect(responses.map(({ status }) => status)).toStrictEqual(Array.from({ length: count + 2 }, () => 200));
    expect(new Set(responses.slice(1, -1).map(({ body }) => body))).toStrictEqual(new Set([expectedBody]));
  });

  test("and are invalid are rejected after the earlier response", async () => {
    const text = exchangeBytes(
      host.address.port,
      `${getHead()}${postHead("Transfer-Encoding: chunked")}1\r\n[\r\nx\r\n`,
    );
    await reached;
    release();
    expect(parseResponses(await text).map(({ status }) => status)).toStrictEqual([200, 400]);
  });
});

test("no further request waits once the bodies of those that do take 128 KiB", () => {
  const never: RequestProcessor = {
    handle: () => new Promise(() => undefined),
    reject: () => {
      throw new Error("No request is rejected.");
    },
    releaseResponse: () => undefined,
  };
  const listener = new RequestListener({
    pipeline: never,
    workTimeoutMs: 1_000,
    bodyRate: { bytesPerSMin: 0, graceMs: 0 },
    isContinueDue: false,
  });
  const socket = new Socket();
  const accept = (bodyBytes: number): IncomingMessage => {
    const request = new IncomingMessage(socket);
    [request.httpVersionMajor, request.httpVersionMinor] = [1, 1];
    request.headers["content-length"] = String(bodyBytes);
    listener.accept(request, new ServerResponse(request));
    // As Node's parser does for a body that it has read completely.
    request.push(Buffer.alloc(bodyBytes));
    request.push(null);
    return request;
  };
  const requests = Array.from({ length: 7 }, () => accept(40_000));
  expect(listener.activeCount).toBe(5);
  expect(requests.map(({ readableLength }) => readableLength)).toStrictEqual(requests.map(() => 0));
  socket.destroy();
});
