import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AnswerNotes, type CompanyRequest, IsothermClient, IsothermError } from "../../src/client/client.ts";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { alignPortfolio, roundPortfolio } from "../../src/holdings/alignPortfolio.ts";
import { roundTemperatures } from "../../src/alignment/answer.ts";
import { referenceCountries, referenceIndustries, referenceScenarios } from "../../src/company/referenceLists.ts";
import { totalClimateRisk } from "../../src/company/report.ts";
import type { Atlas } from "../../src/hazard/answer.ts";
import { parseHazardQuery } from "../../src/hazard/query.ts";
import { totalClimateRisk as companyRoute } from "../../src/host/routes/totalClimateRisk.ts";
import { VALID_QUERY, validQueries } from "../hazard/queries.ts";
import { ENTITY } from "../host/entities.ts";
import { fakeAtlas, HEADERS, type TestHost, startTestHost, quarterResult } from "../host/testHost.ts";
const COMPANY = companyRoute.description.body?.example as CompanyRequest;

const received: unknown[] = [];
let host: TestHost;
let client: IsothermClient;
const notes: AnswerNotes[] = [];
beforeAll(async () => {
  const atlas = fakeAtlas((query) => {
    received.push({ ...query });
    return Promise.resolve(quarterResult(query));
  });
  host = await startTestHost({ atlas });
  await host.ready;
  client = clientOf(host);
});
beforeEach(() => {
  notes.length = 0;
});
afterAll(async () => {
  await host.close();
});

function clientOf({ address }: TestHost, slash = ""): IsothermClient {
  return new IsothermClient({
    baseUrl: `${address.url}${slash}`,
    apiKey: HEADERS["X-API-Key"],
    customerId: HEADERS["X-Customer-ID"],
    onAnswer: (note) => notes.push(note),
  });
}

test("imports no code from outside src/client, so that browsers can bundle it", () => {
  const folder = new URL("../../src/client/", import.meta.url);
  const files = readdirSync(folder);
  for (const file of files) {
    const text = readFileSync(new URL(file, folder), "utf8");
    // Statements that start with `import type` or `export type` leave no code.
    const code = text.replaceAll(/^(?:import|export) type [^;]*;/gm, "");
    const imported = [...code.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, specifier = ""]) => specifier);
    expect(imported.filter((specifier) => !files.includes(specifier.replace("./", "")))).toStrictEqual([]);
    expect(text).not.toMatch(/\b(?:process|Buffer|require|globalThis\.process)\b\s*[.([]/);
  }
});

