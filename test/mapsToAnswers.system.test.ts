/**
 * End-to-end tests of the shipped programs: public maps are ingested by one command and queried through the library,
 * the command line and HTTP. The results are compared with the values that GDAL reads from the same files, or with the
 * values from which generated maps were written.
 */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Atlas, openAtlas } from "../src/index.ts";
import { openGeoTiff } from "../src/ingest/readers/geotiff/geotiff.ts";
import { writeCircleMap, writeFloodMaps } from "./generatedMaps.ts";
import { circleByDefinition, summarizeByDefinition } from "./oracle/radius.ts";
import { randomFrom } from "./seededRandom.ts";
import { type Sample, readSamples, SHARED_HAZARD_DATA, describeWithSharedData } from "./sharedData.ts";
import { startedUrl } from "./startedUrl.ts";
import type { HazardResult } from "../src/contract/wireTypes.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CLI = join(ROOT, "dist/cli/main.js");
const run = promisify(execFile);
const isotherm = async (...args: string[]): Promise<string> =>
  (await run(process.execPath, [CLI, ...args], { cwd: ROOT, maxBuffer: 1 << 26 })).stdout;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const metricsOf = (result: HazardResult) => result.results[0]?.scenarios[0]?.analysis_years[0];

/** Nine maps, one for each return period, and the expected values of one of them at some locations. */
interface FloodMaps {
  readonly maps: string;
  readonly isMap: (name: string) => boolean;
  readonly samples: () => readonly Sample[];
}

function testAnswers(name: string, { maps, isMap, samples: readExpected }: FloodMaps): void {
  let atlasFolder: string;
  let samples: readonly Sample[];
  let atlas: Atlas;

  beforeAll(async () => {
    const sources = join(folder, `${name} maps`);
    const names = (await readdir(maps)).filter(isMap);
    expect(names).toHaveLength(9);
    await promisify(execFile)("mkdir", ["-p", sources]);
    for (const name of names) await symlink(join(maps, name), join(sources, name));
    atlasFolder = join(folder, name);
    await isotherm("ingest", "aqueduct-floods", sources, "--out", atlasFolder);
    samples = readExpected();
    expect(samples.length).toBeGreaterThan(10);
    atlas = await openAtlas(atlasFolder);
  });
  afterAll(() => atlas.close());

  const query = (sample: Sample) => ({
    latitude: sample.latDeg,
    longitude: sample.lonDeg,
    hazards: ["riverine_floods" as const],
    analysis_years: [2030],
    scenarios: ["rcp4p5" as const],
  });
  const expectSample = (sample: Sample, result: HazardResult): void => {
    const { metrics, no_data } = metricsOf(result) ?? {};
    if (!sample.isInside) {
      expect([metrics?.depth_meters, no_data], sample.id).toEqual([null, "outside_coverage"]);
    } else if (sample.isNodata) {
      expect([metrics?.depth_meters, no_data], sample.id).toEqual([null, "no_data"]);
    } else {
      // Half of a 1 mm step, plus the rounding of the source's 32-bit numbers.
      expect(Math.abs((metrics?.depth_meters ?? NaN) - (sample.nearest ?? NaN)), sample.id).toBeLessThanOrEqual(
        0.0005 + 1e-9,
      );
      expect(no_data).toBeUndefined();
    }
  };

  test("the atlas passes verification", async () => {
    expect(await isotherm("atlas", "verify", atlasFolder)).toMatch(/^OK: 3 files/);
  });

  test("every sample reads back through the library", async () => {
    for (const sample of samples) expectSample(sample, await atlas.hazardRisk(query(sample)));
  });

  test("every sample reads back through the command line", async () => {
    for (const sample of samples) {
      const printed = await isotherm(
        ..."query --json --hazards riverine_floods --years 2030 --scenarios rcp4p5".split(" "),
        `--atlas=${atlasFolder}`,
        `--lat=${sample.latDeg}`,
        `--lon=${sample.lonDeg}`,
      );
      expectSample(sample, JSON.parse(printed) as HazardResult);
    }
  });

  test("every sample reads back over HTTP", async () => {
    const data = ["--data", join(folder, `${name} data`), "--json"];
    const account = JSON.parse(await isotherm("accounts", "create", "--name", "Samples", ...data)) as {
      readonly account_id: string;
    };
    const issued = JSON.parse(await isotherm("keys", "create", "--account", account.account_id, ...data)) as {
      readonly api_key: string;
    };
    const flags = ["--port", "0", "--admin-port", "0", "--requests-per-second", "10000", "--request-burst", "10000"];
    const server = spawn(process.execPath, [CLI, "serve", "--atlas", atlasFolder, ...flags, ...data.slice(0, 2)], {
      cwd: ROOT,
    });
    try {
      const baseUrl = await new Promise<string>((found, failed) => {
        let printed = "";
        server.stdout.on("data", (chunk: Buffer) => {
          printed += chunk.toString();
          const url = startedUrl(printed);
          if (url !== undefined) found(url);
        });
        server.once("exit", () => failed(new Error(printed)));
      });
      const key = { "X-API-Key": issued.api_key };
      const registered = await fetch(`${baseUrl}/latest/api/v1/customers`, {
        method: "POST",
        headers: { ...key, "Content-Type": "application/json" },
        body: '{"internal_id":"samples"}',
      });
      const { customer_id } = (await registered.json()) as { readonly customer_id: string };
      for (const sample of samples) {
        const { latitude, longitude } = query(sample);
        const response = await fetch(
          `${baseUrl}/api/v1/hazard-risk?latitude=${latitude}&longitude=${longitude}` +
            "&hazards=riverine_floods&analysis_years=2030&scenarios=rcp4p5",
          { headers: { ...key, "X-Customer-ID": customer_id } },
        );
        expect(response.status).toBe(200);
        expect(response.headers.get("x-atlas-release")).toBe(atlas.release);
        expectSample(sample, (await response.json()) as HazardResult);
      }
    } finally {
      server.kill("SIGTERM");
    }
  });
}

