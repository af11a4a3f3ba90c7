import { vi } from "vitest";

/** Calls `check` again and again until it succeeds. Waits longer than `vi.waitFor` by default, for busy machines. */
export function eventually<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(check, { timeout: 30_000, interval: 20 });
}
