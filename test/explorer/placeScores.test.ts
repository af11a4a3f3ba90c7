import { describe, expect, test } from "vitest";
import type { AnalysisYearResult, HazardQueryInput, HazardResult, RefusedQuery } from "../../src/contract/wireTypes.ts";
import { formulaCount, listCsv } from "../../src/explorer/places/listCsv.ts";
import { createListModel } from "../../src/explorer/places/listModel.ts";
import { pageCount, sortRows } from "../../src/explorer/places/listOrder.ts";
import { mapPosition } from "../../src/explorer/places/mapExtent.ts";
import { parsePlaceList, type PlaceList } from "../../src/explorer/places/placeList.ts";
import { type ListQuery, type RowScore, scoreList } from "../../src/explorer/places/scoreList.ts";
import { ExplorerError, type ExplorerData } from "../../src/explorer/data/explorerData.ts";

const QUERY: ListQuery = { hazard: "riverine_floods", scenario: "rcp8p5", year: 2050, radiusKm: 0, method: "max" };

function listOf(text: string): PlaceList {
  const parsed = parsePlaceList(text);
  if ("errors" in parsed) throw new Error(parsed.errors.join(" "));
  return parsed;
}

function answerOf(depth: number | null): AnalysisYearResult {
  return {
    analysis_year: 2050,
    metrics: { intensity: depth, depth_meters: depth, probability: depth === null ? null : 0 },
    ...(depth === null
      ? { no_data: "no_data" as const }
      : { bounds: { probability: { bound: "at_most" as const, limit: 0.001 } } }),
  };
}

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
    expect(scores.get(2 + 145)).toMatchObject({ kind: "scored", answer: { metrics: { depth_meters: 55 } } });
  });

  test("keeps the message of a query that was refused", async () => {
    const scores = await scoreList(
      {
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
    expect(model.scores.value.get(2)).toMatchObject({ answer: { metrics: { depth_meters: 2 } } });
    expect(model.scoring.value).toEqual({ kind: "idle" });
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
    [2, { kind: "scored", answer: answerOf(1) }],
    [3, { kind: "scored", answer: answerOf(null) }],
    [4, { kind: "scored", answer: answerOf(2) }],
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

describe("listCsv", () => {
  const list = listOf('id,lat,lon,note,status\n00123,1,2,"a ""b"", c",x\n-5,3,4,=SUM(A1),y\nbad,x,1,@me,z\nlast,5,6');
  const scores = new Map<number, RowScore>([
    [2, { kind: "scored", answer: answerOf(1.25) }],
    [3, { kind: "scored", answer: answerOf(null) }],
  ]);
  const options = { query: QUERY, metrics: ["depth_meters", "probability"], scores } as const;
  const linesOf = (escapesFormulas: boolean): readonly string[] =>
    listCsv(list, { ...options, escapesFormulas }).split("\r\n");

  test("keeps identifiers and all columns, and adds those of isotherm portfolio", () => {
    expect(linesOf(false)).toEqual([
      "id,lat,lon,note,input_status,hazard,scenario,analysis_year,radius_km,aggregation_method,depth_meters,probability," +
        "probability_bound,probability_limit,status,error",
      '00123,1,2,"a ""b"", c",x,riverine_floods,rcp8p5,2050,0,,1.25,0,at_most,0.001,value,',
      "-5,3,4,=SUM(A1),y,riverine_floods,rcp8p5,2050,0,,,,,,no_data,",
      'bad,x,1,@me,z,riverine_floods,rcp8p5,2050,0,,,,,,invalid_row,"latitude in column ""lat"" must be a number between -90 ' +
        'and 90 degrees (got ""x"")"',
      "last,5,6,,,riverine_floods,rcp8p5,2050,0,,,,,,not_computed,",
      "",
    ]);
  });

  test("writes an apostrophe before formulas, but not before numbers", () => {
    expect(formulaCount(list)).toBe(2);
    const lines = linesOf(true);
    expect(lines[2]).toMatch(/^-5,3,4,'=SUM\(A1\),y,/);
    expect(lines[3]).toMatch(/^bad,x,1,'@me,z,/);
  });

  test("writes apostrophes where some spreadsheets divide a cell, and where spaces precede a formula", () => {
    const notes = ["x;=1+1", '"x\t@me"', '" =A1"', '"two\n-cmd"', "a-b;c"];
    const divided = listOf(`id,lat,lon,note\n${notes.map((note, i) => `${i},1,2,${note}`).join("\n")}`);
    expect(formulaCount(divided)).toBe(4);
    const text = listCsv(divided, {
      query: QUERY,
      metrics: ["depth_meters"],
      scores: new Map(),
      escapesFormulas: true,
    });
    for (const written of ["x;'=1+1", "x\t'@me", "' =A1", "two\n'-cmd", ",a-b;c,"]) expect(text).toContain(written);
  });

  test("states the aggregation if there is a radius", () => {
    const text = listCsv(list, {
      ...options,
      query: { ...QUERY, radiusKm: 10, method: "mean" },
      escapesFormulas: false,
    });
    expect(text.split("\r\n")[1]).toContain(",2050,10,mean,1.25,");
  });
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
