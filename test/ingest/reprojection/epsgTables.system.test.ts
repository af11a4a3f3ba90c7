/** Compares the tables of EPSG codes with the database of PROJ. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { EPSG_CODE_ROWS } from "../../../src/ingest/data/epsgCodes.generated.ts";
import { UTM_CODE_ROWS } from "../../../src/ingest/data/utmCodes.generated.ts";
import { crsOfEpsg } from "../../../src/ingest/reprojection/epsg.ts";
import { openProjection } from "../../../src/ingest/reprojection/projection.ts";
import { describeWithGdal, GDAL_PYTHON } from "../readers/mapPython.ts";

const SCRIPT = fileURLToPath(new URL("../../../scripts/epsgTables.py", import.meta.url));

/** Positions differ by rounding and by the series that PROJ and proj4 use. */
const TOLERANCE_M = 0.002;

function run(option: "--check" | "--points"): unknown {
  const output = execFileSync(GDAL_PYTHON ?? "python3", [SCRIPT, option], { encoding: "utf8", maxBuffer: 16 << 20 });
  return JSON.parse(output);
}

describeWithGdal("the tables of EPSG codes", () => {
  test("have the names, datums, ellipsoids and parameters of the database of PROJ", () => {
    const { database, differences } = run("--check") as { database: string; differences: readonly string[] };
    const versions = ["datums", "epsgCodes", "utmCodes"].flatMap((table) => {
      const text = readFileSync(new URL(`../../../src/ingest/data/${table}.csv`, import.meta.url), "utf8");
      return parse<{ source: string }>(text, { columns: true }).map(({ source }) => source);
    });
    expect(new Set(versions)).toEqual(new Set(["EPSG v10.076"]));
    // Another version of the database may have other names and codes.
    if (database === "EPSG v10.076") expect(differences).toEqual([]);
    else console.warn(`skipped: the database of PROJ is ${database}`);
  });

  test("place five points of each code where PROJ places them", { timeout: 120_000 }, async () => {
    const points = run("--points") as Record<string, readonly (readonly [number, number, number, number])[]>;
    const utmCount = UTM_CODE_ROWS.reduce((sum, { first_code, last_code }) => sum + last_code - first_code + 1, 0);
    expect(Object.keys(points)).toHaveLength(EPSG_CODE_ROWS.length + utmCount);
    const wrong: string[] = [];
    for (const [code, expected] of Object.entries(points)) {
      const crs = crsOfEpsg(Number(code));
      if (crs === undefined) throw new Error(`EPSG:${code} is not in the tables.`);
      const { forward } = await openProjection(crs);
      for (const [lonDeg, latDeg, x, y] of expected) {
        const point = forward(lonDeg, latDeg);
        const distanceM = point === undefined ? Infinity : Math.hypot(point.x - x, point.y - y);
        if (!(distanceM <= TOLERANCE_M)) wrong.push(`EPSG:${code} at ${lonDeg}, ${latDeg}: ${distanceM} m`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
