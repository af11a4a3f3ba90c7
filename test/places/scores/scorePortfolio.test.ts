import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Atlas } from "../../../src/hazard/answer.ts";
import type { PlaceOptions } from "../../../src/contract/wireTypes.ts";
import { scoreArrays, type ScoreRequest, scoreShapeOf } from "../../../src/hazard/scoring/scoreRequest.ts";
import { openAtlas } from "../../../src/openAtlas.ts";
import { type PlaceRow, type ScoredPlace, scorePortfolio } from "../../../src/places/scores/scorePortfolio.ts";
import { faultOf } from "../../hazard/queries.ts";

let demo: Atlas;
beforeAll(async () => {
  demo = await openAtlas("demo");
});
afterAll(() => demo.close());

const PLACES = [
  { id: "djibouti", latitude: 11.59, longitude: 43.15 },
  { id: "manila", latitude: 14.6, longitude: 121, radius: 10 },
  { id: "ocean", latitude: -40, longitude: -120, radius: null },
];
const OPTIONS: PlaceOptions = {
  hazards: ["wildfire", "riverine_floods"],
  scenarios: ["rcp8p5"],
  analysis_years: [2050],
  total_hazard: true,
};

async function scored<Row extends PlaceRow>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  options: PlaceOptions = OPTIONS,
): Promise<readonly ScoredPlace<Row>[]> {
  const results: ScoredPlace<Row>[] = [];
  for await (const place of scorePortfolio(demo, rows, options)) results.push(place);
  return results;
}

