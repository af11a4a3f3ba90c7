import { Presets, SingleBar } from "cli-progress";

/** Shows the progress of long work on stderr if that is a terminal. */
export function progressBar(unit: string): { update(done: number, total: number): void; stop(): void } {
  let bar: SingleBar | undefined;
  return {
    update(done, total) {
      if (bar === undefined) {
        bar = new SingleBar(
          {
            format: `{bar} {percentage}% | {value}/{total} ${unit} | {eta_formatted} left`,
            formatTime: timeLeft,
            stream: process.stderr,
            noTTYOutput: false,
          },
          Presets.shades_classic,
        );
        bar.start(total, done);
      }
      bar.setTotal(total);
      bar.update(done);
    },
    stop() {
      bar?.stop();
    },
  };
}

/**
 * Writes a remaining time for people.
 * @param left seconds, or the text with which cli-progress says that it cannot tell: "NULL", "INF", and at first "0"
 */
export function timeLeft(left: unknown): string {
  if (typeof left !== "number" || !Number.isFinite(left)) return "unknown time";
  if (left < 60) return `${Math.ceil(left)} s`;
  const minutes = Math.ceil(left / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
