import { describe, expect, test } from "vitest";
import { BulkJob } from "../../../src/host/admission/bulkJob.ts";
import { assumedCostMs, estimateCostMs, learnCost, type RequestWork } from "../../../src/host/admission/costModel.ts";
import { JobSchedule } from "../../../src/host/admission/jobSchedule.ts";
import { type HeldResources, noResources } from "../../../src/host/admission/slot.ts";

/** Work of an assumed cost of 20 ms per 1,000 elements. */
const workOf = (elementCount: number, kind = "points"): RequestWork => ({
  kind,
  bodyBytes: 0,
  elementCount,
  cellVectorCount: 0,
  coldTileVectorCount: 0,
});

function jobOf(
  account: HeldResources,
  costMs: number,
  { hasAppointment = false, deadlineAtMs = 30_000 } = {},
): BulkJob {
  const slot = { account, bodyBytes: 0, parsedBytes: 0, responseBytes: 0 };
  return new BulkJob({ slot, account, work: workOf(costMs / 0.02), deadlineAtMs, hasAppointment });
}

function scheduleOf(workerCount = 1) {
  const clock = { nowMs: 0 };
  return { clock, schedule: new JobSchedule({ workerCount, nowMs: () => clock.nowMs }) };
}

describe("the estimated cost of a request", () => {
  test("depends on its body, its locations, its cells and its cold tiles", () => {
    const costs = [
      { bodyBytes: 1000 },
      { elementCount: 1000 },
      { cellVectorCount: 1000 },
      { coldTileVectorCount: 1000 },
    ].map((member) => assumedCostMs({ ...workOf(0), ...member }));
    expect(costs.map((cost) => Number(cost.toPrecision(3)))).toEqual([0.03, 20, 0.01, 300]);
  });

  test("follows the actual cost of the account's requests of the kind, and of no others", () => {
    const [own, other] = [new Map<string, number>(), new Map<string, number>()];
    for (let i = 0; i < 10; i++) learnCost(own, workOf(1000, "circles"), 200);
    expect(estimateCostMs(own, workOf(500, "circles"))).toBeCloseTo(100);
    expect(estimateCostMs(own, workOf(500, "points"))).toBe(10);
    expect(estimateCostMs(other, workOf(500, "circles"))).toBe(10);
  });

  test("of a running job follows its progress", () => {
    const job = jobOf(noResources(), 100);
    expect(job.remainingMs).toBeCloseTo(100);
    job.startParts([{ totalCount: 10, payloadBytes: 5 }]);
    job.recordSlice(0, { busyMs: 300, progress: { doneCount: 6, totalCount: 10, partialResultBytes: 7 } });
    expect([job.heldBytes, job.totalMs, job.remainingMs].map(Math.round)).toEqual([12, 500, 200]);
  });
});

describe("the estimated wait", () => {
  test("includes all work of the job's account, and at most as much of every other account", () => {
    const { schedule } = scheduleOf(2);
    const [own, other] = [noResources(), noResources()];
    schedule.add(jobOf(own, 1000));
    for (let i = 0; i < 10; i++) schedule.add(jobOf(other, 5000));
    // 3 s of its account and 3 of the 50 s of the other, on two workers.
    expect(schedule.waitMs(jobOf(own, 2000))).toBeCloseTo(3000);
    // A short job of a third account shares the workers with both.
    expect(schedule.waitMs(jobOf(noResources(), 10))).toBeCloseTo(15);
  });

  test("finds the job that was admitted last among those that will be late", () => {
    const { schedule } = scheduleOf();
    const account = noResources();
    const jobs = [10_000, 15_000, 10_000, 10].map((costMs) => jobOf(account, costMs));
    for (const job of jobs) schedule.add(job);
    expect(schedule.findLateJob()).toBe(jobs[3]);
    schedule.delete(jobs[3] as BulkJob);
    schedule.delete(jobs[2] as BulkJob);
    expect(schedule.findLateJob()).toBeUndefined();
  });
});

describe("rejected jobs", () => {
  test("are told different times, at which each is admitted", () => {
    const { schedule, clock } = scheduleOf();
    const account = noResources();
    const limitMs = 30_000;
    const running: BulkJob[] = [];
    /** Runs the jobs one after the other. */
    const advance = (toMs: number): void => {
      for (let leftMs = toMs - clock.nowMs; leftMs > 0 && running.length > 0;) {
        const [first] = running as [BulkJob];
        const stepMs = Math.min(leftMs, first.remainingMs);
        first.addBusyMs(stepMs);
        leftMs -= stepMs;
        if (first.remainingMs <= 0.001) schedule.delete(running.shift() as BulkJob);
      }
      clock.nowMs = toMs;
    };
    const admit = (job: BulkJob): void => {
      running.push(job);
      schedule.add(job);
    };
    for (let i = 0; i < 5; i++) admit(jobOf(account, 5000));
    const retriesS = Array.from({ length: 20 }, () => schedule.retryAfterS(jobOf(account, 5000), limitMs));
    expect(retriesS).toEqual(retriesS.toSorted((a, b) => a - b));
    expect(new Set(retriesS).size).toBe(20);
    for (const retryS of retriesS) {
      advance(1000 * retryS);
      expect(schedule.claimAppointment(account)).toBe(true);
      const job = jobOf(account, 5000, { hasAppointment: true });
      expect(schedule.waitMs(job)).toBeLessThanOrEqual(0.9 * limitMs);
      // The worker was never idle for long: the appointments are not too late either.
      expect(schedule.waitMs(job)).toBeGreaterThan(0.5 * limitMs);
      admit(job);
    }
  });

  test("count as work for jobs without an appointment until they do not return", () => {
    const { schedule, clock } = scheduleOf();
    const account = noResources();
    schedule.add(jobOf(account, 20_000));
    const retryS = schedule.retryAfterS(jobOf(account, 20_000), 30_000);
    expect(schedule.waitMs(jobOf(account, 1000))).toBeCloseTo(41_000);
    expect(schedule.claimAppointment(account)).toBe(false);
    clock.nowMs = 1000 * retryS + 5000;
    expect(schedule.claimAppointment(account)).toBe(false);
    expect(schedule.waitMs(jobOf(account, 1000))).toBeCloseTo(21_000);
  });
});
