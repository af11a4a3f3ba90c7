import { afterAll, beforeAll, expect, test } from "vitest";
import { type AnswerNotes, type CurveQueryInput, IsothermClient, IsothermError } from "../../src/client/client.ts";
import type { LocalAtlas } from "../../src/hazard/answer.ts";
import { useCurveAtlas } from "../hazard/curveAtlas.ts";
import { HEADERS, type TestHost, startTestHost } from "../host/testHost.ts";

/** Below the length of the lists of these tests, so that the client must split them. */
const CURVES_PER_REQUEST = 8;

const opened = useCurveAtlas();
let atlas: LocalAtlas;
let host: TestHost;
let client: IsothermClient;
const notes: AnswerNotes[] = [];
beforeAll(async () => {
  ({ atlas } = opened());
  host = await startTestHost({ atlas, limits: { detailCount: CURVES_PER_REQUEST } });
  client = new IsothermClient({
    baseUrl: host.address.url,
    apiKey: HEADERS["X-API-Key"],
    customerId: HEADERS["X-Customer-ID"],
    onAnswer: (note) => notes.push(note),
  });
});
afterAll(() => host.close());

const queryAt = (longitude: number): CurveQueryInput => ({
  latitude: 12.5,
  longitude,
  hazards: ["riverine_floods"],
  analysis_years: [2050, 1980],
  scenarios: ["rcp8p5"],
  threshold: 0.4,
  return_periods: [30, 2000],
  floor: 0.1,
});

test("curve returns the result of the library", async () => {
  const query = { ...queryAt(43.5), radius: 70, aggregation_method: "mean", detail: true } as const;
  expect(await client.curve(query)).toStrictEqual(JSON.parse(JSON.stringify(await atlas.curve(query))));
});

test("curveBatch returns the results of the library in order, in as few requests as the limits allow", async () => {
  const damage_curve = [
    { value: 0, damage_share: 0 },
    { value: 4, damage_share: 1 },
  ];
  const queries = Array.from({ length: 10 }, (_, i): CurveQueryInput => ({ ...queryAt(i * 7), damage_curve }));
  queries[6] = { ...queryAt(0), latitude: 91 };
  await client.limits();
  notes.length = 0;
  const { results } = await client.curveBatch(queries);
  const expected = await atlas.curveBatch(queries);
  // 10 queries of 2 curves each, at most 8 curves per request; the limits are requested once more by the batch.
  expect(notes.filter(({ usageUnits }) => (usageUnits ?? 0) > 0)).toHaveLength(3);
  expect(results).toHaveLength(10);
  for (const [i, result] of results.entries()) {
    if (i === 6)
      expect(result).toMatchObject({ error: { code: "invalid_request", errors: [{ pointer: "/latitude" }] } });
    else expect(result).toStrictEqual(JSON.parse(JSON.stringify(expected[i])));
  }
  const parts: number[] = [];
  for await (const { first, results: some } of client.curveParts(queries)) parts.push(first, some.length);
  expect(parts).toEqual([0, 4, 4, 4, 8, 2]);
});

test("rejections name the parameter", async () => {
  const error: unknown = await client.curve({ ...queryAt(0), hazards: ["coastal_floods"] }).catch((e: unknown) => e);
  if (!(error instanceof IsothermError)) throw error;
  expect(error.status).toBe(422);
  expect(error.problem?.errors).toMatchObject([{ parameter: "hazards", code: "combination_unavailable" }]);
});
