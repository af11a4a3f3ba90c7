import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import {
  type AlignmentAnswer as ClientAlignmentAnswer,
  type Entity as ClientEntity,
  type HazardAnswer,
  type HazardQuery,
  IsothermClient,
  IsothermError,
  type Problem as ClientProblem,
} from "../../src/client/client.ts";
import { type AlignmentAnswer, alignTemperature, roundTemperatures } from "../../src/alignment/align.ts";
import type { Entity } from "../../src/alignment/entity.ts";
import type { HazardResult } from "../../src/hazard/answer.ts";
import { type HazardQueryInput, readHazardQuery } from "../../src/hazard/query.ts";
import type { Problem } from "../../src/host/problem.ts";
import { RIGHT, rightQueries } from "../hazard/queries.ts";
import { ENTITY } from "../host/entities.ts";
import { atlasOf, type Hosted, hosted, quarters } from "../host/hosting.ts";

const asked: unknown[] = [];
let host: Hosted;
beforeAll(async () => {
  const atlas = atlasOf((query) => {
    asked.push(query);
    return Promise.resolve(quarters(query));
  });
  host = await hosted({ atlas });
});
afterAll(async () => {
  await host.close();
});

// Held by the type check of the tests: a member that changes on one side alone does not compile.
test("its types are those of the engine", () => {
  expectTypeOf<HazardQuery>().toEqualTypeOf<HazardQueryInput>();
  expectTypeOf<HazardAnswer>().toEqualTypeOf<HazardResult>();
  expectTypeOf<ClientEntity>().toEqualTypeOf<Entity>();
  expectTypeOf<ClientAlignmentAnswer>().toEqualTypeOf<AlignmentAnswer>();
  expectTypeOf<Problem>().toExtend<ClientProblem>();
  expectTypeOf<keyof Problem>().toEqualTypeOf<keyof ClientProblem>();
});

describe("a client", () => {
  test.each(["", "/"])("asks what it is told to ask, its address ending in '%s'", async (slash) => {
    const client = new IsothermClient({ baseUrl: `${host.address.url}${slash}` });
    await fc.assert(
      fc.asyncProperty(rightQueries, async (query) => {
        asked.length = 0;
        const answer = await client.hazardRisk(query);
        expect(asked).toStrictEqual([readHazardQuery(query)]);
        expect(answer).toStrictEqual(JSON.parse(JSON.stringify(quarters(query))));
      }),
      { numRuns: 50 },
    );
  });

  test.each([{}, { basis: "cumulative", detail: true }, { basis: undefined, detail: false }] as const)(
    "asks for alignment with %o",
    async (options) => {
      const client = new IsothermClient({ baseUrl: host.address.url });
      const entities = [
        ENTITY,
        { ...ENTITY, entity_info: { name: "Zürich + Söhne & Co", asset_type: "equity" } },
      ] as const;
      const answer = await client.temperatureAlignment(entities, options as { basis?: "cumulative"; detail?: boolean });
      expect(answer).toStrictEqual(roundTemperatures(await alignTemperature(entities, options)));
      expect(answer.results[0]?.data[0]?.detail?.basis).toBe(options.detail === true ? options.basis : undefined);
    },
  );

  test("throws the problem that it is told about an entity", async () => {
    const client = new IsothermClient({ baseUrl: host.address.url });
    const error = await client.temperatureAlignment([{ ...ENTITY, data: [] }]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IsothermError);
    expect(error).toMatchObject({ status: 400, problem: { errors: [{ pointer: "/0/data", code: "empty" }] } });
  });

  test("gives up on alignment when its signal says so", async () => {
    const client = new IsothermClient({ baseUrl: host.address.url });
    const asking = client.temperatureAlignment([ENTITY], { signal: AbortSignal.abort() });
    await expect(asking).rejects.toThrow("aborted");
  });

  test("throws the problem that it is told", async () => {
    const client = new IsothermClient({ baseUrl: host.address.url });
    const error = await client
      .hazardRisk({ ...RIGHT, latitude: NaN, hazards: ["wild&fire" as "wildfire"] })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IsothermError);
    expect(error).toMatchObject({
      status: 400,
      problem: {
        code: "invalid_request",
        errors: [
          { parameter: "latitude", code: "wrong_type" },
          { parameter: "hazards", code: "not_allowed", did_you_mean: "wildfire" },
        ],
      },
    });
  });

  test.each([
    ["a proxy's page", new Response("<html>", { status: 502 }), 502],
    ["a page of another service", new Response("<html>", { status: 200 }), 200],
    ["another service's JSON error", Response.json({ error: "no" }, { status: 404 }), 404],
  ])("says so when the answer is %s", async (_what, response, status) => {
    const client = new IsothermClient({ baseUrl: "http://h/", fetch: () => Promise.resolve(response) });
    const error = await client.hazardRisk(RIGHT).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IsothermError);
    expect(error).toMatchObject({
      status,
      problem: undefined,
      message: `http://h answered with status ${status}, but not as Isotherm does.`,
    });
  });

  test("gives up when its signal says so", async () => {
    const client = new IsothermClient({ baseUrl: host.address.url });
    await expect(client.hazardRisk(RIGHT, { signal: AbortSignal.abort() })).rejects.toThrow("aborted");
  });

  test("takes no address that is none", () => {
    expect(() => new IsothermClient({ baseUrl: "not an address" })).toThrow("Invalid URL");
  });
});
