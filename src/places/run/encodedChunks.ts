/** Encodes scored blocks of places on this thread, or in workers several at a time. */
import { scoreShapeOf, scoresOfRows } from "../../hazard/scoring/scoreRequest.ts";
import { keptSizeCharacters, type PlaceBlock, type ScoredBlock } from "../scores/placeBlock.ts";
import type { TaskExecutor } from "../../pool/executor.ts";
import type { SegmentContent, SegmentFormat } from "../segmentFormat.ts";
import { outputColumns, type OutputPlan } from "../writers/outputColumns.ts";
import type { OutputFormat } from "./placeJob.ts";
import type { RunClock } from "./placeReport.ts";
import { handle, type TaskHandlers, type TaskKind } from "../../pool/taskKinds.ts";
import { openRowFormat } from "./outputFormat.ts";

/** Tasks of a run, which share the workers with those that score places. */
const TENANT = "encoding";
/** Parts that are encoded, or wait to be written, per worker. */
const PARTS_PER_WORKER = 2;
const PART_SIZE_BYTES = 4 << 20;
/** Estimated size of the scores of a row in the long layout, and of a value in the wide layout. */
const LONG_ROW_BYTES = 100;
const WIDE_VALUE_BYTES = 12;
/** Blocks with fewer rows, unless these are long, are encoded on this thread, because starting workers takes longer. */
const POOLED_ROWS_MIN = 256;

/** Bytes of a block; the last chunk of a block has its end. A chunk may be overwritten after the next but one is taken. */
interface EncodedChunk<Block> {
  readonly bytes: Uint8Array;
  readonly end?: { readonly block: Block; readonly content: SegmentContent };
}

interface EncodingOptions {
  readonly format: OutputFormat;
  readonly plan: OutputPlan;
  /** The format on this thread. */
  readonly rows: SegmentFormat;
  /** Undefined if there are no workers. */
  readonly executor: TaskExecutor | undefined;
  readonly signal: AbortSignal | undefined;
  readonly clock: RunClock;
  /** Approximate size of the text of a part. The output does not depend on it. */
  readonly partSizeBytes?: number;
}

/** Encodes blocks, in their order. */
export function encodedChunks<Block extends ScoredBlock>(
  blocks: AsyncIterable<Block>,
  options: EncodingOptions,
): AsyncGenerator<EncodedChunk<Block>, void, undefined> {
  const { executor } = options;
  return executor === undefined ? encodeHere(blocks, options) : encodeInWorkers(blocks, { ...options, executor });
}

async function* encodeHere<Block extends ScoredBlock>(
  blocks: AsyncIterable<Block>,
  { rows, clock }: EncodingOptions,
): AsyncGenerator<EncodedChunk<Block>, void, undefined> {
  for await (const block of blocks) {
    const chunks = rows.encode(block);
    for (;;) {
      const { value, done } = clock.time("encoding", () => chunks.next());
      if (done === true) {
        yield { bytes: new Uint8Array(0), end: { block, content: value } };
        break;
      }
      yield { bytes: value };
    }
  }
}

/** A part of a block that is encoded by one task. */
interface BlockPart<Block> {
  readonly block: Block;
  readonly from: number;
  readonly to: number;
  /** Whether the part is large enough for a worker. */
  readonly isPooled: boolean;
}

async function* encodeInWorkers<Block extends ScoredBlock>(
  blocks: AsyncIterable<Block>,
  options: EncodingOptions & { readonly executor: TaskExecutor },
): AsyncGenerator<EncodedChunk<Block>, void, undefined> {
  const { format, plan, rows, executor, signal, clock } = options;
  const planText = JSON.stringify(plan);
  const shape = scoreShapeOf(plan.groups);
  const encode = async (part: BlockPart<Block>): Promise<BlockPart<Block> & EncodedBlock> => {
    const { block, from, to } = part;
    if (!part.isPooled) {
      return { ...part, ...(await clock.time("encoding", () => encodeBlock(rows, block))) };
    }
    const ofPart = {
      places: placesOfRows(block.places, from, to),
      scores: scoresOfRows(block.scores, shape, { from, to }),
    };
    const onSlice = ({ busyMs }: { readonly busyMs: number }): void => clock.add("encoding", busyMs);
    const payload = { format, plan: planText, block: ofPart };
    return { ...part, ...(await executor.run(ENCODE, payload, { tenant: TENANT, signal, onSlice })) };
  };
  let rowCount = 0;
  const aheadMax = PARTS_PER_WORKER * executor.workerCount;
  for await (const { block, to, chunks, content } of mapAhead(partsOf(blocks, options), aheadMax, encode)) {
    for (const bytes of chunks) yield { bytes };
    rowCount += content.rowCount;
    if (to < block.places.rowCount) continue;
    yield { bytes: new Uint8Array(0), end: { block, content: { rowCount } } };
    rowCount = 0;
  }
}

