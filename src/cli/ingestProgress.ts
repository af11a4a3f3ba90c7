/** Shows the progress of an ingest: a bar on a terminal, otherwise a line every ten seconds. */
import { Presets, SingleBar } from "cli-progress";
import type { IngestProgress } from "../ingest/ingest.ts";
import { timeLeft } from "./progress.ts";

/** Time between two lines if the output is not a terminal. */
const LINE_INTERVAL_MS = 10_000;

/** The rate and remaining time of one pack. */
interface Pace {
  readonly cellsPerSecond: number;
  /** NaN until rows have been read. */
  readonly secondsLeft: number;
}

export interface IngestProgressDisplay {
  update(progress: IngestProgress): void;
  stop(): void;
}

/**
 * Returns a display on a stream.
 * @param options `isShown`: false shows nothing; `now`: returns the time in milliseconds
 */
export function ingestProgress(
  stream: NodeJS.WriteStream,
  { isShown, now = () => performance.now() }: { readonly isShown: boolean; readonly now?: () => number },
): IngestProgressDisplay {
  if (!isShown) return { update: () => undefined, stop: () => undefined };
  let started: { readonly label: string; readonly rowsDone: number; readonly timeMs: number } | undefined;
  let bar: SingleBar | undefined;
  let lineMs = 0;
  return {
    update(progress) {
      const { rowsDone, rowCount } = progress;
      const label = labelOf(progress);
      const timeMs = now();
      if (started?.label !== label) {
        bar?.stop();
        bar = undefined;
        // Rows of an interrupted ingest that is resumed do not count for the rate.
        started = { label, rowsDone, timeMs };
        lineMs = timeMs;
      }
      const pace = paceOf(progress, started.rowsDone, timeMs - started.timeMs);
      if (stream.isTTY) {
        const payload = { label, rate: cellRate(pace.cellsPerSecond), left: timeLeft(pace.secondsLeft) };
        bar ??= startBar(stream, { rowsDone, rowCount, payload });
        bar.update(rowsDone, payload);
      } else if (timeMs - lineMs >= LINE_INTERVAL_MS) {
        lineMs = timeMs;
        const percent = Math.floor((100 * rowsDone) / rowCount);
        stream.write(
          `${label}: ${percent} % of ${rowCount} rows, ${cellRate(pace.cellsPerSecond)}, ${timeLeft(pace.secondsLeft)} left\n`,
        );
      }
    },
    stop() {
      bar?.stop();
    },
  };
}

function labelOf({ hazard, supplementOf }: IngestProgress): string {
  return supplementOf === undefined ? hazard : `${hazard} ${supplementOf.scenario} ${supplementOf.year} curves`;
}

function startBar(
  stream: NodeJS.WriteStream,
  { rowsDone, rowCount, payload }: { readonly rowsDone: number; readonly rowCount: number; readonly payload: object },
): SingleBar {
  const format = "{bar} {percentage}% | {label} | {rate} | {left} left";
  const bar = new SingleBar({ format, stream, noTTYOutput: false }, Presets.shades_classic);
  bar.start(rowCount, rowsDone, payload);
  return bar;
}

function paceOf({ rowsDone, rowCount, sourceCellsPerRow }: IngestProgress, firstRow: number, durationMs: number): Pace {
  const rowsPerSecond = durationMs > 0 ? (rowsDone - firstRow) / (durationMs / 1000) : 0;
  return {
    cellsPerSecond: rowsPerSecond * sourceCellsPerRow,
    secondsLeft: rowsPerSecond > 0 ? (rowCount - rowsDone) / rowsPerSecond : NaN,
  };
}

/** Formats a number of source cells per second. */
export function cellRate(cellsPerSecond: number): string {
  const [value, unit] =
    cellsPerSecond >= 1e6
      ? [cellsPerSecond / 1e6, "M "]
      : cellsPerSecond >= 1e3
        ? [cellsPerSecond / 1e3, "k "]
        : [cellsPerSecond, ""];
  return `${value.toFixed(unit === "" ? 0 : 1)} ${unit}cells/s`;
}
