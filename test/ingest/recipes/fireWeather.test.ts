import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { ingestRecipe, previewRecipe } from "../../../src/ingest/ingest.ts";
import { openAtlas } from "../../../src/index.ts";
import { describeWithSharedData, SHARED_HAZARD_DATA } from "../../sharedData.ts";
import { folder, out, readCatalog, rejectionMessage, useIngestFolder } from "../ingestFixture.ts";
import { makeNetcdf3, netcdfGrid } from "../makeNetcdf3.ts";

useIngestFolder();

/** Two rows from 10 to 8 degrees north, three columns from 20 to 23 degrees east. */
const LAT = [9.5, 8.5];
const LON = [20.5, 21.5, 22.5];
const CELL_COUNT = 6;

interface DailyFile {
  readonly since: string;
  readonly dayCount: number;
  readonly valueAt: (day: number, cell: number) => number;
  readonly unit?: string;
  readonly longName?: string;
  readonly name?: string;
  readonly calendar?: string;
  readonly times?: readonly number[];
}

/** Writes a map for each day, or for each of the times, and returns the name of the file. */
async function series(
  file: string,
  { since, dayCount, valueAt, unit, longName, name = "FWI", calendar, times }: DailyFile,
): Promise<string> {
  const values = Array.from({ length: dayCount * CELL_COUNT }, (_, i) =>
    valueAt(Math.floor(i / CELL_COUNT), i % CELL_COUNT),
  );
  const bytes = makeNetcdf3({
    dimensions: { time: dayCount, lat: LAT.length, lon: LON.length },
    variables: {
      ...netcdfGrid(LAT, LON),
      time: {
        dimensions: ["time"],
        type: "float64",
        values: times ?? Array.from({ length: dayCount }, (_, day) => day + 0.5),
        attributes: { units: `days since ${since}`, ...(calendar === undefined ? {} : { calendar }) },
      },
      [name]: {
        dimensions: ["time", "lat", "lon"],
        values,
        attributes: {
          grid_mapping: "crs",
          ...(unit === undefined ? {} : { units: unit }),
          ...(longName === undefined ? {} : { long_name: longName }),
        },
      },
    },
  });
  await writeFile(join(folder, file), bytes);
  return file;
}

/** Writes maps of an FWI of 31 without dates. */
async function undatedSeries(file: string, dayCount: number): Promise<void> {
  const bytes = makeNetcdf3({
    dimensions: { day: dayCount, lat: LAT.length, lon: LON.length },
    variables: {
      ...netcdfGrid(LAT, LON),
      FWI: {
        dimensions: ["day", "lat", "lon"],
        values: new Float32Array(dayCount * CELL_COUNT).fill(31),
        attributes: { grid_mapping: "crs" },
      },
    },
  });
  await writeFile(join(folder, file), bytes);
}

async function manifest(groups: readonly unknown[], more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const path = join(folder, "fwi.json");
  await writeFile(path, JSON.stringify({ source: { name: "Test", licence: "none" }, groups, ...more }));
  return path;
}

const BASELINE = { scenario: "baseline", year: 1980 } as const;

async function ingest(groups: readonly unknown[], more: Readonly<Record<string, unknown>> = {}) {
  return ingestRecipe("fire-weather", { sources: [await manifest(groups, more)], out });
}

/** Returns the metrics of the cells in the order of rows. */
async function metricsOfCells(): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const atlas = await openAtlas(out);
  try {
    const cells = LAT.flatMap((latitude) => LON.map((longitude) => ({ latitude, longitude })));
    return await Promise.all(
      cells.map(async (cell) => {
        const { results } = await atlas.hazardRisk({
          ...cell,
          hazards: ["wildfire"],
          scenarios: ["baseline"],
          analysis_years: [1980],
          total_hazard: true,
        });
        const [year] = results[0]?.scenarios[0]?.analysis_years ?? [];
        return { ...year?.metrics };
      }),
    );
  } finally {
    await atlas.close();
  }
}

