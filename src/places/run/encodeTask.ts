/** Encodes rows of an output in worker threads. */
import type { ScoredBlock } from "../scores/placeBlock.ts";
import { handle, type TaskHandlers, type TaskKind } from "../../pool/taskKinds.ts";
import type { SegmentContent, SegmentFormat } from "../segmentFormat.ts";
import type { OutputPlan } from "../writers/outputColumns.ts";
import { openRowFormat } from "./outputFormat.ts";
import type { OutputFormat } from "./placeJob.ts";

export interface EncodePayload {
  readonly format: OutputFormat;
  /** The OutputPlan as JSON, which identifies it. */
  readonly plan: string;
  /** Its scores are in shared memory. */
  readonly block: ScoredBlock;
}

export interface EncodedBlock {
  readonly chunks: readonly Uint8Array<ArrayBuffer>[];
  readonly content: SegmentContent;
}

export const ENCODE: TaskKind<EncodePayload, EncodedBlock> = { name: "places.encode" };

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
export async function encodeBlock(
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
