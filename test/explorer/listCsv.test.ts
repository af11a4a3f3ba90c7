import { describe, expect, test } from "vitest";
import type { CatalogHazard } from "../../src/contract/wireTypes.ts";
import { listColumns, type RowScore } from "../../src/explorer/places/scoreList.ts";
import { formulaCount, listCsv } from "../../src/explorer/places/listCsv.ts";
import { downloadOffer, queryText } from "../../src/explorer/places/listModel.ts";
import { DEPTH_AND_PROBABILITY, listOf, QUERY, scoreOf } from "./listFixtures.ts";

describe("the download of a list", () => {
  const offerOf = (kind: "idle" | "running" | "canceled" | "failed", doneCount: number) =>
    downloadOffer({ kind, doneCount, count: 1500 });

  test("waits until the values have been computed", () => {
    expect(offerOf("idle", 0)).toMatchObject({
      isReady: false,
      note: expect.stringContaining("have been computed") as string,
    });
    for (const doneCount of [0, 100, 1500]) expect(offerOf("running", doneCount).isReady).toBe(false);
    expect(offerOf("canceled", 0).isReady).toBe(false);
    expect(offerOf("idle", 1500)).toMatchObject({
      isReady: true,
      note: expect.not.stringContaining("not_computed") as string,
    });
  });

  test("says how many values are missing after the computation was canceled or has failed", () => {
    for (const kind of ["canceled", "failed"] as const) {
      expect(offerOf(kind, 100)).toMatchObject({
        isReady: true,
        note: expect.stringMatching(/^1,400 of 1,500 places have the status not_computed\./) as string,
      });
    }
  });
});

describe("listCsv", () => {
  const list = listOf('id,lat,lon,note,status\n00123,1,2,"a ""b"", c",x\n-5,3,4,=SUM(A1),y\nbad,x,1,@me,z\nlast,5,6');
  const scores = new Map<number, RowScore>([
    [2, scoreOf(1.25)],
    [3, scoreOf(null)],
  ]);
  const options = { query: QUERY, values: DEPTH_AND_PROBABILITY, scores } as const;
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
      values: DEPTH_AND_PROBABILITY.slice(0, 1),
      scores: new Map(),
      escapesFormulas: true,
    });
    for (const written of ["x;'=1+1", "x\t'@me", "' =A1", "two\n'-cmd", ",a-b;c,"]) expect(text).toContain(written);
  });

  test("writes an apostrophe before formulas that an error quotes", () => {
    const quoting = listOf('id,lat,lon\n1,";=1+1",2');
    const errorOf = (escapesFormulas: boolean) =>
      listCsv(quoting, { ...options, scores: new Map(), escapesFormulas }).split("\r\n")[1];
    expect(errorOf(false)).toMatch(/,invalid_row,.*;=1\+1/);
    expect(errorOf(true)).toMatch(/,invalid_row,.*;'=1\+1/);
    const failed = new Map<number, RowScore>([[2, { kind: "refused", message: "=1+1" }]]);
    expect(listCsv(list, { ...options, scores: failed, escapesFormulas: true })).toContain(",error,'=1+1\r\n");
  });

  test("has one column for a return period", () => {
    const values = [{ name: "rp_100", title: "Flood depth, return period 100 years", metric: "depth_meters" }] as const;
    const valueOf = (value: number | null, reason?: "no_data") => ({
      value,
      reason,
      bound: undefined,
      range: undefined,
    });
    const text = listCsv(list, {
      query: { ...QUERY, returnPeriodYears: 100 },
      values,
      scores: new Map<number, RowScore>([
        [2, { kind: "scored", values: { rp_100: valueOf(2.5) } }],
        [3, { kind: "scored", values: { rp_100: valueOf(null, "no_data") } }],
      ]),
      escapesFormulas: false,
    });
    const [header, ...lines] = text.split("\r\n");
    expect(header).toMatch(/,radius_km,aggregation_method,rp_100,status,error$/);
    expect(lines.slice(0, 2).map((line) => line.split(",").slice(-3))).toEqual([
      ["2.5", "value", ""],
      ["", "no_data", ""],
    ]);
    expect(lines[3]).toMatch(/,2050,0,,,not_computed,$/);
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

describe("the columns of values", () => {
  const hazard = {
    hazard: "riverine_floods",
    metrics: (["intensity", "depth_meters", "probability", "total_hazard"] as const).map((metric) => ({ metric })),
  } as unknown as CatalogHazard;

  test("are the metrics of the hazard without the total hazard, with that of the map first", () => {
    const names = listColumns(hazard, QUERY, "probability").map(({ name }) => name);
    expect(names).toEqual(["probability", "intensity", "depth_meters"]);
  });

  test("are the value of the return period if the map shows one", () => {
    const query = { ...QUERY, returnPeriodYears: 100 };
    expect(listColumns(hazard, query, "depth_meters")).toEqual([
      { name: "rp_100", title: "Flood depth, return period 100 years", metric: "depth_meters" },
    ]);
    expect(queryText(query)).toBe("River floods, RCP 8.5 2050, return period 100 years, cell at the place");
  });
});
