/** Scores a file of places into a file: reads, scores, encodes and writes block by block, and resumes interrupted runs. */
import type { PlaceFileOptions } from "../../contract/wireTypes.ts";
import type { Atlas } from "../../hazard/answer.ts";
import { scoreBlocks } from "../scores/scoreBlocks.ts";
import { planScores, type ScorePlan } from "../scores/scorePlan.ts";
import type { AtlasInternals } from "../../pool/hostAtlas.ts";
import type { PlaceSource } from "../readers/blockAssembler.ts";
import { openPlaceSource, type PlaceFormat } from "../readers/openPlaceSource.ts";
import type { SegmentFormat } from "../segmentFormat.ts";
import { outputColumns, type OutputPlan } from "../writers/outputColumns.ts";
import { encodedChunks } from "./encodedChunks.ts";
import { openSegmentFormat } from "./outputFormat.ts";
import { describeJob, type InputIdentity, type OutputFormat, type Shard } from "./placeJob.ts";
import { hazardDescriptions, type OutputFacts } from "./placeManifest.ts";
import { type PlaceReport, RunClock } from "./placeReport.ts";
import { checkReplacedPart, publishOutput } from "./publishOutput.ts";
import type { OutputDisk } from "./outputDisk.ts";
import { countRows, countsOf } from "./segmentRecord.ts";
import { PartialOutput, withWorkFolder } from "./workFolder.ts";
import type { PlaceBlock } from "../scores/placeBlock.ts";
import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { Fault } from "../../errors.ts";
import { hashFile } from "../../files/files.ts";

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

/** Remembers how much of the input had been read before each block, because blocks are read ahead of those that are written. */
class BlockProgress {
  #readBytes = 0;
  /** By index of the blocks that are not written yet. */
  readonly #bytesBefore = new Map<number, number>();

  addBytes(sizeBytes: number): void {
    this.#readBytes += sizeBytes;
  }

  async *of(blocks: AsyncIterable<PlaceBlock>): AsyncGenerator<PlaceBlock, void, undefined> {
    for await (const block of blocks) {
      this.#bytesBefore.set(block.index, this.#readBytes);
      yield block;
    }
  }

  /** Returns the size of the part that had been read before a block, once. */
  bytesBefore(index: number): number {
    const sizeBytes = this.#bytesBefore.get(index) ?? this.#readBytes;
    this.#bytesBefore.delete(index);
    return sizeBytes;
  }
}

/** Identifies a file by its content, and finds out whether it changes while it is read. */
class InputWatch {
  readonly identity: InputIdentity;
  readonly #path: string;
  readonly #stats: BigIntStats;

  private constructor(path: string, stats: BigIntStats, identity: InputIdentity) {
    this.#path = path;
    this.#stats = stats;
    this.identity = identity;
  }

  static async start(path: string): Promise<InputWatch> {
    const stats = await stat(path, { bigint: true });
    const sha256 = await hashFile(path);
    return new InputWatch(path, stats, { name: basename(path), size_bytes: Number(stats.size), sha256 });
  }

  /** @throws Fault `invalid_request` if the file has changed since `start` */
  async checkUnchanged(): Promise<void> {
    const { ino, size, mtimeNs } = await stat(this.#path, { bigint: true });
    if (ino === this.#stats.ino && size === this.#stats.size && mtimeNs === this.#stats.mtimeNs) return;
    const message = `${this.#path} has changed while it was read. Run the command again, with --restart to discard the unfinished output.`;
    throw new Fault("invalid_request", message);
  }
}
