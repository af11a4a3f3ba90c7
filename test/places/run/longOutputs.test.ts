/** Outputs with so many segments that nothing may grow with the number of columns or invalid rows. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ScoreGroup } from "../../../src/hazard/scoring/scoreRequest.ts";
import { describeJob } from "../../../src/places/run/placeJob.ts";
import type { PlaceManifest } from "../../../src/places/run/placeManifest.ts";
import { publishOutput } from "../../../src/places/run/publishOutput.ts";
import { RunClock } from "../../../src/places/run/placeReport.ts";
import { addCounts, NO_COUNTS, type RowCounts, type SegmentLine } from "../../../src/places/run/segmentRecord.ts";
import { manifestPathOf, PartialOutput, workFolderOf } from "../../../src/places/run/workFolder.ts";
import { withTempFolder } from "../../atlas/makeAtlas.ts";

const SEGMENT_COUNT = 10_000;
const ROWS = "ten bytes\n";
const HEADER = Buffer.from("header\n");
const GROUPS: readonly ScoreGroup[] = [
  { hazard: "cyclones", scenario: "rcp8p5", analysisYear: 2050, metrics: ["wind_speed_mps"] },
];

const job = describeJob(
  { release: "r1", contentHash: "c" },
  {
    input: { name: "places.csv", size_bytes: 1, sha256: "s" },
    input_format: null,
    output_format: "csv",
    options: {},
    shard: null,
  },
);

/** Counts of a segment in which no row is valid. */
function invalidCounts(block: number): RowCounts {
  return {
    statuses: { cyclones: { value: block % 3 } },
    invalidRows: { latitude_invalid: 8192 },
    listedInvalidRows: Array.from({ length: 100 }, (_, i) => ({
      row: block * 8192 + i + 1,
      reason: "latitude_invalid" as const,
      message: "x".repeat(200),
    })),
  };
}

describe("an output of 10,000 segments", () => {
  test("is continued and completed, with a list and a manifest of bounded size per segment", async () => {
    await withTempFolder(async (folder) => {
      const output = join(folder, "out.csv");
      const work = workFolderOf(output);
      await mkdir(work);
      const lines = Array.from({ length: SEGMENT_COUNT }, (_, block): string => {
        const counts = { ...invalidCounts(block), listedInvalidRows: [] };
        const line: SegmentLine = { block, sizeBytes: ROWS.length, rowCount: 8192, placeCount: 8192, counts };
        return `${JSON.stringify(line)}\n`;
      });
      await writeFile(join(work, "job.json"), JSON.stringify(job));
      await writeFile(join(work, "segments.ndjson"), lines.join(""));
      await writeFile(join(work, "rows"), Buffer.concat([HEADER, Buffer.from(ROWS.repeat(SEGMENT_COUNT))]));

      const partial = await PartialOutput.open({ output, job, header: HEADER, restart: false, needsCounts: true });
      expect(partial.segments).toHaveLength(SEGMENT_COUNT);
      const placeCount = 8192 * SEGMENT_COUNT;
      expect(partial.counts.invalidRows).toEqual({ latitude_invalid: placeCount });
      for (const block of [SEGMENT_COUNT, SEGMENT_COUNT + 1]) {
        await partial.append(Buffer.from(ROWS));
        const record = { block, sizeBytes: ROWS.length, rowCount: 8192, placeCount: 8192 };
        await partial.commit(record, invalidCounts(block));
      }
      const list = await readFile(join(work, "segments.ndjson"), "utf8");
      const [last, lastButOne] = list.trimEnd().split("\n").toReversed();
      expect(lastButOne?.length).toBeGreaterThan(20_000);
      expect(last?.length).toBeLessThan(300);

      const report = await publishOutput(partial, {
        path: output,
        job,
        facts: { groups: GROUPS, columns: [], hazards: [], synthetic: false, omissions: [] },
        counts: partial.counts,
        footer: undefined,
        clock: new RunClock({ hasWorkers: false }),
        resumedPlaceCount: placeCount,
      });
      expect(report).toMatchObject({ place_count: placeCount + 2 * 8192, invalid_row_count: placeCount + 2 * 8192 });
      expect(report.invalid_rows.first).toHaveLength(100);
      const manifest = await readFile(manifestPathOf(output), "utf8");
      expect(manifest.length).toBeLessThan(80 * SEGMENT_COUNT + 40_000);
      const { segments } = JSON.parse(manifest) as PlaceManifest;
      expect(segments).toHaveLength(SEGMENT_COUNT + 2);
      expect(segments.at(-1)).toEqual({ block: SEGMENT_COUNT + 1, sizeBytes: 10, rowCount: 8192, placeCount: 8192 });
      expect((await readFile(output)).length).toBe(HEADER.length + ROWS.length * (SEGMENT_COUNT + 2));
    });
  });
});

describe("counts", () => {
  test("of parts list the invalid rows that come first in the file, in any order of the parts", () => {
    const counts = [2, 0, 1].map(invalidCounts).reduce(addCounts, NO_COUNTS);
    expect(counts.listedInvalidRows).toEqual(invalidCounts(0).listedInvalidRows);
    expect(counts.statuses).toEqual({ cyclones: { value: 3 } });
    expect(counts.invalidRows).toEqual({ latitude_invalid: 3 * 8192 });
  });
});
