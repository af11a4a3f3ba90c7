import { expect, test } from "vitest";
import { JobTurns } from "../../../src/host/admission/jobTurns.ts";
import { noResources } from "../../../src/host/admission/slot.ts";

const { signal } = new AbortController();

test("runs two jobs of an account at a time, in their order, and those of other accounts beside them", async () => {
  const turns = new JobTurns();
  const [account, other] = [noResources(), noResources()];
  const begun: string[] = [];
  const take = async (name: string, of = account): Promise<() => void> => {
    const end = await turns.take(of, signal);
    begun.push(name);
    return end;
  };
  const [first, second, third, fourth] = ["a", "b", "c", "d"].map((name) => take(name));
  await take("other", other);
  expect(begun).toStrictEqual(["a", "b", "other"]);
  (await second)?.();
  const endThird = await third;
  expect(begun).toStrictEqual(["a", "b", "other", "c"]);
  (await first)?.();
  endThird?.();
  const endFourth = await fourth;
  endFourth?.();
  expect(begun.at(-1)).toBe("d");
  // All turns have ended, so that two begin at once again.
  await Promise.all([take("e"), take("f")]);
  expect(begun.slice(-2)).toStrictEqual(["e", "f"]);
});

test("skips a job that was aborted while it waited", async () => {
  const turns = new JobTurns();
  const account = noResources();
  const ends = await Promise.all([turns.take(account, signal), turns.take(account, signal)]);
  const stop = new AbortController();
  const aborted = turns.take(account, stop.signal);
  const last = turns.take(account, signal);
  stop.abort(new Error("disconnected"));
  await expect(aborted).rejects.toThrow("disconnected");
  ends[0]();
  (await last)();
  await expect(turns.take(account, stop.signal)).rejects.toThrow("disconnected");
});
