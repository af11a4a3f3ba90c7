import { describe, expect, test } from "vitest";
import { QUANTILE_SHARES } from "../../../src/places/summary/distribution.ts";
import type { ScoreKey, SeriesName } from "../../../src/places/summary/scoreColumns.ts";
import type {
  GroupSummary,
  PlaceSummary,
  StatedScores,
  SummaryOptions,
} from "../../../src/places/summary/placeSummary.ts";
import { summarizeTable } from "../../../src/places/summary/summarizePlaceFile.ts";
import { referenceStatistics, referenceTop } from "../../oracle/placeSummary.ts";
import { randomFrom, shuffled } from "../../seededRandom.ts";
import { GROUPS, longRows, memoryTable, randomPlaces, type Row, type ScoredPlace, wideRows } from "./randomScores.ts";

const OPTIONS: SummaryOptions = { above: [], topCount: 5, by: [], groupBy: undefined, sampleCount: 50 };
const COLUMNS = { id: "site", latitude: "latitude", longitude: "longitude" };

function summarize(
  rows: readonly Row[],
  options: Partial<SummaryOptions> = {},
  stated?: StatedScores,
): Promise<PlaceSummary> {
  return summarizeTable(memoryTable(rows), { ...OPTIONS, ...options }, { columns: COLUMNS, stated });
}

/** Compares each group with the statistics of its sorted values. */
function expectReference(groups: readonly GroupSummary[], places: readonly ScoredPlace[]): void {
  expect(groups).toHaveLength(GROUPS.length);
  const valid = places.filter(({ error }) => error === null);
  for (const group of groups) {
    const index = GROUPS.findIndex(
      ({ hazard, scenario, analysisYear }) =>
        hazard === group.hazard && scenario === group.scenario && analysisYear === group.analysisYear,
    );
    const scores = valid.flatMap((place) => place.scores[index] ?? []);
    expect(group.rowCount).toBe(scores.length);
    const statuses = ["value", "zero", "no_data", "outside_coverage", "layer_missing"];
    expect(group.statusCounts).toEqual(
      statuses.map((status) => scores.filter((score) => score.status === status).length),
    );
    expect(group.metrics.map(({ metric }) => metric)).toEqual(GROUPS[index]?.metrics);
    for (const { metric, distribution, thresholds } of group.metrics) {
      const values = scores.flatMap(({ metrics }) => metrics[metric] ?? []);
      const expected = referenceStatistics(values, { shares: QUANTILE_SHARES, thresholds });
      if (expected === undefined || distribution === undefined) {
        expect(distribution).toEqual(expected);
        continue;
      }
      const { mean, quantileError, ...exact } = distribution;
      const { mean: expectedMean, ...expectedExact } = expected;
      expect(exact).toEqual(expectedExact);
      expect(quantileError).toBe(0);
      expect(Math.abs(mean - expectedMean)).toBeLessThanOrEqual(1e-12 * Math.abs(expectedMean));
    }
  }
}

