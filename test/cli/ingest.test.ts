import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ingestCommand } from "../../src/cli/ingest.ts";
import { type IngestPreview, ingestLayers, previewLayers } from "../../src/ingest/ingest.ts";
import { useCapturedOutput } from "./capturedOutput.ts";

vi.mock("../../src/ingest/ingest.ts", () => ({
  ingestLayers: vi.fn<typeof ingestLayers>(),
  previewLayers: vi.fn<typeof previewLayers>(),
}));

const PREVIEW: IngestPreview = {
  atlas: "data/atlas",
  currentRelease: undefined,
  files: [
    {
      file: "rp100.tif",
      sizeBytes: 12_345_678,
      rowCount: 10,
      columnCount: 20,
      cellSizeLatDeg: 0.1,
      cellSizeLonDeg: 0.1,
      crs: "WGS 84",
      numberType: "float32",
      bandCount: 1,
    },
  ],
  hazards: [
    {
      hazard: "cyclones",
      grid: { northDeg: 1, westDeg: 0, cellSizeLatDeg: 0.1, cellSizeLonDeg: 0.1, rowCount: 10, columnCount: 20 },
      cellCount: 200,
      sourceCellCount: 200,
      bytesMax: 1700,
      stepsPerUnit: { wind_speed_mps: 100 },
      groups: [
        {
          scenario: "baseline",
          year: 1980,
          metrics: ["intensity", "wind_speed_mps", "probability", "total_hazard"],
          replaces: false,
          maps: [{ file: "rp100.tif", band: 1, returnPeriodYears: 100 }],
        },
      ],
    },
  ],
  ignoredFiles: [],
  missingFiles: [],
};

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

const printed = useCapturedOutput();
let listenersBefore: readonly number[] = [];
const listeners = (): readonly number[] => SIGNALS.map((signal) => process.listenerCount(signal));
beforeEach(() => {
  listenersBefore = listeners();
});
afterEach(() => {
  vi.mocked(ingestLayers).mockReset();
});

const run = (...flags: string[]) =>
  ingestCommand().parseAsync(["layers", "storm.json", "--out", "data/atlas", ...flags], { from: "user" });

describe("isotherm ingest", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("stops on %s, explains how to continue and exits with %i", async (signal, code) => {
    vi.mocked(ingestLayers).mockImplementation(
      (options) =>
        new Promise((_resolve, reject) => {
          options.signal?.addEventListener("abort", () => reject(options.signal?.reason as Error));
          setImmediate(() => process.emit(signal, signal));
        }),
    );
    await run();
    expect(process.exitCode).toBe(code);
    expect(printed.stderr).toMatch(/^Stopped\. Run the same command again to continue/);
    expect(printed.stdout).toBe("");
    expect(listeners()).toEqual(listenersBefore);
  });

  test("rethrows errors and removes its signal listeners", async () => {
    vi.mocked(ingestLayers).mockRejectedValue(new Error("no map"));
    await expect(run()).rejects.toThrow("no map");
    expect(process.exitCode).toBeUndefined();
    expect(listeners()).toEqual(listenersBefore);
  });

  test("passes --keep-meridian to the ingest", async () => {
    vi.mocked(ingestLayers).mockRejectedValue(new Error("no map"));
    await expect(run("--keep-meridian", "east")).rejects.toThrow("no map");
    expect(vi.mocked(ingestLayers).mock.calls[0]?.[0]).toMatchObject({ keepMeridian: "east" });
  });

  test("passes --depth-steps-per-meter and --threads to the ingest", async () => {
    vi.mocked(ingestLayers).mockRejectedValue(new Error("no map"));
    await expect(run("--depth-steps-per-meter", "100", "--threads", "2")).rejects.toThrow("no map");
    expect(vi.mocked(ingestLayers).mock.calls[0]?.[0]).toMatchObject({ depthStepsPerMeter: 100, threads: 2 });
  });

  test("--dry-run prints what would be read and written, and does not ingest", async () => {
    vi.mocked(previewLayers).mockResolvedValue(PREVIEW);
    await run("--dry-run");
    expect(ingestLayers).not.toHaveBeenCalled();
    expect(printed.stdout).toMatch(/rp100\.tif.*12\.3 MB.*10 x 20.*float32/);
    expect(printed.stdout).toContain("cyclones: reads 200 source cells; writes 1 x 200 cells");
    expect(printed.stdout).toContain("dry run: nothing was written to data/atlas (a new atlas)");
    printed.stdout = "";
    await run("--dry-run", "--json");
    expect(JSON.parse(printed.stdout)).toMatchObject({
      dry_run: true,
      current_release: null,
      files: [{ file: "rp100.tif", size_bytes: 12_345_678, row_count: 10, column_count: 20 }],
      hazards: [{ hazard: "cyclones", source_cells: 200, groups: [{ maps: [{ return_period_years: 100, band: 1 }] }] }],
    });
  });

  test("prints the release and the duration", async () => {
    vi.mocked(ingestLayers).mockResolvedValue({
      atlas: "data/atlas",
      release: "20260101-00000000",
      groups: [],
      ignoredFiles: [],
      missingFiles: [],
      totals: {
        sourceCells: 2_500_000,
        cells: {
          valid: 900_000,
          nodata: 350_000,
          zero: 800_000,
          clampedNegative: 1,
          partlyMissing: 2,
          reachedAtFirst: 0,
          raised: 3,
        },
        largestRounding: { depth_meters: 0.0005 },
      },
      durationMs: 1250,
    });
    await run();
    expect(printed.stdout).toContain("2,500,000 source cells read, 2.0 M cells/s");
    expect(printed.stdout).toContain(
      "1,250,000 cells written: 900,000 valid (800,000 of them zero), 350,000 without data",
    );
    expect(printed.stdout).toContain("3 curves made non-decreasing");
    expect(printed.stdout).toContain("largest rounding errors: depth_meters 0.00050");
    expect(vi.mocked(ingestLayers).mock.calls[0]?.[0]).toMatchObject({ manifest: "storm.json", out: "data/atlas" });
    expect(printed.stdout).toContain("release 20260101-00000000 of data/atlas written in 1.3 s");
    expect(process.exitCode).toBeUndefined();
  });
});
