/** Reading of request bodies, tested with the alignment route. */
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import type { Problem } from "../../../src/host/problems/problem.ts";
import { ENTITY } from "../entities.ts";
import {
  parseResponses,
  exchangeBytes,
  HEADERS,
  startTestHost,
  type RawResponse,
  ALIGNMENT_PATH,
} from "../testHost.ts";
import { alignmentRoute, requestText, JSON_TYPE, problemOf } from "./alignmentRoute.ts";

const { host, post } = alignmentRoute();

function onlyProblem(text: string): RawResponse & { readonly problem: Problem } {
  const answers = parseResponses(text);
  expect(answers).toHaveLength(1);
  const [answer] = answers as [RawResponse];
  return { ...answer, problem: JSON.parse(answer.body) as Problem };
}

describe("an unacceptable body", () => {
  test.each([
    ["a missing content type", {}],
    ["the content type text/plain", { "Content-Type": "text/plain" }],
    ["a form content type", { "Content-Type": "application/x-www-form-urlencoded" }],
    ["another character set", { "Content-Type": "application/json; charset=latin1" }],
    ["another JSON type", { "Content-Type": "application/ld+json" }],
    ["a content coding", { ...JSON_TYPE, "Content-Encoding": "gzip" }],
  ])("is rejected with 415 because of %s", async (_what, headers: Record<string, string>) => {
    const response = await post(Buffer.from(JSON.stringify([ENTITY])), ALIGNMENT_PATH, headers);
    expect(await problemOf(response)).toMatchObject({ status: 415, code: "content_type_unsupported" });
  });

  test("is rejected with 415 because of two content types", async () => {
    const text = requestText(
      "[]",
      "Content-Type: application/json",
      "Content-Type: application/json",
      "Content-Length: 2",
    );
    const { status, headers, problem } = onlyProblem(await exchangeBytes(host().address.port, text));
    expect([status, problem.code, headers.get("connection")]).toStrictEqual([415, "content_type_unsupported", "close"]);
  });

  test("is rejected without 100 Continue", async () => {
    const head = requestText("", "Content-Type: text/plain", "Content-Length: 2", "Expect: 100-continue");
    expect(onlyProblem(await exchangeBytes(host().address.port, head)).status).toBe(415);
  });

  test.each([
    ["with Content-Length", false],
    ["in chunked encoding", true],
  ])("is rejected with 413 while a too large body, %s, is still being sent", async (_what, isChunked) => {
    const small = await startTestHost({ limits: { requestBodyBytesMax: 1 << 20 } });
    try {
      const request = httpRequest(`${small.address.url}${ALIGNMENT_PATH}`, {
        method: "POST",
        headers: {
          ...HEADERS,
          ...JSON_TYPE,
          ...(isChunked ? { "Transfer-Encoding": "chunked" } : { "Content-Length": 32 << 20 }),
        },
      });
      request.on("error", () => undefined);
      const answered = once(request, "response");
      const chunk = Buffer.alloc(1 << 20, " ");
      for (let i = 0; i < 32; i++) request.write(chunk);
      const [response] = (await answered) as [import("node:http").IncomingMessage];
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      const problem = JSON.parse(Buffer.concat(parts).toString()) as Problem;
      expect(problem).toMatchObject({ status: 413, code: "body_too_large" });
      expect(problem.detail).toContain("1048576 bytes");
      request.destroy();
    } finally {
      await small.close();
    }
  });

  test("is read completely before the connection closes, because a reset could discard the response", async () => {
    const small = await startTestHost({ limits: { requestBodyBytesMax: 10 } });
    try {
      const socket = connect({ host: "127.0.0.1", port: small.address.port, allowHalfOpen: true });
      const ended = once(socket, "end");
      let isEnded = false;
      socket.on("end", () => (isEnded = true));
      socket.write(requestText("[", "Content-Type: application/json", "Content-Length: 11"));
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(parseResponses(answer.toString("latin1"))).toMatchObject([{ status: 413 }]);
      for (const chunk of ["1,", "2,", "3,", "4,"]) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        expect(isEnded).toBe(false);
        socket.write(chunk);
      }
      socket.write("5]");
      await ended;
      socket.end();
    } finally {
      await small.close();
    }
  });

  test("of exactly the maximum size is accepted", async () => {
    const body = JSON.stringify([ENTITY]);
    const small = await startTestHost({ limits: { requestBodyBytesMax: body.length } });
    try {
      const ask = async (text: string): Promise<number> => {
        const response = await small.ask(ALIGNMENT_PATH, { method: "POST", body: text, headers: JSON_TYPE });
        await response.text();
        return response.status;
      };
      expect([await ask(body), await ask(`${body} `)]).toStrictEqual([200, 413]);
    } finally {
      await small.close();
    }
  });
});

describe("a body that is not valid JSON", () => {
  test.each([
    ["empty", "", 1, 1],
    ["truncated", '[{"entity_info":\n{"na', 2, 2],
    ["a duplicate key", '[{"data": [],\n "data": []}]', 2, 2],
    ["too deep", "[".repeat(17), 1, 17],
    ["an infinite number", "[1e999]", 1, 2],
    ["NaN", "[NaN]", 1, 2],
    ["bytes that are not UTF-8", Uint8Array.of(0x5b, 0x22, 0xfc, 0x22, 0x5d), 1, 3],
  ])("(%s) returns 400 json_malformed with line and column", async (_what, body, line, column) => {
    const problem = await problemOf(await post(body));
    expect(problem).toMatchObject({ status: 400, code: "json_malformed", line, column });
    expect(problem.detail).toContain(`Line ${line}, column ${column}: `);
  });

  test("is answered with 408 request_timeout if it is incomplete", async () => {
    const impatient = await startTestHost({
      timeouts: { headersTimeoutMs: 50, requestTimeoutMs: 100, checkEveryMs: 20 },
    });
    try {
      const text = requestText("[", "Content-Type: application/json", "Content-Length: 100");
      const { status, headers, problem } = onlyProblem(await exchangeBytes(impatient.address.port, text));
      expect([status, problem.code, problem.retryable]).toStrictEqual([408, "request_timeout", true]);
      expect(headers.get("x-request-id")).toBe(problem.request_id);
      expect(impatient.records).toMatchObject([{ status: 408, code: "request_timeout", route: ALIGNMENT_PATH }]);
    } finally {
      await impatient.close();
    }
  });

  test("is answered once with 400 http_malformed if its chunked encoding is invalid", async () => {
    const text = requestText("zz\r\n", "Content-Type: application/json", "Transfer-Encoding: chunked");
    const { status, problem } = onlyProblem(await exchangeBytes(host().address.port, text));
    expect([status, problem.code]).toStrictEqual([400, "http_malformed"]);
  });

  test("is not logged as an internal error if the client disconnects", async () => {
    const other = await startTestHost();
    try {
      const socket = connect({ host: "127.0.0.1", port: other.address.port });
      socket.on("error", () => undefined);
      socket.write(requestText("[", "Content-Type: application/json", "Content-Length: 100"));
      await once(socket, "ready");
      socket.destroy();
      await expect.poll(() => other.records.length).toBe(1);
      expect(other.records).toMatchObject([{ status: 400, code: "http_malformed" }]);
      expect(other.records[0]).not.toHaveProperty("error");
      expect((await fetch(`${other.address.url}/healthz`)).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  test("does not appear in the log", () => {
    expect(JSON.stringify(host().records)).not.toMatch(/Example Oil|entity_info/);
  });
});
