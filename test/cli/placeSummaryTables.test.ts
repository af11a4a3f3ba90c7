/** What a summary by a column with many values states. */
import { describe, expect, test } from "vitest";
import { formatSummary } from "../../src/cli/portfolioSummary.ts";
import type { PartOmission, PlaceSummary } from "../../src/places/summary/placeSummary.ts";
import { reportPage } from "../../src/places/summary/report/reportPage.ts";
import { summarizeTable } from "../../src/places/summary/summarizePlaceFile.ts";
import { summaryJson } from "../../src/places/summary/summaryJson.ts";
import { longRows, memoryTable, randomPlaces } from "../places/summary/randomScores.ts";

/** Returns a summary by country, of which something is left out. */
async function summaryWithout(omitted: readonly PartOmission[]): Promise<PlaceSummary> {
  const options = { above: [], topCount: 0, by: [], groupBy: "country", sampleCount: 0 };
  const columns = { id: "site", latitude: "latitude", longitude: "longitude" };
  const { partition, ...summary } = await summarizeTable(memoryTable(longRows(randomPlaces(1, 60))), options, {
    columns,
  });
  const parts = (partition?.parts ?? []).map((part) => ({
    ...part,
    groups: part.groups.map((group) => ({
      ...group,
      metrics: group.metrics.map(({ distribution, ...metric }) => ({
        ...metric,
        distribution: distribution && {
          ...distribution,
          quantiles: omitted.includes("quantiles") ? [] : distribution.quantiles,
        },
      })),
    })),
  }));
  return { ...summary, partition: { column: "country", omitted, parts } };
}

describe("summary by a column with many values", () => {
  const context = { fileName: "scores.csv", run: undefined };
  const sentence = "Because country has 4 values, only the listed columns are summarized by it";
  /** Cells of a value of the column: places, values, minimum, six quantiles and the maximum. */
  const withQuantiles = /│ Japan +│ +\d+ │ +\d+ │ +[\d.]+ │( +[\d.]+ │){7}/;
  const withoutQuantiles = /│ Japan +│ +\d+ │ +\d+ │ +[\d.]+ │( +- │){6} +[\d.]+ │/;

  test.each([
    [[], undefined, withQuantiles],
    [["other_columns"], `${sentence}.`, withQuantiles],
    [["other_columns", "quantiles"], `${sentence}, without quantiles.`, withoutQuantiles],
  ] as const)("states what is left out: %j", async (omitted, expected, rowPattern) => {
    const summary = await summaryWithout(omitted);
    const text = formatSummary(summary, context);
    const page = reportPage(summary, { ...context, reportedOn: "2026-01-31" }).replaceAll(/\s+/g, " ");
    for (const written of [text, page]) {
      if (expected === undefined) expect(written).not.toContain("Because country");
      else expect(written).toContain(expected);
      expect(written).not.toContain("NaN");
    }
    expect(text).toMatch(rowPattern);
    const json = summaryJson(summary, context)["group_by"] as {
      readonly omitted: unknown;
      readonly values: readonly { readonly results: readonly { readonly metrics: object }[] }[];
    };
    expect(json.omitted).toEqual(omitted);
    const metric: unknown = Object.values(json.values[0]?.results[0]?.metrics ?? {})[0];
    const quantiles =
      rowPattern === withoutQuantiles ? null : (expect.objectContaining({ 0.5: expect.any(Number) }) as object);
    expect(metric).toMatchObject({ quantiles });
  });
});
