import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { roundTemperatures } from "../../src/alignment/answer.ts";
import type { Problem } from "../../src/host/problems/problem.ts";
import { ENTITY } from "./entities.ts";
import { answersIn, exchangeBytes, HEADER_LINES, HEADERS, type Hosted, hosted, type RawAnswer } from "./hosting.ts";

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

/** A request as bytes; `Connection: close` makes its answer the last. */
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

describe("right entities", () => {
  test.each(["", "/latest"])("are answered below '%s/api/v1', in the order submitted", async (prefix) => {
    const other = { ...ENTITY, entity_info: { name: "Other", asset_type: "equity" as const } };
    const response = await post(JSON.stringify([ENTITY, other]), `${prefix}${PATH}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-benchmark")).toBe("ngfs-phase5-message-r12/1");
    const { identifier: _, ...echo } = ENTITY.entity_info;
    const answer: unknown = await response.json();
    expect(answer).toStrictEqual(roundTemperatures(await alignTemperature([ENTITY, other])));
    expect(answer).toMatchObject({
      results: [
        { entity_info: echo, data: [{ year: 2050, temperature_alignment: 2.06 }, { year: 2030 }] },
        { entity_info: other.entity_info },
      ],
    });
    expect(answer).not.toHaveProperty("results.0.entity_info.identifier");
    expect(answer).not.toHaveProperty("results.0.data.0.detail");
  });

  test.each(["intensity", "emissions", "cumulative"] as const)("have their detail, on the basis %s", async (basis) => {
    const response = await post(JSON.stringify([ENTITY]), `${PATH}?detail=true&basis=${basis}`);
    const answer = (await response.json()) as Awaited<ReturnType<typeof alignTemperature>>;
    const exact = await alignTemperature([ENTITY], { detail: true, basis });
    expect(answer).toStrictEqual(roundTemperatures(exact));
    const [year] = answer.results[0]?.data ?? [];
    const [exactYear] = exact.results[0]?.data ?? [];
    expect(year?.detail?.[`temperature_${basis}`]).toBe(exactYear?.temperature_alignment);
    expect(year?.temperature_alignment).toBe(Math.round(100 * (exactYear?.temperature_alignment ?? NaN)) / 100);
    expect(year?.temperature_alignment).not.toBe(exactYear?.temperature_alignment);
  });

  test("may hold more than we know, and lack what we can do without", async () => {
    const entity = {
      entity_info: { name: "N", asset_type: "equity", lei: "5493" },
      data: [{ year: 2024, emissions: { scope1: 0, scope4: 1 }, note: "x" }],
      projected_emissions: [{ year: 2030, emissions: { scope1: 5 }, target: true }],
    };
    const response = await post(JSON.stringify([entity]));
    expect(await response.json()).toStrictEqual({
      results: [
        {
          entity_info: { name: "N", asset_type: "equity" },
          data: [{ year: 2030, temperature_alignment: null, reason: "zero_baseline" }],
        },
      ],
    });
  });

  test.each(["application/json", "Application/JSON; charset=UTF-8", 'application/json ;charset="utf-8"'])(
    "may come as %s",
    async (contentType) => {
      const response = await post(JSON.stringify([ENTITY]), PATH, { "Content-Type": contentType });
      expect([response.status, (await response.text()).length > 0]).toStrictEqual([200, true]);
    },
  );

  test("may come in pieces, several on a connection", async () => {
    const body = JSON.stringify([ENTITY]);
    const cut = 100;
    const chunked = [body.slice(0, cut), body.slice(cut), ""].map(
      (part) => `${part.length.toString(16)}\r\n${part}\r\n`,
    );
    const [one, other] = answersIn(
      await exchangeBytes(
        host.address.port,
        bytesOf(chunked.join(""), "Content-Type: application/json", "Transfer-Encoding: chunked") +
          bytesOf(body, "Content-Type: application/json", `Content-Length: ${body.length}`, "Connection: close"),
      ),
    );
    expect([one?.status, one?.body]).toStrictEqual([200, other?.body]);
    expect(one?.headers.get("connection")).not.toBe("close");
  });

  test("are asked for when their sender waits to be asked", async () => {
    const body = JSON.stringify([ENTITY]);
    const asking = httpRequest(`${host.address.url}${PATH}`, {
      method: "POST",
      headers: { ...HEADERS, ...JSON_TYPE, "Content-Length": body.length, Expect: "100-continue" },
    });
    asking.flushHeaders();
    await once(asking, "continue");
    asking.end(body);
    const [response] = (await once(asking, "response")) as [import("node:http").IncomingMessage];
    expect(response.statusCode).toBe(200);
    response.resume();
    await once(response, "end");
  });
});

describe("what the contract refuses in a body", () => {
  const baseline = ENTITY.data[0];
  const withInfo = (info: object): object => ({ ...ENTITY, entity_info: { ...ENTITY.entity_info, ...info } });
  const withYear = (projection: object): object => ({ ...ENTITY, projected_emissions: [projection] });
  const emissions = { scope1: 1 };

  test.each([
    ["no list", {}, 400, [["", "wrong_type"]]],
    ["an empty list", [], 400, [["", "empty"]]],
    ["no baseline", [{ ...ENTITY, data: [] }], 400, [["/0/data", "empty"]]],
    ["two baselines", [ENTITY, { ...ENTITY, data: [baseline, baseline] }], 400, [["/1/data", "too_many"]]],
    [
      "the baseline year again",
      [withYear({ year: 2023, emissions })],
      400,
      [["/0/projected_emissions/0/year", "out_of_range"]],
    ],
    ["no years", [{ ...ENTITY, projected_emissions: [] }], 400, [["/0/projected_emissions", "empty"]]],
    ["no scope", [withYear({ year: 2030, emissions: {} })], 400, [["/0/projected_emissions/0/emissions", "missing"]]],
    [
      "another asset type",
      [withInfo({ asset_type: "bond" })],
      422,
      [["/0/entity_info/asset_type", "asset_type_unsupported"]],
    ],
    ["no name", [withInfo({ name: undefined })], 400, [["/0/entity_info/name", "missing"]]],
    ["null for a name", [withInfo({ country: null })], 400, [["/0/entity_info/country", "wrong_type"]]],
    [
      "text for a number",
      [withYear({ year: 2030, emissions: { scope1: "1" } })],
      400,
      [["/0/projected_emissions/0/emissions/scope1", "wrong_type"]],
    ],
    ["the text NaN", [withYear({ year: "NaN", emissions })], 400, [["/0/projected_emissions/0/year", "wrong_type"]]],
    [
      "more than can be",
      [withYear({ year: 2030, emissions: { scope1: 1e16 } })],
      400,
      [["/0/projected_emissions/0/emissions/scope1", "out_of_range"]],
    ],
    ["an unknown member", [{ ...ENTITY, dta: [] }], 400, [["/0/dta", "unknown"]]],
    [
      "several things",
      [withInfo({ asset_type: "bond", name: 5 }), withYear({ year: 2200.5, emissions: [] })],
      400,
      [
        ["/0/entity_info/name", "wrong_type"],
        ["/0/entity_info/asset_type", "asset_type_unsupported"],
        ["/1/projected_emissions/0/year", "wrong_type"],
        ["/1/projected_emissions/0/emissions", "wrong_type"],
      ],
    ],
  ] as const)("%s", async (_what, entities, status, faults) => {
    const problem = await problemOf(await post(JSON.stringify(entities)));
    expect([problem.status, problem.code]).toStrictEqual([
      status,
      status === 422 ? "asset_type_unsupported" : "invalid_request",
    ]);
    expect(problem.errors?.map(({ pointer, code }) => [pointer, code])).toStrictEqual(faults);
  });

  test("at most 100 faults are listed", async () => {
    const problem = await problemOf(await post(JSON.stringify(Array.from({ length: 101 }, () => ({})))));
    expect(problem.errors).toHaveLength(100);
  });

  const many = (entityCount: number, yearCount: number): string => {
    const projected_emissions = Array.from({ length: yearCount }, (_, i) => ({ year: 2025 + (i % 100), emissions }));
    const entity = JSON.stringify({
      entity_info: { name: "N", asset_type: "equity" },
      data: [{ year: 2024, emissions }],
      projected_emissions,
    });
    return `[${Array.from({ length: entityCount }, () => entity).join(",")}]`;
  };

  test.each([
    ["5,001 entities", many(5001, 1), 5001, 5000],
    ["100,001 temperatures", `${many(1, 1).slice(0, -1)},${many(1000, 100).slice(1)}`, 100_001, 100_000],
    ["10,001 temperatures with detail", `${many(1, 1).slice(0, -1)},${many(100, 100).slice(1)}`, 10_001, 10_000],
  ])("%s", async (what, body, requested, limit) => {
    const problem = await problemOf(await post(body, what.endsWith("detail") ? `${PATH}?detail=true` : PATH));
    expect(problem).toMatchObject({ status: 400, code: "too_many_values", requested, limit });
  });

  test("5,000 entities and 100,000 temperatures are answered", async () => {
    const response = await post(many(5000, 20));
    const { results } = (await response.json()) as { results: { data: unknown[] }[] };
    expect([response.status, results.length, results.at(-1)?.data.length]).toStrictEqual([200, 5000, 20]);
  });
});

describe("what the contract refuses in the query", () => {
  test.each([
    ["detail=1", "detail", "wrong_type"],
    ["basis=carbon", "basis", "not_allowed"],
    ["basis=", "basis", "not_allowed"],
    ["bases=intensity", "bases", "unknown"],
    ["scope3Weight=0", "scope3Weight", "unknown"],
    ["basis=intensity&basis=emissions", "basis", "repeated"],
    ["detail=%ff", "detail", "malformed"],
  ])("%s", async (queryText, parameter, code) => {
    const problem = await problemOf(await post(JSON.stringify([ENTITY]), `${PATH}?${queryText}`));
    expect(problem).toMatchObject({ status: 400, code: "invalid_request", errors: [{ parameter, code }] });
    expect(problem.errors).toHaveLength(1);
  });

  test("is told together with what is wrong in the body", async () => {
    const problem = await problemOf(await post("[]", `${PATH}?detail=yes`));
    expect(problem.detail).toBe(
      '2 things are wrong with the request. The first: detail must be true or false, not "yes".',
    );
    expect(problem.errors).toMatchObject([{ parameter: "detail" }, { pointer: "", code: "empty" }]);
  });
});

describe("a body that is not read", () => {
  test.each([
    ["no content type", {}],
    ["text", { "Content-Type": "text/plain" }],
    ["a form", { "Content-Type": "application/x-www-form-urlencoded" }],
    ["another character set", { "Content-Type": "application/json; charset=latin1" }],
    ["another JSON", { "Content-Type": "application/ld+json" }],
    ["a coding", { ...JSON_TYPE, "Content-Encoding": "gzip" }],
  ])("because of %s: 415", async (_what, headers: Record<string, string>) => {
    const response = await post(Buffer.from(JSON.stringify([ENTITY])), PATH, headers);
    expect(await problemOf(response)).toMatchObject({ status: 415, code: "content_type_unsupported" });
  });

  test("because of two content types: 415", async () => {
    const text = bytesOf("[]", "Content-Type: application/json", "Content-Type: application/json", "Content-Length: 2");
    const { status, headers, problem } = onlyProblem(await exchangeBytes(host.address.port, text));
    expect([status, problem.code, headers.get("connection")]).toStrictEqual([415, "content_type_unsupported", "close"]);
  });

  test("is not asked for either", async () => {
    const head = bytesOf("", "Content-Type: text/plain", "Content-Length: 2", "Expect: 100-continue");
    expect(onlyProblem(await exchangeBytes(host.address.port, head)).status).toBe(415);
  });

  test.each([
    ["declared", false],
    ["in pieces", true],
  ])("because it is too large, %s: 413 that arrives while the body is still sent", async (_what, isChunked) => {
    const small = await hosted({ limits: { bodySizeBytes: 1 << 20 } });
    try {
      const asking = httpRequest(`${small.address.url}${PATH}`, {
        method: "POST",
        headers: {
          ...HEADERS,
          ...JSON_TYPE,
          ...(isChunked ? { "Transfer-Encoding": "chunked" } : { "Content-Length": 32 << 20 }),
        },
      });
      asking.on("error", () => undefined);
      const answered = once(asking, "response");
      const piece = Buffer.alloc(1 << 20, " ");
      for (let i = 0; i < 32; i++) asking.write(piece);
      const [response] = (await answered) as [import("node:http").IncomingMessage];
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      const problem = JSON.parse(Buffer.concat(parts).toString()) as Problem;
      expect(problem).toMatchObject({ status: 413, code: "body_too_large" });
      expect(problem.detail).toContain("1048576 bytes");
      asking.destroy();
    } finally {
      await small.close();
    }
  });

  test("is let in to its end before the connection closes, since a reset could overtake the answer", async () => {
    const tight = await hosted({ limits: { bodySizeBytes: 10 } });
    try {
      const socket = connect({ host: "127.0.0.1", port: tight.address.port, allowHalfOpen: true });
      const ended = once(socket, "end");
      let isEnded = false;
      socket.on("end", () => (isEnded = true));
      socket.write(bytesOf("[", "Content-Type: application/json", "Content-Length: 11"));
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(answersIn(answer.toString("latin1"))).toMatchObject([{ status: 413 }]);
      for (const piece of ["1,", "2,", "3,", "4,"]) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        expect(isEnded).toBe(false);
        socket.write(piece);
      }
      socket.write("5]");
      await ended;
      socket.end();
    } finally {
      await tight.close();
    }
  });

  test("exactly as large as allowed is read", async () => {
    const body = JSON.stringify([ENTITY]);
    const tight = await hosted({ limits: { bodySizeBytes: body.length } });
    try {
      const ask = async (text: string): Promise<number> => {
        const response = await tight.ask(PATH, { method: "POST", body: text, headers: JSON_TYPE });
        await response.text();
        return response.status;
      };
      expect([await ask(body), await ask(`${body} `)]).toStrictEqual([200, 413]);
    } finally {
      await tight.close();
    }
  });
});

describe("a body that cannot be read", () => {
  test.each([
    ["nothing", "", 1, 1],
    ["half of it", '[{"entity_info":\n{"na', 2, 2],
    ["a key twice", '[{"data": [],\n "data": []}]', 2, 2],
    ["too deep", "[".repeat(17), 1, 17],
    ["a number without end", "[1e999]", 1, 2],
    ["NaN", "[NaN]", 1, 2],
    ["bytes that are not UTF-8", Uint8Array.of(0x5b, 0x22, 0xfc, 0x22, 0x5d), 1, 3],
  ])("%s: 400 json_malformed with line and column", async (_what, body, line, column) => {
    const problem = await problemOf(await post(body));
    expect(problem).toMatchObject({ status: 400, code: "json_malformed", line, column });
    expect(problem.detail).toContain(`Line ${line}, column ${column}: `);
  });

  test("one that does not come to its end: 408 request_timeout", async () => {
    const hasty = await hosted({ patience: { headersTimeoutMs: 50, requestTimeoutMs: 100, checkEveryMs: 20 } });
    try {
      const text = bytesOf("[", "Content-Type: application/json", "Content-Length: 100");
      const { status, headers, problem } = onlyProblem(await exchangeBytes(hasty.address.port, text));
      expect([status, problem.code, problem.retryable]).toStrictEqual([408, "request_timeout", true]);
      expect(headers.get("x-request-id")).toBe(problem.request_id);
      expect(hasty.records).toMatchObject([{ status: 408, code: "request_timeout", route: PATH }]);
    } finally {
      await hasty.close();
    }
  });

  test("one in pieces that are none: 400 http_malformed, once", async () => {
    const text = bytesOf("zz\r\n", "Content-Type: application/json", "Transfer-Encoding: chunked");
    const { status, problem } = onlyProblem(await exchangeBytes(host.address.port, text));
    expect([status, problem.code]).toStrictEqual([400, "http_malformed"]);
  });

  test("one whose sender goes away is no fault of ours", async () => {
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

  test("is no reason to tell of what it held", () => {
    expect(JSON.stringify(host.records)).not.toMatch(/Example Oil|entity_info/);
  });
});

describe("methods", () => {
  test.each(["GET", "HEAD", "PUT", "DELETE"])("%s: 405 with Allow: POST", async (method) => {
    const response = await host.ask(PATH, { method });
    await response.text();
    expect([response.status, response.headers.get("allow")]).toStrictEqual([405, "POST, OPTIONS"]);
  });
});