describe("a daily series", () => {
  test("gives the days above 30, the share of years that reach 38 and the mean annual maximum", async () => {
    // Cell 0: above 30 on 10 days of 1991 and 20 days of 1992 (a leap year); 38 is reached in 1992 only.
    const at = (limit: number, peak: number) => (day: number, cell: number) =>
      cell === 0 ? (day < limit ? (day === 3 ? peak : 31) : 30) : cell;
    await series("a.nc", { since: "1991-01-01", dayCount: 365, valueAt: at(10, 37.5) });
    await series("b.nc", { since: "1992-01-01", dayCount: 366, valueAt: at(20, 38) });
    await ingest([{ ...BASELINE, daily: { files: "?.nc" } }]);
    const cells = await metricsOfCells();
    expect(cells[0]).toMatchObject({ fire_danger_days: 15, probability: 0.5, intensity: 0.3775 });
    expect(cells[1]).toMatchObject({ fire_danger_days: 0, probability: 0, intensity: 0.01, total_hazard: 0 });
    const [hazard] = (await readCatalog()).hazards;
    expect(hazard?.packs[0]?.groups[0]?.provenance).toMatchObject({
      recipe: "fire-weather",
      product: "Test",
      years: "1991-1992",
      year_count: 2,
      missing_days: "make the cell missing",
      source_maps: [{ map_count: 731, files: [{ file: "a.nc" }, { file: "b.nc" }] }],
    });
  });

  test("makes a cell missing if any day is missing, unless missing days count as days without danger", async () => {
    const valueAt = (day: number, cell: number): number => {
      if (cell === 0) return day === 100 ? NaN : 40;
      return cell === 1 ? NaN : 10;
    };
    await series("a.nc", { since: "1991-01-01", dayCount: 365, valueAt });
    await ingest([{ ...BASELINE, daily: { files: "a.nc" } }]);
    let cells = await metricsOfCells();
    expect(cells[0]).toMatchObject({ fire_danger_days: null });
    await ingest([{ ...BASELINE, daily: { files: "a.nc", missing_days: "no_danger" } }]);
    cells = await metricsOfCells();
    expect(cells[0]).toMatchObject({ fire_danger_days: 364, probability: 1, intensity: 0.4 });
    // A cell without any value is missing in any case.
    expect(cells[1]).toMatchObject({ fire_danger_days: null, probability: null, intensity: null });
    expect(cells[2]).toMatchObject({ fire_danger_days: 0 });
  });

  test("uses the selected years only, and rejects years that the series lacks", async () => {
    const valueAt = (day: number): number => (day < 365 ? 50 : 0);
    await series("a.nc", { since: "1990-01-01", dayCount: 365 + 365 + 100, valueAt });
    await ingest([{ ...BASELINE, years: [1991, 1991], daily: { files: "a.nc" } }]);
    expect((await metricsOfCells())[0]).toMatchObject({ fire_danger_days: 0 });
    const group = { ...BASELINE, years: [1989, 1991], daily: { files: "a.nc" } };
    expect(await rejectionMessage(ingest([group]))).toMatch(/lacks the years 1989 .*1990 to 1992/);
    const all = { ...BASELINE, daily: { files: "a.nc" } };
    expect(await rejectionMessage(ingest([all]))).toMatch(
      /a\.nc: the series has 100 of the 366 days of 1992, the first 1992-01-01 and the last 1992-04-09; 1992-04-10 is the first absent/,
    );
  });

  test("rejects years with absent days also if missing values count as days without danger, all at once", async () => {
    // 1991 begins in May, 1992 is complete, 1993 lacks one day, and 1994 ends in September.
    const days = [...Array(1461).keys()].filter((day) => day >= 120 && day !== 800 && day < 1368);
    await series("a.nc", { since: "1991-01-01", dayCount: days.length, valueAt: () => 31, times: days });
    const daily = { files: "a.nc", missing_days: "no_danger" };
    const error: unknown = await ingest([{ ...BASELINE, daily }]).catch((reason: unknown) => reason);
    if (!isFault(error, "source_invalid")) throw error;
    expect(error.message).toMatch(/3 years of the daily series have absent days.*"absent_days": "no_danger"/);
    const at = (text: string) => [
      "/groups/0/daily",
      "missing",
      expect.stringContaining(`a.nc: the series has ${text}`) as string,
    ];
    expect(error.items.map(({ pointer, code, detail }) => [pointer, code, detail])).toEqual([
      at(
        "245 of the 365 days of 1991, the first 1991-05-01 and the last 1991-12-31; 1991-01-01 is the first absent day.",
      ),
      at(
        "364 of the 365 days of 1993, the first 1993-01-01 and the last 1993-12-31; 1993-03-11 is the first absent day.",
      ),
      at(
        "272 of the 365 days of 1994, the first 1994-01-01 and the last 1994-09-29; 1994-09-30 is the first absent day.",
      ),
    ]);
    await ingest([{ ...BASELINE, years: [1992, 1992], daily }]);
    expect((await metricsOfCells())[0]).toMatchObject({ fire_danger_days: 366 });
  });

  test("counts absent days as days without danger on request, and lists their years", async () => {
    await series("a.nc", { since: "1991-01-01", dayCount: 365, valueAt: () => 31 });
    await series("b.nc", { since: "1992-05-01", dayCount: 153, valueAt: (day) => (day === 0 ? NaN : 40) });
    const provenance = async () => (await readCatalog()).hazards[0]?.packs.at(-1)?.groups[0]?.provenance;
    const daily = { files: "?.nc", absent_days: "no_danger" };
    await ingest([{ ...BASELINE, daily }]);
    // A map without a value still makes the cell missing.
    expect((await metricsOfCells())[0]).toMatchObject({ fire_danger_days: null });
    expect(await provenance()).toMatchObject({
      years: "1991-1992",
      missing_days: "make the cell missing",
      absent_days: "count as days without danger",
      incomplete_years: [{ year: 1992, first_day: "1992-05-01", last_day: "1992-09-30", absent_day_count: 213 }],
    });
    await ingest([{ ...BASELINE, daily: { ...daily, missing_days: "no_danger" } }]);
    expect((await metricsOfCells())[0]).toMatchObject({ fire_danger_days: (365 + 152) / 2, probability: 0.5 });
    await ingest([{ ...BASELINE, years: [1991, 1991], daily }]);
    expect(await provenance()).not.toHaveProperty("absent_days");
  });

  test.each([
    ["noleap", 365],
    ["360_day", 360],
  ])("accepts whole years of the calendar %s", async (calendar, dayCount) => {
    await series("a.nc", { since: "1992-01-01", dayCount, valueAt: () => 31, calendar });
    await ingest([{ ...BASELINE, daily: { files: "a.nc" } }]);
    expect((await metricsOfCells())[0]).toMatchObject({ fire_danger_days: dayCount });
    const [hazard] = (await readCatalog()).hazards;
    expect(hazard?.packs[0]?.groups[0]?.provenance).toMatchObject({ calendar, year_count: 1 });
  });

  test.each([
    // The days that other calendars have, too, do not complete a year.
    ["standard", 1992, 365, /365 of the 366 days of 1992.*1992-12-31 is the first absent day/],
    ["noleap", 1992, 364, /364 of the 365 days of 1992.*1992-12-31 is the first absent day/],
    ["all_leap", 1991, 365, /365 of the 366 days of 1991.*1991-12-31 is the first absent day/],
    ["360_day", 1991, 59, /59 of the 360 days of 1991.*the last 1991-02-29; 1991-02-30 is the first absent day/],
  ])("compares the days of a year with the calendar %s of the file", async (calendar, year, dayCount, message) => {
    await series("a.nc", { since: `${year}-01-01`, dayCount, valueAt: () => 31, calendar });
    expect(await rejectionMessage(ingest([{ ...BASELINE, daily: { files: "a.nc" } }]))).toMatch(message);
  });

  test("rejects files with different calendars", async () => {
    await series("a.nc", { since: "1991-01-01", dayCount: 365, valueAt: () => 31 });
    await series("b.nc", { since: "1992-01-01", dayCount: 360, valueAt: () => 31, calendar: "360_day" });
    expect(await rejectionMessage(ingest([{ ...BASELINE, daily: { files: "?.nc" } }]))).toMatch(
      /b\.nc: has the calendar 360_day, but .*a\.nc has standard/,
    );
    await series("b.nc", { since: "1992-01-01", dayCount: 366, valueAt: () => 31, calendar: "proleptic_gregorian" });
    await ingest([{ ...BASELINE, daily: { files: "?.nc" } }]);
    expect((await metricsOfCells())[0]).toMatchObject({ fire_danger_days: 365.5 });
  });

  test("reads files without dates from the first day on, and requires it", async () => {
    await series("a.nc", { since: "1991-01-01", dayCount: 365, valueAt: () => 31 });
    for (const first_day of ["2021-02-30", "2021-02-29", "2021-04-31"]) {
      const impossible = { ...BASELINE, daily: { files: "a.nc", first_day } };
      expect(await rejectionMessage(ingest([impossible]))).toContain(`there is no day ${first_day}`);
    }
    const dated = { ...BASELINE, daily: { files: "a.nc", first_day: "1991-01-01" } };
    expect(await rejectionMessage(ingest([dated]))).toMatch(
      /states the dates of its maps; omit first_day and calendar/,
    );
    await undatedSeries("b.nc", 365);
    const undated = { ...BASELINE, daily: { files: "b.nc" } };
    expect(await rejectionMessage(ingest([undated]))).toMatch(/states no date for band 1.*first_day/);
    await ingest([{ ...BASELINE, daily: { files: "b.nc", first_day: "1991-01-01" } }]);
    expect((await metricsOfCells())[0]).toMatchObject({ fire_danger_days: 365 });
  });

  test.each([
    ["noleap", 365],
    ["all_leap", 366],
    ["360_day", 360],
  ])("counts the days from the first day on in the declared calendar %s", async (calendar, daysOfYear) => {
    // Eight years, two of them leap years in the standard calendar: no day moves to another year.
    await undatedSeries("a.nc", 8 * daysOfYear);
    const daily = { files: "a.nc", first_day: "1991-01-01", calendar };
    await ingest([{ ...BASELINE, daily }]);
    expect((await metricsOfCells())[0]).toMatchObject({ fire_danger_days: daysOfYear, probability: 0 });
    const [hazard] = (await readCatalog()).hazards;
    expect(hazard?.packs[0]?.groups[0]?.provenance).toMatchObject({ calendar, years: "1991-1998", year_count: 8 });
    const standard = { ...BASELINE, daily: { files: "a.nc", first_day: "1991-01-01" } };
    expect(await rejectionMessage(ingest([standard]))).toMatch(/of the 365 days of 199[89]/);
  });

  test("accepts the first day only in its calendar, and a calendar only with a first day", async () => {
    const messageOf = (daily: Readonly<Record<string, unknown>>) =>
      rejectionMessage(ingest([{ ...BASELINE, daily: { files: "a.nc", ...daily } }]));
    await undatedSeries("a.nc", 1);
    expect(await messageOf({ first_day: "1992-02-29", calendar: "noleap" })).toMatch(
      /no day 1992-02-29 in the calendar noleap/,
    );
    expect(await messageOf({ first_day: "1992-01-31", calendar: "360_day" })).toMatch(/no day 1992-01-31/);
    expect(await messageOf({ first_day: "1991-02-30", calendar: "360_day" })).toMatch(/1 of the 360 days of 1991/);
    expect(await messageOf({ calendar: "noleap" })).toMatch(
      /daily\/calendar: calendar applies only to files that state no/,
    );
  });

  test("uses the dates of a file whose maps are reprojected", async () => {
    const axis = (name: "x" | "y", values: readonly number[]) => ({
      [name]: {
        dimensions: [name],
        type: "float64" as const,
        values,
        attributes: { units: "m", standard_name: `projection_${name}_coordinate` },
      },
    });
    const bytes = makeNetcdf3({
      dimensions: { time: 360, y: 2, x: 3 },
      variables: {
        ...axis("y", [5_550_000, 5_450_000]),
        ...axis("x", [450_000, 550_000, 650_000]),
        time: {
          dimensions: ["time"],
          values: [...Array(360).keys()],
          attributes: { units: "days since 1991-01-01", calendar: "360_day" },
        },
        FWI: { dimensions: ["time", "y", "x"], values: new Float32Array(360 * 6).fill(31) },
      },
    });
    await writeFile(join(folder, "utm.nc"), bytes);
    await ingest([{ ...BASELINE, daily: { files: "utm.nc", crs: "EPSG:32633" } }]);
    const provenance = (await readCatalog()).hazards[0]?.packs[0]?.groups[0]?.provenance;
    expect(provenance).toMatchObject({ calendar: "360_day", years: "1991", year_count: 1 });
  });

  test("rejects two maps of one day", async () => {
    const times = Array.from({ length: 730 }, (_, i) => i / 2);
    await series("a.nc", { since: "1991-01-01", dayCount: 730, valueAt: () => 1, times });
    const group = { ...BASELINE, daily: { files: "a.nc" } };
    expect(await rejectionMessage(ingest([group]))).toMatch(/second map for 1991-01-01.*One map a day/);
  });

  test.each([
    [-9999, /2?a\.nc: band 8, time 1991-01-08.*row 0, column 1 .*has the value -9999/],
    [Infinity, /has the value Infinity/],
    [2 ** 67, /has the value 1475739525896764\d+, but the Fire Weather Index is .*less than 1e\+20\./],
  ])("rejects the value %s with file, date and cell", async (value, message) => {
    await series("a.nc", {
      since: "1991-01-01",
      dayCount: 365,
      valueAt: (day, cell) => (day === 7 && cell === 1 ? value : 1),
    });
    expect(await rejectionMessage(ingest([{ ...BASELINE, daily: { files: "a.nc" } }]))).toMatch(message);
  });

  test("is previewed with its days as bands, and the metrics", async () => {
    await series("a.nc", { since: "1991-01-01", dayCount: 365, valueAt: () => 31 });
    const path = await manifest([{ ...BASELINE, daily: { files: ["a.nc"] } }]);
    const { hazards, files } = await previewRecipe("fire-weather", { sources: [path], out });
    expect(files).toMatchObject([{ bandCount: 365, rowCount: 2, columnCount: 3 }]);
    expect(hazards[0]?.sourceCellCount).toBe(365 * CELL_COUNT);
    expect(hazards[0]?.groups[0]?.metrics).toEqual(["intensity", "fire_danger_days", "probability", "total_hazard"]);
  });
});

