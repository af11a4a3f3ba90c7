/** Describes what a run would write, from the first blocks of the input. */
import type { Atlas } from "../../hazard/answer.ts";
import type { ScoreGroup } from "../../hazard/scoring/scoreRequest.ts";
import type { PlaceBlock, ScoredBlock } from "../scores/placeBlock.ts";
import { scoreBlocks } from "../scores/scoreBlocks.ts";
import { type Omission, planScores } from "../scores/scorePlan.ts";
import type { PlaceColumns, PlaceSource } from "../readers/blockAssembler.ts";
import type { SegmentFormat } from "../segmentFormat.ts";
import { outputColumns, type OutputColumn } from "../writers/outputColumns.ts";
import { openSegmentFormat } from "./outputFormat.ts";
import { describeJob, type OutputFormat } from "./placeJob.ts";
import { openSource, outputPlanOf, type PlaceRun } from "./scorePlaceFile.ts";

/** Names are those of the JSON that the command prints. */
export interface PlacePreview {
  readonly input: string;
  readonly input_size_bytes: number;
  readonly columns_found: PlaceColumns;
  readonly output: string;
  readonly output_format: OutputFormat;
  readonly groups: readonly ScoreGroup[];
  readonly omissions: readonly Omission[];
  /** Columns of the input that are not in the output. */
  readonly omitted_columns: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: OutputColumn["type"] }[];
  /** Exact if the format of the input states the number of rows. */
  readonly place_count: number;
  readonly is_place_count_exact: boolean;
  readonly estimated_row_count: number;
  readonly estimated_size_bytes: number;
  /** Number of invalid rows in the first block. */
  readonly invalid_row_count: number;
  readonly checked_place_count: number;
}

/** @throws Fault as `scorePlaceFile` does, as far as the first block shows it */
export async function previewPlaceFile(atlas: Atlas, run: PlaceRun): Promise<PlacePreview> {
  const plan = planScores(atlas, run.options);
  const source = await openSource(run);
  try {
    const outputPlan = outputPlanOf(source, { plan, run });
    const job = describeJob(atlas, {
      input: { name: run.input, size_bytes: source.sizeBytes, sha256: "0".repeat(64) },
      input_format: run.inputFormat ?? null,
      output_format: run.outputFormat,
      options: run.options,
      shard: run.shard ?? null,
    });
    const format = await openSegmentFormat(run.outputFormat, outputPlan, job);
    const { block, count, isComplete } = await readFirstBlocks(source, run.signal);
    const checkedCount = block?.rowCount ?? 0;
    const encoded = { rowCount: 0, sizeBytes: 0 };
    if (block !== undefined) {
      for await (const scored of scoreBlocks(atlas, [block], { plan, signal: run.signal })) {
        Object.assign(encoded, encodedSize(scored, format));
      }
    }
    const emptySizeBytes = format.header.length + (await emptyFooterSize(format));
    const placeCount = source.rowCount ?? count;
    const share = placeCount / Math.max(1, checkedCount) / (run.shard?.count ?? 1);
    return {
      input: run.input,
      input_size_bytes: source.sizeBytes,
      columns_found: source.columns,
      output: run.output,
      output_format: run.outputFormat,
      groups: plan.groups,
      omissions: plan.omissions,
      omitted_columns: source.omittedColumns,
      columns: outputColumns(outputPlan).map(({ name, type }) => ({ name, type })),
      place_count: placeCount,
      is_place_count_exact: isComplete,
      estimated_row_count: Math.round(encoded.rowCount * share),
      estimated_size_bytes: Math.round(emptySizeBytes + encoded.sizeBytes * share),
      invalid_row_count: block?.errors.size ?? 0,
      checked_place_count: checkedCount,
    };
  } finally {
    await source.close();
  }
}

/** Size of the part of a file in which rows are counted. Rows are counted in blocks, and bytes in pieces of the file. */
const COUNTED_BYTES_MIN = 8 << 20;

interface FirstBlocks {
  /** Undefined if the file has no rows. */
  readonly block: PlaceBlock | undefined;
  /** Number of rows; an estimate if the file is larger than the part in which they are counted. */
  readonly count: number;
  readonly isComplete: boolean;
}

async function readFirstBlocks(source: PlaceSource, signal: AbortSignal | undefined): Promise<FirstBlocks> {
  let readBytes = 0;
  let first: PlaceBlock | undefined;
  let count = 0;
  const blocks = source.blocks({
    isWanted: () => true,
    onBytes: (sizeBytes) => (readBytes += sizeBytes),
    ...(signal === undefined ? {} : { signal }),
  });
  for await (const block of blocks) {
    first ??= block;
    count += block.rowCount;
    // A source that states the number of its rows need not be counted.
    if (source.rowCount !== undefined) break;
    if (readBytes < COUNTED_BYTES_MIN) continue;
    return { block: first, count: Math.round((count * source.sizeBytes) / readBytes), isComplete: false };
  }
  return { block: first, count, isComplete: true };
}

/** Returns the size of the footer of a file without rows. */
async function emptyFooterSize({ footer }: SegmentFormat): Promise<number> {
  let sizeBytes = 0;
  const noBytes = (): Promise<Uint8Array> => Promise.resolve(new Uint8Array());
  for await (const chunk of footer?.({ segments: [], read: noBytes }) ?? []) sizeBytes += chunk.length;
  return sizeBytes;
}

function encodedSize(
  block: ScoredBlock,
  format: SegmentFormat,
): { readonly rowCount: number; readonly sizeBytes: number } {
  const chunks = format.encode(block);
  let sizeBytes = 0;
  for (;;) {
    const { value, done } = chunks.next();
    if (done === true) return { rowCount: value.rowCount, sizeBytes };
    sizeBytes += value.length;
  }
}
