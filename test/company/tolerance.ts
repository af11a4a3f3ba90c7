import { expect } from "vitest";

/** Numbers may differ by this part of their size: Math.exp, log and pow of two engines differ in the last digit. */
const TOLERANCE = 1e-9;
/** A chance of default may: it is the tail of a distribution. */
export const DEFAULT_TOLERANCE = 1e-6;

/** Whether two figures are one: both missing, or as near as `tolerance` of their size. */
export function isClose(actual: unknown, expected: unknown, tolerance = TOLERANCE): boolean {
  if (typeof actual !== "number" || typeof expected !== "number") return Object.is(actual, expected);
  return Math.abs(actual - expected) <= tolerance * Math.max(Math.abs(expected), 1e-300);
}

/** Fails naming every figure that differs, where `Actual` and `Expected` have the same members. */
export function expectClose(
  actual: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, unknown>>,
  where: string,
  toleranceOf: (name: string) => number = () => TOLERANCE,
): void {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
  const wrong = names.filter((name) => !isClose(actual[name], expected[name], toleranceOf(name)));
  if (wrong.length === 0) return;
  const told = wrong.map((name) => `${name}: ${String(actual[name])}, not ${String(expected[name])}`);
  expect.fail(`${where}: ${told.join("; ")}`);
}