describe("annual indicators", () => {
  const annual = (values: readonly number[], more: Partial<DailyFile> = {}): DailyFile => ({
    since: "1991-01-01",
    dayCount: values.length,
    times: values.map((_, year) => 365 * year + 100),
    valueAt: (year) => values[year] ?? NaN,
    ...more,
  });

  test("are read as they are", async () => {
    await series("max.nc", annual([30, 38, 60, 72]));
    await series("days.nc", annual([0, 4, 10, 20], { name: "ndays", unit: "days" }));
    await ingest([
      { ...BASELINE, annual: { maximum: { files: "max.nc" }, danger_days: { files: "days.nc", above_fwi: 30 } } },
    ]);
    expect((await metricsOfCells())[0]).toMatchObject({ fire_danger_days: 8.5, probability: 0.75, intensity: 0.5 });
  });

  test("give a null for the days if only the maxima are given", async () => {
    await series("max.nc", annual([30, 50]));
    await ingest([{ ...BASELINE, annual: { maximum: { files: "max.nc" } } }]);
    const [cell] = await metricsOfCells();
    expect(cell).toMatchObject({ probability: 0.5, intensity: 0.4, fire_danger_days: null });
  });

  test("make a cell missing that is missing in any year", async () => {
    await series("max.nc", annual([30, NaN, 50]));
    await ingest([{ ...BASELINE, annual: { maximum: { files: "max.nc" } } }]);
    expect((await metricsOfCells())[0]).toMatchObject({ probability: null, intensity: null });
  });

  test("above a local percentile need a definition, which is recorded", async () => {
    await series("days.nc", annual([10, 20], { name: "fwixd", longName: "Days above the local 95th percentile" }));
    const days = { files: "days.nc" };
    const claimed = [{ ...BASELINE, annual: { danger_days: { ...days, above_fwi: 30 } } }];
    expect(await rejectionMessage(ingest(claimed))).toMatch(/"fwixd".*local percentile, not above an FWI/);
    const definition = "days above the local 95th percentile of 1971-2000";
    await ingest([{ ...BASELINE, annual: { danger_days: { ...days, definition } } }]);
    const [hazard] = (await readCatalog()).hazards;
    expect(hazard?.packs[0]?.groups[0]?.provenance).toMatchObject({ definition, year_count: 2, years: "1991-1992" });
    expect((await metricsOfCells())[0]).toMatchObject({ fire_danger_days: 15 });
  });

  test("of different years, several maps a year, and a single maximum are rejected", async () => {
    await series("max.nc", annual([30, 38, 60]));
    await series("days.nc", annual([1, 2], { name: "n" }));
    await series("monthly.nc", annual([1, 2], { times: [10, 40] }));
    await series("one.nc", annual([50]));
    const maximum = (files: string) => ({ ...BASELINE, annual: { maximum: { files } } });
    const both = { maximum: { files: "max.nc" }, danger_days: { files: "days.nc", above_fwi: 30 } };
    expect(await rejectionMessage(ingest([{ ...BASELINE, annual: both }]))).toMatch(
      /days of fire danger are of 1991-1992, but the maxima of 1991-1993/,
    );
    expect(await rejectionMessage(ingest([maximum("monthly.nc")]))).toMatch(/second map for 1991/);
    expect(await rejectionMessage(ingest([maximum("one.nc")]))).toMatch(/at least two years/);
  });
});

