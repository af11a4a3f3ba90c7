import { describe, expect, test } from "vitest";
import { BulkJob } from "../../../src/host/admission/bulkJob.ts";
import { assumedCostMs, estimateCostMs, learnCost, type RequestWork } from "../../../src/host/admission/costModel.ts";
import { ADMITTED_SHARE, JobSchedule } from "../../../src/host/admission/jobSchedule.ts";
import { noResources } from "../../../src/host/admission/slot.ts";
import { jobOf, workOf } from "./retrySimulation.ts";

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
      const queuedSinceMs = schedule.claimAppointment(account);
      expect(queuedSinceMs).toBe(0);
      const job = jobOf(account, 5000, { queuedSinceMs: 0 });
      expect(schedule.waitMs(job)).toBeLessThanOrEqual(0.9 * limitMs);
      // The worker was never idle for long: the appointments are not too late either.
      expect(schedule.waitMs(job)).toBeGreaterThan(0.5 * limitMs);
      admit(job);
    }
  });

  test("are not delayed by jobs without an appointment, until they do not return", () => {
    const { schedule, clock } = scheduleOf();
    const account = noResources();
    const limitMs = ADMITTED_SHARE * 30_000;
    const running = jobOf(account, 20_000);
    schedule.add(running);
    const dueMs = 1000 * schedule.retryAfterS(jobOf(account, 20_000), 30_000);
    // When it is due, 3 of the 20 s are left; it may wait for 7 s.
    expect(dueMs).toBe(17_000);
    expect(schedule.keepsAppointments(jobOf(account, 3_900), limitMs)).toBe(true);
    expect(schedule.keepsAppointments(jobOf(account, 4_100), limitMs)).toBe(false);
    expect(schedule.keepsAppointments(jobOf(noResources(), 4_100), limitMs)).toBe(true);
    expect(schedule.keepsAppointments(jobOf(account, 4_100, { queuedSinceMs: 0 }), limitMs)).toBe(true);
    // The estimate was too high: the worker is idle, and the job is done before the other one returns.
    schedule.delete(running);
    expect(schedule.keepsAppointments(jobOf(account, 23_900), limitMs)).toBe(true);
    expect(schedule.keepsAppointments(jobOf(account, 24_100), limitMs)).toBe(false);
    expect(schedule.claimAppointment(account)).toBeUndefined();
    // Once a client has missed its appointment, nobody waits for the others of the account.
    clock.nowMs = dueMs + 1_000;
    schedule.add(running);
    schedule.retryAfterS(jobOf(account, 20_000), 30_000);
    expect(schedule.keepsAppointments(jobOf(account, 20_000), limitMs)).toBe(false);
    clock.nowMs = dueMs + 4_000;
    expect(schedule.claimAppointment(account)).toBeUndefined();
    expect(schedule.keepsAppointments(jobOf(account, 20_000), limitMs)).toBe(true);
  });

  test("count toward the wait of other accounts' jobs, until they do not return", () => {
    const { schedule, clock } = scheduleOf();
    const [account, other] = [noResources(), noResources()];
    schedule.add(jobOf(other, 1_000));
    const dueMs = 1000 * schedule.retryAfterS(jobOf(other, 40_000), 30_000);
    // The other account's job and its appointment share the worker with the job.
    expect(schedule.waitMs(jobOf(account, 10_000))).toBeCloseTo(20_000);
    expect(schedule.retryAfterS(jobOf(account, 20_000), 30_000)).toBe(17);
    schedule.retryAfterS(jobOf(other, 40_000), 30_000);
    clock.nowMs = dueMs + 4_000;
    expect(schedule.claimAppointment(account)).toBeUndefined();
    // Without the other account's appointments: the first is void, so the second counts no more.
    expect(schedule.waitMs(jobOf(account, 10_000))).toBeCloseTo(11_000);
  });

  test("keep their place if they are rejected in spite of their appointment", () => {
    const { schedule, clock } = scheduleOf();
    const account = noResources();
    const running = jobOf(account, 20_000);
    schedule.add(running);
    const retriesS = Array.from({ length: 3 }, () => {
      clock.nowMs++;
      return schedule.retryAfterS(jobOf(account, 20_000), 30_000);
    });
    // The running job takes 10 s longer than estimated.
    const [firstS = 0, secondS = 0] = retriesS;
    clock.nowMs = 1000 * firstS + 2;
    running.addBusyMs(clock.nowMs - 10_000);
    const queuedSinceMs = schedule.claimAppointment(account);
    expect(queuedSinceMs).toBe(1);
    const late = jobOf(account, 20_000, { queuedSinceMs: 1 });
    expect(schedule.waitMs(late)).toBeGreaterThan(ADMITTED_SHARE * 30_000);
    const againS = schedule.retryAfterS(late, 30_000);
    expect(againS).toBeLessThanOrEqual(10);
    // It is not behind those with later times.
    expect(firstS + againS).toBeLessThan(secondS);
    schedule.delete(running);
    clock.nowMs = 1000 * (firstS + againS) + 10;
    expect(schedule.claimAppointment(account)).toBe(1);
    clock.nowMs = 1000 * secondS + 10;
    expect(schedule.claimAppointment(account)).toBe(2);
  });

  test("come before others that are due at the same time, but were rejected later", () => {
    const { schedule, clock } = scheduleOf();
    const account = noResources();
    schedule.add(jobOf(account, 1_000));
    clock.nowMs = 5;
    const late = jobOf(account, 20_000, { queuedSinceMs: 3 });
    const other = jobOf(account, 20_000, { queuedSinceMs: 4 });
    schedule.retryAfterS(late, 30_000);
    expect(schedule.waitMs(other)).toBeCloseTo(41_000);
    expect(schedule.retryAfterS(other, 30_000)).toBe(18);
    expect(schedule.waitMs(late)).toBeCloseTo(21_000);
  });

  test("that have not been parsed are assumed to be like the account's latest ones, only for the time of the retry", () => {
    const { schedule } = scheduleOf();
    const account = noResources();
    const unparsed: RequestWork = { ...workOf(0, "route"), bodyBytes: 70_000 };
    const slot = { account, bodyBytes: 0, parsedBytes: 0, answerBytes: 0, responseBytes: 0, isStream: false };
    const newJob = (): BulkJob =>
      new BulkJob({ slot, account, work: unparsed, deadlineAtMs: 30_000, queuedSinceMs: undefined });
    const running = newJob();
    running.setWork({ ...workOf(24_000 / 0.02), bodyBytes: 0 });
    schedule.add(running);
    expect(schedule.waitMs(newJob())).toBeCloseTo(24_002.1);
    const retriesS = [1, 2, 3].map(() => schedule.retryAfterS(newJob(), 30_000));
    expect(retriesS).toStrictEqual([23, 47, 71]);
  });
});
