import { expect, test } from "vitest";
import { AdmissionControl } from "../../../src/host/admission/admissionControl.ts";
import type { BulkJob } from "../../../src/host/admission/jobs.ts";
import type { RequestWork } from "../../../src/host/admission/jobs.ts";
import { DEFAULT_LOAD_LIMITS } from "../../../src/host/admission/resources.ts";
import type { Slot } from "../../../src/host/admission/resources.ts";

/** Work of an assumed cost of 20 ms per 1,000 elements. */
const workOf = (elementCount: number): RequestWork => ({
  kind: "points",
  bodyBytes: 0,
  elementCount,
  cellVectorCount: 0,
  coldTileVectorCount: 0,
});

/** Returns an admission control with 3,000 bytes of memory, and functions that start requests of one account. */
function startAdmission(accountShare = 1) {
  const admission = new AdmissionControl({
    limits: { ...DEFAULT_LOAD_LIMITS, memoryBytesMax: 3_000, accountShare },
    workerCount: 2,
    onShed: () => undefined,
  });
  const newSlot = (): Slot => {
    const slot = admission.acquire("account");
    return slot;
  };
  /** Holds the memory of an unread response. */
  const holdResponse = (sizeBytes: number): Slot => {
    const slot = newSlot();
    admission.holdResponse(slot, sizeBytes);
    admission.release(slot);
    return slot;
  };
  return { admission, newSlot, holdResponse };
}

const { signal } = new AbortController();
const HALF_DONE = { busyMs: 10, progress: { doneCount: 32, totalCount: 64, partialResultBytes: 2_000 } };

/** Reports partial results of a first attempt, then divides the job as if the attempt had been too short. */
function divideAfterAttempt(admission: AdmissionControl, job: BulkJob): void {
  admission.jobs.recordSlice(job, 0, HALF_DONE);
  admission.jobs.setWork(job, workOf(64));
  admission.jobs.startParts(job, [
    { totalCount: 32, payloadBytes: 100 },
    { totalCount: 32, payloadBytes: 100 },
  ]);
}

test("a job that is divided after a first attempt holds no memory of the attempt", async () => {
  const { admission, newSlot } = startAdmission();
  for (let i = 0; i < 3; i++) {
    const slot = newSlot();
    await admission.jobs.run({ slot, work: workOf(0), signal }, async (job) => {
      divideAfterAttempt(admission, job);
      expect(admission.jobs.heldBytes).toBe(200);
      // A body and its parsed value of 2,700 bytes fit beside the 200 bytes of the parts.
      const other = newSlot();
      admission.setBody(other, { heldBytes: 900, sizeBytes: 900, valueBytes: 0 });
      admission.release(other);
    });
    admission.release(slot);
  }
});

test("a job that is divided after it has ended holds no memory", async () => {
  const { admission, newSlot } = startAdmission();
  const slot = newSlot();
  const job = await admission.jobs.run({ slot, work: workOf(0), signal }, async (running) => running);
  admission.jobs.startParts(job, [{ totalCount: 1, payloadBytes: 5_000 }]);
  const other = newSlot();
  admission.setBody(other, { heldBytes: 900, sizeBytes: 900, valueBytes: 0 });
});

test("the estimated cost of a job that has been parsed does not follow the progress of a first attempt", async () => {
  const { admission, newSlot } = startAdmission();
  await admission.jobs.run({ slot: newSlot(), work: workOf(0), signal }, async (job) => {
    admission.jobs.recordSlice(job, 0, HALF_DONE);
    admission.jobs.setWork(job, workOf(100_000));
    expect(job.totalMs).toBeCloseTo(2_000);
  });
});

test("a response is rejected if its account would exceed its share of the memory", () => {
  const { admission, newSlot, holdResponse } = startAdmission();
  const first = holdResponse(2_000);
  expect(() => holdResponse(1_001)).toThrow("hold too much memory");
  // The body and the parsed value of 600 bytes are released next.
  const slot = newSlot();
  admission.setBody(slot, { heldBytes: 200, sizeBytes: 200, valueBytes: 0 });
  admission.holdResponse(slot, 1_000);
  admission.release(slot);
  expect(() => holdResponse(1)).toThrow("hold too much memory");
  admission.releaseResponse(first);
  admission.releaseResponse(first);
  holdResponse(2_000);
  expect(() => holdResponse(1)).toThrow("hold too much memory");
});

test("a response is not rejected because of the memory of other accounts, or if it is the only one", () => {
  const { admission, holdResponse } = startAdmission(0.5);
  holdResponse(5_000);
  const other = admission.acquire("other");
  admission.holdResponse(other, 1_500);
  expect(other.responseBytes).toBe(1_500);
});

test.each([
  ["long", 100_000],
  ["short", 64],
])("a %s job does not begin while its account's responses hold too much memory", async (_what, elementCount) => {
  const { admission, newSlot, holdResponse } = startAdmission();
  const responses: Slot[] = [];
  const run = () =>
    admission.jobs.run({ slot: newSlot(), work: workOf(0), signal }, async (job) => {
      admission.jobs.setWork(job, workOf(elementCount));
      if (responses.length === 0) responses.push(holdResponse(3_001));
      (await admission.jobs.takeTurn(job, signal))();
    });
  // More than the number of turns, each of which must have ended.
  for (let i = 0; i < 3; i++) await expect(run()).rejects.toThrow("hold too much memory");
  for (const response of responses) admission.releaseResponse(response);
  await run();
});

test("a response that is being compressed is counted in place of the parsed body, until it is counted as a response", () => {
  const { admission, newSlot, holdResponse } = startAdmission();
  const slot = newSlot();
  admission.setBody(slot, { heldBytes: 100, sizeBytes: 100, valueBytes: 700 });
  expect(slot.account.memoryBytes).toBe(1_000);
  admission.holdAnswer(slot, 2_000);
  expect(slot.account.memoryBytes).toBe(2_100);
  admission.growAnswer(slot, 300);
  expect(slot.account.memoryBytes).toBe(2_400);
  const other = newSlot();
  expect(() => admission.holdAnswer(other, 601)).toThrow("hold too much memory");
  admission.holdAnswer(other, 600);
  admission.release(other);
  expect(slot.account.memoryBytes).toBe(2_400);
  admission.holdResponse(slot, 300);
  admission.release(slot);
  expect(slot.account.memoryBytes).toBe(300);
  admission.releaseResponse(slot);
  expect(slot.account.memoryBytes).toBe(0);
  holdResponse(3_000);
});
