/** Values and documents of the output of a file of places. ISOTHERM_PLACES_SAMPLES=10000 compares more rows. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import type { Bound, HazardResult } from "../../../src/contract/wireTypes.ts";
import { ROWS_PER_BLOCK } from "../../../src/places/scores/placeBlock.ts";
import { previewPlaceFile } from "../../../src/places/run/previewPlaceFile.ts";
import { scorePlaceFile } from "../../../src/places/run/scorePlaceFile.ts";
import { reportPathOf } from "../../../src/places/run/workFolder.ts";
import { withTempFolder } from "../../atlas/makeAtlas.ts";
import { randomFrom, shuffled } from "../../seededRandom.ts";
import {
  demoAtlas,
  OPTIONS,
  type PlaceRow,
  placesCsv,
  randomPlaces,
  readManifest,
  ROW_COUNT,
  score,
  writePlaces,
} from "./placeRuns.ts";

const SAMPLES = Number(process.env["ISOTHERM_PLACES_SAMPLES"] ?? 200);
/** Size of the pieces in which files are read. */
const READ_SIZE_BYTES = 1 << 20;
/** Two blocks, with more than 100 invalid rows. */
const REPORTED_COUNT = 11_000;
const GROUPS = {
  hazards: ["cyclones", "coastal_floods"],
  scenarios: ["rcp4p5", "rcp8p5"],
  analysis_years: [2030, 2080],
} as const;
const OWN_METRIC = { cyclones: "wind_speed_mps", coastal_floods: "depth_meters" } as const;

const atlas = demoAtlas();

type Row = Readonly<Record<string, string | number | null>>;

/** Reads the rows of an output; numbers of CSV are those of its text. */
async function readRows(path: string): Promise<readonly Row[]> {
  const bytes = await readFile(path);
  if (path.endsWith("parquet")) {
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    return (await parquetReadObjects({ file })) as Row[];
  }
  if (path.endsWith(".ndjson")) {
    return bytes
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Row);
  }
  return parse(bytes, {
    columns: true,
    cast: (cell, { header }) => (header ? cell : cell === "" ? null : Number.isNaN(Number(cell)) ? cell : Number(cell)),
  }) as unknown as Row[];
}

/** Returns the rows that single queries give for a place, in the order of the output. */
async function expectedRows(place: PlaceRow, layout: "long" | "wide"): Promise<readonly Row[]> {
  const result = await atlas().hazardRisk({
    latitude: Number(place.latitude),
    longitude: Number(place.longitude),
    hazards: [...GROUPS.hazards],
    scenarios: [...GROUPS.scenarios],
    analysis_years: [...GROUPS.analysis_years],
    radius: Number(place.radiusKm),
    aggregation_method: "mean",
    total_hazard: true,
  });
  const rows = GROUPS.hazards.flatMap((hazard) => groupRows(hazard, result));
  if (layout === "long") return rows;
  return [Object.assign({}, ...rows.map(wideMembers)) as Row];
}

function groupRows(hazard: keyof typeof OWN_METRIC, result: HazardResult): readonly Row[] {
  const scenarios = result.results.find((each) => each.hazard === hazard)?.scenarios ?? [];
  return scenarios.flatMap(({ scenario, analysis_years }) =>
    analysis_years.map(({ analysis_year, metrics, bounds, no_data }): Row => {
      const own = metrics[OWN_METRIC[hazard]] ?? null;
      return {
        hazard,
        scenario,
        analysis_year,
        ...metrics,
        probability_bound: bounds?.probability?.bound ?? null,
        probability_limit: limitOf(bounds?.probability),
        total_hazard_limit: limitOf(bounds?.total_hazard),
        status: own === null ? (no_data ?? null) : own === 0 ? "zero" : "value",
      };
    }),
  );
}

function limitOf(bound: Bound | undefined): number | null {
  return bound !== undefined && "limit" in bound ? bound.limit : null;
}