describe("IsothermClient", () => {
  test.each(["", "/"])("sends queries unchanged with the base URL suffix '%s'", async (slash) => {
    const clientWithSlash = clientOf(host, slash);
    await fc.assert(
      fc.asyncProperty(validQueries, async (query) => {
        received.length = 0;
        const answer = await clientWithSlash.hazardRisk(query);
        expect(received).toStrictEqual([parseHazardQuery(query)]);
        expect(answer).toStrictEqual(JSON.parse(JSON.stringify(quarterResult(query))));
      }),
      { numRuns: 50 },
    );
  });

  test.each([{}, { basis: "cumulative", detail: true }, { basis: undefined, detail: false }] as const)(
    "requests alignment with %o",
    async (options) => {
      const entities = [
        ENTITY,
        { ...ENTITY, entity_info: { name: "Zürich + Söhne & Co", asset_type: "equity" } },
      ] as const;
      const answer = await client.alignTemperature(entities, options as { basis?: "cumulative"; detail?: boolean });
      expect(answer).toStrictEqual(roundTemperatures(await alignTemperature(entities, options)));
      expect(answer.results[0]?.data[0]?.detail?.basis).toBe(options.detail === true ? options.basis : undefined);
    },
  );

  test("requests the alignment of a portfolio", async () => {
    const holdings = [
      { id: "E", value: 2, evic: 10, entity: ENTITY },
      { id: "R", value: 1, temperature: { s1s2s3: { t: 2, low: 1.8, high: 2.3 } }, groups: { sector: "Zürich & Co" } },
    ];
    const options = { methods: ["WATS", "ECOTS"], group_by: ["sector"] } as const;
    notes.length = 0;
    const answer = await client.alignPortfolio({ holdings, options });
    expect(answer).toStrictEqual(roundPortfolio(await alignPortfolio(holdings, options)));
    expect(notes.at(-1)?.usageUnits).toBe(ENTITY.projected_emissions.length);
    const rejected = client.alignPortfolio({ holdings: [{ id: "E", value: -1, temperature: {} }] });
    await expect(rejected).rejects.toMatchObject({ problem: { errors: [{ pointer: "/holdings/0/value" }] } });
    await expect(client.alignPortfolio({ holdings }, { detail: true } as never)).rejects.toThrow("unknown option");
  });

  test("requests company risk and the reference lists", async () => {
    expect(await client.totalClimateRisk(COMPANY)).toStrictEqual(totalClimateRisk(COMPANY));
    expect(await client.industries()).toStrictEqual(referenceIndustries());
    expect(await client.countries()).toStrictEqual(referenceCountries());
    expect(await client.scenarios()).toStrictEqual(referenceScenarios());
  });

  test("requests the limits and the hazard catalog", async () => {
    expect(await client.limits()).toMatchObject({ batch_elements: 10_000, body_bytes: 8 << 20, radius_km: 100 });
    const { release, hazards } = await client.hazards();
    expect([release, hazards.map(({ hazard }) => hazard)]).toStrictEqual([
      "test-1",
      ["cyclones", "wildfire", "coastal_floods", "riverine_floods"],
    ]);
  });

  test("requests the TileJSON of a layer", async () => {
    const requests: unknown[] = [];
    const layer = { unit: "m/s", stepsPerUnit: 100, offset: 0, scaleMetric: "wind_speed_mps", source: {} } as const;
    const atlas: Atlas = {
      ...fakeAtlas(),
      valueTileLayer(request) {
        requests.push(request);
        return { ...layer, nativeZoom: 2, blockSizeCellsByZoom: [64, 8, 1], bounds: [-180, -85, 180, 85] };
      },
    };
    const tileHost = await startTestHost({ atlas });
    try {
      const path = { hazard: "cyclones", scenario: "rcp8p5", year: 2050, metric: "a/b \u00fc?" } as const;
      const { year: analysis_year, ...names } = path;
      expect(await clientOf(tileHost).tileJson(path)).toMatchObject({
        ...names,
        analysis_year,
        maxzoom: 2,
        block_size_cells_by_zoom: [64, 8, 1],
        unit: "m/s",
      });
      expect(new Set(requests.map((request) => JSON.stringify(request)))).toEqual(
        new Set([
          JSON.stringify({ hazard: "cyclones", scenario: "rcp8p5", analysisYear: 2050, metric: "a/b \u00fc?" }),
        ]),
      );
    } finally {
      await tileHost.close();
    }
  });

  test("registers a customer, requests data for it, reads its usage and archives it", async () => {
    const client = clientOf(host); // has not requested the limits yet
    const customer = await client.registerCustomer({ internal_id: "team ünïcode/1", name: "Team" });
    expect(await client.registerCustomer({ internal_id: "team ünïcode/1" })).toStrictEqual(customer);
    const customerId = customer.customer_id;
    notes.length = 0;
    await client.hazardRisk(VALID_QUERY, { customerId });
    await client.alignTemperature([ENTITY], { customerId });
    expect(notes.map(({ usageUnits, atlasRelease }) => [usageUnits, atlasRelease])).toStrictEqual([
      [8, "test-1"],
      [undefined, undefined],
      [2, undefined],
    ]);
    expect(notes[0]?.requestId).toMatch(/^[0-9a-f-]{36}$/);

    const query = { customer_id: customerId, group_by: ["meter"] } as const;
    const items = [
      { meter: "hazard_values", requests: 1, units: 8 },
      { meter: "alignment_values", requests: 1, units: 2 },
    ];
    expect(await client.usage(query)).toStrictEqual({ items });
    const first = await client.usage({ ...query, limit: 1 });
    expect(first.items).toStrictEqual(items.slice(0, 1));
    expect(await client.usage({ ...query, limit: 1, cursor: first.next ?? "" })).toStrictEqual({
      items: items.slice(1),
    });
    expect(await client.usageCsv(query)).toContain("\r\n,,hazard_values,,1,8\r\n");

    expect((await client.customers({ limit: 500 })).items).toContainEqual(customer);
    expect(await client.customer(customerId)).toStrictEqual(customer);
    const archived = await client.archiveCustomer(customerId);
    expect(archived.archived_at).toMatch(/Z$/);
    await expect(client.hazardRisk(VALID_QUERY, { customerId })).rejects.toMatchObject({
      status: 403,
      problem: { code: "customer_archived" },
    });
  });

  test("throws api_key_missing without a key and customer_id_missing without a customer", async () => {
    const { url: baseUrl } = host.address;
    await expect(new IsothermClient({ baseUrl }).limits()).rejects.toMatchObject({
      status: 401,
      problem: { code: "api_key_missing" },
    });
    await expect(
      new IsothermClient({ baseUrl, apiKey: HEADERS["X-API-Key"] }).hazardRisk(VALID_QUERY),
    ).rejects.toMatchObject({ status: 400, problem: { code: "customer_id_missing" } });
  });

  test("throws the problem document of an invalid entity", async () => {
    const error = await client.alignTemperature([{ ...ENTITY, data: [] }]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IsothermError);
    expect(error).toMatchObject({ status: 400, problem: { errors: [{ pointer: "/0/data", code: "empty" }] } });
  });

  test("throws the problem document of an invalid query", async () => {
    const error = await client
      .hazardRisk({ ...VALID_QUERY, latitude: NaN, hazards: ["wild&fire" as "wildfire"] })
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

  test("cancels every call when its signal aborts", async () => {
    const signal = AbortSignal.abort();
    for (const call of [
      client.hazardRisk(VALID_QUERY, { signal }),
      client.hazardRiskBatch([VALID_QUERY], { signal }),
      client.alignTemperature([ENTITY], { signal }),
      client.usage({}, { signal }),
    ]) {
      await expect(call).rejects.toThrow("aborted");
    }
  });

  test("rejects an invalid base URL", () => {
    expect(() => new IsothermClient({ baseUrl: "not an address" })).toThrow("Invalid URL");
  });

  test.each([
    ["apikey", { apikey: "k" }, /"apikey".*did you mean apiKey\?/],
    ["customer_id", { customer_id: "c" }, /"customer_id".*did you mean customerId\?/],
    ["timeout", { timeout: 5 }, /unknown option "timeout"; known options are baseUrl, apiKey/],
    ["apiKey as a number", { apiKey: 5 }, /apiKey must be a string/],
    ["retry as a number", { retry: 3 }, /retry must be an object/],
    ["an unknown retry option", { retry: { attempt: 1 } }, /"attempt".*did you mean attempts\?/],
    ["attempts as text", { retry: { attempts: "4" } }, /attempts must be a number/],
    ["two invalid options", { key: "k", fetch: "f" }, /"key".*fetch must be a function/],
  ])("rejects an unknown or mistyped option: %s", (_what, options, message) => {
    const construct = (): IsothermClient => new IsothermClient({ baseUrl: "http://h", ...options } as never);
    expect(construct).toThrow(TypeError);
    expect(construct).toThrow(message);
  });

  test("rejects unknown and mistyped call options without sending a request", async () => {
    const client = clientOf(host, "");
    received.length = 0;
    const invalid = { customer_id: "c", signal: "now" } as never;
    const calls: readonly (() => Promise<unknown>)[] = [
      () => client.hazardRisk(VALID_QUERY, invalid),
      () => client.hazardRiskBatch([VALID_QUERY], invalid),
      () => client.hazardRiskParts([VALID_QUERY], invalid).next(),
      () => client.alignTemperature([ENTITY], invalid),
      () => client.alignTemperatureParts([ENTITY], invalid).next(),
      () => client.totalClimateRisk({} as never, invalid),
      () => client.registerCustomer({ internal_id: "x" }, invalid),
      () => client.customers({}, invalid),
      () => client.customer("x", invalid),
      () => client.archiveCustomer("x", invalid),
      () => client.usage({}, invalid),
      () => client.usageCsv({}, invalid),
      () => client.limits(invalid),
      () => client.hazards(invalid),
      () => client.industries(invalid),
      () => client.countries(invalid),
      () => client.scenarios(invalid),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toThrow(TypeError);
      await expect(call()).rejects.toThrow(/"customer_id".*signal must be an AbortSignal/s);
    }
    await expect(client.alignTemperature([ENTITY], { details: true } as never)).rejects.toThrow(
      /did you mean detail\?/,
    );
    expect(received).toStrictEqual([]);
  });

  test.each([{ attempts: 0 }, { attempts: 1.5 }, { delayMsMax: -1 }, { delayMsMax: NaN }])(
    "rejects the retry options %o",
    (retry) => {
      expect(() => new IsothermClient({ baseUrl: "http://h", retry })).toThrow(RangeError);
    },
  );
});
