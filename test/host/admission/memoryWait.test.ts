import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AdmissionControl } from "../../../src/host/admission/admissionControl.ts";
import { DEFAULT_LOAD_LIMITS } from "../../../src/host/admission/resources.ts";
import type { Slot } from "../../../src/host/admission/resources.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns an admission control with memory for a body of 1,000 bytes, and functions that hold and request memory. */
function startAdmission(accountShare = 1) {
  const shed: string[] = [];
  const admission = new AdmissionControl({
    limits: { ...DEFAULT_LOAD_LIMITS, memoryBytesMax: 3_000, accountShare },
    workerCount: 1,
    onShed: (reason) => shed.push(reason),
  });
  const newSlot = (account: string): Slot => {
    const slot = admission.acquire(account);
    return slot;
  };
  /** Holds the memory of a body. */
  const hold = (account = "account", sizeBytes = 600): Slot => {
    const slot = newSlot(account);
    admission.setBody(slot, { heldBytes: sizeBytes, sizeBytes, valueBytes: 0 });
    return slot;
  };
  const requestOutcomes: string[] = [];
  /** Requests the memory of a body. */
  const request = (name: string, account = "account", sizeBytes = 600): Promise<void> =>
    Promise.resolve(admission.admitBody(newSlot(account), sizeBytes)).then(
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

test("released memory is offered to requests of other accounts if the first one's has none left", async () => {
  const { admission, hold, request, requestOutcomes } = startAdmission(0.5);
  hold("attacker", 480);
  const other = hold("other", 450);
  const requests = [request("first", "attacker", 100), request("second", "honest", 100)];
  await vi.advanceTimersByTimeAsync(50);
  admission.release(other);
  await vi.advanceTimersByTimeAsync(0);
  expect(requestOutcomes).toStrictEqual(["second admitted"]);
  await vi.advanceTimersByTimeAsync(500);
  await Promise.all(requests);
  expect(requestOutcomes).toStrictEqual(["second admitted", "first overloaded"]);
});

test("at most 8 requests of an account, and 64 of all, wait for memory", async () => {
  const { hold, request, requestOutcomes } = startAdmission();
  hold();
  const requests: Promise<void>[] = [];
  for (let account = 0; account < 9; account++) {
    for (let i = 0; i < 9; i++) requests.push(request(`${account}/${i}`, String(account)));
  }
  await vi.advanceTimersByTimeAsync(0);
  const ninths = Array.from({ length: 8 }, (_, account) => `${account}/8 overloaded`);
  const all = Array.from({ length: 9 }, (_, i) => `8/${i} overloaded`);
  expect(requestOutcomes).toStrictEqual([...ninths, ...all]);
  await vi.advanceTimersByTimeAsync(500);
  await Promise.all(requests);
  expect(requestOutcomes).toHaveLength(81);
});