describe("scorePortfolio", () => {
  test("returns the results of hazardRisk for every row, with the row", async () => {
    const places = await scored(PLACES);
    expect(places.map(({ row }) => row)).toEqual(PLACES);
    for (const { index, row, error, results } of places) {
      expect([row, error]).toEqual([PLACES[index], undefined]);
      const { latitude, longitude, radius } = row;
      const query = { latitude, longitude, radius: radius ?? 0, total_hazard: true, analysis_years: [2050] };
      const single = await demo.hazardRisk({
        ...query,
        hazards: ["wildfire", "riverine_floods"],
        scenarios: ["rcp8p5"],
      });
      expect(results.length).toBe(2);
      for (const [i, { hazard, scenario, status, ...year }] of results.entries()) {
        const { no_data, ...expected } = single.results[i]?.scenarios[0]?.analysis_years[0] ?? {};
        expect([hazard, scenario]).toEqual([single.results[i]?.hazard, "rcp8p5"]);
        expect(year).toStrictEqual(expected);
        expect(no_data ?? "value").toBe(status === "zero" ? "value" : status);
      }
    }
    expect(places.map(({ results }) => results[0]?.status)).toEqual(["value", "value", "no_data"]);
  });

  test("adds the exceedance probability of a threshold", async () => {
    const thresholds = { riverine_floods: 0.4 };
    const places = await scored(PLACES, { ...OPTIONS, thresholds });
    for (const { row, results } of places) {
      const { radius, ...location } = { latitude: row.latitude, longitude: row.longitude, radius: row.radius ?? 0 };
      const query = { ...location, radius, hazards: ["riverine_floods"] as const, scenarios: ["rcp8p5"] as const };
      const curve = await demo.curve({ ...query, analysis_years: [2050], threshold: 0.4 });
      const expected = curve.results[0]?.scenarios[0]?.analysis_years[0]?.exceedance ?? null;
      expect(results[1]?.exceedance).toStrictEqual(expected);
      expect(results[0]).not.toHaveProperty("exceedance");
    }
  });

  test("reports what is wrong with a row, and scores the others", async () => {
    const rows: unknown[] = [
      null,
      { longitude: 0 },
      { latitude: "11.6", longitude: 0 },
      { latitude: 91, longitude: 0 },
      { latitude: NaN, longitude: 0 },
      { latitude: 0, longitude: null },
      { latitude: 0, longitude: -180.5 },
      { latitude: 0, longitude: 0, radius: 101 },
      { latitude: 11.59, longitude: 43.15 },
    ];
    const places = await scored(rows as PlaceRow[]);
    expect(places.map(({ error }) => error?.reason)).toEqual([
      "row_invalid",
      "latitude_missing",
      "latitude_invalid",
      "latitude_invalid",
      "latitude_invalid",
      "longitude_missing",
      "longitude_invalid",
      "radius_invalid",
      undefined,
    ]);
    expect(places[3]?.error?.message).toBe("latitude must be a number between -90 and 90 (got 91).");
    expect(places.map(({ index, results }) => [index, results.length])).toEqual(
      rows.map((_, i) => [i, i === 8 ? 2 : 0]),
    );
    expect(places[8]?.results[0]?.metrics.intensity).toBeGreaterThan(0);
  });

  test("streams the rows of an async source, of which it reads a bounded part ahead", async () => {
    let readCount = 0;
    async function* rows(): AsyncGenerator<PlaceRow> {
      for (;;) {
        readCount++;
        yield { latitude: 11.59, longitude: (readCount % 3600) / 10 - 180 };
      }
    }
    let count = 0;
    const options: PlaceOptions = { hazards: ["wildfire"], scenarios: ["baseline"], metrics: ["intensity"] };
    for await (const { index, row, results } of scorePortfolio(demo, rows(), { ...options })) {
      expect(index).toBe(count++);
      expect(row.longitude).toBe((count % 3600) / 10 - 180);
      expect(results.length).toBe(1);
      if (count === 10_000) break;
    }
    expect(readCount).toBeLessThanOrEqual(2 * 8 * 8192);
  });

  test("holds at most 131,072 rows, however far the caller is behind", async () => {
    const score = (request: ScoreRequest) =>
      Promise.resolve(scoreArrays(scoreShapeOf(request.groups), request.latitudes.length));
    let readCount = 0;
    function* rows(): Generator<PlaceRow> {
      for (; readCount < 500_000; readCount++) yield { latitude: 11.59, longitude: 43.15 };
    }
    const options: PlaceOptions = { hazards: ["wildfire"], scenarios: ["baseline"], metrics: ["intensity"] };
    let heldCountMax = 0;
    for await (const { index } of scorePortfolio({ ...demo, score } as Atlas, rows(), options)) {
      heldCountMax = Math.max(heldCountMax, readCount - index);
    }
    expect(readCount).toBe(500_000);
    expect(heldCountMax).toBeLessThanOrEqual(131_072);
  });

  test("rejects invalid options, rows that cannot be iterated, and another program's atlas, when called", () => {
    expect(faultOf(() => scorePortfolio(demo, PLACES, { radius: -1 })).items).toMatchObject([{ pointer: "/radius" }]);
    expect(faultOf(() => scorePortfolio(demo, PLACES, null as never)).items).toMatchObject([{ code: "wrong_type" }]);
    expect(faultOf(() => scorePortfolio(demo, PLACES[0] as never)).message).toMatch(/^rows must be an array/);
    expect(faultOf(() => scorePortfolio(demo, PLACES, { hazards: ["wildfire"], metrics: ["depth_meters"] })).code).toBe(
      "combination_unavailable",
    );
    expect(faultOf(() => scorePortfolio({ ...demo, score: undefined } as Atlas, PLACES)).code).toBe(
      "configuration_invalid",
    );
  });

  test("stops with the reason of the signal", async () => {
    const signal = AbortSignal.abort(new Error("canceled"));
    await expect(scorePortfolio(demo, PLACES, { ...OPTIONS, signal }).next()).rejects.toThrow("canceled");
  });

  test("returns the places before a row that cannot be read, then throws its index and the cause", async () => {
    const cause = new Error("connection lost");
    const failing = async function* (count: number): AsyncGenerator<PlaceRow> {
      for (let i = 0; i < count; i++) yield { latitude: 11.59, longitude: 43.15 };
      await Promise.resolve();
      throw cause;
    };
    const options: PlaceOptions = { hazards: ["wildfire"], scenarios: ["baseline"], metrics: ["intensity"] };
    for (const count of [0, 3, 8192, 8192 + 5]) {
      let placeCount = 0;
      const read = async (): Promise<void> => {
        for await (const { index, results } of scorePortfolio(demo, failing(count), options)) {
          expect(index).toBe(placeCount++);
          expect(results[0]?.metrics.intensity).toBeGreaterThan(0);
        }
      };
      await expect(read()).rejects.toThrow(
        expect.objectContaining({ message: `Reading the row with index ${count} failed: connection lost`, cause }),
      );
      expect(placeCount).toBe(count);
    }
  });

  test("closes its source when the caller stops", async () => {
    let isClosed = false;
    function* rows(): Generator<PlaceRow> {
      try {
        for (;;) yield { latitude: 11.59, longitude: 43.15 };
      } finally {
        isClosed = true;
      }
    }
    for await (const { index } of scorePortfolio(demo, rows(), OPTIONS)) if (index === 2) break;
    expect(isClosed).toBe(true);
  });

  test("stops with the reason of the signal while its source waits", async () => {
    const abort = new AbortController();
    async function* rows(): AsyncGenerator<PlaceRow> {
      yield { latitude: 11.59, longitude: 43.15 };
      abort.abort(new Error("canceled"));
      await new Promise(() => undefined); // never answers
    }
    await expect(scorePortfolio(demo, rows(), { ...OPTIONS, signal: abort.signal }).next()).rejects.toThrow("canceled");
  });

  test("returns no place after the signal is aborted", async () => {
    const abort = new AbortController();
    let placeCount = 0;
    const read = async (): Promise<void> => {
      for await (const { index } of scorePortfolio(demo, PLACES, { ...OPTIONS, signal: abort.signal })) {
        placeCount = index + 1;
        abort.abort(new Error("canceled"));
      }
    };
    await expect(read()).rejects.toThrow("canceled");
    expect(placeCount).toBe(1);
  });

  test("leaves no listeners on the signal", async () => {
    const { signal } = new AbortController();
    const [add, remove] = [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")];
    for await (const { error } of scorePortfolio(demo, PLACES, { ...OPTIONS, signal })) expect(error).toBeUndefined();
    expect(add).toHaveBeenCalled();
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length);
  });

  test("accepts rows that may lack a location, as those of a database", async () => {
    const rows: { readonly site: string; readonly latitude: number | null; readonly longitude: number | null }[] = [
      { site: "geocoded", latitude: 11.59, longitude: 43.15 },
      { site: "not geocoded", latitude: null, longitude: null },
    ];
    const places = await scored(rows);
    expect(places.map(({ row, error }) => [row.site, error?.reason])).toEqual([
      ["geocoded", undefined],
      ["not geocoded", "latitude_missing"],
    ]);
  });
});