describe("summary of an output", () => {
  test("equals the statistics of the sorted values", async () => {
    const places = randomPlaces(1, 1000);
    const summary = await summarize(longRows(places), {
      above: [
        { metric: "depth_meters", value: 2 },
        { metric: "depth_meters", value: 0.5 },
      ],
    });
    expect(summary.placeCount).toBe(1000);
    expect(summary.invalidRowCount).toBe(places.filter(({ error }) => error !== null).length);
    expectReference(summary.groups, places);
    const depth = summary.groups.flatMap(({ metrics }) => metrics).find(({ metric }) => metric === "depth_meters");
    expect(depth?.thresholds).toEqual([0.5, 2]);
  });

  test("is the same for the wide layout, for any order of the groups and any size of the batches", async () => {
    const places = randomPlaces(2, 300);
    const options = { groupBy: "country" };
    const expected = await summarize(longRows(places), options);
    expect(await summarize(wideRows(places), options)).toEqual({ ...expected, rowCount: places.length });
    const byGroup = longRows(places).toSorted((a, b) => String(b["hazard"]).localeCompare(String(a["hazard"])));
    // Row numbers are known only if invalid rows are among the others.
    const withoutRowNumbers = (summary: PlaceSummary) =>
      JSON.parse(
        JSON.stringify(summary, (name, value: unknown) => (name === "rowNumber" ? undefined : value)),
      ) as unknown;
    expect(withoutRowNumbers(await summarize(byGroup, options))).toEqual(withoutRowNumbers(expected));
    const table = memoryTable(longRows(places), 7);
    expect(await summarizeTable(table, { ...OPTIONS, ...options }, { columns: COLUMNS })).toEqual(expected);
  });

  test("is that of the wide columns if the columns of an earlier long output were kept", async () => {
    const rows = wideRows(randomPlaces(2, 50));
    const earlier = {
      hazard: "cyclones",
      scenario: "rcp4p5",
      analysis_year: 2080,
      intensity: 0.999,
      input_status: "value",
    };
    const withEarlier = rows.map(({ site = null, latitude = null, longitude = null, country = null, ...row }) => ({
      site,
      latitude,
      longitude,
      country,
      ...earlier,
      ...row,
    }));
    expect(await summarize(withEarlier)).toEqual(await summarize(rows));
  });

  test("has the same statistics for shuffled rows", async () => {
    const places = randomPlaces(3, 300);
    const { groups } = await summarize(shuffled(randomFrom(4), longRows(places)));
    expectReference(groups, places);
  });

  test("reads numbers written as text", async () => {
    const rows = wideRows(randomPlaces(5, 50));
    const texts = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, cell === null ? "" : String(cell)])),
    );
    expect(await summarize(texts)).toEqual(await summarize(rows));
  });

  test("counts the bounds of probabilities", async () => {
    const places = randomPlaces(7, 200);
    const { groups } = await summarize(longRows(places));
    const scores = places
      .flatMap((place) => place.scores[0] ?? [])
      .filter(({ metrics }) => metrics["probability"] !== null);
    const group = groups.find(({ hazard, scenario, analysisYear }) => {
      const first = GROUPS[0];
      return hazard === first?.hazard && scenario === first.scenario && analysisYear === first.analysisYear;
    });
    const bounds = [null, "at_least", "at_most", "indeterminate"];
    expect(group?.metrics.map(({ boundCounts }) => boundCounts)).toEqual([
      undefined,
      undefined,
      bounds.map((bound) => scores.filter((score) => score.bound === bound).length),
    ]);
  });
});

describe("places of a summary", () => {
  const places = randomPlaces(8, 400);
  const listed = (index: number, metric: string) =>
    places
      .map((place, row) => ({ ...place, rowNumber: row + 1 }))
      .filter(({ error }) => error === null)
      .map(({ site, latitude, longitude, scores, rowNumber }, ordinal) => {
        const value = scores[index]?.metrics[metric] ?? NaN;
        return { ordinal, rowNumber, id: site, latitude, longitude, shown: [], value };
      });

  test("are those of the last year of the last scenario of each hazard, unless columns are named", async () => {
    const { series } = await summarize(longRows(places));
    expect(
      series.map(({ hazard, scenario, analysisYear, metric }) => [hazard, scenario, analysisYear, metric]),
    ).toEqual([
      ["cyclones", "rcp8p5", 2080, "wind_speed_mps"],
      ["riverine_floods", "rcp8p5", 2080, "depth_meters"],
    ]);
    expect(series.map(({ top }) => top)).toEqual([
      referenceTop(listed(4, "wind_speed_mps"), 5),
      referenceTop(listed(0, "depth_meters"), 5),
    ]);
  });

  test("are those of the named columns, in their order", async () => {
    const by = [
      { hazard: "riverine_floods", scenario: "baseline", analysisYear: 1980, metric: "probability" },
      { hazard: "riverine_floods", scenario: "baseline", analysisYear: 1980, metric: "depth_meters" },
    ] as const;
    const { series } = await summarize(longRows(places), { by, topCount: 1000 });
    expect(series.map(({ metric, top }) => [metric, top])).toEqual([
      ["probability", referenceTop(listed(1, "probability"), 1000)],
      ["depth_meters", referenceTop(listed(1, "depth_meters"), 1000)],
    ]);
  });

  test("have the same sample for every column and layout, of the requested size", async () => {
    const [cyclones, floods] = (await summarize(longRows(places))).series;
    const ordinals = cyclones?.sample.map(({ ordinal }) => ordinal);
    expect(ordinals).toHaveLength(50);
    expect(floods?.sample.map(({ ordinal }) => ordinal)).toEqual(ordinals);
    const all = listed(4, "wind_speed_mps");
    expect(cyclones?.sample).toEqual(ordinals?.map((ordinal) => all[ordinal]));
    const { series } = await summarize(longRows(places), { sampleCount: 1000 });
    expect(series[0]?.sample).toEqual(all);
  });
});

