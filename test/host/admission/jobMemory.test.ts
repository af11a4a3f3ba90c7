import { expect, test } from "vitest";
import { AdmissionControl, DEFAULT_LOAD_LIMITS } from "../../../src/host/admission/admissionControl.ts";
import type { BulkJob } from "../../../src/host/admission/bulkJob.ts";
import type { RequestWork } from "../../../src/host/admission/costModel.ts";
import type { Slot } from "../../../src/host/admission/slot.ts";

/** Work of an assumed cost of 20 ms per 1,000 elements. */
const workOf = (elementCount: number): RequestWork => ({
  kind: "points",
  bodyBytes: 0,
  elementCount,
  cellVectorCount: 0,
  coldTileVectorCount: 0,
});

/** Returns an admission control with 3,000 bytes of memory, and a function that starts a request of the account. */
function startAdmission() {
  const admission = new AdmissionControl({
    limits: { ...DEFAULT_LOAD_LIMITS, memoryBytesMax: 3_000, accountShare: 1 },
    workerCount: 2,
    onShed: () => undefined,
  });
  const newSlot = (): Slot => {
    const slot = admission.acquire();
    admission.assignAccount(slot, "account");
    return slot;
  };
  return { admission, newSlot };
}

const { signal } = new AbortController();
const HALF_DONE = { busyMs: 10, progress: { doneCount: 32, totalCount: 64, partialResultBytes: 2_000 } };

/** Reports partial results of a first attempt, then divides the job as if the attempt had been too short. */
function divideAfterAttempt(admission: AdmissionControl, job: BulkJob): void {
  admission.recordSlice(job, 0, HALF_DONE);
  admission.setWork(job, workOf(64));
  admission.startParts(job, [
    { totalCount: 32, payloadBytes: 100 },
    { totalCount: 32, payloadBytes: 100 },
  ]);
}

test("a job that is divided after a first attempt holds no memory of the attempt", async () => {
  const { admission, newSlot } = startAdmission();
  for (let i = 0; i < 3; i++) {
    const slot = newSlot();
    await admission.runJob({ slot, work: workOf(0), signal }, async (job) => {
      divideAfterAttempt(admission, job);
      expect(admission.jobBytes).toBe(200);
      // A body and its parsed value of 2,700 bytes fit beside the 200 bytes of the parts.
      const other = newSlot();
      admission.setBody(other, { heldBytes: 900, sizeBytes: 900, delimiterCount: 0 });
      admission.release(other);
    });
    admission.release(slot);
  }
});

test("a job that is divided after it has ended holds no memory", async () => {
  const { admission, newSlot } = startAdmission();
  const slot = newSlot();
  const job = await admission.runJob({ slot, work: workOf(0), signal }, async (running) => running);
  admission.startParts(job, [{ totalCount: 1, payloadBytes: 5_000 }]);
  const other = newSlot();
  admission.setBody(other, { heldBytes: 900, sizeBytes: 900, delimiterCount: 0 });
});

test("the estimated cost of a job that has been parsed does not follow the progress of a first attempt", async () => {
  const { admission, newSlot } = startAdmission();
  await admission.runJob({ slot: newSlot(), work: workOf(0), signal }, async (job) => {
    admission.recordSlice(job, 0, HALF_DONE);
    admission.setWork(job, workOf(100_000));
    expect(job.totalMs).toBeCloseTo(2_000);
  });
});