describeWithSharedData("nine return periods of Djibouti", () => {
  const maps = resolve(SHARED_HAZARD_DATA, "aqueduct");
  const isMap = (name: string): boolean => /^djibouti_inunriver.*\.tif$/.test(name);
  const samples = (): readonly Sample[] => {
    const rp100 = readdirSync(maps).find((name) => isMap(name) && name.includes("rp00100")) ?? "";
    return readSamples(join(maps, `${rp100}.samples.csv`)).filter(({ band }) => band === 1);
  };
  testAnswers("djibouti", { maps, isMap, samples });
});

describe("nine return periods of generated maps", () => {
  const maps = mkdtempSync(join(tmpdir(), "isotherm-maps-"));
  afterAll(() => rm(maps, { recursive: true, force: true }));
  const samples = writeFloodMaps(maps);
  testAnswers("generated", { maps, isMap: () => true, samples: () => samples });
});

/**
 * Compares circles within 9 to 14 degrees north and 41 to 45 degrees east with the cells of the map; at least
 * `cellCountMin` cells are compared.
 */
function testCircles(
  name: string,
  { file, cellCountMin }: { readonly file: string; readonly cellCountMin: number },
): void {
  test("100 random circles, max and mean, cover exactly the cells that GeographicLib finds", async () => {
    const manifest = join(folder, `${name}.json`);
    await writeFile(
      manifest,
      JSON.stringify({
        hazard: "riverine_floods",
        source: { name, licence: "CC BY 4.0" },
        rules: { design_return_period_years: 1000 },
        layers: [{ scenario: "rcp4p5", year: 2030, return_period_years: 1000, file }],
      }),
    );
    const atlasFolder = join(folder, name);
    await isotherm("ingest", "layers", manifest, "--out", atlasFolder);
    const atlas = await openAtlas(atlasFolder);

    // The expected values come from the source file, not from the atlas.
    const raster = await openGeoTiff(file);
    const { grid } = raster;
    const values = await raster.readWindow({
      band: 1,
      firstRow: 0,
      firstColumn: 0,
      rowCount: grid.rowCount,
      columnCount: grid.columnCount,
    });
    const stepsOf = ({ row, column }: { row: number; column: number }): number => {
      const value = values[row * grid.columnCount + column] ?? NaN;
      return Number.isNaN(value) ? 65_535 : Math.round(value * 1000);
    };
    const random = randomFrom(2026);
    let cellCount = 0;
    for (let i = 0; i < 100; i++) {
      const circle = {
        latDeg: random.between({ min: 9, max: 14 }),
        lonDeg: random.between({ min: 41, max: 45 }),
        radiusM: 1000 * random.between({ min: 0.1, max: 100 }) ** (i % 3 === 0 ? 0.3 : 1),
      };
      const cells = circleByDefinition(grid, circle);
      cellCount += cells.length;
      const expected = summarizeByDefinition(grid, cells, stepsOf);
      for (const aggregation_method of ["max", "mean"] as const) {
        const result = await atlas.hazardRisk({
          latitude: circle.latDeg,
          longitude: circle.lonDeg,
          radius: circle.radiusM / 1000,
          aggregation_method,
          hazards: ["riverine_floods"],
          analysis_years: [2030],
          scenarios: ["rcp4p5"],
          detail: true,
        });
        const { metrics, detail } = metricsOf(result) ?? {};
        expect(detail?.cells).toBe(cells.length);
        expect(detail?.valid_share).toBeCloseTo(expected.validShare, 10);
        if (expected.maxSteps === undefined) expect(metrics?.depth_meters).toBeNull();
        else if (aggregation_method === "max") expect(metrics?.depth_meters).toBe(expected.maxSteps / 1000);
        else {
          const mean = (expected.meanSteps ?? NaN) / 1000;
          expect(Math.abs((metrics?.depth_meters ?? NaN) - mean)).toBeLessThanOrEqual(1e-10 * mean);
        }
      }
    }
    expect(cellCount).toBeGreaterThan(cellCountMin);
    await raster.close();
    await atlas.close();
  });
}

