import { describe, expect, test } from "vitest";
import type {
  CurveQueryInput,
  CurveResult,
  HazardQueryInput,
  HazardResult,
  RefusedQuery,
} from "../../src/contract/wireTypes.ts";
import { ExplorerError, type ExplorerData } from "../../src/explorer/data/explorerData.ts";
import { createListModel, mapPosition } from "../../src/explorer/places/listModel.ts";
import { pageCount, type RowScore, scoreList, sortRows } from "../../src/explorer/places/scoreList.ts";
import { answerOf, listOf, QUERY, scoreOf } from "./listFixtures.ts";

function resultOf({ latitude, longitude, hazards }: HazardQueryInput, depth: number | null): HazardResult {
  const [hazard] = hazards;
  if (hazard === undefined) throw new Error("queries have a hazard");
  return {
    location: { latitude, longitude },
    results: [{ hazard, scenarios: [{ scenario: "rcp8p5", analysis_years: [answerOf(depth)] }] }],
  };
}

const REFUSED: RefusedQuery = {
  error: {
    type: "/problems/invalid_request",
    title: "Invalid request",
    status: 400,
    code: "invalid_request",
    detail: "refused for a test",
    request_id: "test",
    retryable: false,
  },
};

const NO_CURVES = { curveBatch: () => Promise.reject(new Error("curves are only for return periods")) };

/** A curve with a depth of a tenth of its return period; without one at the equator. */
function curveOf({ latitude, longitude, hazards }: CurveQueryInput): CurveResult {
  const curve = latitude === 0 ? null : [10, 100].map((years) => ({ return_period: years, value: years / 10 }));
  const year = {
    analysis_year: 2050,
    unit: "m",
    curve,
    ...(curve === null ? { no_data: "outside_coverage" as const } : {}),
  };
  const [hazard = "riverine_floods"] = hazards;
  return {
    location: { latitude, longitude },
    results: [{ hazard, scenarios: [{ scenario: "rcp8p5", analysis_years: [year] }] }],
  };
}

describe("scoreList", () => {
  const list = listOf(
    `id,lat,lon\n${Array.from({ length: 250 }, (_, index) => `P${index},${index % 90},0\n`).join("")}bad,x,1`,
  );
  const never = new AbortController().signal;

  test("sends batches of located rows only, in order, and reports progress", async () => {
    const batches: (readonly HazardQueryInput[])[] = [];
    const progress: number[] = [];
    const scores = await scoreList(
      {
        ...NO_CURVES,
        hazardRiskBatch: (queries) => {
          batches.push(queries);
          return Promise.resolve(queries.map((query) => resultOf(query, query.latitude)));
        },
      },
      list.rows,
      { ...QUERY, radiusKm: 5, method: "mean" },
      { signal: never, onProgress: ({ size }) => progress.push(size) },
    );
    expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(batches[0]?.[3]).toEqual({
      latitude: 3,
      longitude: 0,
      hazards: ["riverine_floods"],
      analysis_years: [2050],
      scenarios: ["rcp8p5"],
      radius: 5,
      aggregation_method: "mean",
    });
    expect(progress).toEqual([100, 200, 250]);
    expect(scores.size).toBe(250);
    expect(scores.get(2 + 145)).toMatchObject({ kind: "scored", values: { depth_meters: { value: 55 } } });
  });

  test("requests curves for the values of a return period", async () => {
    const batches: (readonly CurveQueryInput[])[] = [];
    const data = {
      hazardRiskBatch: () => Promise.reject(new Error("metrics are not requested")),
      curveBatch: (queries: readonly CurveQueryInput[]) => {
        batches.push(queries);
        return Promise.resolve(queries.map((query, index) => (index === 1 ? REFUSED : curveOf(query))));
      },
    };
    const scores = await scoreList(
      data,
      list.rows.slice(0, 3),
      { ...QUERY, returnPeriodYears: 100 },
      { signal: never, onProgress: () => undefined },
    );
    expect(batches).toEqual([
      [0, 1, 2].map((latitude) => ({
        latitude,
        longitude: 0,
        hazards: ["riverine_floods"],
        analysis_years: [2050],
        scenarios: ["rcp8p5"],
      })),
    ]);
    expect([...scores.values()]).toEqual([
      { kind: "scored", values: { rp_100: { value: null, reason: "outside_coverage" } } },
      { kind: "refused", message: "refused for a test" },
      { kind: "scored", values: { rp_100: { value: 10 } } },
    ]);
  });

  test("keeps the message of a query that was refused", async () => {
    const scores = await scoreList(
      {
        ...NO_CURVES,
        hazardRiskBatch: (queries) =>
          Promise.resolve(queries.map((query, i) => (i === 1 ? REFUSED : resultOf(query, 1)))),
      },
      list.rows.slice(0, 3),
      QUERY,
      { signal: never, onProgress: () => undefined },
    );
    expect([...scores.values()].map(({ kind }) => kind)).toEqual(["scored", "refused", "scored"]);
    expect(scores.get(3)).toEqual({ kind: "refused", message: "refused for a test" });
  });
});

