import { describe, expect, test } from "vitest";
import { BulkJob } from "../../../src/host/admission/bulkJob.ts";
import { type HeldResources, noResources } from "../../../src/host/admission/slot.ts";
import { WaitEstimate } from "../../../src/host/admission/waitEstimate.ts";

const ROUTE = "/batch";
/** With the fixed cost, a job of 16,384 bytes costs twice as much as one without a body. */
const BODY_BYTES = 16_384;

function jobOf(account: HeldResources, { bodyBytes = 0, route = ROUTE } = {}): BulkJob {
  return new BulkJob({ account, bodyBytes, responseBytes: 0 }, account, route);
}

/** An estimate for two workers, after a job without a body that cost 100 ms. */
function estimateAfter100Ms(): WaitEstimate {
  const estimate = new WaitEstimate(2);
  const completed = jobOf(noResources());
  completed.addBusyMs(100);
  estimate.learn(completed);
  return estimate;
}

describe("the estimated time until a job completes", () => {
  test("depends on the cost of earlier jobs of its route, its size and the number of workers", () => {
    const estimate = estimateAfter100Ms();
    expect(estimate.waitMs(jobOf(noResources()), [])).toBe(50);
    expect(estimate.waitMs(jobOf(noResources(), { bodyBytes: BODY_BYTES }), [])).toBe(100);
    expect(estimate.waitMs(jobOf(noResources(), { route: "/unknown" }), [])).toBe(0);
  });

  test("includes all work of its own account, and at most as much of every other account", () => {
    const estimate = estimateAfter100Ms();
    const [own, other] = [noResources(), noResources()];
    const running = [jobOf(own), ...Array.from({ length: 10 }, () => jobOf(other, { bodyBytes: BODY_BYTES }))];
    // 200 ms of its account, and 200 of the 2,000 ms of the other.
    expect(estimate.waitMs(jobOf(own), running)).toBe(200);
    // 100 ms for each of three accounts.
    expect(estimate.waitMs(jobOf(noResources()), running)).toBe(150);
  });

  test("uses the progress of running jobs once they report any", () => {
    const estimate = estimateAfter100Ms();
    const account = noResources();
    const running = jobOf(account);
    running.startParts([{ totalCount: 10, payloadBytes: 5 }]);
    running.recordSlice(0, { busyMs: 300, progress: { doneCount: 6, totalCount: 10, partialResultBytes: 7 } });
    expect([running.busyMs, running.heldBytes]).toEqual([300, 12]);
    // 200 ms are left of the running job.
    expect(estimate.waitMs(jobOf(account), [running])).toBeCloseTo(150);
  });
});
