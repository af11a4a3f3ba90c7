import { basename } from "node:path";
import type { SegmentFormat } from "../segmentFormat.ts";
import type { PlaceJob, Shard } from "./placeJob.ts";
import { type OutputFacts, parseManifest, type PlaceManifest } from "./placeManifest.ts";
import { type PlaceReport, placeReport, type RunClock } from "./placeReport.ts";
import { countRows, type RowCounts } from "./segmentRecord.ts";
import { manifestPathOf, type PartialOutput } from "./workFolder.ts";
import { readFile } from "node:fs/promises";
import { Fault, isFault } from "../../errors.ts";
import { isNotFound } from "../../files/files.ts";

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

/**
 * Rejects a run that would replace a part by a part of another number of parts, or by a whole or merged output. A scheduler that
 * starts only the failed tasks again may state their number as the number of parts.
 *
 * @param shard undefined for a whole output
 * @throws Fault `configuration_invalid` with both
 */
export async function checkReplacedPart(output: string, shard: Shard | undefined): Promise<void> {
  const earlier = await shardOf(manifestPathOf(output));
  if (earlier === undefined || earlier === null || earlier.count === shard?.count) return;
  const replacement = shard === undefined ? "the whole output" : `part ${shard.index} of ${shard.count}`;
  const message =
    `${output} is part ${earlier.index} of ${earlier.count}, and would be replaced by ${replacement}. ` +
    `To write a part of ${earlier.count}, set --shard. Otherwise choose another name for OUT, or add --restart to replace it.`;
  throw new Fault("configuration_invalid", message, { details: { before: earlier, now: shard ?? null } });
}

/** Returns the part that a manifest states; undefined if there is no manifest. */
async function shardOf(path: string): Promise<Shard | null | undefined> {
  try {
    return parseManifest(await readFile(path, "utf8"), path).shard;
  } catch (error) {
    if (isNotFound(error) || isFault(error)) return undefined;
    throw error;
  }
}
