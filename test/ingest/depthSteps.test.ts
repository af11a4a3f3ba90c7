import { describe, expect, test } from "vitest";
import { ingestLayers, previewLayers } from "../../src/ingest/ingest.ts";
import {
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

/** Depths of 0, 70.5 and 612.34 m in turn. */
const DEPTHS_M = [0, 70.5, 612.34];
const layer = async (year: number, more: Record<string, unknown> = {}) => ({
  scenario: "rcp4p5",
  year,
  metric: "depth_meters",
  file: await map(`${year}.tif`, (cell) => DEPTHS_M[cell % 3] ?? NaN),
  ...more,
});

describe("--depth-steps-per-meter", () => {
  test("stores depths above 65.533 m, which existing code reads", async () => {
    const file = await manifest({ layers: [await layer(2030)] });
    const report = await ingestLayers({ manifest: file, out, depthStepsPerMeter: 100 });
    expect(report.totals.largestRounding.depth_meters).toBeLessThan(0.005001);
    const { hazards } = await readCatalog();
    const layers = hazards[0]?.packs[0]?.groups[0]?.layers;
    expect(layers?.find(({ metric }) => metric === "depth_meters")?.steps_per_unit).toBe(100);
    await withAtlas(async (atlas) => {
      for (const [column, depthM] of DEPTHS_M.entries()) {
        expect((await metricsAt(atlas, { row: 0, column }))["depth_meters"]).toBeCloseTo(depthM, 6);
      }
    });
  });

  test("rejects a depth that the default steps cannot store, with the cell and an option that can", async () => {
    const message = await rejectionMessage(
      ingestLayers({ manifest: await manifest({ layers: [await layer(2030)] }), out }),
    );
    expect(message).toMatch(
      /2030\.tif: row 0, column 1 .*70\.5.*65\.533.*--depth-steps-per-meter 500 stores depths up to 131\.07 m/s,
    );
  });

  test("rejects a depth that even the given steps cannot store", async () => {
    const file = await manifest({ layers: [await layer(2030)] });
    const message = await rejectionMessage(ingestLayers({ manifest: file, out, depthStepsPerMeter: 200 }));
    expect(message).toMatch(/row 0, column 2 .*612\.3.*327\.665.*--depth-steps-per-meter 100 stores/s);
  });

  test("layers that are added have the steps of the atlas; other steps are rejected", async () => {
    await ingestLayers({ manifest: await manifest({ layers: [await layer(2030)] }), out, depthStepsPerMeter: 100 });
    const second = await manifest({ layers: [await layer(2050)] }, "second.json");
    expect(await rejectionMessage(ingestLayers({ manifest: second, out, depthStepsPerMeter: 50 }))).toMatch(
      /stores depth_meters of riverine_floods in 100 steps per meter, not 50/,
    );
    await ingestLayers({ manifest: second, out });
    const { hazards } = await readCatalog();
    const steps = hazards[0]?.packs.flatMap(({ groups }) =>
      groups.map(({ layers }) => layers.find(({ metric }) => metric === "depth_meters")?.steps_per_unit),
    );
    expect(steps).toEqual([100, 100]);
  });

  test.each([0, 0.5, NaN, 10_001])("rejects %d steps", async (depthStepsPerMeter) => {
    const file = await manifest({ layers: [await layer(2030)] });
    await expect(ingestLayers({ manifest: file, out, depthStepsPerMeter })).rejects.toThrow(/from 1 to 10000|number/);
  });

  test("is rejected for a hazard without a depth", async () => {
    const wind = { ...(await layer(2030)), metric: "wind_speed_mps" };
    const file = await manifest({ hazard: "cyclones", layers: [wind] });
    expect(await rejectionMessage(ingestLayers({ manifest: file, out, depthStepsPerMeter: 100 }))).toMatch(
      /no effect on cyclones/,
    );
  });
});

describe("previewLayers", () => {
  test("lists files, layers and cells, and writes nothing", async () => {
    const layers = [await layer(2030), await layer(2050)];
    const preview = await previewLayers({ manifest: await manifest({ layers }), out, depthStepsPerMeter: 100 });
    expect(preview).toMatchObject({
      atlas: out,
      currentRelease: undefined,
      files: [
        { file: layers[0]?.file, rowCount: 70, columnCount: 80, numberType: "float32", bandCount: 1 },
        { file: layers[1]?.file },
      ],
      hazards: [
        {
          hazard: "riverine_floods",
          cellCount: 5600,
          sourceCellCount: 11_200,
          stepsPerUnit: { intensity: 10_000, depth_meters: 100 },
          groups: [
            { year: 2030, metrics: ["intensity", "depth_meters"], replaces: false, maps: [{ metric: "depth_meters" }] },
            { year: 2050, replaces: false },
          ],
        },
      ],
    });
    await expect(readCatalog()).rejects.toThrow(/ENOENT/);
  });

  test("tells which layers exist, and how large the files become at most", async () => {
    const file = await manifest({ layers: [await layer(2030)] });
    await ingestLayers({ manifest: file, out, depthStepsPerMeter: 100 });
    const both = await manifest({ layers: [await layer(2030), await layer(2050)] }, "both.json");
    const preview = await previewLayers({ manifest: both, out });
    expect(preview.hazards[0]?.groups.map(({ replaces }) => replaces)).toEqual([true, false]);
    expect(preview.currentRelease).toBe((await readCatalog()).release);
    const { files } = (await readCatalog()).hazards[0]?.packs[0] ?? {};
    const sizeBytes = (files?.tiles.size_bytes ?? NaN) + (files?.pyramid.size_bytes ?? NaN);
    expect(preview.hazards[0]?.bytesMax).toBeGreaterThan(sizeBytes);
  });

  test("rejects what the ingest would reject without reading cells", async () => {
    const layers = [
      await layer(2030),
      { ...(await layer(2050)), file: await map("other.tif", () => 1, { tiePoint: [11, 20] }) },
    ];
    const file = await manifest({ layers });
    await expect(previewLayers({ manifest: file, out })).rejects.toThrow(/other\.tif.*northwest corner/);
  });
});