describeWithSharedData("circles in the Horn of Africa", () => {
  const map = "aqueduct/horn_of_africa_native_inunriver_rcp4p5_MIROC-ESM-CHEM_2030_rp01000.tif";
  testCircles("horn", { file: resolve(SHARED_HAZARD_DATA, map), cellCountMin: 300_000 });
});

describe("circles on a generated map", () => {
  const maps = mkdtempSync(join(tmpdir(), "isotherm-circles-"));
  afterAll(() => rm(maps, { recursive: true, force: true }));
  // Cells three times as large as those of Aqueduct, for a file of 0.5 MB.
  testCircles("generated-circles", { file: writeCircleMap(maps), cellCountMin: 30_000 });
});

describe("the shipped programs", () => {
  test("support --help and --version in every command", async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
    const paths = [[], ["serve"], ["query"], ["ingest"], ["ingest", "aqueduct-floods"], ["ingest", "layers"]];
    for (const path of [...paths, ["atlas"], ["atlas", "info"], ["atlas", "verify"]]) {
      expect(await isotherm(...path, "--version")).toBe(`${version}\n`);
      expect(await isotherm(...path, "--help")).toMatch(new RegExp(`^Usage: isotherm ?${path.join(" ")}`));
    }
  });

  test("exit with code 1 and report all errors together", async () => {
    const failing = isotherm(
      "query",
      "--atlas",
      "demo",
      "--lat",
      "91",
      "--lon",
      "x",
      "--hazards",
      "floods",
      "--years",
      "2050",
      "--scenarios",
      "rcp4p5",
    );
    const { code, stderr } = await failing.then(
      () => ({ code: 0, stderr: "" }),
      (error: { code: number; stderr: string }) => error,
    );
    expect(code).toBe(1);
    for (const name of ["--lat", "--lon", "--hazards"]) expect(stderr).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    await expect(isotherm("atlas", "info", folder)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("There is no atlas at") as string,
    });
  });
});
