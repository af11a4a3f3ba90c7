import { Bench } from "tinybench";

/** One implementation to be timed. */
export interface Contender {
  readonly name: string;
  run(): void | Promise<void>;
}

export interface Timing {
  readonly name: string;
  /** Milliseconds per run. */
  readonly medianMs: number;
  readonly fastestMs: number;
}

/**
 * Runs each contender once per round, so that other load on the machine affects all of them equally.
 * Warm-up rounds, for the JIT compiler, are not counted.
 */
export async function interleave(
  contenders: readonly Contender[],
  { rounds, warmupRounds }: { readonly rounds: number; readonly warmupRounds: number },
): Promise<readonly Timing[]> {
  const samples = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = -warmupRounds; round < rounds; round++) {
    const bench = new Bench({ iterations: 1, time: 0, warmup: false, retainSamples: true });
    // Each round begins with another contender, so that no contender always pays for the garbage of the same one.
    const start = (round + warmupRounds) % contenders.length;
    for (const { name, run } of [...contenders.slice(start), ...contenders.slice(0, start)]) bench.add(name, run);
    await bench.run();
    for (const { name, result } of bench.tasks) {
      if (result.state !== "completed") throw new Error(`${name} did not run: ${result.state}`);
      if (round >= 0) samples.get(name)?.push(result.latency.mean);
    }
  }
  return contenders.map(({ name }) => {
    const sorted = (samples.get(name) ?? []).toSorted((one, other) => one - other);
    return { name, medianMs: sorted[sorted.length >> 1] ?? NaN, fastestMs: sorted[0] ?? NaN };
  });
}
