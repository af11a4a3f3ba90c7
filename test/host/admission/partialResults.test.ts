import { expect, test } from "vitest";
import { AdmissionControl } from "../../../src/host/admission/admissionControl.ts";
import type { BulkJob } from "../../../src/host/admission/jobs.ts";
import { DEFAULT_LOAD_LIMITS } from "../../../src/host/admission/resources.ts";
import type { Slot } from "../../../src/host/admission/resources.ts";
import { NO_WORK } from "../../../src/host/pipeline.ts";

const MEMORY_BYTES = 6_000;
const SHARE_BYTES = 0.5 * MEMORY_BYTES;

/** A job that runs until it is finished or stopped. */
interface RunningJob {
  readonly slot: Slot;
  readonly job: BulkJob;
  finish(): void;
  /** Returns "running", "done" or the code of the error. */
  state(): string;
}

/** Waits until jobs that have been stopped or finished have ended. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Returns an admission control of which one account may hold 3,000 bytes, and a function that starts jobs. */
function startAdmission() {
  const shed: string[] = [];
  const admission = new AdmissionControl({
    limits: { ...DEFAULT_LOAD_LIMITS, memoryBytesMax: MEMORY_BYTES, accountShare: SHARE_BYTES / MEMORY_BYTES },
    workerCount: 2,
    onShed: (reason) => shed.push(reason),
  });
  const newSlot = (account: string): Slot => {
    const slot = admission.acquire(account);
    return slot;
  };
  /** Starts a job with a body that takes three times its size. */
  const start = async (account: string, bodyBytes = 0): Promise<RunningJob> => {
    const slot = newSlot(account);
    admission.setBody(slot, { heldBytes: bodyBytes, sizeBytes: bodyBytes, valueBytes: 0 });
    let finish = (): void => undefined;
    let state = "running";
    const job = await new Promise<BulkJob>((resolve) => {
      const { signal } = new AbortController();
      void admission.jobs
        .run({ slot, work: { ...NO_WORK, kind: "points", bodyBytes: 0 }, signal }, (started) => {
          resolve(started);
          return new Promise<void>((done) => (finish = done));
        })
        .then(
          () => (state = "done"),
          (error: unknown) => (state = (error as { readonly code: string }).code),
        )
        .finally(() => admission.release(slot));
    });
    return { slot, job, finish, state: () => state };
  };
  /** Reports the size of the partial result of a job. */
  const report = async ({ job }: RunningJob, partialResultBytes: number, part = 0): Promise<void> => {
    const progress = { doneCount: 1, totalCount: 10, partialResultBytes };
    admission.jobs.recordSlice(job, part, { busyMs: 1, progress });
    await settled();
  };
  const memoryOf = ({ slot }: RunningJob): number => slot.account.memoryBytes;
  return { admission, shed, newSlot, start, report, memoryOf };
}

test("partial results of an account's jobs stop those admitted last until they fit its share", async () => {
  const { admission, shed, start, report, memoryOf } = startAdmission();
  const jobs: RunningJob[] = [];
  for (let i = 0; i < 30; i++) jobs.push(await start("account"));
  const [first] = jobs as [RunningJob];
  for (let sizeBytes = 100; sizeBytes <= 1_000; sizeBytes += 100) {
    for (const running of jobs) {
      if (admission.jobs.count > 0) await report(running, sizeBytes);
      expect(memoryOf(first)).toBeLessThanOrEqual(SHARE_BYTES);
    }
  }
  expect(admission.jobs.count).toBe(3);
  for (const { finish } of jobs) finish();
  await settled();
  expect(jobs.map(({ state }) => state())).toStrictEqual([
    ...Array<string>(3).fill("done"),
    ...Array<string>(27).fill("overloaded"),
  ]);
  expect(new Set(shed)).toStrictEqual(new Set(["too_much_memory_of_account"]));
  expect(memoryOf(first)).toBe(0);
});

test("jobs of other accounts continue, and the only request of an account may exceed its share", async () => {
  const { start, report, memoryOf } = startAdmission();
  const [other, alone] = [await start("other"), await start("account")];
  await report(other, SHARE_BYTES);
  await report(alone, 2 * SHARE_BYTES);
  await report(alone, SHARE_BYTES, 1);
  expect(memoryOf(alone)).toBe(3 * SHARE_BYTES);
  const later = await start("account");
  await report(later, 1);
  expect(later.state()).toBe("overloaded");
  expect([other, alone].map(({ state }) => state())).toStrictEqual(["running", "running"]);
});

test("a job that has not begun is stopped before the one whose partial result exceeds the share", async () => {
  const { start, report } = startAdmission();
  const running = await start("account", 100);
  const waiting = await start("account", 800);
  await report(running, 200);
  await report(running, 400);
  expect(waiting.state()).toBe("overloaded");
  expect(running.state()).toBe("running");
});

test("a job is stopped if its partial result does not fit beside the unread responses of its account", async () => {
  const { admission, newSlot, start, report, memoryOf } = startAdmission();
  const unread = newSlot("account");
  admission.holdResponse(unread, 2_500);
  admission.release(unread);
  const running = await start("account");
  await report(running, 500);
  expect(memoryOf(running)).toBe(3_000);
  await report(running, 501);
  expect(running.state()).toBe("overloaded");
  expect(memoryOf(running)).toBe(2_500);
});

test("the input of its parts stops a job as partial results do", async () => {
  const { admission, start } = startAdmission();
  const [first, second] = [await start("account", 500), await start("account")];
  admission.jobs.startParts(second.job, [{ totalCount: 1, payloadBytes: 1_501 }]);
  await settled();
  expect(second.state()).toBe("overloaded");
  expect(first.state()).toBe("running");
});

test("the complete result of a part replaces what its last slice reported", async () => {
  const { admission, start, report, memoryOf } = startAdmission();
  const [first, second] = [await start("account"), await start("account")];
  for (const { job } of [first, second]) admission.jobs.startParts(job, [{ totalCount: 10, payloadBytes: 100 }]);
  await report(first, 500);
  admission.jobs.completePart(first.job, 0, 1_500);
  expect(memoryOf(first)).toBe(1_700);
  expect(first.job.doneFraction).toBe(1);
  admission.jobs.completePart(second.job, 0, 1_301);
  await settled();
  expect([first, second].map(({ state }) => state())).toStrictEqual(["running", "overloaded"]);
});

test("the response into which partial results are joined counts as they do", async () => {
  const { admission, start, report, memoryOf } = startAdmission();
  const [first, second] = [await start("account"), await start("account")];
  await report(first, 700);
  admission.jobs.startJoin(first.job, 700);
  expect(memoryOf(first)).toBe(1_400);
  await report(second, 800);
  expect(second.state()).toBe("running");
  admission.jobs.startJoin(second.job, 801);
  await settled();
  expect([first, second].map(({ state }) => state())).toStrictEqual(["running", "overloaded"]);
  first.finish();
  await settled();
  expect(memoryOf(first)).toBe(0);
});
