import { describe, expect, test } from "vitest";
import { AdmissionControl } from "../../../src/host/admission/admissionControl.ts";
import {
  assumedCostMs,
  BulkJob,
  estimateCostMs,
  learnCost,
  type RequestWork,
} from "../../../src/host/admission/jobs.ts";
import { DEFAULT_LOAD_LIMITS, type LoadLimits, noResources } from "../../../src/host/admission/resources.ts";

/** Returns work of an assumed cost of 20 ms per 1,000 elements. */
const workOf = (elementCount: number, kind = "points"): RequestWork => ({
  kind,
  bodyBytes: 0,
  elementCount,
  cellVectorCount: 0,
  coldTileVectorCount: 0,
});
const workOfMs = (costMs: number): RequestWork => workOf(costMs / 0.02);

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
    const account = noResources();
    const slot = { account, bodyBytes: 0, parsedBytes: 0, answerBytes: 0, responseBytes: 0, isStream: false };
    const job = new BulkJob({ slot, account, work: workOfMs(100), deadlineAtMs: 30_000 });
    expect(job.remainingMs).toBeCloseTo(100);
    job.startParts([{ totalCount: 10, payloadBytes: 5 }]);
    job.recordSlice(0, { busyMs: 300, progress: { doneCount: 6, totalCount: 10, partialResultBytes: 7 } });
    expect([job.heldBytes, job.totalMs, job.remainingMs].map(Math.round)).toEqual([12, 500, 200]);
  });
});

/** A job that runs until it is finished or stopped. */
interface StartedJob {
  readonly job: BulkJob | undefined;
  finish(): void;
  /** Resolves with "done", or with the error. */
  readonly end: Promise<unknown>;
}

/** Returns an admission control with one worker, and a function that starts jobs of a cost. */
function startAdmission({ workerCount = 1, ...limits }: Partial<LoadLimits> & { readonly workerCount?: number } = {}) {
  const clock = { nowMs: 0 };
  const shed: string[] = [];
  const admission = new AdmissionControl({
    limits: { ...DEFAULT_LOAD_LIMITS, ...limits },
    workerCount,
    onShed: (reason) => shed.push(reason),
    nowMs: () => clock.nowMs,
  });
  const start = (accountId: string, costMs: number): StartedJob => {
    const slot = admission.acquire(accountId);
    let finish = (): void => undefined;
    let job: BulkJob | undefined;
    const { signal } = new AbortController();
    const end = admission.jobs
      .run({ slot, work: workOfMs(costMs), signal }, (started) => {
        job = started;
        return new Promise<string>((resolve) => (finish = () => resolve("done")));
      })
      .catch((error: unknown) => error)
      .finally(() => admission.release(slot));
    return { job, finish, end };
  };
  return { admission, clock, shed, start };
}

describe("the admission of jobs", () => {
  test("counts all work of the account, and at most as much of every other account", async () => {
    const { start, shed } = startAdmission({ workerCount: 2 });
    start("own", 1_000);
    for (let i = 0; i < 10; i++) start("other", 5_000);
    // 27 s are admitted. 26.9 s of its account and as much of the other account's 50 s, on two workers.
    expect(start("own", 25_900).job).toBeDefined();
    // 26.9 s of its account, 26.9 of the other ones, and what it takes itself.
    await expect(start("own", 200).end).resolves.toMatchObject({ code: "overloaded" });
    // A short job of a third account shares the workers with both.
    expect(start("third", 10).job).toBeDefined();
    expect(shed).toEqual(["too_long_a_wait"]);
  });

  test("always admits a job if there is no other", () => {
    const { start } = startAdmission();
    expect(start("a", 1_000_000).job).toBeDefined();
  });

  test.each([
    ["of the wait", {}, "too_long_a_wait"],
    ["of the number of jobs", { jobsMax: 3 }, "too_many_jobs"],
    ["of the account's jobs", { jobsPerAccountMax: 3 }, "too_many_of_account"],
  ])("asks jobs that are rejected because %s to retry when the queued work is done", async (_, limits, reason) => {
    const { start, shed, admission } = startAdmission({ ...limits, workerCount: 2 });
    const retryAfterS = async (): Promise<string | undefined> =>
      ((await start("a", 50_000).end) as { readonly headers: Readonly<Record<string, string>> }).headers["Retry-After"];
    const started = ["a", "a", "a"].map((account) => start(account, 15_100));
    if (reason !== "too_long_a_wait") {
      // Three times 15.1 s, on two workers: 22.65 s.
      expect(await retryAfterS()).toBe("23");
      expect(shed).toEqual([reason]);
      return;
    }
    started[2]?.finish();
    await started[2]?.end;
    expect(await retryAfterS()).toBe("16");
    // The work that has been done is not counted, and nobody has a place in a queue.
    const job = started[0]?.job;
    if (job === undefined) throw new Error("The job must have been admitted.");
    admission.jobs.startParts(job, [{ totalCount: 100, payloadBytes: 0 }]);
    const progress = { doneCount: 50, totalCount: 100, partialResultBytes: 0 };
    admission.jobs.recordSlice(job, 0, { busyMs: 7_550, progress });
    expect(await retryAfterS()).toBe("12");
    expect(await retryAfterS()).toBe("12");
    expect(shed).toEqual([reason, reason, reason]);
  });

  test("asks to retry in an hour at most", async () => {
    const { start } = startAdmission({ jobsMax: 1 });
    start("a", 1e10);
    expect(await start("b", 10).end).toMatchObject({ headers: { "Retry-After": "3600" } });
  });

  test("stops the job that was admitted last among those that will be late", async () => {
    const { start, clock, admission, shed } = startAdmission();
    const jobs = [5_000, 10_000, 11_000].map((costMs) => start("a", costMs));
    // The first one takes three times as long as estimated.
    clock.nowMs = 10_000;
    const [first] = jobs;
    if (first?.job === undefined) throw new Error("The job must have been admitted.");
    admission.jobs.startParts(first.job, [{ totalCount: 100, payloadBytes: 0 }]);
    const progress = { doneCount: 66, totalCount: 100, partialResultBytes: 0 };
    admission.jobs.recordSlice(first.job, 0, { busyMs: 10_000, progress });
    expect(await jobs[2]?.end).toMatchObject({ code: "overloaded" });
    expect(shed).toEqual(["too_late"]);
    for (const { finish } of jobs) finish();
    expect(await Promise.all(jobs.slice(0, 2).map(({ end }) => end))).toEqual(["done", "done"]);
  });
});

test("short chunks of several bodies of an account are spread over the same time, without credit for earlier time", () => {
  const { admission, clock } = startAdmission();
  clock.nowMs = 1_000;
  const slot = admission.acquire("a");
  expect(admission.shortChunksDelayMs(slot, 1_000)).toBeCloseTo(20);
  const other = admission.acquire("a");
  expect(admission.shortChunksDelayMs(other, 1_000)).toBeCloseTo(40);
  clock.nowMs += 30;
  expect(admission.shortChunksDelayMs(slot, 500)).toBeCloseTo(20);
  clock.nowMs += 60_000;
  expect(admission.shortChunksDelayMs(slot, 1_000)).toBeCloseTo(20);
});
