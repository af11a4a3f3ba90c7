/** Comparison of nested answers with a tolerance. */

export interface Comparison {
  readonly tolerance: number;
  readonly relative: readonly string[];
  readonly path?: string;
}

/**
 * Returns the differences between an expected value and an actual one, as "path: expected, actual". Numbers may differ
 * by the tolerance; those under a member of `relative` by the tolerance times the expected number where that is above 1.
 * Members that only `actual` has are differences too.
 */
export function differencesOf(
  expected: unknown,
  actual: unknown,
  { tolerance, relative, path = "" }: Comparison,
): readonly { readonly path: string; readonly expected: unknown; readonly actual: unknown }[] {
  if (typeof expected === "number" && typeof actual === "number") {
    const isRelative = relative.includes(path.slice(path.lastIndexOf("/") + 1));
    const isClose = Math.abs(expected - actual) <= tolerance * (isRelative ? Math.max(1, Math.abs(expected)) : 1);
    return isClose ? [] : [{ path, expected, actual }];
  }
  if (isObject(expected) && isObject(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    return [...new Set([...Object.keys(expected), ...Object.keys(actual)])].flatMap((member) =>
      differencesOf(expected[member], actual[member], { tolerance, relative, path: `${path}/${member}` }),
    );
  }
  return Object.is(expected, actual) ? [] : [{ path, expected, actual }];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
