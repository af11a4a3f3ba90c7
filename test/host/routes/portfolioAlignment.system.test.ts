/** POST /api/v1/portfolio-alignment over HTTP, on the event loop and on worker threads. */
import { describe, expect, test } from "vitest";
import type { Entity, Holding, PortfolioAnswer, PortfolioOptions } from "../../../src/contract/wireTypes.ts";
import { portfolioAlignment } from "../../../src/host/routes/portfolioAlignment.ts";
import { alignPortfolio, roundPortfolio } from "../../../src/holdings/alignPortfolio.ts";
import { differencesOf } from "../../oracle/alignment2/closeTo.ts";
import { describeWithSharedMethod, sharedCases } from "../../oracle/alignment2/sharedMethod.ts";
import { answerOfCase, COMPARISON, type PortfolioCase, requestOfCase } from "../../holdings/portfolioCases.ts";
import { randomPortfolio, randomPortfolioOptions } from "../../holdings/randomPortfolios.ts";
import { bulkFixture, textOf } from "../bulk/bulkFixture.ts";
import { ENTITY } from "../entities.ts";
import { LIMITS } from "../routeCaller.ts";
import { alignmentRoute, problemOf } from "./alignmentRoute.ts";

const PATH = "/api/v1/portfolio-alignment";
/** Half of the last decimal of a temperature, and rounding errors. */
const WIRE_TOLERANCE = 0.005 + 1e-9;
const { host, post } = alignmentRoute();

const postPortfolio = (holdings: readonly unknown[], options?: unknown, path = PATH): Promise<Response> =>
  post(JSON.stringify({ holdings, options }), path);

const HOLDING: Holding = { id: "E", value: 100, evic: 1000, entity: ENTITY };
const READY: Holding = { id: "R", value: 300, temperature: { s1s2s3: 2 } };

const { cases } = sharedCases("portfolio") as { readonly cases: readonly PortfolioCase[] };

describeWithSharedMethod("known answers of portfolios over HTTP", () => {
  test.each(cases)("agree: $name", async (known) => {
    const { holdings, options } = requestOfCase(known);
    const response = await postPortfolio(holdings, options);
    expect(response.status).toBe(200);
    const answer = (await response.json()) as PortfolioAnswer;
    const comparison = { ...COMPARISON, tolerance: WIRE_TOLERANCE };
    expect(differencesOf(known.expected, answerOfCase(known, answer), comparison)).toEqual([]);
    expect(answer).toStrictEqual(roundPortfolio(await alignPortfolio(holdings, options)));
  });
});

describe("a portfolio", () => {
  test.each(["", "/latest"])(
    "is answered under '%s/api/v1', and its scored entity-years are metered",
    async (prefix) => {
      const holdings = [HOLDING, READY, { ...HOLDING, id: "F", issuer: "E" }];
      const response = await postPortfolio(holdings, undefined, `${prefix}${PATH}`);
      expect(response.status).toBe(200);
      expect(response.headers.get("x-usage-units")).toBe("2");
      expect(response.headers.get("x-benchmark")).toBe("ngfs-phase5-message-r12/2");
      expect(host().ledger.entries.at(-1)).toMatchObject({ meter: "alignment_values", units: 2 });
      expect(await response.json()).toStrictEqual(roundPortfolio(await alignPortfolio(holdings)));
    },
  );

  test("with an entity that cannot be scored is answered with the errors of the entity", async () => {
    const refused = { ...ENTITY, data: [] };
    const response = await postPortfolio([READY, { ...HOLDING, entity: refused }]);
    expect(response.headers.get("x-usage-units")).toBe("0");
    const { entities, results } = (await response.json()) as PortfolioAnswer;
    expect(results[0]?.uncovered).toEqual([{ id: "E", reason: "score_missing" }]);
    expect(entities).toMatchObject([
      { id: "E", error: { code: "invalid_request", errors: [{ pointer: "/holdings/1/entity/data", code: "empty" }] } },
    ]);
  });

  test("is rejected with all errors, and not metered", async () => {
    const before = host().ledger.entries.length;
    const holdings = [
      { ...READY, value: -1 },
      { id: "X", value: 1 },
      { ...READY, data_quality: { s3: 0 } },
    ];
    const response = await postPortfolio(holdings, { methods: ["WATT"], scopes: [] });
    expect(response.status).toBe(400);
    const { code, errors = [] } = await problemOf(response);
    expect(code).toBe("invalid_request");
    expect(new Set(errors.map(({ pointer }) => pointer))).toEqual(
      new Set([
        "/holdings/0/value",
        "/holdings/1",
        "/holdings/2/data_quality/s3",
        "/options/methods/0",
        "/options/scopes",
      ]),
    );
    expect(host().ledger.entries.length).toBe(before);
  });

  test("is rejected with query parameters", async () => {
    const problem = await problemOf(await postPortfolio([READY], undefined, `${PATH}?basis=emissions`));
    expect(problem).toMatchObject({ status: 400, errors: [{ parameter: "basis" }] });
  });

  test.each([
    ["entities", { entityCount: 1 }, 2, 1],
    ["projected years", { alignmentValueCount: 3 }, 4, 3],
  ])("with too many %s is rejected", (_, limits, requested, limit) => {
    const body = { holdings: [HOLDING, { ...HOLDING, id: "F" }] };
    const parse = (): unknown =>
      portfolioAlignment.parse({ queryText: "", path: {}, body, limits: { ...LIMITS, ...limits } });
    expect(parse).toThrow(expect.objectContaining({ code: "too_many_values", details: { requested, limit } }));
  });
});

describe("a long portfolio", () => {
  const entityOf = (i: number): Entity => ({
    ...ENTITY,
    projected_emissions:
      i % 50 === 0 ? [] : ENTITY.projected_emissions.map((each) => ({ ...each, year: each.year + (i % 5) })),
  });
  const lines = (count: number): readonly Holding[] =>
    randomPortfolio(3, { kind: "gaps", lineCount: count }).map(({ temperature, ...line }, i) =>
      i % 3 === 0 ? { ...line, entity: entityOf(i) } : { ...line, temperature: temperature ?? {} },
    );

  test.each([1, 30, 3000])("of %i lines has the same bytes in worker threads as on the event loop", async (count) => {
    const options: PortfolioOptions = { ...randomPortfolioOptions(5), methods: ["WATS", "TETS", "EOTS"] };
    const body = { holdings: lines(count), options };
    const request = portfolioAlignment.parse({ queryText: "", path: {}, body, limits: LIMITS });
    const expected = await portfolioAlignment.handle(request, {} as never);
    const answer = await bulkFixture().answer({ route: PATH, body });
    expect(textOf(answer)).toBe(expected.text);
    expect(answer.units).toBe(expected.units);
    expect(expected.text).toBe(JSON.stringify(roundPortfolio(await alignPortfolio(body.holdings, options))));
  });

  test("is computed by one worker in slices", async () => {
    const { answer, grants, admission } = bulkFixture();
    await answer({ route: PATH, body: { holdings: lines(3000), options: randomPortfolioOptions(2) } });
    expect(grants.length).toBeGreaterThan(4);
    expect(new Set(grants.map(({ kind, worker }) => `${kind} ${worker}`)).size).toBe(1);
    expect(admission.jobs.heldBytes).toBe(0);
  });
});
