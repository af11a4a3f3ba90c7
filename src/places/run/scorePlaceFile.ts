/** Scores a file of places into a file: reads, scores, encodes and writes block by block, and resumes interrupted runs. */
import type { PlaceFileOptions } from "../../contract/wireTypes.ts";
import type { Atlas } from "../../hazard/answer.ts";
import { scoreBlocks } from "../scores/scoreBlocks.ts";
import { planScores, type ScorePlan } from "../scores/scorePlan.ts";
import type { AtlasInternals } from "../../pool/hostAtlas.ts";
import type { PlaceSource } from "../placeSource.ts";
import { openPlaceSource, type PlaceFormat } from "../readers/openPlaceSource.ts";
import type { SegmentFormat } from "../segmentFormat.ts";
import { outputColumns, type OutputPlan } from "../writers/outputColumns.ts";
import { BlockProgress } from "./blockProgress.ts";
import { encodedChunks } from "./encodedChunks.ts";
import { InputWatch } from "./inputIdentity.ts";
import { openSegmentFormat } from "./outputFormat.ts";
import { describeJob, type OutputFormat, type Shard } from "./placeJob.ts";
import { hazardDescriptions, type OutputFacts } from "./placeManifest.ts";
import type { PlaceReport } from "./placeReport.ts";
import { publishOutput } from "./publishOutput.ts";
import { checkReplacedPart } from "./replacedPart.ts";
import { RunClock } from "./runClock.ts";
import type { OutputDisk } from "./outputDisk.ts";
import { countRows, countsOf } from "./segmentRecord.ts";
import { PartialOutput, withWorkFolder } from "./workFolder.ts";

/** An atlas whose workers, if it has any, also encode the output. */
type ScoredAtlas = Atlas & Partial<Pick<AtlasInternals, "executor">>;

export interface PlaceRun {
  readonly input: string;
  readonly output: string;
  readonly inputFormat?: PlaceFormat | undefined;
  readonly outputFormat: OutputFormat;
  /** Valid, see `parsePlaceFileOptions`. */
  readonly options: PlaceFileOptions;
  readonly shard?: Shard | undefined;
  /** Discards the unfinished output of another run, and replaces a part by a whole output or a part of another number of parts. */
  readonly restart?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: PlaceProgress) => void;
  readonly disk?: OutputDisk | undefined;
}

interface PlaceProgress {
  /** Number of places that are written, including those of an interrupted run. */
  readonly placeCount: number;
  /** Size of the part of the input that had been read before the last block that is written; its whole size at the end. */
  readonly readBytes: number;
  readonly inputSizeBytes: number;
}

/**
 * Scores the places of a file. The output and its documents appear when they are complete; an interrupted run is continued
 * by the next run with the same input, options and atlas, which writes the same bytes.
 *
 * @throws Fault `invalid_request` naming the row if the input is damaged, or has changed during the run;
 *   `configuration_invalid` if another process writes the output, the unfinished output is of another run, the output
 *   is a part of another number of parts, or the disk is full; `combination_unavailable`; `atlas_unavailable`; the signal's reason
 */
export async function scorePlaceFile(atlas: ScoredAtlas, run: PlaceRun): Promise<PlaceReport> {
  const clock = new RunClock({ hasWorkers: atlas.executor !== undefined });
  const plan = planScores(atlas, run.options);
  const watch = await clock.timePromise("reading", InputWatch.start(run.input));
  const source = await openSource(run);
  try {
    const job = describeJob(atlas, {
      input: watch.identity,
      input_format: run.inputFormat ?? null,
      output_format: run.outputFormat,
      options: run.options,
      shard: run.shard ?? null,
    });
    const outputPlan = outputPlanOf(source, { plan, run });
    const format = await openSegmentFormat(run.outputFormat, outputPlan, job);
    return await withWorkFolder(run, async () => {
      const { header } = format;
      const { output, restart = false, disk, shard } = run;
      if (!restart) await checkReplacedPart(output, shard);
      const partial = await PartialOutput.open({ output, job, header, restart, needsCounts: true, disk });
      try {
        const resumedPlaceCount = countRows(partial.segments).placeCount;
        await writeSegments(partial, { atlas, plan, outputPlan, source, watch, format, clock, run });
        await watch.checkUnchanged();
        return await publishOutput(partial, {
          path: output,
          job,
          facts: factsOf(atlas, { plan, outputPlan, source }),
          counts: partial.counts,
          footer: format.footer,
          clock,
          resumedPlaceCount,
        });
      } finally {
        await partial.close();
      }
    });
  } finally {
    await source.close();
  }
}

