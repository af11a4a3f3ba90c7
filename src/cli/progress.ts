import { Presets, SingleBar } from "cli-progress";

/** How far long work has come, on stderr and only where somebody looks: a pipe or a log gets nothing. */
export function progressBar(unit: string): { update(done: number, total: number): void; stop(): void } {
  let bar: SingleBar | undefined;
  return {
    update(done, total) {
      if (bar === undefined) {
        bar = new SingleBar(
          {
            format: `{bar} {percentage}% | {value}/{total} ${unit} | {eta_formatted} left`,
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
