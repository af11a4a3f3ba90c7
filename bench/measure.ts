import { type Contender, interleave } from "./interleave.ts";
import type { Aggregation, CircleContender } from "./circleContender.ts";

/** Target duration of one round of a contender: long relative to clock resolution, short relative to load changes. */
const ROUND_MS = 10;
const ROUNDS = 25;
const WARMUP_ROUNDS = 3;

/**
 * `random`: every query is at a different place, so that processor caches are no more effective than in production.
 * `hot`: the same place every time.
 */
export type State = "random" | "hot";

/**
 * Times circles of several contenders, interleaved.
 *
 * @returns nanoseconds per circle of each contender, the median over the rounds
 */
export async function timeCircles(
  contenders: readonly CircleContender[],
  request: {
    readonly radiusKm: number;
    readonly aggregation: Aggregation;
    readonly placeCount: number;
    readonly state: State;
  },
): Promise<ReadonlyMap<CircleContender, number>> {
  const { radiusKm, aggregation, placeCount, state } = request;
  const tasks: (Contender & { readonly contender: CircleContender; readonly batchSize: number })[] = [];
  for (const [i, contender] of contenders.entries()) {
    const batchSize = await chooseBatchSize(contender, request);
    let next = 0;
    const run = async (): Promise<{ readonly overriddenDuration: number } | undefined> => {
      const places = Array.from({ length: batchSize }, (_, k) => (state === "hot" ? 0 : (next + k) % placeCount));
      next = (next + batchSize) % placeCount;
      const nanoseconds = await contender.run({ places, radiusKm, aggregation });
      return nanoseconds === undefined ? undefined : { overriddenDuration: nanoseconds / 1e6 };
    };
    // Competitors in other processes measure their own time; tinybench uses the duration that a task returns.
    tasks.push({ name: `${i}: ${contender.name}`, run: run as Contender["run"], contender, batchSize });
  }
  const timings = await interleave(tasks, { rounds: ROUNDS, warmupRounds: WARMUP_ROUNDS });
  return new Map(
    tasks.map(({ contender, batchSize }, i) => [contender, ((timings[i]?.medianMs ?? NaN) * 1e6) / batchSize]),
  );
}

/** Returns how many circles fill a round; 1 for a slow contender. */
async function chooseBatchSize(
  contender: CircleContender,
  {
    radiusKm,
    aggregation,
    placeCount,
  }: { readonly radiusKm: number; readonly aggregation: Aggregation; readonly placeCount: number },
): Promise<number> {
  for (let batchSize = 1; ; batchSize *= 4) {
    const places = Array.from({ length: batchSize }, (_, i) => i % placeCount);
    const start = performance.now();
    const nanoseconds = await contender.run({ places, radiusKm, aggregation });
    const tookMs = nanoseconds === undefined ? performance.now() - start : nanoseconds / 1e6;
    if (tookMs >= ROUND_MS / 4 || batchSize >= placeCount) {
      return Math.max(1, Math.min(placeCount, Math.round((batchSize * ROUND_MS) / tookMs)));
    }
  }
}

/** Returns the median, the upper one of the two middle values for an even count; NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
