import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AdmissionControl, DEFAULT_LOAD_LIMITS } from "../../../src/host/admission/admissionControl.ts";
import type { Slot } from "../../../src/host/admission/slot.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns an admission control with memory for a body of 1,000 bytes, and functions that hold and request memory. */
function startAdmission() {
  const shed: string[] = [];
  const admission = new AdmissionControl({
    limits: { ...DEFAULT_LOAD_LIMITS, memoryBytesMax: 3_000, accountShare: 1 },
    workerCount: 1,
    onShed: (reason) => shed.push(reason),
  });
  const newSlot = (): Slot => {
    const slot = admission.acquire();
    admission.assignAccount(slot, "account");
    return slot;
  };
  /** Holds the memory of a body of 600 bytes. */
  const hold = (): Slot => {
    const slot = newSlot();
    admission.setBody(slot, { heldBytes: 600, sizeBytes: 600, delimiterCount: 0 });
    return slot;
  };
  const requestOutcomes: string[] = [];
  /** Requests the memory of a body of 600 bytes. */
  const request = (name: string): Promise<void> =>
    Promise.resolve(admission.admitBody(newSlot(), 600)).then(
      () => void requestOutcomes.push(`${name} admitted`),
      (error: unknown) => void requestOutcomes.push(`${name} ${(error as { readonly code: string }).code}`),
    );
  return { admission, shed, hold, request, requestOutcomes };
}

test("a request for which there is too little memory is admitted as soon as another one releases it", async () => {
  const { admission, shed, hold, request, requestOutcomes } = startAdmission();
  const held = hold();
  const requests = [request("first"), request("second")];
  await vi.advanceTimersByTimeAsync(400);
  expect(requestOutcomes).toStrictEqual([]);
  admission.release(held);
  await vi.advanceTimersByTimeAsync(0);
  expect(requestOutcomes).toStrictEqual(["first admitted"]);
  // The second one has not been offered any memory, but finds it at the end of its wait.
  await vi.advanceTimersByTimeAsync(100);
  await Promise.all(requests);
  expect(requestOutcomes).toStrictEqual(["first admitted", "second admitted"]);
  expect(shed).toStrictEqual([]);
});

test("a request for which there is too little memory is rejected after half a second", async () => {
  const { shed, hold, request, requestOutcomes } = startAdmission();
  hold();
  const rejected = request("first");
  await vi.advanceTimersByTimeAsync(499);
  expect(requestOutcomes).toStrictEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await rejected;
  expect(requestOutcomes).toStrictEqual(["first overloaded"]);
  expect(shed).toStrictEqual(["too_much_memory_of_account"]);
});

test("at most 64 requests wait for memory", async () => {
  const { hold, request, requestOutcomes } = startAdmission();
  hold();
  const requests = Array.from({ length: 65 }, (_, i) => request(String(i)));
  await vi.advanceTimersByTimeAsync(0);
  expect(requestOutcomes).toStrictEqual(["64 overloaded"]);
  await vi.advanceTimersByTimeAsync(500);
  await Promise.all(requests);
  expect(requestOutcomes).toHaveLength(65);
});
