import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { type CircleAnswer, type CircleContender } from "../rival.ts";
import { LAYER_COUNT, type Workload } from "../workload.ts";

/**
 * A rival in another language: a process that loads the workload, says `ready`, and then answers one line with one
 * line. It times itself, so that neither the pipe nor the parsing is in its times, and it waits while others run.
 *
 *     run    max|mean|both RADIUS_KM PLACE...    nanoseconds for all of them
 *     answer max|mean|both RADIUS_KM PLACE       21 maxima, 21 means, in steps, nan where there is none
 *     points COUNT                               nanoseconds, and the sum of all steps, for the first COUNT points
 */
export class ChildRival {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  private constructor(process: ChildProcessByStdio<Writable, Readable, null>) {
    this.#process = process;
    this.#lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  }

  static async start(command: string, words: readonly string[], workload: Workload): Promise<ChildRival> {
    const { grid } = workload.spec;
    const child = new ChildRival(
      spawn(
        command,
        [
          ...words,
          workload.cellsPath,
          workload.geoTiffPath,
          workload.placesPath,
          workload.pointsPath,
          ...[grid.rowCount, grid.columnCount, grid.northDeg, grid.westDeg].map(String),
          ...[grid.cellSizeLatDeg, grid.cellSizeLonDeg].map(String),
        ],
        { stdio: ["pipe", "pipe", "inherit"] },
      ),
    );
    const ready = await child.#line();
    if (ready !== "ready") throw new Error(`${command} ${words.join(" ")} began with "${ready}", not with "ready".`);
    return child;
  }

  async ask(line: string): Promise<number[]> {
    this.#process.stdin.write(`${line}\n`);
    return (await this.#line()).split(" ").map(Number);
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.stdin.end();
    await ended;
  }

  async #line(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done === true) throw new Error(`A rival's process (${this.#process.spawnargs.join(" ")}) ended too early.`);
    return value;
  }
}

/** Circles, answered by a child. */
export function circlesOf(child: ChildRival, about: Pick<CircleContender, "name" | "note">): CircleContender {
  return {
    ...about,
    async answer({ places, radiusKm, asked }) {
      const answers: CircleAnswer[] = [];
      for (const place of places) {
        const values = await child.ask(`answer ${asked} ${radiusKm} ${place}`);
        answers.push({
          max: Float64Array.from(values.slice(0, LAYER_COUNT)),
          mean: Float64Array.from(values.slice(LAYER_COUNT)),
        });
      }
      return answers;
    },
    async run({ places, radiusKm, asked }) {
      const [nanoseconds = Number.NaN] = await child.ask(`run ${asked} ${radiusKm} ${places.join(" ")}`);
      return nanoseconds;
    },
    close: () => child.close(),
  };
}
