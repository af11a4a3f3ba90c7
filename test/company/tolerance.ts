import { expect } from "vitest";

/** Relative tolerance, because Math.exp, log and pow of different engines differ in the last digit. */
const TOLERANCE = 1e-9;

/**
 * Returns whether two figures are identical or, if both are numbers, within the relative tolerance.
 *
 * @param scale size of the operands of a difference, to which its error is relative
 */
export function isClose(actual: unknown, expected: unknown, scale = 0): boolean {
  if (typeof actual !== "number" || typeof expected !== "number") return Object.is(actual, expected);
  return Math.abs(actual - expected) <= TOLERANCE * Math.max(Math.abs(expected), Math.abs(scale), 1e-300);
}

/** Fails with the list of all members that differ. */
export function expectClose(
  actual: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, unknown>>,
  where: string,
  scaleOf: (name: string) => number = () => 0,
): void {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
  const wrong = names.filter((name) => !isClose(actual[name], expected[name], scaleOf(name)));
  if (wrong.length === 0) return;
  const differences = wrong.map((name) => `${name}: ${String(actual[name])}, expected ${String(expected[name])}`);
  expect.fail(`${where}: ${differences.join("; ")}`);
}