/** Opens the input of a run. */
export function openSource({
  input,
  inputFormat,
  options,
}: Pick<PlaceRun, "input" | "inputFormat" | "options">): Promise<PlaceSource> {
  const { columns, radius_column: radiusColumn, radius: radiusKm } = options;
  return openPlaceSource(input, { format: inputFormat, columns, radiusColumn, radiusKm });
}

/** Returns what the output of a run has. */
export function outputPlanOf(
  { columns, keptColumns }: PlaceSource,
  { plan, run }: { readonly plan: ScorePlan; readonly run: Pick<PlaceRun, "options" | "outputFormat"> },
): OutputPlan {
  const hasTypes = run.outputFormat !== "csv";
  return {
    layout: run.options.layout ?? "long",
    groups: plan.groups,
    keptColumns,
    hasGeometry: run.outputFormat === "geoparquet",
    ...(hasTypes ? { typedLocation: { latitude: columns.latitude, longitude: columns.longitude } } : {}),
  };
}

function factsOf(
  atlas: Atlas,
  {
    plan: { groups, omissions },
    outputPlan,
    source: { positions, omittedColumns },
  }: { readonly plan: ScorePlan; readonly outputPlan: OutputPlan; readonly source: PlaceSource },
): OutputFacts {
  const columns = outputColumns(outputPlan).map(({ name, type }) => ({ name, type }));
  // The kept columns are first.
  const nameAt = (position: number | undefined) => columns[position ?? -1]?.name ?? null;
  const { id, latitude, longitude } = positions;
  return {
    groups,
    columns,
    place_columns: { id: nameAt(id), latitude: nameAt(latitude), longitude: nameAt(longitude) },
    hazards: hazardDescriptions(atlas, groups),
    synthetic: atlas.synthetic,
    omissions,
    omitted_columns: omittedColumns,
  };
}

interface SegmentWork {
  readonly atlas: ScoredAtlas;
  readonly plan: ScorePlan;
  readonly outputPlan: OutputPlan;
  readonly source: PlaceSource;
  readonly watch: InputWatch;
  readonly format: SegmentFormat;
  readonly clock: RunClock;
  readonly run: PlaceRun;
}

/** Writes the segments that an earlier run has not finished. */
async function writeSegments(
  partial: PartialOutput,
  { atlas, plan, outputPlan, source, watch, format, clock, run }: SegmentWork,
): Promise<void> {
  const { shard = { index: 1, count: 1 }, onProgress } = run;
  const stop = new AbortController();
  const signal = run.signal === undefined ? stop.signal : AbortSignal.any([run.signal, stop.signal]);
  const firstBlock = (partial.segments.at(-1)?.block ?? -1) + 1;
  const progress = new BlockProgress();
  let { placeCount } = countRows(partial.segments);
  const blocks = source.blocks({
    isWanted: (block) => block >= firstBlock && block % shard.count === shard.index - 1,
    onBytes: (sizeBytes) => progress.addBytes(sizeBytes),
    signal,
  });
  const onBusy = (busyMs: number): void => clock.add("engine", busyMs);
  const scored = scoreBlocks(atlas, clock.timeItems("reading", progress.of(blocks)), { plan, signal, onBusy });
  const { executor } = atlas;
  const chunks = encodedChunks(scored, {
    format: run.outputFormat,
    plan: outputPlan,
    rows: format,
    executor,
    signal,
    clock,
  });
  /** Of the segment that is not complete. */
  let sizeBytes = 0;
  // Writing a chunk overlaps the encoding of the next.
  let written = Promise.resolve();
  const write = async (start: () => Promise<void>): Promise<void> => {
    await written;
    written = clock.timePromise("writing", start());
    // Awaited before the next write. Until then, blocks must not be scored that cannot be written.
    written.catch((error: unknown) => stop.abort(error));
  };
  try {
    for await (const { bytes, end } of chunks) {
      sizeBytes += bytes.length;
      await write(() => partial.append(bytes));
      if (end === undefined) continue;
      const { block, content } = end;
      const { index, rowCount } = block.places;
      const record = { block: index, ...content, sizeBytes, placeCount: rowCount };
      const counts = clock.time("encoding", () => countsOf(block, plan.groups));
      block.release();
      sizeBytes = 0;
      await write(async () => {
        // Listed segments are resumed, and must be of the identified content.
        await watch.checkUnchanged();
        await partial.commit(record, counts);
      });
      placeCount += rowCount;
      onProgress?.({ placeCount, readBytes: progress.bytesBefore(index), inputSizeBytes: source.sizeBytes });
      signal.throwIfAborted(); // several blocks may have been scored together
    }
  } finally {
    await written;
  }
  onProgress?.({ placeCount, readBytes: source.sizeBytes, inputSizeBytes: source.sizeBytes });
}
