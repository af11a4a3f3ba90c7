import { basename } from "node:path";
import type { SegmentFormat } from "../segmentFormat.ts";
import type { PlaceJob } from "./placeJob.ts";
import type { OutputFacts, PlaceManifest } from "./placeManifest.ts";
import { type PlaceReport, placeReport } from "./placeReport.ts";
import type { RunClock } from "./runClock.ts";
import { countRows, type RowCounts } from "./segmentRecord.ts";
import type { PartialOutput } from "./workFolder.ts";

/** Completes an output, and gives it and its documents their names. */
export async function publishOutput(
  partial: PartialOutput,
  {
    path,
    job,
    facts,
    counts,
    footer,
    clock,
    resumedPlaceCount,
  }: {
    readonly path: string;
    readonly job: PlaceJob;
    readonly facts: OutputFacts;
    /** Counts of all rows. */
    readonly counts: RowCounts;
    readonly footer: SegmentFormat["footer"];
    readonly clock: RunClock;
    /** Number of places that an interrupted run had finished. */
    readonly resumedPlaceCount: number;
  },
): Promise<PlaceReport> {
  const { segments, headerSizeBytes } = partial;
  let footerSizeBytes = 0;
  for await (const chunk of footer?.(partial.written()) ?? []) {
    await clock.timePromise("writing", partial.append(chunk));
    footerSizeBytes += chunk.length;
  }
  const { sizeBytes, sha256 } = await clock.timePromise("writing", partial.complete());
  const { placeCount, rowCount } = countRows(segments);
  const manifest: PlaceManifest = {
    isotherm_portfolio_manifest: 1,
    ...job,
    output: {
      name: basename(path),
      size_bytes: sizeBytes,
      sha256,
      row_count: rowCount,
      header_size_bytes: headerSizeBytes,
      footer_size_bytes: footerSizeBytes,
    },
    ...facts,
    place_count: placeCount,
    statuses: counts.statuses,
    invalid_rows: { by_reason: counts.invalidRows, first: counts.listedInvalidRows },
    segments,
  };
  const newCount = placeCount - resumedPlaceCount;
  const columnCount = facts.groups.reduce((count, { metrics }) => count + metrics.length, 0);
  const timing = clock.timing({ placeCount: newCount, valueCount: newCount * columnCount, resumedPlaceCount });
  const report = placeReport(manifest, { path, timing });
  await partial.publish({
    manifest: `${JSON.stringify(manifest)}\n`,
    report: `${JSON.stringify(report, undefined, 2)}\n`,
  });
  return report;
}
