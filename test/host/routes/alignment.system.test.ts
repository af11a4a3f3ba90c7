import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { describe, expect, test } from "vitest";
import { alignTemperature } from "../../../src/alignment/alignTemperature.ts";
import { roundTemperatures } from "../../../src/alignment/answer.ts";
import { ENTITY } from "../entities.ts";
import { parseResponses, exchangeBytes, HEADERS, ALIGNMENT_PATH } from "../testHost.ts";
import { alignmentRoute, requestText, JSON_TYPE, problemOf } from "./alignmentRoute.ts";

const { host, post } = alignmentRoute();

describe("valid entities", () => {
  test.each(["", "/latest"])("return results in the order of the entities under '%s/api/v1'", async (prefix) => {
    const other = { ...ENTITY, entity_info: { name: "Other", asset_type: "equity" as const } };
    const response = await post(JSON.stringify([ENTITY, other]), `${prefix}${ALIGNMENT_PATH}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-benchmark")).toBe("ngfs-phase5-message-r12/2");
    const { identifier: _, ...echo } = ENTITY.entity_info;
    const answer: unknown = await response.json();
    expect(answer).toStrictEqual(roundTemperatures(await alignTemperature([ENTITY, other])));
    expect(answer).toMatchObject({
      results: [
        { entity_info: echo, data: [{ year: 2050, temperature_alignment: 2.09 }, { year: 2030 }] },
        { entity_info: other.entity_info },
      ],
    });
    expect(answer).not.toHaveProperty("results.0.entity_info.identifier");
    expect(answer).not.toHaveProperty("results.0.data.0.detail");
  });

  test.each(["intensity", "emissions", "cumulative"] as const)("return detail on the basis %s", async (basis) => {
    const response = await post(JSON.stringify([ENTITY]), `${ALIGNMENT_PATH}?detail=true&basis=${basis}`);
    const answer = (await response.json()) as Awaited<ReturnType<typeof alignTemperature>>;
    const exact = await alignTemperature([ENTITY], { detail: true, basis });
    expect(answer).toStrictEqual(roundTemperatures(exact));
    const [year] = answer.results[0]?.data ?? [];
    const [exactYear] = exact.results[0]?.data ?? [];
    expect(year?.detail?.[`temperature_${basis}`]).toBe(exactYear?.temperature_alignment);
    expect(year?.temperature_alignment).toBe(Math.round(100 * (exactYear?.temperature_alignment ?? NaN)) / 100);
    expect(year?.temperature_alignment).not.toBe(exactYear?.temperature_alignment);
  });

  test("return the members and scenarios that the query asks for", async () => {
    const queryText =
      "include=overall,budget&budget_scenario=below_2c&convergence=0.5&benchmark=ngfs-phase5-message-r12/2";
    const response = await post(JSON.stringify([ENTITY]), `${ALIGNMENT_PATH}?${queryText}`);
    const options = { include: ["overall", "budget"], budgetScenario: "below_2c", convergence: 0.5 } as const;
    const answer: unknown = await response.json();
    expect(answer).toStrictEqual(roundTemperatures(await alignTemperature([ENTITY], options)));
    expect(answer).toMatchObject({
      results: [{ overall: { years: 2 }, data: [{ budget: { scenario: "Below 2°C" } }, {}] }],
    });
  });

  test("have budgets if the query names their scenario", async () => {
    const response = await post(JSON.stringify([ENTITY]), `${ALIGNMENT_PATH}?budget_scenario=ndcs`);
    const answer: unknown = await response.json();
    expect(answer).toStrictEqual(roundTemperatures(await alignTemperature([ENTITY], { budgetScenario: "ndcs" })));
    expect(answer).toHaveProperty("results.0.data.0.budget.scenario", "Nationally Determined Contributions (NDCs)");
  });

  test("may have unknown members and omit optional ones", async () => {
    const entity = {
      entity_info: { name: "N", asset_type: "equity", lei: "5493" },
      data: [{ year: 2024, emissions: { scope1: 0, scope4: 1 }, note: "x" }],
      projected_emissions: [{ year: 2030, emissions: { scope1: 5 }, target: true }],
    };
    const response = await post(JSON.stringify([entity]));
    expect(await response.json()).toStrictEqual({
      method: "alignment/2",
      benchmark: "ngfs-phase5-message-r12/2",
      results: [
        {
          entity_info: { name: "N", asset_type: "equity" },
          flags: ["unknown_industry", "scope3_absent"],
          data: [{ year: 2030, temperature_alignment: null, reason: "zero_baseline", flags: ["zero_baseline"] }],
        },
      ],
    });
  });

  test.each(["application/json", "Application/JSON; charset=UTF-8", 'application/json ;charset="utf-8"'])(
    "are accepted with the content type %s",
    async (contentType) => {
      const response = await post(JSON.stringify([ENTITY]), ALIGNMENT_PATH, { "Content-Type": contentType });
      expect([response.status, (await response.text()).length > 0]).toStrictEqual([200, true]);
    },
  );

  test("are accepted in chunked encoding", async () => {
    const body = JSON.stringify([ENTITY]);
    const cut = 100;
    const chunked = [body.slice(0, cut), body.slice(cut), ""].map(
      (part) => `${part.length.toString(16)}\r\n${part}\r\n`,
    );
    const send = async (content: string, framing: string): Promise<ReturnType<typeof parseResponses>> => {
      const text = requestText(content, "Content-Type: application/json", framing, "Connection: close");
      return parseResponses(await exchangeBytes(host().address.port, text));
    };
    const [inChunks] = await send(chunked.join(""), "Transfer-Encoding: chunked");
    const [whole] = await send(body, `Content-Length: ${body.length}`);
    expect([inChunks?.status, inChunks?.body]).toStrictEqual([200, whole?.body]);
  });

  test("are requested with 100 Continue if the client expects it", async () => {
    const body = JSON.stringify([ENTITY]);
    const request = httpRequest(`${host().address.url}${ALIGNMENT_PATH}`, {
      method: "POST",
      headers: { ...HEADERS, ...JSON_TYPE, "Content-Length": body.length, Expect: "100-continue" },
    });
    request.flushHeaders();
    await once(request, "continue");
    request.end(body);
    const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
    expect(response.statusCode).toBe(200);
    response.resume();
    await once(response, "end");
  });
});

describe("validation of the body", () => {
  const baseline = ENTITY.data[0];
  const withInfo = (info: object): object => ({ ...ENTITY, entity_info: { ...ENTITY.entity_info, ...info } });
  const withYear = (projection: object): object => ({ ...ENTITY, projected_emissions: [projection] });
  const withYears = (...records: object[]): object => ({
    ...ENTITY,
    projected_emissions: records.map((members) => ({ year: 2030, emissions, ...members })),
  });
  const emissions = { scope1: 1 };

  test.each([
    ["an object instead of a list", {}, 400, [["", "wrong_type"]]],
    ["an empty list", [], 400, [["", "empty"]]],
    ["no baseline", [{ ...ENTITY, data: [] }], 400, [["/0/data", "empty"]]],
    ["two baselines", [ENTITY, { ...ENTITY, data: [baseline, baseline] }], 400, [["/1/data", "too_many"]]],
    [
      "a projection of the baseline year",
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
    ["a country of null", [withInfo({ country: null })], 400, [["/0/entity_info/country", "wrong_type"]]],
    [
      "a number as text",
      [withYear({ year: 2030, emissions: { scope1: "1" } })],
      400,
      [["/0/projected_emissions/0/emissions/scope1", "wrong_type"]],
    ],
    ['a year of "NaN"', [withYear({ year: "NaN", emissions })], 400, [["/0/projected_emissions/0/year", "wrong_type"]]],
    [
      "emissions out of range",
      [withYear({ year: 2030, emissions: { scope1: 1e16 } })],
      400,
      [["/0/projected_emissions/0/emissions/scope1", "out_of_range"]],
    ],
    [
      "inconsistent labels",
      [withYears({ label: "a", probability: 0.5 }, { label: "b" }, {})],
      400,
      [
        ["/0/projected_emissions/2/label", "missing"],
        ["/0/projected_emissions/1/probability", "missing"],
      ],
    ],
    [
      "a currency and a price year",
      [{ ...ENTITY, data: [{ ...baseline, financials: { currency: "usd", price_year: 2014 } }] }],
      400,
      [
        ["/0/data/0/financials/currency", "malformed"],
        ["/0/data/0/financials/price_year", "out_of_range"],
      ],
    ],
    [
      "a projected revenue",
      [withYear({ year: 2030, emissions, financials: { revenue: 1e16 } })],
      400,
      [["/0/projected_emissions/0/financials/revenue", "out_of_range"]],
    ],
    ["an unknown member", [{ ...ENTITY, dta: [] }], 400, [["/0/dta", "unknown"]]],
    [
      "several errors",
      [withInfo({ asset_type: "bond", name: 5 }), withYear({ year: 2200.5, emissions: [] })],
      400,
      [
        ["/0/entity_info/name", "wrong_type"],
        ["/0/entity_info/asset_type", "asset_type_unsupported"],
        ["/1/projected_emissions/0/year", "wrong_type"],
        ["/1/projected_emissions/0/emissions", "wrong_type"],
      ],
    ],
  ] as const)("rejects %s", async (_what, entities, status, expectedErrors) => {
    const problem = await problemOf(await post(JSON.stringify(entities)));
    expect([problem.status, problem.code]).toStrictEqual([
      status,
      status === 422 ? "asset_type_unsupported" : "invalid_request",
    ]);
    expect(problem.errors?.map(({ pointer, code }) => [pointer, code])).toStrictEqual(expectedErrors);
  });

  test("lists at most 100 errors", async () => {
    const problem = await problemOf(await post(JSON.stringify(Array.from({ length: 101 }, () => ({})))));
    expect(problem.errors).toHaveLength(100);
  });

  const bodyWith = (entityCount: number, yearCount: number): string => {
    const projected_emissions = Array.from({ length: yearCount }, (_, i) => ({ year: 2025 + (i % 100), emissions }));
    const entity = JSON.stringify({
      entity_info: { name: "N", asset_type: "equity" },
      data: [{ year: 2024, emissions }],
      projected_emissions,
    });
    return `[${Array.from({ length: entityCount }, () => entity).join(",")}]`;
  };

  test.each([
    ["5,001 entities", bodyWith(5001, 1), 5001, 5000],
    ["100,001 temperatures", `${bodyWith(1, 1).slice(0, -1)},${bodyWith(1000, 100).slice(1)}`, 100_001, 100_000],
    [
      "10,001 temperatures with detail",
      `${bodyWith(1, 1).slice(0, -1)},${bodyWith(100, 100).slice(1)}`,
      10_001,
      10_000,
    ],
  ])("rejects %s", async (what, body, requested, limit) => {
    const problem = await problemOf(
      await post(body, what.endsWith("detail") ? `${ALIGNMENT_PATH}?detail=true` : ALIGNMENT_PATH),
    );
    expect(problem).toMatchObject({ status: 400, code: "too_many_values", requested, limit });
  });

  test("accepts 5,000 entities and 100,000 temperatures", async () => {
    const response = await post(bodyWith(5000, 20));
    const { results } = (await response.json()) as { results: { data: unknown[] }[] };
    expect([response.status, results.length, results.at(-1)?.data.length]).toStrictEqual([200, 5000, 20]);
  });
});

describe("validation of the query", () => {
  test.each([
    ["detail=1", "detail", "wrong_type"],
    ["basis=carbon", "basis", "not_allowed"],
    ["basis=", "basis", "not_allowed"],
    ["bases=intensity", "bases", "unknown"],
    ["scope3Weight=0", "scope3Weight", "unknown"],
    ["basis=intensity&basis=emissions", "basis", "repeated"],
    ["detail=%ff", "detail", "malformed"],
    ["include=overal", "include", "not_allowed"],
    ["include=", "include", "empty"],
    ["include=overall,overall", "include", "duplicate"],
    ["budget_scenario=1.5", "budget_scenario", "not_allowed"],
    ["convergence=0", "convergence", "out_of_range"],
    ["convergence=1.01", "convergence", "out_of_range"],
    ["convergence=half", "convergence", "wrong_type"],
    ["benchmark=ngfs-phase5-message-r12/1", "benchmark", "not_allowed"],
  ])("rejects %s", async (queryText, parameter, code) => {
    const problem = await problemOf(await post(JSON.stringify([ENTITY]), `${ALIGNMENT_PATH}?${queryText}`));
    expect(problem).toMatchObject({ status: 400, code: "invalid_request", errors: [{ parameter, code }] });
    expect(problem.errors).toHaveLength(1);
  });

  test("reports errors of the query and of the body together", async () => {
    const problem = await problemOf(await post("[]", `${ALIGNMENT_PATH}?detail=yes`));
    expect(problem.detail).toBe('2 errors in the request. The first: detail must be true or false (got "yes").');
    expect(problem.errors).toMatchObject([{ parameter: "detail" }, { pointer: "", code: "empty" }]);
  });
});

describe("methods", () => {
  test.each(["GET", "HEAD", "PUT", "DELETE"])("%s returns 405 with Allow: POST", async (method) => {
    const response = await host().ask(ALIGNMENT_PATH, { method });
    await response.text();
    expect([response.status, response.headers.get("allow")]).toStrictEqual([405, "POST, OPTIONS"]);
  });
});
