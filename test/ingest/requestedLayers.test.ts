import { describe, expect, test, vi } from "vitest";
import { isFault } from "../../src/errors.ts";
import { type HazardName, HAZARDS, type Scenario } from "../../src/hazard/hazards.ts";
import { dryFilledRaster, interpolatedCurve } from "../../src/ingest/derivedRasters.ts";
import type { CurveSource, GroupPlan, HazardPlan, MapSource } from "../../src/ingest/plan.ts";
import type { Raster } from "../../src/ingest/raster.ts";
import { withRequestedLayers } from "../../src/ingest/requestedLayers.ts";

/** A map in memory of one row; NaN is missing. */
function mapOf(values: readonly number[], unitFactor = 1, file = "map.tif"): MapSource {
  const raster: Raster = {
    spec: { kind: "file", file, options: {} },
    file,
    grid: { northDeg: 0, westDeg: 0, cellSizeLatDeg: 1, cellSizeLonDeg: 1, rowCount: 1, columnCount: values.length },
    crs: "EPSG:4326",
    bands: [{ name: undefined, type: "float32", nodata: [], scale: 1, offset: 0, unit: "m", coordinates: {} }],
    blockRowCount: 1,
    blockColumnCount: values.length,
    notes: {},
    readWindow: ({ firstColumn, columnCount }) =>
      Promise.resolve(Float64Array.from(values.slice(firstColumn, firstColumn + columnCount))),
    close: () => Promise.resolve(),
  };
  return { raster, band: 1, unitFactor };
}

const curve = (model: string, values: number, periods: readonly number[] = [10, 100]): CurveSource => ({
  model,
  maps: periods.map((returnPeriodYears) => ({ ...mapOf([values, values * 2]), returnPeriodYears })),
});
const group = (
  scenario: Scenario,
  year: number,
  models: readonly CurveSource[] = [curve("", year)],
  more: Partial<GroupPlan> = {},
): GroupPlan => ({ scenario, year, content: { kind: "curves", models }, provenance: { product: "Test" }, ...more });
const planOf = (groups: readonly GroupPlan[], hazard: HazardName = "cyclones"): HazardPlan => ({
  hazard,
  rules: HAZARDS[hazard].rules,
  groups,
});

/** Returns scenario, year and provenance of the groups that are added to a plan. */
function added(groups: readonly GroupPlan[], requests: Parameters<typeof withRequestedLayers>[1]) {
  const [plan] = withRequestedLayers([planOf(groups)], requests);
  return (plan?.groups ?? []).filter((each) => !groups.includes(each));
}
const errorsOf = (groups: readonly GroupPlan[], requests: Parameters<typeof withRequestedLayers>[1]) => {
  try {
    withRequestedLayers([planOf(groups)], requests);
  } catch (error) {
    if (isFault(error, "invalid_request")) return error.items.map(({ pointer, detail }) => [pointer, detail]);
    throw error;
  }
  throw new Error("The requests were accepted.");
};
const WHOLE = { band: 1, firstRow: 0, rowCount: 1, firstColumn: 0, columnCount: 2 };

