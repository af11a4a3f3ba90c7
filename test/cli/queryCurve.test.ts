import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import type { LocalAtlas } from "../../src/hazard/answer.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { openLocalAtlas } from "../../src/openAtlas.ts";
import { CURVES, GRID, makeCurveAtlas, storedValues } from "../hazard/curve/curveAtlas.ts";

let folder: string;
let atlas: LocalAtlas;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  await makeCurveAtlas(await Kernel.load(), folder);
  atlas = await openLocalAtlas(folder, 8 << 20);
});
afterAll(async () => {
  await atlas.close();
  await rm(folder, { recursive: true, force: true });
});

let stdoutText: string;
let stderrText: string;
beforeEach(() => {
  [stdoutText, stderrText] = ["", ""];
  vi.stubEnv("ISOTHERM_ATLAS", undefined);
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdoutText += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderrText += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.exitCode = undefined;
});

/** The first cell of a row in which all curves have values, and its center. */
const CELL = Array.from({ length: GRID.columnCount }, (_, column) => ({ row: 77, column })).find((cell) =>
  CURVES.every((curve) => storedValues(curve, cell) !== undefined),
) ?? { row: NaN, column: NaN };
const LOCATION = { latitude: 89.5 - CELL.row, longitude: CELL.column - 179.5 };
const [BASELINE = [], FLOOD = [], WIND = []] = CURVES.map((curve) => storedValues(curve, CELL) ?? []);

const query = (...flags: readonly string[]): Promise<number | undefined> =>
  runProgram(["query", "--atlas", folder, `--lat=${LOCATION.latitude}`, `--lon=${LOCATION.longitude}`, ...flags]);
const FLOODS = ["--hazards=riverine_floods", "--years=2050,2080", "--scenarios=baseline,rcp8p5"];

describe("isotherm query --curve", () => {
  test("prints the JSON of the library with --json", async () => {
    const damageCurve = "--damage-curve=0:0,1.5:0.25,3:1";
    const derived = ["--threshold=0.3", "--return-periods=30,2000", "--floor=0.5", damageCurve, "--radius=80"];
    expect(await query(...FLOODS, "--curve", "--json", ...derived)).toBeUndefined();
    const expected = await atlas.curve({
      ...LOCATION,
      hazards: ["riverine_floods"],
      analysis_years: [2050, 2080],
      scenarios: ["baseline", "rcp8p5"],
      radius: 80,
      threshold: 0.3,
      return_periods: [30, 2000],
      floor: 0.5,
      damage_curve: [
        { value: 0, damage_share: 0 },
        { value: 1.5, damage_share: 0.25 },
        { value: 3, damage_share: 1 },
      ],
    });
    expect(stdoutText).toBe(`${JSON.stringify(expected, undefined, 2)}\n`);
    expect(stderrText).toBe("SYNTHETIC: not real data (atlas curves-1)\n");
  });

  test("prints the values by return period, and why a curve is missing", async () => {
    expect(await query(...FLOODS, "--curve")).toBeUndefined();
    const rows = stdoutText.split("\n").filter((line) => /^│ +[0-9]+ │/.test(line));
    const cells = rows.map((row) =>
      row
        .split("│")
        .map((cell) => cell.trim())
        .filter((cell) => cell !== ""),
    );
    const periods = CURVES[0]?.returnPeriodsYears ?? [];
    expect(cells).toEqual(periods.map((period, i) => [period, BASELINE[i], BASELINE[i], FLOOD[i], "-"].map(String)));
    expect(stdoutText).toContain(
      "│ return period [years] │ baseline 2050 │ baseline 2080 │ rcp8p5 2050 │ rcp8p5 2080 │",
    );
    expect(stdoutText).toContain("\nriverine_floods [m]\n");
    expect(stdoutText).toContain("\nrcp8p5 2080: no curve (no such layer in the atlas)\n");
    expect(stdoutText).toContain("SYNTHETIC: not real data");
    expect(stdoutText).not.toContain("mark bounds");
  });

  test("prints derived values with their bounds", async () => {
    const winds = ["--hazards=cyclones", "--years=2050", "--scenarios=rcp8p5", "--curve"];
    const last = WIND.at(-1) ?? NaN;
    expect(await query(...winds, `--threshold=${last + 1}`, "--return-periods=100,5", "--floor=0")).toBeUndefined();
    const threshold = Number((last + 1).toPrecision(6));
    const row = stdoutText.split("\n").find((line) => line.startsWith("│ rcp8p5 2050"));
    expect(stdoutText).toContain(
      `│ 100 years [m/s] │ 5 years [m/s] │ P(>= ${threshold} m/s) │ return period [years] │ expected per year above 0 m/s [m/s] │`,
    );
    expect(row?.split("│").map((cell) => cell.trim())).toEqual([
      "",
      "rcp8p5 2050",
      String(WIND[4]),
      `<= ${WIND[0]}`,
      "<= 0.001",
      ">= 1000",
      expect.stringMatching(/^[0-9.]+$/) as string,
      "",
    ]);
    expect(stdoutText).toContain("\n>= and <= mark bounds");
    expect(stdoutText).toContain("\nExpected annual amounts include a lower bound");
  });

  test("names options in errors", async () => {
    const wrong = ["--threshold=0", "--total-hazard", "--damage-curve=0:0,x,2:3"];
    expect(await query(...FLOODS, "--curve", ...wrong)).toBe(1);
    expect(stderrText.trimEnd().split("\n")).toEqual([
      "isotherm: 5 errors in the query.",
      "  --total-hazard does not apply to curves; it is a metric of hazard-risk queries.",
      "  --threshold must be greater than 0 (got 0).",
      '  --damage-curve[1]: value must be a number of at least 0 (got "x").',
      "  --damage-curve[1]: damage_share is required and must be a number between 0 and 1.",
      "  --damage-curve[2]: damage_share must be between 0 and 1 (got 3).",
    ]);
  });

  test("is required by the options of curves", async () => {
    expect(await query(...FLOODS, "--threshold=1", "--return-periods=5", "--floor=0", "--damage-curve=0:0,1:1")).toBe(
      1,
    );
    expect(stderrText.trimEnd().split("\n")).toEqual([
      "isotherm: --threshold, --return-periods, --floor, --damage-curve can be used only with --curve.",
      "  --threshold requires --curve.",
      "  --return-periods requires --curve.",
      "  --floor requires --curve.",
      "  --damage-curve requires --curve.",
    ]);
  });

  test("reports that the atlas has no curves of the hazard", async () => {
    expect(await query("--hazards=wildfire", "--years=2050", "--scenarios=rcp8p5", "--curve")).toBe(1);
    expect(stderrText).toBe(
      "isotherm: --hazards: This atlas has no return-period curves of wildfire: it has curves of cyclones, riverine_floods.\n",
    );
  });
});
