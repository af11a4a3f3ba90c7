/** The encoding of blocks in workers, which run on this thread. */
import { describe, expect, test } from "vitest";
import { encodedChunks, placeFileTasks } from "../../../src/places/run/encodedChunks.ts";
import { openRowFormat } from "../../../src/places/run/outputFormat.ts";
import { OUTPUT_FORMATS, type OutputFormat } from "../../../src/places/run/placeJob.ts";
import { RunClock } from "../../../src/places/run/placeReport.ts";
import { type Layout, LAYOUTS, type OutputPlan } from "../../../src/places/writers/outputColumns.ts";
import type { ScoredBlock } from "../../../src/places/scores/placeBlock.ts";
import { Executor, type TaskExecutor } from "../../../src/pool/executor.ts";
import { handlersOf, InProcessThread } from "../../pool/inProcessThread.ts";
import { GROUPS, KEPT_COLUMNS, randomBlock } from "../writers/scoredBlocks.ts";

/** The second block is too small for the workers, and the third has no rows with errors at its end. */
const BLOCKS = [
  randomBlock({ rowCount: 700, seed: 1, index: 4 }),
  randomBlock({ rowCount: 20, seed: 2, index: 5 }),
  randomBlock({ rowCount: 301, seed: 3, index: 6 }),
];

function executorOf(workers: number): { readonly executor: TaskExecutor; readonly taskCount: () => number } {
  const threads: InProcessThread[] = [];
  const opened = { release: "test-1", contentHash: "a".repeat(64) };
  const start = (): InProcessThread => {
    const thread = new InProcessThread({ atlas: opened, findHandler: handlersOf(placeFileTasks()) });
    threads.push(thread);
    return thread;
  };
  const taskCount = (): number =>
    threads.flatMap(({ requests }) => requests).filter(({ type }) => type === "begin").length;
  return { executor: new Executor({ workers, opened, start }), taskCount };
}

/** Returns the bytes of each block and the number of its rows. */
async function encode(
  { format, layout }: { readonly format: OutputFormat; readonly layout: Layout },
  { executor, partSizeBytes }: { readonly executor?: TaskExecutor; readonly partSizeBytes?: number } = {},
  blocks: readonly ScoredBlock[] = BLOCKS,
) {
  const plan: OutputPlan = {
    layout,
    groups: GROUPS,
    keptColumns: KEPT_COLUMNS,
    hasGeometry: format === "geoparquet",
  };
  const clock = new RunClock({ hasWorkers: executor !== undefined });
  const rows = await openRowFormat(format, plan, []);
  async function* source(): AsyncGenerator<ScoredBlock> {
    yield* blocks;
  }
  const options = { format, plan, rows, executor, signal: undefined, clock, ...(partSizeBytes && { partSizeBytes }) };
  const encoded: { readonly index: number; readonly rowCount: number; readonly bytes: Buffer }[] = [];
  let chunks: Buffer[] = [];
  for await (const { bytes, end } of encodedChunks(source(), options)) {
    chunks.push(Buffer.from(bytes));
    if (end === undefined) continue;
    encoded.push({ index: end.block.places.index, ...end.content, bytes: Buffer.concat(chunks) });
    chunks = [];
  }
  expect(chunks).toEqual([]);
  return encoded;
}

describe("blocks that workers encode", () => {
  const outputs = OUTPUT_FORMATS.flatMap((format) => LAYOUTS.map((layout) => ({ format, layout })));
  test.each(outputs)("have the same bytes as on this thread: $format, $layout layout", async (output) => {
    const expected = await encode(output);
    expect(expected.map(({ index }) => index)).toEqual([4, 5, 6]);
    expect(expected[0]?.rowCount).toBeGreaterThanOrEqual(700);
    for (const workers of [1, 2, 7]) {
      const { executor, taskCount } = executorOf(workers);
      const encoded = await encode(output, { executor, partSizeBytes: 20_000 });
      expect(encoded.map(({ index, rowCount }) => ({ index, rowCount }))).toEqual(
        expected.map(({ index, rowCount }) => ({ index, rowCount })),
      );
      for (const [i, { bytes }] of encoded.entries())
        expect(bytes.equals(expected[i]?.bytes ?? Buffer.of())).toBe(true);
      // Rows of text are divided, and a row group is not.
      if (output.format.includes("parquet")) expect(taskCount()).toBe(2);
      else expect(taskCount()).toBeGreaterThan(8);
    }
  });

  test("stop with the error of the encoder", async () => {
    const block = randomBlock({ rowCount: 300 });
    const broken = {
      ...block,
      scores: { ...block.scores, statuses: new Uint8Array(block.scores.statuses.length).fill(99) },
    };
    const { executor } = executorOf(2);
    await expect(encode({ format: "csv", layout: "long" }, { executor }, [broken])).rejects.toMatchObject({
      name: "TypeError",
    });
  });
});
