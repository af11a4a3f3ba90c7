/**
 * Timing side channel: tests whether the time to reject a key depends on how similar the key is to a valid key, by Welch's
 * t-test between keys that differ from a valid one in the last character and random ones. Runs with ISOTHERM_TIMING=1 on
 * an otherwise idle machine. |t| below 4.5 means no detectable leak (the usual bound, Goodwill et al. 2011); as a positive
 * control, a comparison by `===` must exceed it by far.
 */
import { describe, expect, test } from "vitest";
import { Authenticator } from "../../src/ledger/authenticator.ts";
import { digestOf, isSameDigest, newKey } from "../../src/ledger/keys.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { randomFrom, shuffled } from "../seededRandom.ts";

const SAMPLE_COUNT = Number(process.env["ISOTHERM_TIMING_SAMPLES"] ?? 300_000);
/** Share of the slowest samples that are discarded as outliers. */
const OUTLIER_PERCENT = 5;

/** Returns (mean of first - mean of second) / standard error, for unequal variances (Welch 1947). */
function welchT(first: readonly number[], second: readonly number[]): number {
  const [a, b] = [momentsOf(first), momentsOf(second)];
  return (a.mean - b.mean) / Math.sqrt(a.variance / first.length + b.variance / second.length);
}

function momentsOf(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1) };
}

test("welchT returns the published t of known samples", () => {
  // Means 20.82 and 23.6533, variances 7.86743 and 6.92695 of 15 each.
  const first = [27.5, 21, 19, 23.6, 17, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19, 21.7, 21.4];
  const second = [27.1, 22, 20.8, 23.4, 23.4, 23.5, 25.8, 22, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4];
  expect(welchT(first, second)).toBeCloseTo(-2.85295, 5);
  expect(welchT(first, first)).toBe(0);
});

/** Copies a string to new memory, so that it shares no buffer with its source. */
const copyText = (text: string): string => Buffer.from(text).toString("latin1");

async function tOf(reject: (presented: string) => unknown, secret: string): Promise<number> {
  const random = randomFrom(7);
  // Both kinds have a wrong checksum, so that they differ only in their similarity to the valid key.
  const withLast = (key: string): string[] =>
    Array.from("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", (last) => key.slice(0, -1) + last)
      .filter((changed) => changed !== key)
      .map(copyText);
  const near = withLast(secret);
  const far = near.map((_, i) => withLast(newKey())[i] ?? "");
  const times = { near: [] as number[], far: [] as number[] };
  // In random order, so that disturbances affect both kinds equally.
  for (let done = 0; done < SAMPLE_COUNT;) {
    const round = shuffled(random, [
      ...near.map((key) => ({ kind: "near" as const, key })),
      ...far.map((key) => ({ kind: "far" as const, key })),
    ]);
    for (const { kind, key } of round) {
      const start = process.hrtime.bigint();
      const rejection = reject(key);
      if (rejection instanceof Promise) await rejection;
      times[kind].push(Number(process.hrtime.bigint() - start));
      done++;
    }
  }
  const all = [...times.near, ...times.far].toSorted((a, b) => a - b);
  const timeNsMax = all[Math.floor((all.length * (100 - OUTLIER_PERCENT)) / 100)] ?? Infinity;
  const withoutOutliers = (values: readonly number[]): number[] => values.filter((value) => value <= timeNsMax);
  return welchT(withoutOutliers(times.near), withoutOutliers(times.far));
}

const sampleCounts = process.env["ISOTHERM_TIMING"] === "1" ? [SAMPLE_COUNT] : [];
describe.each(sampleCounts)("over %i rejected keys", { timeout: 3_600_000 }, () => {
  const REPEATS = 64;
  const repeatVerification = (verify: (presented: string) => boolean) => (presented: string) => {
    let count = 0;
    for (let i = 0; i < REPEATS; i++) if (verify(presented)) count++;
    if (count > 0) throw new Error("An invalid key was accepted.");
  };

  test("detects a comparison of the keys themselves", async () => {
    const secret = copyText(newKey());
    const t = await tOf(
      repeatVerification((presented) => presented === secret),
      secret,
    );
    console.log(`===: t = ${t.toFixed(1)}`);
    expect(Math.abs(t)).toBeGreaterThan(50);
  });

  test("detects no leak in a comparison of digests", async () => {
    const secret = newKey();
    const digest = digestOf(secret);
    const t = await tOf((presented) => isSameDigest(digestOf(presented), digest), secret);
    console.log(`digests: t = ${t.toFixed(1)}`);
    expect(Math.abs(t)).toBeLessThan(4.5);
  });

  test("detects no leak in an authenticator that has cached the valid key", async () => {
    const secret = newKey();
    const digest = digestOf(secret);
    const account = { accountId: "a", name: "a", createdAt: "" };
    const holder = { key: { keyId: "k", accountId: "a", createdAt: "" }, account };
    const ledger: Pick<Ledger, "findKey" | "onChange"> = {
      findKey: (presented) => Promise.resolve(isSameDigest(presented, digest) ? holder : undefined),
      onChange: () => () => undefined,
    };
    const authenticator = new Authenticator(ledger as Ledger, { now: () => 0 });
    await authenticator.authenticate(secret, "192.0.2.1");
    const reject = async (presented: string): Promise<void> => {
      await Promise.resolve(authenticator.authenticate(presented, "192.0.2.1")).catch(() => undefined);
    };
    const t = await tOf(reject, secret);
    console.log(`authenticator: t = ${t.toFixed(1)}`);
    expect(Math.abs(t)).toBeLessThan(4.5);
  });
});
