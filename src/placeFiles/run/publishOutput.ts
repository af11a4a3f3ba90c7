import { basename } from "node:path";
import type { SegmentFormat } from "../segmentFormat.ts";
import type { PlaceJob } from "./placeJob.ts";
import { type OutputFacts, type PlaceManifest, totalsOf } from "./placeManifest.ts";
import { type PlaceReport, placeReport } from "./placeReport.ts";
import type { RunClock } from "./runClock.ts";
import type { PartialOutput } from "./workFolder.ts";

/** Completes an output, and gives it and its documents their names. */
export async function publishOutput(
  partial: PartialOutput,
  {
    path,
    job,
    facts,
    footer,
    clock,
    resumedPlaceCount,
  }: {
    readonly path: string;
    readonly job: PlaceJob;
    readonly facts: OutputFacts;
    readonly footer: SegmentFormat["footer"];
    readonly clock: RunClock;
    /** Number of places that an interrupted run had finished. */
    readonly resumedPlaceCount: number;
  },
): Promise<PlaceReport> {
  const { records, headerSizeBytes } = partial;
  const footerBytes = footer(records);
  const { sizeBytes, sha256 } = await clock.timePromise("writing", partial.complete(footerBytes));
  const { placeCount, rowCount } = totalsOf(records);
  const manifest: PlaceManifest = {
    isotherm_portfolio_manifest: 1,
    ...job,
    output: {
      name: basename(path),
      size_bytes: sizeBytes,
      sha256,
      row_count: rowCount,
      header_size_bytes: headerSizeBytes,
      footer_size_bytes: footerBytes.length,
    },
    ...facts,
    place_count: placeCount,
    segments: records,
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
