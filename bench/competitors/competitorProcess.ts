import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { type CircleResult, type CircleContender } from "../circleContender.ts";
import { LAYER_COUNT } from "../floodMaps.ts";
import type { Workload } from "../workload.ts";

/**
 * A competitor in another language: a process that loads the workload, prints `ready` (which a description may follow),
 * and then answers each request line with one line. It times itself, which excludes the pipe and parsing, and is idle
 * while others run.
 *
 *     run    max|mean|both RADIUS_KM PLACE...    nanoseconds for all places
 *     compute max|mean|both RADIUS_KM PLACE      21 maxima, 21 means, in steps, nan for missing values
 *     points COUNT                               nanoseconds and the sum of all steps of the first COUNT points
 */
export class CompetitorProcess {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  /** Text after `ready`, such as the vector instructions that the program was compiled for. */
  description = "";

  private constructor(process: ChildProcessByStdio<Writable, Readable, null>) {
    this.#process = process;
    this.#lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  }

  static async start(command: string, args: readonly string[], workload: Workload): Promise<CompetitorProcess> {
    const { grid } = workload.spec;
    const child = new CompetitorProcess(
      spawn(
        command,
        [
          ...args,
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
    const ready = await child.#readLine();
    if (!/^ready\b/.test(ready)) throw new Error(`${command} ${args.join(" ")} printed "${ready}" instead of "ready"`);
    child.description = ready.slice("ready".length).trim();
    return child;
  }

  async request(line: string): Promise<number[]> {
    this.#process.stdin.write(`${line}\n`);
    return (await this.#readLine()).split(" ").map(Number);
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.stdin.end();
    await ended;
  }

  async #readLine(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done === true) throw new Error(`a competitor process (${this.#process.spawnargs.join(" ")}) exited early`);
    return value;
  }
}

/** Returns a circle contender implemented by a child process. */
export function circleContenderOf(
  child: CompetitorProcess,
  description: Pick<CircleContender, "name">,
): CircleContender {
  return {
    ...description,
    async compute({ places, radiusKm, aggregation }) {
      const results: CircleResult[] = [];
      for (const place of places) {
        const values = await child.request(`compute ${aggregation} ${radiusKm} ${place}`);
        results.push({
          max: Float64Array.from(values.slice(0, LAYER_COUNT)),
          mean: Float64Array.from(values.slice(LAYER_COUNT)),
        });
      }
      return results;
    },
    async run({ places, radiusKm, aggregation }) {
      const [nanoseconds = Number.NaN] = await child.request(`run ${aggregation} ${radiusKm} ${places.join(" ")}`);
      return nanoseconds;
    },
    close: () => child.close(),
  };
}
