import { expect, test } from "vitest";
import { AdmissionControl } from "../../../src/host/admission/admissionControl.ts";
import { DEFAULT_LOAD_LIMITS } from "../../../src/host/admission/resources.ts";
import type { Slot } from "../../../src/host/admission/resources.ts";

const STREAM_BYTES = 1_000;

/** Returns an admission control, the reasons of its rejections, and a function that starts a stream. */
function startAdmission(memoryBytesMax: number, streamsPerAccountMax: number) {
  const shed: string[] = [];
  const admission = new AdmissionControl({
    limits: { ...DEFAULT_LOAD_LIMITS, memoryBytesMax, streamsPerAccountMax },
    workerCount: 1,
    onShed: (reason) => shed.push(reason),
  });
  /** The request of a stream ends before the client has read it. */
  const stream = (account: string): Slot => {
    const slot = admission.acquire(account);
    try {
      admission.holdStream(slot, STREAM_BYTES);
    } finally {
      admission.release(slot);
    }
    return slot;
  };
  return { admission, shed, stream };
}

const OVERLOADED: unknown = expect.objectContaining({ code: "overloaded" });

test("one account has a limited number of streams, until they have been read", () => {
  const { admission, shed, stream } = startAdmission(1 << 20, 2);
  const [first, second] = [stream("one"), stream("one")];
  expect(() => stream("one")).toThrow(OVERLOADED);
  expect(shed).toEqual(["too_many_streams_of_account"]);
  stream("other");
  expect(first.account?.memoryBytes).toBe(2 * STREAM_BYTES);
  admission.releaseResponse(first);
  admission.releaseResponse(first);
  expect(first.account).toMatchObject({ memoryBytes: STREAM_BYTES, responseBytes: STREAM_BYTES, streamCount: 1 });
  stream("one");
  expect(() => stream("one")).toThrow(OVERLOADED);
  admission.releaseResponse(second);
  stream("one");
});

test("streams count toward the memory of the account and of all accounts", () => {
  const { admission, shed, stream } = startAdmission(6 * STREAM_BYTES, 100);
  const streams = [stream("one"), stream("one"), stream("one")];
  expect(() => stream("one")).toThrow(OVERLOADED);
  for (let i = 0; i < 3; i++) streams.push(stream("two"));
  expect(() => stream("four")).toThrow(OVERLOADED);
  expect(shed).toEqual(["too_much_memory_of_account", "too_much_memory"]);
  for (const slot of streams) admission.releaseResponse(slot);
  stream("four");
});

test("a response that is not streamed does not count as a stream", () => {
  const { admission } = startAdmission(1 << 20, 1);
  const slot = admission.acquire("one");
  admission.holdResponse(slot, STREAM_BYTES);
  expect(slot.account).toMatchObject({ memoryBytes: STREAM_BYTES, streamCount: 0 });
  admission.releaseResponse(slot);
  expect(slot.account).toMatchObject({ memoryBytes: 0, streamCount: 0 });
});
