import { expect, test } from "vitest";
import { cellRate, ingestProgress } from "../../src/cli/ingestProgress.ts";

/** Returns a stream that records what is written to it. */
function recordingStream(isTTY: boolean): { readonly stream: NodeJS.WriteStream; readonly texts: string[] } {
  const texts: string[] = [];
  const stream = {
    isTTY,
    columns: 100,
    write(text: string) {
      texts.push(text);
      return true;
    },
    // Called by cli-progress to move the cursor.
    cursorTo: () => true,
    clearLine: () => true,
    moveCursor: () => true,
    on: () => stream,
  };
  return { stream: stream as unknown as NodeJS.WriteStream, texts };
}

const rows = (rowsDone: number) =>
  ({ hazard: "riverine_floods", rowsDone, rowCount: 1000, sourceCellsPerRow: 1_000_000 }) as const;

test("writes a line every ten seconds with rate and remaining time if the output is not a terminal", () => {
  const { stream, texts } = recordingStream(false);
  let timeMs = 0;
  const progress = ingestProgress(stream, { isShown: true, now: () => timeMs });
  // The first 200 rows were read before the ingest was interrupted.
  for (const [seconds, done] of [
    [0, 200],
    [5, 300],
    [10, 400],
    [12, 440],
    [20, 600],
  ] as const) {
    timeMs = seconds * 1000;
    progress.update(rows(done));
  }
  progress.stop();
  expect(texts).toEqual([
    "riverine_floods: 40 % of 1000 rows, 20.0 M cells/s, 30 s left\n",
    "riverine_floods: 60 % of 1000 rows, 20.0 M cells/s, 20 s left\n",
  ]);
});

test("shows a bar with rate and remaining time on a terminal", () => {
  const { stream, texts } = recordingStream(true);
  let timeMs = 0;
  const progress = ingestProgress(stream, { isShown: true, now: () => timeMs });
  progress.update(rows(0));
  timeMs = 10_000;
  progress.update(rows(500));
  progress.stop();
  expect(texts.join("")).toMatch(/50% \| riverine_floods \| 50\.0 M cells\/s \| 10 s left/);
});

test("shows nothing if it is not to be shown", () => {
  const { stream, texts } = recordingStream(true);
  const progress = ingestProgress(stream, { isShown: false });
  progress.update(rows(500));
  progress.stop();
  expect(texts).toEqual([]);
});

test.each([
  [999, "999 cells/s"],
  [1500, "1.5 k cells/s"],
  [25_000_000, "25.0 M cells/s"],
])("formats %d cells per second as %s", (rate, text) => {
  expect(cellRate(rate)).toBe(text);
});
