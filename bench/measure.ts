import { type Contender, interleave } from "./interleaved.ts";
import type { Asked, CircleContender } from "./rival.ts";

/** How long one turn of a contender should take: long for the clock, short for what else the machine does. */
const TURN_MS = 10;
const ROUNDS = 25;
const WARMUP_ROUNDS = 3;

/**
 * `random`: every query asks another place, so that a cache of the processor helps only as much as it does in use.
 * `hot`: the same place again and again.
 */
export type State = "random" | "hot";

/**
 * Times circles of several contenders by turns.
 *
 * @returns nanoseconds a circle by contender: the median over the rounds
 */
export async function timeCircles(
  contenders: readonly CircleContender[],
  question: { readonly radiusKm: number; readonly asked: Asked; readonly placeCount: number; readonly state: State },
): Promise<ReadonlyMap<CircleContender, number>> {
  const { radiusKm, asked, placeCount, state } = question;
  const turns: (Contender & { readonly contender: CircleContender; readonly batch: number })[] = [];
  for (const [i, contender] of contenders.entries()) {
    const batch = await batchFor(contender, question);
    let next = 0;
    const run = async (): Promise<{ readonly overriddenDuration: number } | undefined> => {
      const places = Array.from({ length: batch }, (_, k) => (state === "hot" ? 0 : (next + k) % placeCount));
      next = (next + batch) % placeCount;
      const nanoseconds = await contender.run({ places, radiusKm, asked });
      return nanoseconds === undefined ? undefined : { overriddenDuration: nanoseconds / 1e6 };
    };
    // tinybench takes a duration that a run returns for its own: so do rivals in other processes time themselves.
    turns.push({ name: `${i}: ${contender.name}`, run: run as Contender["run"], contender, batch });
  }
  const timings = await interleave(turns, { rounds: ROUNDS, warmupRounds: WARMUP_ROUNDS });
  return new Map(turns.map(({ contender, batch }, i) => [contender, ((timings[i]?.medianMs ?? NaN) * 1e6) / batch]));
}

/** How many circles fill a turn; a slow contender does one. */
async function batchFor(
  contender: CircleContender,
  { radiusKm, asked, placeCount }: { readonly radiusKm: number; readonly asked: Asked; readonly placeCount: number },
): Promise<number> {
  for (let batch = 1; ; batch *= 4) {
    const places = Array.from({ length: batch }, (_, i) => i % placeCount);
    const start = performance.now();
    const nanoseconds = await contender.run({ places, radiusKm, asked });
    const tookMs = nanoseconds === undefined ? performance.now() - start : nanoseconds / 1e6;
    if (tookMs >= TURN_MS / 4 || batch >= placeCount) {
      return Math.max(1, Math.min(placeCount, Math.round((batch * TURN_MS) / tookMs)));
    }
  }
}

/** The middle one; of an even number the upper of the two. NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
