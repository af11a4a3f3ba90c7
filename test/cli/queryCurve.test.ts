import { describe, expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { CURVES, GRID, storedValues, useCurveAtlas } from "../hazard/curveAtlas.ts";
import { useCapturedOutput } from "./capturedOutput.ts";

const opened = useCurveAtlas();
const printed = useCapturedOutput();

/** The first cell of a row in which all curves have values, and its center. */
const CELL = Array.from({ length: GRID.columnCount }, (_, column) => ({ row: 77, column })).find((cell) =>
  CURVES.every((curve) => storedValues(curve, cell) !== undefined),
) ?? { row: NaN, column: NaN };
const LOCATION = { latitude: 89.5 - CELL.row, longitude: CELL.column - 179.5 };
const [BASELINE = [], FLOOD = [], WIND = []] = CURVES.map((curve) => storedValues(curve, CELL) ?? []);

const query = (...flags: readonly string[]): Promise<number | undefined> =>
  runProgram([
    "query",
    "--atlas",
    opened().folder,
    `--lat=${LOCATION.latitude}`,
    `--lon=${LOCATION.longitude}`,
    ...flags,
  ]);
const FLOODS = ["--hazards=riverine_floods", "--years=2050,2080", "--scenarios=baseline,rcp8p5"];

describe("isotherm query --curve", () => {
  test("prints the JSON of the library with --json", async () => {
    const damageCurve = "--damage-curve=0:0,1.5:0.25,3:1";
    const derived = ["--threshold=0.3", "--return-periods=30,2000", "--floor=0.5", damageCurve, "--radius=80"];
    expect(await query(...FLOODS, "--curve", "--json", ...derived)).toBeUndefined();
    const expected = await opened().atlas.curve({
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
    expect(printed.stdout).toBe(`${JSON.stringify(expected, undefined, 2)}\n`);
    expect(printed.stderr).toBe("SYNTHETIC: not real data (atlas curves-1)\n");
  });

  test("prints the values by return period, and why a curve is missing", async () => {
    expect(await query(...FLOODS, "--curve")).toBeUndefined();
    const rows = printed.stdout.split("\n").filter((line) => /^│ +[0-9]+ │/.test(line));
    const cells = rows.map((row) =>
      row
        .split("│")
        .map((cell) => cell.trim())
        .filter((cell) => cell !== ""),
    );
    const periods = CURVES[0]?.returnPeriodsYears ?? [];
    expect(cells).toEqual(periods.map((period, i) => [period, BASELINE[i], BASELINE[i], FLOOD[i], "-"].map(String)));
    expect(printed.stdout).toContain(
      "│ return period [years] │ baseline 2050 │ baseline 2080 │ rcp8p5 2050 │ rcp8p5 2080 │",
    );
    expect(printed.stdout).toContain("\nriverine_floods [m]\n");
    expect(printed.stdout).toContain("\nrcp8p5 2080: no curve (no such layer in the atlas)\n");
    expect(printed.stdout).toContain("SYNTHETIC: not real data");
    expect(printed.stdout).not.toContain("mark bounds");
  });

  test("prints derived values with their bounds", async () => {
    const winds = ["--hazards=cyclones", "--years=2050", "--scenarios=rcp8p5", "--curve"];
    const last = WIND.at(-1) ?? NaN;
    expect(await query(...winds, `--threshold=${last + 1}`, "--return-periods=100,5", "--floor=0")).toBeUndefined();
    const threshold = Number((last + 1).toPrecision(6));
    const row = printed.stdout.split("\n").find((line) => line.startsWith("│ rcp8p5 2050"));
    expect(printed.stdout).toContain(
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
    expect(printed.stdout).toContain("\n>= and <= mark bounds");
    expect(printed.stdout).toContain("\nExpected annual amounts include a lower bound");
  });

  test("names options in errors", async () => {
    const wrong = ["--threshold=0", "--total-hazard", "--damage-curve=0:0,x,2:3"];
    expect(await query(...FLOODS, "--curve", ...wrong)).toBe(1);
    expect(printed.stderr.trimEnd().split("\n")).toEqual([
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
    expect(printed.stderr.trimEnd().split("\n")).toEqual([
      "isotherm: --threshold, --return-periods, --floor, --damage-curve can be used only with --curve.",
      "  --threshold requires --curve.",
      "  --return-periods requires --curve.",
      "  --floor requires --curve.",
      "  --damage-curve requires --curve.",
    ]);
  });

  test("reports that the atlas has no curves of the hazard", async () => {
    expect(await query("--hazards=wildfire", "--years=2050", "--scenarios=rcp8p5", "--curve")).toBe(1);
    expect(printed.stderr).toBe(
      "isotherm: --hazards: This atlas has no return-period curves of wildfire: it has curves of cyclones, riverine_floods.\n",
    );
  });
});