describe("summary by a kept column", () => {
  const places = randomPlaces(9, 400);

  test("equals the summaries of the parts, with the stated error of the quantiles", async () => {
    const { partition } = await summarize(longRows(places), { groupBy: "country" });
    expect(partition?.parts.map(({ value }) => value)).toEqual(["Chile", "Japan", "Kenya", null]);
    for (const { value, placeCount, groups } of partition?.parts ?? []) {
      const part = places.filter(({ country }) => country === value);
      expect(placeCount).toBe(part.length);
      expectReference(groups, part);
    }
  });

  test("states a larger error of the quantiles if a part has more than 128 different values", async () => {
    const many = randomPlaces(10, 1500);
    const whole = await summarize(wideRows(many));
    const single = many.map((place) => ({ ...place, country: "Kenya" }));
    const { partition } = await summarize(wideRows(single), { groupBy: "country" });
    const [part] = partition?.parts ?? [];
    const compared = part?.groups.flatMap(({ metrics }, i) =>
      metrics.map(({ distribution }, k) => [distribution, whole.groups[i]?.metrics[k]?.distribution] as const),
    );
    expect(compared).toHaveLength(24);
    for (const [rough, exact] of compared ?? []) {
      expect(rough?.quantileError).toBe(1 / 64);
      for (const [i, quantile] of (exact?.quantiles ?? []).entries()) {
        expect(Math.abs((rough?.quantiles[i] ?? NaN) - quantile)).toBeLessThanOrEqual(quantile / 64);
      }
    }
  });

  describe("with many values", () => {
    const DEFAULT_BY: readonly SeriesName[] = [
      { hazard: "cyclones", scenario: "rcp8p5", analysisYear: 2080, metric: "wind_speed_mps" },
      { hazard: "riverine_floods", scenario: "rcp8p5", analysisYear: 2080, metric: "depth_meters" },
    ];
    const EVERY_BY: readonly SeriesName[] = GROUPS.flatMap(({ metrics, ...key }) =>
      metrics.map((metric) => ({ ...key, metric: metric as SeriesName["metric"] })),
    );
    const keyText = ({ hazard, scenario, analysisYear }: ScoreKey): string => `${hazard} ${scenario} ${analysisYear}`;

    // Each value of the column has 24 distributions.
    test.each([
      ["other_columns", [], DEFAULT_BY, ["other_columns"]],
      ["other_columns and quantiles", EVERY_BY, EVERY_BY, ["other_columns", "quantiles"]],
    ] as const)("has the listed columns, and leaves out %s", async (_, by, listed, omitted) => {
      const valueCount = 2300;
      const many = randomPlaces(11, valueCount * 2).map((place, row) => ({
        ...place,
        country: `V${row % valueCount}`,
      }));
      for (const rows of [wideRows(many), shuffled(randomFrom(12), longRows(many))]) {
        const { partition, groups } = await summarize(rows, { groupBy: "country", by });
        expect(groups.flatMap(({ metrics }) => metrics)).toHaveLength(EVERY_BY.length);
        expect(partition?.omitted).toEqual(omitted);
        expect(partition?.parts).toHaveLength(valueCount);
        for (const part of partition?.parts.filter((__, index) => index % 20 === 0) ?? []) {
          const places = many.filter(({ country }) => country === part.value);
          const invalidCount = places.filter(({ error }) => error !== null).length;
          expect([part.placeCount, part.invalidRowCount]).toEqual([2, invalidCount]);
          expect(part.groups.flatMap(({ metrics }) => metrics)).toHaveLength(invalidCount === 2 ? 0 : listed.length);
          for (const group of part.groups) {
            const index = GROUPS.findIndex((other) => keyText(other) === keyText(group));
            const scores = places.flatMap(({ scores: ofPlace }) => ofPlace[index] ?? []);
            expect(group.rowCount).toBe(scores.length);
            const names = listed.filter((name) => keyText(name) === keyText(group)).map(({ metric }) => metric);
            expect(group.metrics.map(({ metric }) => metric).toSorted()).toEqual(names.toSorted());
            for (const { metric, distribution, thresholds } of group.metrics) {
              const values = scores.flatMap(({ metrics }) => metrics[metric] ?? []);
              const expected = referenceStatistics(values, { shares: QUANTILE_SHARES, thresholds });
              const quantiles = omitted.length === 1 ? expected?.quantiles : [];
              const mean = expect.closeTo(expected?.mean ?? 0, 10) as number;
              expect(distribution).toEqual(expected && { ...expected, mean, quantiles, quantileError: 0 });
            }
          }
        }
      }
    });

    test("is rejected if there are too many of them", async () => {
      const many = randomPlaces(11, 10_500);
      await expect(summarize(wideRows(many), { groupBy: "site", by: EVERY_BY })).rejects.toMatchObject({
        code: "configuration_invalid",
        message: expect.stringMatching(
          /^The column "site" has too many different values \(at least \d+\).* at most 200000\..* --by\.$/,
        ),
      });
    });
  });

  test("rejects a column that the file does not have", async () => {
    await expect(summarize(longRows(places), { groupBy: "hazard" })).rejects.toThrow(
      'The file has no kept column "hazard": the columns are "site", "latitude", "longitude", "country".',
    );
  });
});

