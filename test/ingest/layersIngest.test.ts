import { writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isFault } from "../../src/errors.ts";
import { ingestLayers, ingestRecipe, type RecipeName } from "../../src/ingest/ingest.ts";
import {
  CELL_COUNT,
  folder,
  manifest,
  map,
  metricsAt,
  out,
  readCatalog,
  rejectionMessage,
  useIngestFolder,
  withAtlas,
} from "./ingestFixture.ts";

useIngestFolder();

describe("ingestLayers", () => {
  test.each([
    [-9999, 0.0001],
    [-999, 0.001],
    [-9, 0.01],
    [-32768, 1e-6],
    [-3.4028234663852886e38, 1e-39],
  ])(
    "never sets the nodata marker %d to zero, even if the unit factor %d makes it small",
    async (marker, unit_factor) => {
      const file = await map("marked.tif", (cell) => (cell === 4 ? marker : 50), { nodata: "7" });
      const layers = [{ scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: "marked.tif", unit_factor }];
      const clamping = { layers, options: { clamp_negative: true } };
      const message = await rejectionMessage(ingestLayers({ manifest: await manifest(clamping), out }));
      expect(message).toContain(`${file}: row 0, column 4`);
      expect(message).toContain(
        `which commonly marks missing cells and is never set to 0. If it marks missing cells, pass --nodata`,
      );
    },
  );

  const LAYER = { scenario: "rcp4p5", year: 2030 } as const;
  const curveOf = (file: string, more: object) => ({ ...LAYER, file, ...more });
  test.each([
    [
      "curve in one unit",
      [curveOf("dry.tif", { return_period_years: 10 }), curveOf("marked.tif", { return_period_years: 1000 })],
    ],
    [
      "curve in two units",
      [
        curveOf("dry.tif", { return_period_years: 10 }),
        curveOf("marked.tif", { return_period_years: 1000, unit_factor: 1e-30 }),
      ],
    ],
    ["map of a metric", [curveOf("marked.tif", { metric: "depth_meters" })]],
    [
      "map of a share",
      [curveOf("dry.tif", { metric: "depth_meters" }), curveOf("marked.tif", { metric: "probability" })],
    ],
  ])("rejects the largest float in a %s as a nodata marker", async (_, layers) => {
    await map("dry.tif", () => 0);
    const file = await map("marked.tif", (cell) => (cell === 4 ? 3.4028234663852886e38 : 0));
    const message = await rejectionMessage(ingestLayers({ manifest: await manifest({ layers }), out }));
    expect(message).toContain(
      `${file}: row 0, column 4 (latitude 19.95000, longitude 10.45000): the value is 3.4028234663852886e+38, ` +
        "which commonly marks missing cells. If it marks missing cells, pass --nodata 3.4028234663852886e+38",
    );
  });

  test("records the versions of sidecar files, and publishes nothing if one changes during the ingest", async () => {
    const file = await map("scaled.tif", () => 2);
    const statement = (scale: number): Promise<void> =>
      writeFile(
        `${file}.aux.xml`,
        `<PAMDataset><PAMRasterBand band="1"><Scale>${scale}</Scale></PAMRasterBand></PAMDataset>`,
      );
    await statement(0.5);
    const layers = [{ scenario: "rcp4p5", year: 2030, metric: "depth_meters", file: "scaled.tif" }];
    const options = { manifest: await manifest({ layers }), out };
    const changed = ingestLayers({ ...options, onProgress: () => writeFileSync(`${file}.aux.xml`, "<PAMDataset/>") });
    await expect(changed).rejects.toThrow(/scaled\.tif\.aux\.xml: was replaced or changed while it was being read/);

    await statement(0.25);
    await ingestLayers(options);
    await withAtlas(async (atlas) =>
      expect(await metricsAt(atlas, { row: 0, column: 0 })).toMatchObject({ depth_meters: 0.5 }),
    );
    expect((await readCatalog()).hazards[0]?.packs[0]?.groups[0]?.provenance).toMatchObject({
      metric_maps: [
        {
          file: "scaled.tif",
          sidecar_files: [{ file: "scaled.tif.aux.xml", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string }],
        },
      ],
    });
  });

  test("has a default clamp tolerance of 0.01 for metrics from 0 to 1 and of 1 for others, and records it", async () => {
    await map("depth.tif", (cell) => (cell === 4 ? -0.9 : 0.5));
    await map("probability.tif", (cell) => (cell === 4 ? -0.01 : 0.5));
    const layers = ["depth", "probability"].map((name) => ({
      scenario: "rcp4p5",
      year: 2030,
      metric: name === "depth" ? "depth_meters" : name,
      file: `${name}.tif`,
    }));
    const clamping = { layers, options: { clamp_negative: true } };
    const provenance = async () => (await readCatalog()).hazards[0]?.packs.at(-1)?.groups[0]?.provenance;
    await map("probability.tif", (cell) => (cell === 4 ? -0.0101 : 0.5));
    expect(await rejectionMessage(ingestLayers({ manifest: await manifest(clamping), out }))).toMatch(
      /probability\.tif.*more than 0\.01 below zero/,
    );
    await map("probability.tif", (cell) => (cell === 4 ? -0.0099 : 0.5));
    await ingestLayers({ manifest: await manifest(clamping), out });
    expect(await provenance()).toMatchObject({
      clamp_negative: true,
      metric_maps: [
        { metric: "depth_meters", clamp_tolerance: 1 },
        { metric: "probability", clamp_tolerance: 0.01 },
      ],
    });
    await map("probability.tif", (cell) => (cell === 4 ? -0.4 : 0.5));
    await map("depth.tif", (cell) => (cell === 4 ? -0.4 : 0.5));
    await ingestLayers({ manifest: await manifest(clamping), out, clampTolerance: 0.5 });
    expect(await provenance()).toMatchObject({ metric_maps: [{ clamp_tolerance: 0.5 }, { clamp_tolerance: 0.5 }] });
  });

  test("applies the clamp tolerance in the unit of the metric, with the unit factor of each file", async () => {
    // One curve with maps in centimeters and in meters: -80 cm and -0.8 m are within a meter, -120 cm is not.
    await map("cm.tif", (cell) => (cell === 4 ? -80 : 50));
    await map("m.tif", (cell) => (cell === 5 ? -0.8 : 1));
    const layers = [
      { scenario: "rcp4p5", year: 2030, return_period_years: 50, file: "cm.tif", unit_factor: 0.01 },
      { scenario: "rcp4p5", year: 2030, return_period_years: 100, file: "m.tif" },
    ];
    const clamping = { layers, options: { clamp_negative: true } };
    const report = await ingestLayers({ manifest: await manifest(clamping), out });
    expect(report.groups[0]?.cells.clampedNegative).toBe(2);
    await map("cm.tif", (cell) => (cell === 4 ? -120 : 50));
    const message = await rejectionMessage(ingestLayers({ manifest: await manifest(clamping), out }));
    expect(message).toMatch(/cm\.tif: row 0, column 4 .*the value is -120, which is -1\.2 m: more than 1 m below zero/);
    const widerTolerance = { layers, options: { clamp_negative: true, clamp_tolerance: 1.5 } };
    await ingestLayers({ manifest: await manifest(widerTolerance), out });
    const [entry] = (await readCatalog()).hazards[0]?.packs.at(-1)?.groups ?? [];
    expect(entry?.provenance).toMatchObject({ clamp_tolerance: 1.5, clamped_cells: 2 });
    // The option takes precedence over the manifest.
    expect(
      await rejectionMessage(ingestLayers({ manifest: await manifest(widerTolerance), out, clampTolerance: 0.5 })),
    ).toMatch(/more than 0\.5 m below zero/);
  });

  test("derives only intensity if the hazard's own metric is the only map", async () => {
    await map("wind.tif", (cell) => cell / 100, { nodata: "0" });
    const layers = [
      {
        scenario: "rcp4p5",
        year: 2040,
        metric: "wind_speed_mps",
        file: "wind.tif",
        unit_factor: 1 / 0.88,
        definition: "10-minute",
      },
    ];
    const path = await manifest({ hazard: "cyclones", layers });
    const report = await ingestLayers({ manifest: path, out });
    expect(report.groups[0]?.metrics).toEqual(["intensity", "wind_speed_mps"]);
    await withAtlas(async (atlas) => {
      const query = { hazard: "cyclones", year: 2040 } as const;
      expect(await metricsAt(atlas, { ...query, row: 44, column: 0 })).toMatchObject({
        wind_speed_mps: 40,
        intensity: 0.4,
        probability: null,
        total_hazard: null,
      });
      expect(await metricsAt(atlas, { ...query, row: 0, column: 0 })).toMatchObject({ wind_speed_mps: null });
    });
    expect((await readCatalog()).hazards[0]?.packs[0]?.groups[0]?.provenance).toMatchObject({
      definition: "10-minute",
    });
  });

  test("writes the given wildfire metrics unchanged, each with its own missing cells, and derives no intensity from days", async () => {
    await map("days.tif", () => 120.5);
    await map("probability.tif", (cell) => (cell === 1 ? -9999 : 50));
    await map("fwi.tif", () => 130);
    const group = { scenario: "baseline", year: 1980 };
    const layers = [
      { ...group, metric: "fire_danger_days", file: "days.tif" },
      { ...group, metric: "probability", file: "probability.tif", unit_factor: 0.01 },
    ];
    const query = { hazard: "wildfire", scenario: "baseline", year: 1980, row: 0 } as const;
    const report = await ingestLayers({ manifest: await manifest({ hazard: "wildfire", layers }), out });
    expect(report.groups[0]?.metrics).toEqual(["fire_danger_days", "probability"]);
    const full = [...layers, { ...group, metric: "intensity", file: "fwi.tif", unit_factor: 0.01, saturate: true }];
    await ingestLayers({ manifest: await manifest({ hazard: "wildfire", layers: full }), out });
    await withAtlas(async (atlas) => {
      expect(await metricsAt(atlas, { ...query, column: 0 })).toEqual({
        intensity: 1,
        fire_danger_days: 120.5,
        probability: 0.5,
        total_hazard: 0.5,
      });
      expect(await metricsAt(atlas, { ...query, column: 1 })).toMatchObject({
        intensity: 1,
        fire_danger_days: 120.5,
        probability: null,
        total_hazard: null,
      });
    });
  });

  test("rejects an intensity above 1 unless the layer saturates", async () => {
    const file = await map("intensity.tif", () => 1.3);
    await map("days.tif", () => 3);
    const group = { scenario: "baseline", year: 1980 };
    const layers = [
      { ...group, metric: "fire_danger_days", file: "days.tif" },
      { ...group, metric: "intensity", file: "intensity.tif" },
    ];
    const message = await rejectionMessage(
      ingestLayers({ manifest: await manifest({ hazard: "wildfire", layers }), out }),
    );
    expect(message).toContain(file);
    expect(message).toMatch(/row 0, column 0 .*as intensity, whose maximum is 1/);
  });

  test("applies the bands, unit factors, nodata values and rules of the manifest", async () => {
    await mkdir(join(folder, "sub"));
    const values = Array.from({ length: CELL_COUNT }, (_, cell) => [
      cell === 4 ? -999900 : 40,
      cell === 4 ? -999900 : 250,
    ]).flat();
    await map("sub/both.tif", () => 0, { values, bandCount: 2, type: "int32" });
    const group = { scenario: "rcp8p5", year: 2050, file: "sub/both.tif", unit_factor: 0.01, nodata: -999900 };
    const layers = [
      { ...group, return_period_years: 20, band: 1 },
      { ...group, return_period_years: 200, band: 2 },
    ];
    const rules = { design_return_period_years: 200, threshold: 0.4, intensity_reference: 5 };
    await ingestLayers({ manifest: await manifest({ rules, layers }), out });
    expect((await readCatalog()).hazards[0]?.rules).toMatchObject(rules);
    await withAtlas(async (atlas) => {
      const query = { scenario: "rcp8p5", year: 2050, row: 0 } as const;
      expect(await metricsAt(atlas, { ...query, column: 0 })).toMatchObject({
        depth_meters: 2.5,
        intensity: 0.5,
        probability: 1 / 20,
        total_hazard: 0.025,
      });
      expect(await metricsAt(atlas, { ...query, column: 4 })).toMatchObject({ depth_meters: null });
    });
  });

  test("reports all errors of a manifest together, each with its JSON pointer", async () => {
    const pointers = async (content: Record<string, unknown>): Promise<readonly string[]> => {
      const error: unknown = await ingestLayers({ manifest: await manifest(content), out }).catch(
        (reason: unknown) => reason,
      );
      if (!isFault(error, "invalid_request")) throw error;
      return error.items.map((item) => `${item.pointer} ${item.code}`).toSorted();
    };
    const layer = { scenario: "rcp4p5", year: 2030, file: "x.tif" };
    expect(
      await pointers({ hazard: "hail", source: { name: "" }, layers: [{ ...layer, unit_factor: 0, colour: 1 }] }),
    ).toEqual([
      "/hazard not_allowed",
      "/layers/0/colour unknown",
      "/layers/0/unit_factor out_of_range",
      "/source/licence missing",
      "/source/name out_of_range",
    ]);
    const layers = [
      { ...layer, metric: "depth_meters" },
      { ...layer, metric: "depth_meters" },
      { ...layer, return_period_years: 100 },
      { ...layer, year: 2040, metric: "total_hazard" },
      { ...layer, scenario: "rcp2p6", metric: "probability" },
      { ...layer, scenario: "baseline", metric: "probability", return_period_years: 5, model: "a" },
    ];
    expect(await pointers({ rules: { danger_threshold: 30 }, layers })).toEqual([
      "/layers/1 duplicate",
      "/layers/2 not_expected",
      "/layers/3 missing",
      "/layers/3/metric not_allowed",
      "/layers/3/year not_allowed",
      "/layers/4 missing",
      "/layers/4/scenario not_allowed",
      "/layers/5 not_expected",
      "/layers/5/model not_expected",
      "/layers/5/year combination_unavailable",
      "/rules/danger_threshold not_expected",
    ]);
    // Errors against the rules of the hazard are reported together with schema errors.
    const invalidLayers = [
      { ...layer, year: 2041, return_period_years: 0.5 },
      { ...layer, year: 2042, metric: "depth_meters", file: 7 },
      { ...layer, scenario: "rcp9", year: 2043, metric: "wind" },
      7,
    ];
    expect(await pointers({ rules: { threshold: -1, danger_threshold: 3 }, layers: invalidLayers })).toEqual([
      "/layers/0/return_period_years out_of_range",
      "/layers/0/year not_allowed",
      "/layers/1/file wrong_type",
      "/layers/1/year not_allowed",
      "/layers/2/metric not_allowed",
      "/layers/2/scenario not_allowed",
      "/layers/2/year not_allowed",
      "/layers/3 wrong_type",
      "/rules/danger_threshold not_expected",
      "/rules/threshold out_of_range",
    ]);
    const curves = [
      { ...layer, return_period_years: 250, model: "a" },
      { ...layer, return_period_years: 500, model: "a" },
      { ...layer, return_period_years: 250, model: "b" },
    ];
    const curveErrors = ["/layers/0/return_period_years out_of_range", "/layers/2 missing"];
    expect(await pointers({ layers: curves })).toEqual(curveErrors);
    expect(await pointers({ layers: curves, options: { hold_flat: true } })).toEqual(curveErrors.slice(1));
    await writeFile(join(folder, "broken.json"), "{");
    expect(await rejectionMessage(ingestLayers({ manifest: join(folder, "broken.json"), out }))).toMatch(
      /cannot be read as a JSON manifest/,
    );
  });

  test("replaces a recipe of earlier releases, as its error says", async () => {
    const ingest = (name: string) => ingestRecipe(name as RecipeName, { sources: [], out });
    expect(await rejectionMessage(ingest("osc-zarr"))).toMatch(
      /no recipe "osc-zarr"; the recipes are aqueduct-floods.*manifest of isotherm ingest layers/,
    );
    expect(await rejectionMessage(ingest("toString"))).toMatch(/no recipe "toString".*wind-events\.$/);
  });

  test("rejects a band that the file does not have", async () => {
    await map("one.tif", () => 1);
    const layers = [{ scenario: "rcp4p5", year: 2030, return_period_years: 100, file: "one.tif", band: 2 }];
    expect(await rejectionMessage(ingestLayers({ manifest: await manifest({ layers }), out }))).toMatch(
      /has no band 2; it has 1 band\./,
    );
  });
});
