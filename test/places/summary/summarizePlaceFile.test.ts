import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { csvLine } from "../../../src/text/csv.ts";
import { HAZARDS } from "../../../src/hazard/hazards.ts";
import { summarizePlaceFile, summarizeTable } from "../../../src/places/summary/summarizePlaceFile.ts";
import { randomFrom } from "../../seededRandom.ts";
import { isFault } from "../../../src/errors.ts";
import { GROUPS, longRows, memoryTable, randomPlaces, type Row, wideRows } from "./randomScores.ts";

const OPTIONS = { above: [], topCount: 5, by: [], groupBy: "country", sampleCount: 50 };
const COLUMNS = { id: "site", latitude: "latitude", longitude: "longitude" };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-summary-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const csvText = (rows: readonly Row[]): string =>
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))].map((cells) => csvLine(cells)).join("");
const ndjsonText = (rows: readonly Row[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

async function summarizeText(name: string, text: string, manifest?: unknown) {
  const path = join(folder, name);
  await writeFile(path, text);
  if (manifest !== undefined) await writeFile(`${path}.manifest.json`, JSON.stringify(manifest));
  return await summarizePlaceFile({ path, sizeBytes: Buffer.byteLength(text) }, OPTIONS, { id: "site" });
}

function manifestOf(text: string, rowCount: number) {
  return {
    isotherm_portfolio_manifest: 1,
    program_version: "0.1.0",
    input: { name: "places.csv", size_bytes: 10, sha256: "00" },
    options: { radius: 5 },
    atlas: { release: "test-1", content_hash: "11" },
    output: { row_count: rowCount, size_bytes: Buffer.byteLength(text) },
    synthetic: true,
    groups: GROUPS,
    hazards: [
      {
        hazard: "cyclones",
        rules: HAZARDS.cyclones.rules,
        sources: [
          { product: "Winds", version: "2", licence: "CC0", scenario: "rcp8p5" },
          { product: "Winds", version: "2", licence: "CC0", scenario: "rcp4p5" },
        ],
      },
      { hazard: "riverine_floods", rules: { threshold: 0.2, threshold_unit: "m" }, sources: [{ product: "Winds" }] },
    ],
  };
}

describe("summary of a file", () => {
  const places = randomPlaces(1, 200);

  test("is the same for CSV and NDJSON, long and wide", async () => {
    const expected = await summarizeTable(memoryTable(longRows(places)), OPTIONS, { columns: COLUMNS });
    for (const rows of [longRows(places), wideRows(places)]) {
      const summary = { ...expected, rowCount: rows.length };
      expect((await summarizeText("scores.csv", csvText(rows))).summary).toEqual(summary);
      expect((await summarizeText("scores.ndjson", ndjsonText(rows))).summary).toEqual(summary);
    }
  });

  test("uses the rules of the manifest and states its run", async () => {
    const text = csvText(wideRows(places));
    const { summary, run } = await summarizeText("scores.csv", text, manifestOf(text, 200));
    const floods = summary.groups.find(({ hazard }) => hazard === "riverine_floods");
    expect(floods?.metrics.map(({ thresholds }) => thresholds)).toEqual([[], [0.2], []]);
    expect(run).toMatchObject({
      inputFile: "places.csv",
      release: "test-1",
      isSynthetic: true,
      options: { radius: 5 },
    });
    expect(run?.sources).toEqual([
      { name: "Winds, version 2", license: "CC0", credit: undefined, hazards: ["cyclones"] },
      { name: "Winds", license: undefined, credit: undefined, hazards: ["riverine_floods"] },
    ]);
  });

  test("takes columns of groups that the manifest does not state for kept columns", async () => {
    const rows = wideRows(places).map((row) => ({
      site: row["site"] ?? null,
      "wildfire.rcp8p5.2050.fire_danger_days": 7,
      "wildfire.rcp8p5.2050.status": "value",
      ...row,
    }));
    const text = csvText(rows);
    const { summary } = await summarizeText("scores.csv", text, manifestOf(text, 200));
    expect(summary.groups.map(({ hazard }) => hazard)).not.toContain("wildfire");
    expect(summary.groups).toHaveLength(GROUPS.length);
    const unstated = await summarizeText("unstated.csv", text);
    expect(unstated.summary.groups.map(({ hazard }) => hazard)).toContain("wildfire");
  });

  test("uses the columns of the options that the manifest states, unless others are requested", async () => {
    const rows = wideRows(places).map(({ site = null, latitude = null, longitude = null, ...row }) => ({
      id: "usual",
      other: "requested",
      site,
      north: latitude,
      east: longitude,
      lat: 1,
      lon: 2,
      ...row,
    }));
    const path = join(folder, "scores.csv");
    const text = csvText(rows);
    const columns = { id: "site", latitude: "north", longitude: "east" };
    await writeFile(path, text);
    const firstPlace = async (stated: object, requested: object = {}) => {
      const manifest = { ...manifestOf(text, 200), options: { columns: stated } };
      await writeFile(`${path}.manifest.json`, JSON.stringify(manifest));
      const file = { path, sizeBytes: Buffer.byteLength(text) };
      return (await summarizePlaceFile(file, OPTIONS, requested)).summary.series[0]?.top[0];
    };
    const { summary } = await summarizeText("usual.csv", csvText(wideRows(places)));
    const { id, latitude, longitude } = summary.series[0]?.top[0] ?? {};
    expect(await firstPlace(columns)).toMatchObject({ id, latitude, longitude });
    expect(await firstPlace(columns, { id: "other" })).toMatchObject({ id: "requested", latitude, longitude });
    const removed = { ...columns, id: "removed" };
    expect(await firstPlace(removed)).toMatchObject({ id: "usual", latitude, longitude });
    expect(await firstPlace({})).toMatchObject({ id: "usual", latitude: 1, longitude: 2 });
  });

  test("needs neither an identifier nor locations", async () => {
    const rows = longRows(places).map(({ site: _site, latitude: _latitude, longitude: _longitude, ...row }) => row);
    const path = join(folder, "scores.csv");
    await writeFile(path, csvText(rows));
    const { summary } = await summarizePlaceFile({ path, sizeBytes: 1 }, OPTIONS);
    expect(summary.placeCount).toBe(200);
    expect(summary.series[0]?.top[0]).toMatchObject({ id: null, latitude: NaN, longitude: NaN });
  });
});

describe("files that cannot be summarized", () => {
  const text = csvText(longRows(randomPlaces(2, 20)));

  test("a file that differs in size from its manifest", async () => {
    await expect(summarizeText("scores.csv", text, manifestOf(`${text} `, 1))).rejects.toThrow(
      /scores\.csv: The file has \d+ bytes, but its manifest states \d+\. It has changed since it was written\.$/,
    );
  });

  test("a file that differs in its rows from its manifest", async () => {
    await expect(summarizeText("scores.csv", text, manifestOf(text, 7))).rejects.toThrow(
      /scores\.csv: The file has 132 rows, but its manifest states 7\. It has changed since it was written\.$/,
    );
  });

  test.each([[{}], [[]], [{ isotherm_portfolio_manifest: 2 }], [{ isotherm_portfolio_manifest: 1 }]])(
    "a manifest %j of another program",
    async (manifest) => {
      await expect(summarizeText("scores.csv", text, manifest)).rejects.toThrow(
        /scores\.csv\.manifest\.json is not the manifest of an output of isotherm portfolio\./,
      );
    },
  );

  test.each([
    ["scores.txt", text, /the extension \.txt is not supported; an output without a manifest ends in \.csv, /],
    ["scores", text, /the name has no extension; an output without a manifest ends in \.csv, /],
    ["scores.csv", "a,b\n1,2\n", /The file is not an output of isotherm portfolio: /],
    ["scores.ndjson", "", /The file has no rows, and no manifest that states its columns\.$/],
    [
      "scores.csv",
      `${text}1,2\n`,
      /Line \d+: the row has 2 cells, but the header has 14\. The file may be incomplete\.$/,
    ],
    ["scores.csv", `${text}"1`, /Line \d+: the closing quote of a cell is missing\.$/],
    [
      "scores.ndjson",
      `${ndjsonText(wideRows(randomPlaces(3, 3)))}{"a`,
      /Line 4: the line is not valid JSON\. The file may/,
    ],
    ["scores.ndjson", "[1]\n", /Line 1: the line must be a JSON object\.$/],
  ])("%s %#", async (name, content, message) => {
    await expect(summarizeText(name, content)).rejects.toThrow(message);
  });

  test("damaged files give a summary or an error of the file", async () => {
    const random = randomFrom(4);
    const originals = [
      ["scores.csv", text],
      ["scores.ndjson", ndjsonText(wideRows(randomPlaces(5, 10)))],
    ] as const;
    for (let round = 0; round < 200; round++) {
      const [name, original] = originals[round % 2] as (typeof originals)[0];
      const bytes = Buffer.from(original);
      for (let i = 0; i <= random.below(4); i++) bytes[random.below(bytes.length)] = random.below(256);
      const size = random.chance(0.3) ? random.below(bytes.length) : bytes.length;
      const path = join(folder, name);
      await writeFile(path, bytes.subarray(0, size));
      try {
        await summarizePlaceFile({ path, sizeBytes: size }, { ...OPTIONS, groupBy: undefined });
      } catch (error) {
        expect(isFault(error), String(error)).toBe(true);
      }
    }
  });
});