function wideMembers({ hazard, scenario, analysis_year, ...values }: Row): Row {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${hazard}.${scenario}.${analysis_year}.${name}`, value]),
  );
}

describe.each([
  ["csv", "long"],
  ["csv", "wide"],
  ["ndjson", "long"],
  ["parquet", "long"],
  ["geoparquet", "wide"],
] as const)("an output in %s, %s layout", (format, layout) => {
  test("has the values of single queries", async () => {
    await withTempFolder(async (folder) => {
      const places = randomPlaces(Math.ceil(SAMPLES * 1.5), 7);
      const input = await writePlaces(folder, places);
      const output = join(folder, `out.${format}`);
      const options = {
        ...GROUPS,
        layout,
        radius_column: "uncertainty_km",
        aggregation_method: "mean",
        total_hazard: true,
      } as const;
      await score(atlas(), { input, output, options });
      const rows = new Map<string, Row[]>();
      for (const row of await readRows(output))
        rows.set(String(row["id"]), [...(rows.get(String(row["id"])) ?? []), row]);
      expect(rows.size).toBe(places.length);
      const random = randomFrom(8);
      for (const place of shuffled(random, places).slice(0, SAMPLES)) {
        const found = rows.get(place.id) ?? [];
        if (place.latitude === "north") {
          expect(found).toMatchObject([{ status: "invalid_row", error: expect.stringContaining('"north"') as string }]);
          continue;
        }
        const expected = await expectedRows(place, layout);
        expect(found).toHaveLength(expected.length);
        // `toMatchObject` compares numbers with Object.is.
        expect(found).toMatchObject(expected);
      }
    });
  });
});

describe("the output of a file of places", () => {
  test("has the same rows for shuffled input, in its order", async () => {
    await withTempFolder(async (folder) => {
      const places = randomPlaces(ROW_COUNT);
      const order = shuffled(randomFrom(3), places);
      const input = await writePlaces(folder, places);
      const shuffledInput = join(folder, "shuffled.csv");
      await writeFile(shuffledInput, placesCsv(order));
      const [output, shuffledOutput] = [join(folder, "out.csv"), join(folder, "shuffled-out.csv")];
      await score(atlas(), { input, output });
      await score(atlas(), { input: shuffledInput, output: shuffledOutput });
      const linesById = new Map((await readFile(output, "utf8")).split("\n").map((line) => [line.split(",")[0], line]));
      const lines = (await readFile(shuffledOutput, "utf8")).trimEnd().split("\n").slice(1);
      expect(lines).toHaveLength(ROW_COUNT);
      expect(lines.filter((line, i) => line !== linesById.get(order[i]?.id))).toEqual([]);
    });
  });

  test("has a report with counts, invalid rows, sources and what was left out", async () => {
    await withTempFolder(async (folder) => {
      const places = randomPlaces(REPORTED_COUNT);
      const input = await writePlaces(folder, places);
      const output = join(folder, "out.ndjson");
      const options = {
        ...OPTIONS,
        hazards: ["riverine_floods", "cyclones"],
        scenarios: ["rcp8p5", "rcp2p6"],
      } as const;
      const report = await score(atlas(), { input, output, options });
      expect(JSON.parse(await readFile(reportPathOf(output), "utf8"))).toEqual(report);
      const invalid = places.flatMap(({ latitude }, i) => (latitude === "north" ? [i + 1] : []));
      expect(invalid.length).toBeGreaterThan(100);
      expect(report).toMatchObject({
        place_count: REPORTED_COUNT,
        invalid_row_count: invalid.length,
        row_count: (REPORTED_COUNT - invalid.length) * 3 + invalid.length,
        value_count: (REPORTED_COUNT - invalid.length) * 9,
        invalid_rows: { by_reason: { latitude_invalid: invalid.length } },
        omissions: [{ hazard: "riverine_floods", scenario: "rcp2p6" }],
        atlas: { release: atlas().release, content_hash: atlas().contentHash },
        synthetic: true,
      });
      expect(report.invalid_rows.first.map(({ row }) => row)).toEqual(invalid.slice(0, 100));
      expect(report.invalid_rows.first[0]?.message).toContain('"north"');
      const statuses = (await readRows(output)).map(({ hazard, status }) => `${hazard} ${status}`);
      for (const [hazard, counts] of Object.entries(report.statuses)) {
        for (const [status, count] of Object.entries(counts)) {
          expect(statuses.filter((text) => text === `${hazard} ${status}`)).toHaveLength(count);
        }
      }
      expect(report.hazards.map(({ hazard }) => hazard).toSorted()).toEqual(["cyclones", "riverine_floods"]);
      expect(report.hazards.every(({ sources }) => sources.length > 0)).toBe(true);
      const { segments } = await readManifest(output);
      expect(segments.map(({ block, placeCount }) => [block, placeCount])).toEqual([
        [0, 8192],
        [1, REPORTED_COUNT - 8192],
      ]);
    });
  });

  test("has only a header if the input has no rows", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder, []);
      const output = join(folder, "out.csv");
      const report = await score(atlas(), { input, output });
      expect(report).toMatchObject({ place_count: 0, row_count: 0, statuses: {} });
      expect((await readFile(output, "utf8")).trimEnd().split("\n")).toHaveLength(1);
    });
  });

  test("is not begun if an option selects nothing", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder, randomPlaces(10));
      const options = { hazards: ["riverine_floods"], scenarios: ["rcp2p6"] } as const;
      const run = scorePlaceFile(atlas(), { input, output: join(folder, "out.csv"), outputFormat: "csv", options });
      await expect(run).rejects.toMatchObject({ code: "combination_unavailable" });
    });
  });
});

describe("the progress of a run", () => {
  test("is that of the blocks that are written, not of those that are read ahead", async () => {
    await withTempFolder(async (folder) => {
      const places = randomPlaces(5 * ROWS_PER_BLOCK).map((place) => ({ ...place, id: place.id.padEnd(100, ".") }));
      const input = await writePlaces(folder, places);
      const progress: { readonly placeCount: number; readonly readBytes: number; readonly inputSizeBytes: number }[] =
        [];
      await score(atlas(), { input, output: join(folder, "out.csv"), onProgress: (step) => progress.push(step) });
      const sizeBytes = placesCsv(places).length;
      expect(progress.at(-1)).toEqual({ placeCount: places.length, readBytes: sizeBytes, inputSizeBytes: sizeBytes });
      const ofBlocks = progress.slice(0, -1);
      expect(ofBlocks.map(({ placeCount }) => placeCount / ROWS_PER_BLOCK)).toEqual([1, 2, 3, 4, 5]);
      for (const { placeCount, readBytes } of ofBlocks) {
        const blocksEndBytes = placesCsv(places.slice(0, placeCount)).length;
        expect(readBytes).toBeLessThanOrEqual(blocksEndBytes);
        expect(readBytes).toBeGreaterThan(blocksEndBytes - 2 * READ_SIZE_BYTES);
      }
    });
  });
});

describe("the preview of a run", () => {
  test("states columns, groups and sizes as the run then writes them", async () => {
    await withTempFolder(async (folder) => {
      const places = randomPlaces(5000);
      const input = await writePlaces(folder, places);
      const run = { input, output: join(folder, "out.csv"), outputFormat: "csv", options: OPTIONS } as const;
      const preview = await previewPlaceFile(atlas(), run);
      const report = await scorePlaceFile(atlas(), run);
      const { columns, groups } = await readManifest(run.output);
      expect(preview).toMatchObject({
        columns_found: { id: "id", latitude: "latitude", longitude: "longitude" },
        place_count: 5000,
        is_place_count_exact: true,
        estimated_row_count: report.row_count,
        estimated_size_bytes: report.output.size_bytes,
        invalid_row_count: report.invalid_row_count,
        columns,
        groups,
      });
    });
  });

  test.each(["csv", "ndjson", "parquet", "geoparquet"] as const)(
    "states the size of an output in %s without rows",
    async (outputFormat) => {
      await withTempFolder(async (folder) => {
        const input = await writePlaces(folder, []);
        const run = { input, output: join(folder, `out.${outputFormat}`), outputFormat, options: OPTIONS } as const;
        const preview = await previewPlaceFile(atlas(), run);
        const report = await scorePlaceFile(atlas(), run);
        expect(preview.estimated_size_bytes).toBe(report.output.size_bytes);
      });
    },
  );

  test("counts the places of a file that is smaller than one piece", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder);
      const run = { input, output: join(folder, "out.csv"), outputFormat: "csv", options: OPTIONS } as const;
      const preview = await previewPlaceFile(atlas(), run);
      expect(preview).toMatchObject({ is_place_count_exact: true, checked_place_count: 8192, place_count: ROW_COUNT });
    });
  });

  test("estimates the places of a large file from its first part", async () => {
    await withTempFolder(async (folder) => {
      const count = 500_000;
      const input = join(folder, "many.csv");
      await writeFile(
        input,
        `id,lat,lon\n${Array.from({ length: count }, () => "a long identifier,45,12\n").join("")}`,
      );
      const run = { input, output: join(folder, "out.csv"), outputFormat: "csv", options: OPTIONS } as const;
      const preview = await previewPlaceFile(atlas(), run);
      expect(preview.is_place_count_exact).toBe(false);
      expect(preview.place_count / count).toBeGreaterThan(0.85);
      expect(preview.place_count / count).toBeLessThan(1.15);
    });
  });
});