describe("a manifest", () => {
  test("with errors is rejected with all of them, each with its pointer", async () => {
    const path = await manifest(
      [
        { scenario: "baseline", year: 2050, years: [2000, 1990], daily: { files: "a.nc" }, annual: {} },
        { scenario: "rcp8p5", year: 2050, annual: { danger_days: { files: "d.nc" } } },
        { scenario: "rcp8p5", year: 2050, annual: { danger_days: { files: "d.nc", above_fwi: 38 } } },
        { scenario: "rcp8p5", year: 2033, daily: { files: [], missing_days: "zero" } },
      ],
      { sources: 1, rules: { design_return_period_years: 100 } },
    );
    const error: unknown = await previewRecipe("fire-weather", { sources: [path], out }).catch(
      (reason: unknown) => reason,
    );
    if (!isFault(error)) throw error;
    expect(error.items.map(({ pointer, code }) => [pointer, code])).toEqual([
      ["/rules/design_return_period_years", "unknown"],
      ["/groups/3/daily/files", "empty"],
      ["/groups/3/daily/missing_days", "not_allowed"],
      ["/sources", "unknown"],
      ["/groups/2", "duplicate"],
      ["/groups/0/year", "combination_unavailable"],
      ["/groups/0/years", "out_of_range"],
      ["/groups/0", "not_expected"],
      ["/groups/0/annual", "missing"],
      ["/groups/1/annual/danger_days", "missing"],
      ["/groups/2/annual/danger_days/above_fwi", "not_allowed"],
      ["/groups/3/year", "not_allowed"],
    ]);
  });

  test("whose patterns match no file is rejected with the pointer of each", async () => {
    const path = await manifest([
      { ...BASELINE, annual: { maximum: { files: "m*.nc" }, danger_days: { files: "d*.nc", above_fwi: 30 } } },
    ]);
    const error: unknown = await previewRecipe("fire-weather", { sources: [path], out }).catch(
      (reason: unknown) => reason,
    );
    if (!isFault(error)) throw error;
    expect(error.items.map(({ pointer }) => pointer)).toEqual([
      "/groups/0/annual/maximum/files",
      "/groups/0/annual/danger_days/files",
    ]);
  });

  test("must be the only source", async () => {
    const sources = ["a.json", "b.json"];
    await expect(previewRecipe("fire-weather", { sources, out })).rejects.toThrow(
      /one JSON manifest \(got 2 sources\)/,
    );
  });
});

