import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Problem } from "../../../src/host/problems/problem.ts";
import { ENTITY } from "../entities.ts";
import { answersIn, exchangeBytes, HEADER_LINES, HEADERS, type Hosted, hosted, type RawAnswer } from "../hosting.ts";

/** Reading of request bodies, tested on the alignment route. */
const PATH = "/api/v1/temperature-alignment-projections";
const JSON_TYPE = { "Content-Type": "application/json" };

let host: Hosted;
beforeAll(async () => {
  host = await hosted();
});
afterAll(async () => {
  await host.close();
});

const post = (body: string | Uint8Array<ArrayBuffer>, target = PATH, headers: Record<string, string> = JSON_TYPE) =>
  host.ask(target, { method: "POST", body, headers });

/** Returns a request as text; with `Connection: close` its response ends the connection. */
const bytesOf = (body: string, ...fields: string[]): string =>
  [`POST ${PATH} HTTP/1.1`, "Host: h", ...HEADER_LINES, ...fields, "", body].join("\r\n");

async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const problem = (await response.json()) as Problem;
  expect(problem.status).toBe(response.status);
  expect(problem.request_id).toBe(response.headers.get("x-request-id"));
  return problem;
}

function onlyProblem(text: string): RawAnswer & { readonly problem: Problem } {
  const answers = answersIn(text);
  expect(answers).toHaveLength(1);
  const [answer] = answers as [RawAnswer];
  return { ...answer, problem: JSON.parse(answer.body) as Problem };
}

describe("a body that is not parsed", () => {
  test.each([
    ["no content type", {}],
    ["text", { "Content-Type": "text/plain" }],
    ["a form", { "Content-Type": "application/x-www-form-urlencoded" }],
    ["another character set", { "Content-Type": "application/json; charset=latin1" }],
    ["another JSON type", { "Content-Type": "application/ld+json" }],
    ["a content coding", { ...JSON_TYPE, "Content-Encoding": "gzip" }],
  ])("because of %s: 415", async (_what, headers: Record<string, string>) => {
    const response = await post(Buffer.from(JSON.stringify([ENTITY])), PATH, headers);
    expect(await problemOf(response)).toMatchObject({ status: 415, code: "content_type_unsupported" });
  });

  test("because of two content types: 415", async () => {
    const text = bytesOf("[]", "Content-Type: application/json", "Content-Type: application/json", "Content-Length: 2");
    const { status, headers, problem } = onlyProblem(await exchangeBytes(host.address.port, text));
    expect([status, problem.code, headers.get("connection")]).toStrictEqual([415, "content_type_unsupported", "close"]);
  });

  test("is rejected without 100 Continue", async () => {
    const head = bytesOf("", "Content-Type: text/plain", "Content-Length: 2", "Expect: 100-continue");
    expect(onlyProblem(await exchangeBytes(host.address.port, head)).status).toBe(415);
  });

  test.each([
    ["declared", false],
    ["chunked", true],
  ])("because it is too large, %s: 413 arrives while the body is still being sent", async (_what, isChunked) => {
    const small = await hosted({ limits: { bodySizeBytes: 1 << 20 } });
    try {
      const request = httpRequest(`${small.address.url}${PATH}`, {
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

  test("is received to its end before the connection closes, since a reset could overtake the response", async () => {
    const small = await hosted({ limits: { bodySizeBytes: 10 } });
    try {
      const socket = connect({ host: "127.0.0.1", port: small.address.port, allowHalfOpen: true });
      const ended = once(socket, "end");
      let isEnded = false;
      socket.on("end", () => (isEnded = true));
      socket.write(bytesOf("[", "Content-Type: application/json", "Content-Length: 11"));
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(answersIn(answer.toString("latin1"))).toMatchObject([{ status: 413 }]);
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
    const small = await hosted({ limits: { bodySizeBytes: body.length } });
    try {
      const ask = async (text: string): Promise<number> => {
        const response = await small.ask(PATH, { method: "POST", body: text, headers: JSON_TYPE });
        await response.text();
        return response.status;
      };
      expect([await ask(body), await ask(`${body} `)]).toStrictEqual([200, 413]);
    } finally {
      await small.close();
    }
  });
});

describe("a body that cannot be parsed", () => {
  test.each([
    ["empty", "", 1, 1],
    ["truncated", '[{"entity_info":\n{"na', 2, 2],
    ["a duplicate key", '[{"data": [],\n "data": []}]', 2, 2],
    ["too deep", "[".repeat(17), 1, 17],
    ["an infinite number", "[1e999]", 1, 2],
    ["NaN", "[NaN]", 1, 2],
    ["bytes that are not UTF-8", Uint8Array.of(0x5b, 0x22, 0xfc, 0x22, 0x5d), 1, 3],
  ])("%s: 400 json_malformed with line and column", async (_what, body, line, column) => {
    const problem = await problemOf(await post(body));
    expect(problem).toMatchObject({ status: 400, code: "json_malformed", line, column });
    expect(problem.detail).toContain(`Line ${line}, column ${column}: `);
  });

  test("incomplete: 408 request_timeout", async () => {
    const impatient = await hosted({ timeouts: { headersTimeoutMs: 50, requestTimeoutMs: 100, checkEveryMs: 20 } });
    try {
      const text = bytesOf("[", "Content-Type: application/json", "Content-Length: 100");
      const { status, headers, problem } = onlyProblem(await exchangeBytes(impatient.address.port, text));
      expect([status, problem.code, problem.retryable]).toStrictEqual([408, "request_timeout", true]);
      expect(headers.get("x-request-id")).toBe(problem.request_id);
      expect(impatient.records).toMatchObject([{ status: 408, code: "request_timeout", route: PATH }]);
    } finally {
      await impatient.close();
    }
  });

  test("invalid chunked encoding: one 400 http_malformed", async () => {
    const text = bytesOf("zz\r\n", "Content-Type: application/json", "Transfer-Encoding: chunked");
    const { status, problem } = onlyProblem(await exchangeBytes(host.address.port, text));
    expect([status, problem.code]).toStrictEqual([400, "http_malformed"]);
  });

  test("is not logged as an internal error if the client disconnects", async () => {
    const other = await hosted();
    try {
      const socket = connect({ host: "127.0.0.1", port: other.address.port });
      socket.on("error", () => undefined);
      socket.write(bytesOf("[", "Content-Type: application/json", "Content-Length: 100"));
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
    expect(JSON.stringify(host.records)).not.toMatch(/Example Oil|entity_info/);
  });
});