describe("the model of a list", () => {
  const data = (hazardRiskBatch: ExplorerData["hazardRiskBatch"]): ExplorerData =>
    ({ kind: "service", hazardRiskBatch }) as ExplorerData;
  const text = `id,lat,lon\n${"A,1,2\n".repeat(150)}`;

  test("keeps the values computed before it was canceled", async () => {
    const model = createListModel();
    model.read(text);
    let callCount = 0;
    await model.compute(
      data((queries, signal) => {
        callCount += 1;
        if (callCount === 2) model.cancel();
        signal?.throwIfAborted();
        return Promise.resolve(queries.map((query) => resultOf(query, 1)));
      }),
      QUERY,
    );
    expect(model.scoring.value).toEqual({ kind: "canceled" });
    expect(model.scores.value.size).toBe(100);
  });

  test("shows why a request failed", async () => {
    const model = createListModel();
    model.read(text);
    const error = new ExplorerError("rate_limited", "too many requests");
    await model.compute(
      data(() => Promise.reject(error)),
      QUERY,
    );
    expect(model.scoring.value).toEqual({ kind: "failed", error });
  });

  test("drops the answers to an earlier computation", async () => {
    const model = createListModel();
    model.read("lat,lon\n1,2");
    let answerFirst = (): void => undefined;
    const first = model.compute(
      data(
        (queries) =>
          new Promise((resolve) => {
            answerFirst = () => resolve(queries.map((query) => resultOf(query, 1)));
          }),
      ),
      QUERY,
    );
    await model.compute(
      data((queries) => Promise.resolve(queries.map((query) => resultOf(query, 2)))),
      QUERY,
    );
    answerFirst();
    await first;
    expect(model.scores.value.get(2)).toMatchObject({ values: { depth_meters: { value: 2 } } });
    expect(model.scoring.value).toEqual({ kind: "idle" });
  });

  test("cancels the computation of a list that is removed, and drops its outcome", async () => {
    const model = createListModel();
    model.read(text);
    let sent: AbortSignal | undefined;
    let answer = (): void => undefined;
    const computed = model.compute(
      data(
        (queries, signal) =>
          new Promise((resolve) => {
            sent = signal;
            answer = () => resolve(queries.map((query) => resultOf(query, 1)));
          }),
      ),
      QUERY,
    );
    model.clear();
    expect(sent?.aborted).toBe(true);
    model.read("lat,lon\n1,2");
    answer();
    await computed;
    expect(model.scoring.value).toEqual({ kind: "idle" });
    expect(model.scores.value.size).toBe(0);
  });

  test("keeps scores when the places are named by another column, and drops them with the list", async () => {
    const model = createListModel();
    model.read("site,lat,lon\nA,1,2");
    await model.compute(
      data((queries) => Promise.resolve(queries.map((query) => resultOf(query, 1)))),
      QUERY,
    );
    model.nameBy("site");
    expect(model.list.value?.rows[0]?.id).toBe("A");
    expect(model.scores.value.size).toBe(1);
    model.read("lat,lon\n95");
    expect(model.scores.value.size).toBe(0);
    model.clear();
    expect(model.list.value).toBeUndefined();
  });
});

describe("sortRows", () => {
  const list = listOf("id,lat,lon\nP10,1,1\nP9,2,2\nP1,3,3\nbad,x,1");
  const scores = new Map<number, RowScore>([
    [2, scoreOf(1)],
    [3, scoreOf(null)],
    [4, scoreOf(2)],
  ]);
  const ids = (by: "line" | "id" | "depth_meters", isDescending: boolean): readonly string[] =>
    sortRows(list.rows, { by, isDescending }, scores).map(({ id }) => id);

  test("puts rows without a value last in both directions", () => {
    expect(ids("depth_meters", true)).toEqual(["P1", "P10", "P9", "bad"]);
    expect(ids("depth_meters", false)).toEqual(["P10", "P1", "P9", "bad"]);
  });

  test("compares the numbers in identifiers", () => {
    expect(ids("id", false)).toEqual(["bad", "P1", "P9", "P10"]);
  });

  test("restores the order of the list", () => {
    expect(ids("line", false)).toEqual(["P10", "P9", "P1", "bad"]);
    expect(ids("line", true)).toEqual(["bad", "P1", "P9", "P10"]);
  });
});

test("pageCount is at least 1", () => {
  expect([0, 1, 100, 101, 1000].map(pageCount)).toEqual([1, 1, 1, 2, 10]);
});

describe("mapPosition", () => {
  test("contains all places, also across the antimeridian", () => {
    expect(mapPosition([])).toBeUndefined();
    expect(mapPosition([{ latitude: 10, longitude: 20 }])).toEqual({ latitude: 10, longitude: 20, zoom: 10 });
    const pacific = mapPosition([
      { latitude: -17, longitude: 178 },
      { latitude: -14, longitude: -171 },
    ]);
    expect(pacific?.longitude).toBe(-176.5);
    expect(pacific?.zoom).toBeGreaterThan(4);
    const world = mapPosition([-170, -100, 0, 100, 170].map((longitude) => ({ latitude: 0, longitude })));
    expect(world?.zoom).toBe(1);
  });
});