describe("interpolated years", () => {
  test("lie linearly between the nearest years of the scenario, at each return period", async () => {
    const groups = [group("rcp8p5", 2030), group("rcp8p5", 2050), group("rcp8p5", 2080), group("rcp4p5", 2050)];
    const errors = errorsOf(groups, { interpolateYears: [2040] });
    expect(errors).toEqual([["/interpolateYears/0", expect.stringMatching(/rcp4p5 2040 is not between two years/)]]);
    const [between, ...others] = added(groups.slice(0, 3), { interpolateYears: [2040] });
    expect(others).toEqual([]);
    expect(between).toMatchObject({
      scenario: "rcp8p5",
      year: 2040,
      provenance: { product: "Test", interpolated: [2030, 2050] },
    });
    if (between?.content.kind !== "curves") throw new Error("It has no curves.");
    const [model] = between.content.models;
    expect(model?.maps.map(({ returnPeriodYears }) => returnPeriodYears)).toEqual([10, 100]);
    expect(await model?.maps[0]?.raster.readWindow(WHOLE)).toEqual(Float64Array.of(2040, 4080));
  });

  test("are never extrapolated, also not from the baseline unless it is requested", () => {
    const groups = [group("baseline", 1980), group("rcp8p5", 2050)];
    expect(errorsOf(groups, { interpolateYears: [2080, 2030] })).toEqual([
      ["/interpolateYears/0", expect.stringMatching(/2080 is not between two years with maps \(2050\), and nothing/)],
      ["/interpolateYears/1", expect.stringMatching(/--interpolate-from-baseline also uses the baseline/)],
    ]);
    const [fromBaseline] = added(groups, { interpolateYears: [2030], interpolateFromBaseline: true });
    expect(fromBaseline?.provenance).toEqual({
      product: "Test",
      interpolated: [1980, 2050],
      interpolated_from_baseline: true,
    });
  });

  test("weigh by the year that the maps are for", async () => {
    const groups = [
      group("baseline", 1980, [curve("", 0)], { epochYear: 2018 }),
      group("rcp8p5", 2050, [curve("", 32)]),
    ];
    const [between] = added(groups, { interpolateYears: [2030], interpolateFromBaseline: true });
    if (between?.content.kind !== "curves") throw new Error("It has no curves.");
    expect(await between.content.models[0]?.maps[0]?.raster.readWindow(WHOLE)).toEqual(Float64Array.of(12, 24));
    expect(between.provenance["interpolated"]).toEqual([2018, 2050]);
  });

  test("state the members in which the provenances of the two epochs differ, and no year of maps as their own", () => {
    const present = {
      product: "A",
      credit: "First",
      baseline_window: [1960, 1999],
      sea_level_year: 2018,
      models: ["x"],
    };
    const future = { product: "A", credit: "Second", period: [2015, 2050], sea_level_year: 2050, models: ["x"] };
    const groups = [
      group("baseline", 1980, [curve("", 0)], { provenance: present }),
      group("rcp8p5", 2050, [curve("", 1)], { provenance: future }),
    ];
    const [between] = added(groups, { interpolateYears: [2030], interpolateFromBaseline: true });
    expect(between?.provenance).toEqual({
      product: "A",
      credit: "Second",
      models: ["x"],
      interpolated: [1980, 2050],
      interpolated_from_baseline: true,
      interpolated_epochs: [
        { scenario: "baseline", year: 1980, credit: "First", baseline_window: [1960, 1999], sea_level_year: 2018 },
        { scenario: "rcp8p5", year: 2050, credit: "Second", period: [2015, 2050], sea_level_year: 2050 },
      ],
    });
  });

  test("keep members about the years of maps that both epochs share", () => {
    const provenance = { period: [2015, 2050], product: "A" };
    const groups = [
      group("rcp8p5", 2030, [curve("", 0)], { provenance: { ...provenance, version: "1" } }),
      group("rcp8p5", 2050, [curve("", 1)], { provenance: { ...provenance, version: "2" } }),
    ];
    const [between] = added(groups, { interpolateYears: [2040] });
    expect(between?.provenance).toMatchObject({ period: [2015, 2050], version: "2" });
  });

  test("keep the climate models apart", () => {
    const models = (year: number) => [curve("A", year), curve("B", year)];
    const [between] = added([group("rcp8p5", 2030, models(1)), group("rcp8p5", 2050, models(2))], {
      interpolateYears: [2040],
    });
    if (between?.content.kind !== "curves") throw new Error("It has no curves.");
    expect(between.content.models.map(({ model }) => model)).toEqual(["A", "B"]);
    const other = [group("rcp8p5", 2030, [curve("A", 1), curve("C", 1)]), group("rcp8p5", 2050, models(2))];
    expect(errorsOf(other, { interpolateYears: [2040] })).toEqual([
      ["/interpolateYears/0", expect.stringMatching(/rcp8p5 2030 has no maps of the model B/)],
    ]);
  });

  test("require equal return periods, and curves", () => {
    const periods = [group("rcp8p5", 2030), group("rcp8p5", 2050, [curve("", 1, [10, 100, 1000])])];
    expect(errorsOf(periods, { interpolateYears: [2040] })).toEqual([
      ["/interpolateYears/0", expect.stringMatching(/\(10, 100\) differ from those of rcp8p5 2050 \(10, 100, 1000\)/)],
    ]);
    const content = { kind: "metrics", metrics: { wind_speed_mps: { ...mapOf([1]), saturate: false } } } as const;
    const metrics = [group("rcp8p5", 2030, [], { content }), group("rcp8p5", 2050, [], { content })];
    expect(errorsOf(metrics, { interpolateYears: [2040] })).toEqual([
      ["/interpolateYears/0", expect.stringMatching(/only curves of return-period maps are/)],
    ]);
  });

  test("are rejected if the hazard has no such year, or if they have no effect", () => {
    const groups = [group("rcp8p5", 2030), group("rcp8p5", 2050)];
    expect(errorsOf(groups, { interpolateYears: [2035, 1980, 2030] })).toEqual([
      ["/interpolateYears/0", "cyclones has no year 2035 to interpolate; its years are 2025, 2030, 2040, 2050, 2080."],
      ["/interpolateYears/1", "cyclones has no year 1980 to interpolate; its years are 2025, 2030, 2040, 2050, 2080."],
      ["/interpolateYears/2", expect.stringMatching(/2030 .*has no effect/)],
    ]);
    expect(errorsOf(groups, { interpolateFromBaseline: true })).toEqual([
      ["/interpolateFromBaseline", expect.stringMatching(/has no effect without --interpolate-years/)],
    ]);
  });
});