describe("thresholds of a summary", () => {
  const thresholdsOf = async (...args: Parameters<typeof summarize>) => {
    const { groups } = await summarize(...args);
    const first = groups.filter(({ scenario }) => scenario === "baseline");
    return Object.fromEntries(
      first.map(({ hazard, metrics }) => [hazard, Object.fromEntries(metrics.map((m) => [m.metric, m.thresholds]))]),
    );
  };
  const rows = longRows(randomPlaces(12, 20));

  test("are those of the rules of the hazard", async () => {
    expect(await thresholdsOf(rows)).toEqual({
      cyclones: { intensity: [0.33], wind_speed_mps: [33], probability: [0.01] },
      riverine_floods: { intensity: [0.05], depth_meters: [0.5], probability: [0.01] },
    });
  });

  test("are those of the rules that the manifest states", async () => {
    const rules = { threshold: 0.3, threshold_unit: "m", intensity_reference: 6, design_return_period_years: 250 };
    const stated = { rules: { riverine_floods: rules, cyclones: {} }, isChange: false };
    expect(await thresholdsOf(rows, {}, stated)).toEqual({
      cyclones: { intensity: [], wind_speed_mps: [], probability: [] },
      riverine_floods: { intensity: [0.05], depth_meters: [0.3], probability: [0.004] },
    });
  });

  test("are only the requested ones if the values are changes", async () => {
    const above = [{ metric: "probability", value: 0.1 }] as const;
    expect(await thresholdsOf(rows, { above }, { rules: {}, isChange: true })).toEqual({
      cyclones: { intensity: [], wind_speed_mps: [], probability: [0.1] },
      riverine_floods: { intensity: [], depth_meters: [], probability: [0.1] },
    });
  });
});

describe("files that a summary rejects", () => {
  const rows = longRows(randomPlaces(13, 5));
  const withCell = (name: string, cell: string | number) =>
    rows.map((row, i) => (i === 2 ? { ...row, [name]: cell } : row));

  test.each([
    ["status", "fine", 'Row 3: status must be a status (got "fine").'],
    [
      "analysis_year",
      "soon",
      /^Row 3: hazard must be part of a hazard, scenario and year \("[a-z_]+\.[a-z0-9]+\.soon"\)/,
    ],
    ["depth_meters", "0x10", 'Row 3: depth_meters must be a number (got "0x10").'],
    ["depth_meters", Infinity, "Row 3: depth_meters must be a number (got Infinity)."],
    [
      "probability_bound",
      "maybe",
      'Row 3: probability_bound must be one of at_least, at_most, indeterminate (got "maybe").',
    ],
  ])("rejects %s %j with its row", async (name, cell, message) => {
    await expect(summarize(withCell(name, cell))).rejects.toThrow(message);
  });

  test("rejects a table of other columns", async () => {
    await expect(summarize([{ a: 1, b: 2 }])).rejects.toThrow(
      /^The file is not an output .* Its columns are "a", "b"\.$/,
    );
  });

  test("rejects a column of values that the file does not have and lists those of the hazard", async () => {
    const by = [{ hazard: "cyclones", scenario: "rcp2p6", analysisYear: 2080, metric: "intensity" }] as const;
    await expect(summarize(rows, { by })).rejects.toThrow(
      /^The file has no values of cyclones\.rcp2p6\.2080\.intensity: it has cyclones\.baseline\.1980\.intensity, /,
    );
  });
});