describeWithSharedData("the GFWED series of 2017 at four sites", () => {
  test("gives the fire danger days of a hand count", async () => {
    const h5wasm = await import("h5wasm/node");
    await h5wasm.ready;
    const file = new h5wasm.File(join(SHARED_HAZARD_DATA, "wildfire/GFWED_sample_2017.nc"), "r");
    const fwi = (file.get("FWI") as InstanceType<typeof h5wasm.Dataset>).value as Float32Array;
    file.close();
    // The file has four sites instead of a grid: each becomes a cell, and two cells have no site.
    const ofSite = (site: number): Float32Array => fwi.subarray(site * 365, (site + 1) * 365);
    const valueAt = (day: number, cell: number): number => (cell < 4 ? (ofSite(cell)[day] ?? NaN) : NaN);
    await series("gfwed.nc", { since: "2017-01-01", dayCount: 365, valueAt });
    await ingest([{ ...BASELINE, daily: { files: "gfwed.nc", missing_days: "no_danger" } }]);
    const cells = await metricsOfCells();
    const counts = [0, 1, 2, 3].map((site) => ofSite(site).filter((value) => value > 30).length);
    expect(counts).toEqual([0, 0, 0, 182]);
    expect(cells.slice(0, 4).map((cell) => cell["fire_danger_days"])).toEqual(counts);
    const maxima = [0, 1, 2, 3].map((site) => Math.max(...ofSite(site).filter((value) => !Number.isNaN(value))));
    expect(cells.slice(0, 4).map((cell) => cell["probability"])).toEqual(maxima.map((max) => (max >= 38 ? 1 : 0)));
    expect(cells[4]).toMatchObject({ fire_danger_days: null });
  });
});