describe("declared proxies", () => {
  const groups = [group("rcp4p5", 2050), group("rcp4p5", 2080, [curve("", 1)], { provenance: { proxy_of: "ssp245" } })];

  test("use all layers of the other scenario, and say so", () => {
    expect(
      added(groups, { proxyScenario: { rcp6p0: "rcp4p5" } }).map(({ scenario, year, provenance }) => [
        scenario,
        year,
        provenance["proxy_of"],
      ]),
    ).toEqual([
      ["rcp6p0", 2050, "rcp4p5"],
      ["rcp6p0", 2080, ["rcp4p5", "ssp245"]],
    ]);
  });

  test("never replace layers of the sources, and are rejected if they cannot be made, all at once", () => {
    const proxyScenario = { rcp4p5: "rcp4p5", rcp6p0: "rcp8p5", baseline: "rcp4p5", ssp245: "rcp4p5" };
    expect(errorsOf(groups, { proxyScenario })).toEqual([
      ["/proxyScenario/rcp4p5", expect.stringMatching(/the sources have maps of cyclones for rcp4p5/)],
      ["/proxyScenario/rcp6p0", expect.stringMatching(/no maps of cyclones for rcp8p5/)],
      ["/proxyScenario/baseline", expect.stringMatching(/no scenario baseline that may have a proxy/)],
      ["/proxyScenario/ssp245", expect.stringMatching(/accepted are rcp2p6, rcp4p5, rcp6p0, rcp8p5/)],
    ]);
  });
});

describe("derived maps", () => {
  test("an interpolated cell is missing if either map is, and values below zero count as zero", async () => {
    const earlier = mapOf([NaN, 1, -0.5, 4], 0.01);
    const later = mapOf([1, NaN, 2, 8], 0.01);
    const [raster] = interpolatedCurve([earlier], [later], 0.25);
    const values = await raster?.readWindow({ ...WHOLE, columnCount: 4 });
    expect([...(values ?? [])]).toEqual([NaN, NaN, 0.005, expect.closeTo(0.05, 12)]);
    expect(raster?.parts).toEqual([earlier.raster, later.raster]);
  });

  test("the curves of both epochs are made non-decreasing before they are interpolated", async () => {
    const window = { ...WHOLE, columnCount: 3 };
    // The last map of the earlier epoch is in centimeters. Cell 2 is missing at the second return period only.
    const earlier = [mapOf([3, 0, 1]), mapOf([0, 1, NaN]), mapOf([300, 50, 200], 0.01)];
    const later = [mapOf([0, 2, 1]), mapOf([3, 1, 2]), mapOf([3, 4, 3])];
    const reads = [...earlier, ...later].map(({ raster }) => vi.spyOn(raster, "readWindow"));
    const curve = interpolatedCurve(earlier, later, 0.5);
    const values = await Promise.all(curve.map((raster) => raster.readWindow(window)));
    expect(values.map((each) => [...each])).toEqual([
      [1.5, 1, 1],
      [3, 1.5, NaN],
      [3, 2.5, NaN],
    ]);
    for (const read of reads) expect(read).toHaveBeenCalledOnce();
    expect([...((await curve[2]?.readWindow({ ...window, firstColumn: 1, columnCount: 1 })) ?? [])]).toEqual([2.5]);
  });

  test("name the bands of files that they are computed from, also if they are derived from derived maps", () => {
    const banded = (file: string, band: number): MapSource => {
      const source = mapOf([1, 2], 1, file);
      const bands = Array.from({ length: 4 }, () => source.raster.bands[0] as Raster["bands"][number]);
      return { ...source, band, raster: { ...source.raster, bands } };
    };
    const filled = dryFilledRaster(banded("a.tif", 3), banded("w.tif", 4));
    expect([filled.parts?.map(({ file }) => file), filled.partBands]).toEqual([["a.tif"], [3]]);
    const [between] = interpolatedCurve([{ raster: filled, band: 1, unitFactor: 1 }], [banded("b.tif", 2)], 0.5);
    expect([between?.parts?.map(({ file }) => file), between?.partBands]).toEqual([
      ["a.tif", "b.tif"],
      [3, 2],
    ]);
  });

  test("a dry cell is one that is missing on a map and has a value on that of the longest return period", async () => {
    const raster = dryFilledRaster(mapOf([NaN, NaN, 3, 0]), mapOf([NaN, 2, 4, NaN]));
    expect([...(await raster.readWindow({ ...WHOLE, columnCount: 4 }))]).toEqual([NaN, 0, 3, 0]);
    expect(raster.notes).toHaveProperty("missing_as_dry");
  });
});
