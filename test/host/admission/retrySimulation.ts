import { BulkJob } from "../../../src/host/admission/bulkJob.ts";
import type { RequestWork } from "../../../src/host/admission/costModel.ts";
import { ADMITTED_SHARE, JobSchedule } from "../../../src/host/admission/jobSchedule.ts";
import { type HeldResources, noResources } from "../../../src/host/admission/slot.ts";
import { randomFrom } from "../../seededRandom.ts";

/** Returns work of an assumed cost of 20 ms per 1,000 elements. */
export const workOf = (elementCount: number, kind = "points"): RequestWork => ({
  kind,
  bodyBytes: 0,
  elementCount,
  cellVectorCount: 0,
  coldTileVectorCount: 0,
});

/** Returns a job of an estimated cost. */
export function jobOf(
  account: HeldResources,
  costMs: number,
  { queuedSinceMs, deadlineAtMs = 30_000 }: { readonly queuedSinceMs?: number; readonly deadlineAtMs?: number } = {},
): BulkJob {
  const slot = { account, bodyBytes: 0, parsedBytes: 0, answerBytes: 0, responseBytes: 0, isStream: false };
  return new BulkJob({ slot, account, work: workOf(costMs / 0.02), deadlineAtMs, queuedSinceMs });
}

export interface SimulationOptions {
  readonly accountCount?: number;
  /** Clients of each account. */
  readonly clientCount?: number;
  /** Largest difference between the actual and the estimated cost, as a share of the latter. */
  readonly noise?: number;
  readonly durationMs?: number;
}

export interface SimulationResult {
  /** Share of the time in which the worker completed batches before their deadlines. */
  readonly goodput: number;
  /** Batches that were stopped because they would have missed their deadline. */
  readonly lateCount: number;
  /** Waits from a client's first rejection to its admission, divided by its first Retry-After, in ascending order. */
  readonly waitRatios: readonly number[];
}

interface Client {
  readonly account: HeldResources;
  /** When it sends its next request. */
  atMs: number;
  first: { readonly atMs: number; readonly retryAfterS: number } | undefined;
}

const LIMIT_MS = 30_000;
/** Interval of the checks for batches that will be late. */
const LATE_CHECK_MS = 250;
const ADMITTED_MS = ADMITTED_SHARE * LIMIT_MS;

/**
 * Simulates clients that retry when they were told. Each sends batches of one cost, the next one soon after its response,
 * to one worker. Accounts share the worker equally, and an account's batches run one after the other.
 */
export function simulateRetries(
  costMs: number,
  { accountCount = 1, clientCount = 32, noise = 0, durationMs = 1_800_000 }: SimulationOptions = {},
): SimulationResult {
  const clock = { nowMs: 0 };
  const schedule = new JobSchedule({ workerCount: 1, nowMs: () => clock.nowMs });
  const random = randomFrom(7);
  const accounts = Array.from({ length: accountCount }, noResources);
  const waiting: Client[] = accounts.flatMap((account, a) =>
    Array.from({ length: clientCount }, (_, i) => ({ account, atMs: 5 * i + a, first: undefined })),
  );
  /** Batches in progress by account; the first one runs. */
  const running = new Map<HeldResources, { readonly job: BulkJob; readonly client: Client; leftMs: number }[]>();
  const waitRatios: number[] = [];
  let doneMs = 0;
  let lateCount = 0;

  /** Runs the first batch of each account until a time, or until one of them is done. */
  const runUntil = (toMs: number): void => {
    const first = [...running.values()].map(([head]) => head).filter((head) => head !== undefined);
    const stepMs = Math.min(toMs - clock.nowMs, ...first.map(({ leftMs }) => leftMs * first.length));
    clock.nowMs += stepMs;
    for (const head of first) {
      const busyMs = stepMs / first.length;
      head.leftMs -= busyMs;
      head.job.addBusyMs(busyMs);
      if (head.leftMs > 1e-6) continue;
      running.get(head.client.account)?.shift();
      schedule.delete(head.job);
      if (clock.nowMs <= head.job.deadlineAtMs) doneMs += costMs;
      waiting.push({ account: head.client.account, atMs: clock.nowMs + 100 + random.below(900), first: undefined });
    }
  };
  /** Asks the client of a rejected batch to retry. @param sinceMs the place of its batch in the queue, if it was running */
  const reject = (client: Client, job: BulkJob, sinceMs?: number): void => {
    const retryAfterS = schedule.retryAfterS(job, LIMIT_MS, sinceMs ?? job.queuedSinceMs);
    client.first ??= { atMs: clock.nowMs, retryAfterS };
    client.atMs = clock.nowMs + 1000 * retryAfterS + random.below(50);
    waiting.push(client);
  };
  /** Stops batches that will miss their deadline. */
  const stopLate = (): void => {
    for (let late = schedule.findLateJob(); late !== undefined; late = schedule.findLateJob()) {
      const batches = running.get(late.account) ?? [];
      const position = batches.findIndex(({ job }) => job === late);
      const [batch] = batches.splice(position, 1);
      schedule.delete(late);
      lateCount++;
      if (batch !== undefined) reject(batch.client, late, late.queuedSinceMs ?? late.deadlineAtMs - LIMIT_MS);
    }
  };
  const send = (client: Client): void => {
    const { account, first } = client;
    const queuedSinceMs = schedule.claimAppointment(account);
    const deadlineAtMs = clock.nowMs + LIMIT_MS;
    const job = jobOf(
      account,
      costMs,
      queuedSinceMs === undefined ? { deadlineAtMs } : { deadlineAtMs, queuedSinceMs },
    );
    const isInTime = schedule.isAlone(job) || schedule.waitMs(job) <= ADMITTED_MS;
    if (isInTime && schedule.keepsAppointments(job, ADMITTED_MS)) {
      schedule.add(job);
      const leftMs = costMs * (1 + noise * random.between({ min: -1, max: 1 }));
      running.set(account, [...(running.get(account) ?? []), { job, client, leftMs }]);
      if (first !== undefined) waitRatios.push((clock.nowMs - first.atMs) / (1000 * first.retryAfterS));
    } else {
      reject(client, job);
    }
  };

  while (clock.nowMs < durationMs) {
    waiting.sort((a, b) => a.atMs - b.atMs);
    const [next] = waiting;
    runUntil(Math.min(next?.atMs ?? Infinity, clock.nowMs + LATE_CHECK_MS));
    stopLate();
    if (next !== undefined && waiting[0] === next && clock.nowMs >= next.atMs) {
      waiting.shift();
      send(next);
    }
  }
  return { goodput: doneMs / clock.nowMs, lateCount, waitRatios: waitRatios.toSorted((a, b) => a - b) };
}
