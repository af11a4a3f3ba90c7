import { describe, expect, test } from "vitest";
import { TimeSlice } from "../../src/concurrency/timeSlice.ts";

describe("a time slice", () => {
  test("continues at once until it has expired", async () => {
    let grants = 0;
    const slice = new TimeSlice({ durationMs: 60_000, nextSlice: async () => void grants++ });
    for (let i = 0; i < 100; i++) await slice.yield();
    expect([grants, slice.isExpired, slice.isPaused]).toEqual([0, false, false]);
  });

  test("pauses all its users together, and continues them together", async () => {
    let resume = (): void => undefined;
    let grants = 0;
    const nextSlice = (): Promise<void> => {
      grants++;
      return new Promise((resolve) => (resume = resolve));
    };
    const slice = new TimeSlice({ durationMs: 0, nextSlice });
    let continued = 0;
    const users = [slice.yield(), slice.yield(), slice.yield()].map((each) => each.then(() => continued++));
    await Promise.resolve();
    expect([grants, continued, slice.isPaused]).toEqual([1, 0, true]);
    resume();
    await Promise.all(users);
    expect([grants, continued, slice.isPaused]).toEqual([1, 3, false]);
  });

  test("lets other tasks of the thread run by default", async () => {
    const slice = new TimeSlice({ durationMs: 0 });
    const work = (async () => {
      for (let i = 0; i < 100; i++) await slice.yield();
      return "work";
    })();
    const other = new Promise((resolve) => setImmediate(() => resolve("other")));
    expect(await Promise.race([work, other])).toBe("other");
    await work;
  });

  test("ends the work when no further slice is granted", async () => {
    const slice = new TimeSlice({ durationMs: 0, nextSlice: () => Promise.reject(new Error("dropped")) });
    await expect(slice.yield()).rejects.toThrow("dropped");
    await expect(slice.yield()).rejects.toThrow("dropped");
  });
});

test("a time slice has time for one step, however late it begins", async () => {
  let sliceCount = 1;
  const timeSlice = new TimeSlice({
    durationMs: 0,
    nextSlice: async () => {
      sliceCount++;
    },
  });
  let stepCount = 0;
  const work = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await timeSlice.waitForStep();
      stepCount++;
    }
  };
  await Promise.all([work(), work()]);
  expect([stepCount, sliceCount]).toEqual([6, 6]);
});
