import { expect } from "vitest";

/** Relative tolerance, because Math.exp, log and pow of different engines differ in the last digit. */
const TOLERANCE = 1e-9;
/** Relative tolerance of default probabilities, which are tails of a distribution. */
export const DEFAULT_TOLERANCE = 1e-6;

/** Returns whether two figures are identical or, if both are numbers, within the relative tolerance. */
export function isClose(actual: unknown, expected: unknown, tolerance = TOLERANCE): boolean {
  if (typeof actual !== "number" || typeof expected !== "number") return Object.is(actual, expected);
  return Math.abs(actual - expected) <= tolerance * Math.max(Math.abs(expected), 1e-300);
}

/** Fails with the list of all members that differ. */
export function expectClose(
  actual: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, unknown>>,
  where: string,
  toleranceOf: (name: string) => number = () => TOLERANCE,
): void {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
  const wrong = names.filter((name) => !isClose(actual[name], expected[name], toleranceOf(name)));
  if (wrong.length === 0) return;
  const differences = wrong.map((name) => `${name}: ${String(actual[name])}, expected ${String(expected[name])}`);
  expect.fail(`${where}: ${differences.join("; ")}`);
}