/** Divides blocks into parts: rows of text do not depend on each other, but a row group of Parquet is encoded as a whole. */
async function* partsOf<Block extends ScoredBlock>(
  blocks: AsyncIterable<Block>,
  { format, plan, partSizeBytes = PART_SIZE_BYTES }: EncodingOptions,
): AsyncGenerator<BlockPart<Block>, void, undefined> {
  const isText = format === "csv" || format === "ndjson";
  const isLong = plan.layout === "long";
  const rowsPerPlace = isLong ? plan.groups.length : 1;
  const scoreBytes = isLong ? LONG_ROW_BYTES : WIDE_VALUE_BYTES * outputColumns(plan).length;
  for await (const block of blocks) {
    const { rowCount } = block.places;
    const placeBytes = rowsPerPlace * (scoreBytes + keptSizeCharacters(block.places.kept) / rowCount);
    const isPooled = rowCount >= POOLED_ROWS_MIN || rowCount * placeBytes > PART_SIZE_BYTES;
    const partRowCount = isText && isPooled ? Math.ceil(partSizeBytes / placeBytes) : rowCount;
    for (let from = 0; from < rowCount; from += partRowCount) {
      yield { block, from, to: Math.min(rowCount, from + partRowCount), isPooled };
    }
  }
}

/** Returns some rows of a block, without the memory of the others. */
function placesOfRows(places: PlaceBlock, from: number, to: number): PlaceBlock {
  const { index, firstRow, latitudes, longitudes, radiiKm, errors, kept } = places;
  const ofRows = [...errors].filter(([row]) => row >= from && row < to);
  return {
    index,
    firstRow: firstRow + from,
    rowCount: to - from,
    latitudes: latitudes.slice(from, to),
    longitudes: longitudes.slice(from, to),
    radiiKm: radiiKm.slice(from, to),
    errors: new Map(ofRows.map(([row, error]) => [row - from, error])),
    kept: kept.map((values) => values.slice(from, to)),
  };
}

interface EncodePayload {
  readonly format: OutputFormat;
  /** The OutputPlan as JSON, which identifies it. */
  readonly plan: string;
  /** Its scores are in shared memory. */
  readonly block: ScoredBlock;
}

interface EncodedBlock {
  readonly chunks: readonly Uint8Array<ArrayBuffer>[];
  readonly content: SegmentContent;
}

const ENCODE: TaskKind<EncodePayload, EncodedBlock> = { name: "places.encode" };

/** Returns the handlers of the tasks of files of places. */
export function placeFileTasks(): TaskHandlers {
  let opened: (Pick<EncodePayload, "format" | "plan"> & { readonly rows: Promise<SegmentFormat> }) | undefined;
  return new Map([
    handle(ENCODE, async ({ format, plan, block }, { timeSlice, signal }) => {
      if (opened?.format !== format || opened.plan !== plan) {
        opened = { format, plan, rows: openRowFormat(format, JSON.parse(plan) as OutputPlan, []) };
      }
      const result = await encodeBlock(await opened.rows, block, async () => {
        await timeSlice.yield();
        signal.throwIfAborted();
      });
      return { result, transfer: result.chunks.map(({ buffer }) => buffer) };
    }),
  ]);
}

/** Encodes a block. @param pause called after each chunk */
async function encodeBlock(
  rows: SegmentFormat,
  block: ScoredBlock,
  pause: () => Promise<void> = () => Promise.resolve(),
): Promise<EncodedBlock> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const encoding = rows.encode(block);
  for (;;) {
    const { value, done } = encoding.next();
    if (done === true) return { chunks, content: value };
    chunks.push(value.slice()); // the encoder uses the memory of a chunk again
    await pause();
  }
}

/**
 * Maps the items of a source, several at a time, and yields the results in the order of the items. Takes the next item while
 * the caller uses a result.
 *
 * @param aheadMax number of items that are mapped, or have a result that waits for the caller, at a time
 * @throws errors of the source and of `map`, after all items that were taken have been mapped
 */
export async function* mapAhead<Item, Result>(
  items: AsyncIterable<Item>,
  aheadMax: number,
  map: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const source = items[Symbol.asyncIterator]();
  const mapped: Promise<Result>[] = [];
  let taken: Promise<IteratorResult<Item>> | undefined;
  let isAtEnd = false;
  const take = async (): Promise<void> => {
    const { done, value } = await (taken ??= source.next());
    taken = undefined;
    if (done === true) isAtEnd = true;
    else {
      const result = map(value);
      result.catch(() => undefined); // awaited later
      mapped.push(result);
    }
  };
  try {
    for (;;) {
      const first = mapped[0];
      const hasSpace = !isAtEnd && mapped.length < aheadMax;
      if (first === undefined) {
        if (isAtEnd) return;
        await take();
      } else if (hasSpace && !(await isFirstSettled(first, (taken ??= source.next())))) await take();
      else {
        void mapped.shift();
        yield await first;
      }
    }
  } finally {
    await Promise.allSettled([taken, ...mapped]);
    await source.return?.();
  }
}

/** Waits for one of two promises. @returns whether the first has settled */
async function isFirstSettled(first: Promise<unknown>, second: Promise<unknown>): Promise<boolean> {
  const settled = (isFirst: boolean) => (): boolean => isFirst;
  return await Promise.race([first.then(settled(true), settled(true)), second.then(settled(false), settled(false))]);
}
