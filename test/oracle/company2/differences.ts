/** Comparison of an answer in the form of the response with the reference implementation. */
import type { CompanyReport } from "./report.ts";
import { responseOf } from "./response.ts";

export interface Difference {
  /** Members and indexes, joined by dots. */
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

const RELATIVE = 1e-9;
/** Numbers closer to 0 lose digits (2.2e-308 is the least normal one), so they count as equal. */
const SMALLEST = 1e-300;

type Members = Readonly<Record<string, unknown>>;

/**
 * Lists where an unrounded answer differs from the report. Numbers are compared at relative 1e-9; what is a small
 * difference of large numbers is compared relative to those. Members that only the answer has are ignored, and of the
 * warnings only the set of codes is compared.
 */
export function differences(report: CompanyReport, answer: unknown): Difference[] {
  const { warnings, ...expected } = responseOf(report);
  const { warnings: actualWarnings, ...actual } = answer as Members;
  return [
    ...compare(expected, actual, "", report),
    ...compare(codesOf(warnings), codesOf(actualWarnings), "warnings", report),
  ];
}

/** The distinct codes, separated by spaces. */
function codesOf(warnings: unknown): string {
  const codes = (warnings as readonly { readonly code: string }[]).map(({ code }) => code);
  return [...new Set(codes)].toSorted().join(" ");
}

function compare(expected: unknown, actual: unknown, path: string, report: CompanyReport): Difference[] {
  if (typeof expected === "number" && typeof actual === "number") {
    return isClose(expected, actual, path, report) ? [] : [{ path, expected, actual }];
  }
  const isBranch = (value: unknown): value is Members => typeof value === "object" && value !== null;
  if (!isBranch(expected) || !isBranch(actual)) {
    return Object.is(expected, actual) ? [] : [{ path, expected, actual }];
  }
  const lengths =
    Array.isArray(expected) && Array.isArray(actual)
      ? compare(expected.length, actual.length, `${path}.length`, report)
      : [];
  const members = Object.keys(expected).flatMap((key) =>
    compare(expected[key], actual[key], path === "" ? key : `${path}.${key}`, report),
  );
  return [...lengths, ...members];
}

function isClose(expected: number, actual: number, path: string, report: CompanyReport): boolean {
  if (path.endsWith("debt_to_ebitda.after")) {
    // debt/(ebitda - L): the divisor cancels as losses near EBITDA, so the reciprocals are compared.
    const { ebitda, totalDebt } = report.figures;
    const slack = RELATIVE * (Math.abs(ebitda) / totalDebt);
    return totalDebt === 0 ? expected === actual : Math.abs(1 / expected - 1 / actual) <= slack;
  }
  const scale = Math.max(Math.abs(expected), cancelledScale(path, report));
  return Math.abs(actual - expected) <= Math.max(SMALLEST, RELATIVE * scale);
}

/** For a member that is the difference of large numbers: their size; otherwise 0. */
function cancelledScale(path: string, report: CompanyReport): number {
  const result = report.results[Number(/^results\.(\d+)\./.exec(path)?.[1])];
  if (path.endsWith(".interaction")) return result?.total.loss ?? 0;
  if (path.endsWith("interest_coverage.after")) return Math.abs(result?.credit.interest_coverage.before ?? 0);
  if (path.endsWith(".asset_value_after")) return report.figures.totalAssets;
  // Damages near 0 are a difference of squared temperatures: slack of 1e-15.
  return path.endsWith(".damage_fraction") ? 1e-6 : 0;
}
