import { Presets, SingleBar } from "cli-progress";

/** Shows a progress bar on stderr if stderr is a terminal. */
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
 * Formats a remaining time.
 * @param left seconds, or the text that cli-progress uses for an unknown time: "NULL", "INF" or, initially, "0"
 */
export function timeLeft(left: unknown): string {
  if (typeof left !== "number" || !Number.isFinite(left)) return "unknown time";
  if (left < 60) return `${Math.ceil(left)} s`;
  const minutes = Math.ceil(left / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
