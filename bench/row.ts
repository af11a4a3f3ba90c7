import { cpus, loadavg } from "node:os";

/** The goal for a figure. Reported by benchmarks, never asserted by tests. */
export type Target = { readonly atLeast: number } | { readonly atMost: number };

/** One result: our figure and, if any, that of a competitor. */
export interface Row {
  readonly bench: string;
  /** What was measured; unique together with `grid` and `state`. */
  readonly name: string;
  readonly grid?: string;
  /** hot, random or cold. */
  readonly state?: string;
  /** Unit of `ours` and `theirs`, such as "ns per circle". */
  readonly unit: string;
  readonly ours?: number;
  readonly against?: string;
  readonly theirs?: number;
  /**
   * Overrides the figure compared with the target. By default theirs / ours (`atLeast`) or ours / theirs (`atMost`), or
   * `ours` without `theirs`.
   */
  readonly ratio?: number;
  readonly target?: Target;
  /** Why a figure is missing, or how to read it. */
  readonly note?: string;
}

/** A row as printed with `--json`, one per line. */
interface PrintedRow extends Omit<Row, "target"> {
  readonly target: string | null;
  readonly isMet: boolean | null;
  readonly machine: string;
  /** Load average of the last minute per core, including the benchmark itself: above 1, times are inflated. */
  readonly load: number;
  readonly node: string;
}

/**
 * Compares the row's figure with its target. `atLeast` targets apply to the speedup and `atMost` targets to the relative
 * cost, or both to `ours` if there is nothing to compare with.
 */
function evaluateTarget({
  ours,
  theirs,
  ratio,
  target,
}: Row): Pick<PrintedRow, "target" | "isMet"> & { ratio?: number } {
  const isAtMost = target !== undefined && "atMost" in target;
  const comparedRatio =
    ratio ?? (ours === undefined || theirs === undefined ? undefined : isAtMost ? ours / theirs : theirs / ours);
  const figure = comparedRatio ?? ours;
  const targetText = target === undefined ? null : "atMost" in target ? `<= ${target.atMost}` : `>= ${target.atLeast}`;
  const isMet =
    target === undefined || figure === undefined
      ? null
      : "atMost" in target
        ? figure <= target.atMost
        : figure >= target.atLeast;
  return { target: targetText, isMet, ...(comparedRatio === undefined ? {} : { ratio: comparedRatio }) };
}

/** Prints a row as text, or with `--json` as JSON. Times depend on the machine; compare ratios. */
export function print(row: Row): void {
  const { target: _target, ...shown } = row;
  const evaluated = evaluateTarget(row);
  if (process.argv.includes("--json")) {
    const printed: PrintedRow = {
      ...shown,
      ...evaluated,
      machine: cpus()[0]?.model.trim() ?? "unknown",
      load: Number(((loadavg()[0] ?? Number.NaN) / cpus().length).toFixed(2)),
      node: process.version,
    };
    console.log(JSON.stringify(printed));
    return;
  }
  const context = [row.grid, row.state].filter((part) => part !== undefined).join(", ");
  const figures = [
    row.ours === undefined ? "-" : short(row.ours),
    row.theirs === undefined ? undefined : `| ${short(row.theirs)}`,
    row.unit,
    evaluated.ratio === undefined ? undefined : `| ratio ${short(evaluated.ratio)}`,
    evaluated.target === null
      ? undefined
      : `| target ${evaluated.target}: ${evaluated.isMet === null ? "not measured" : evaluated.isMet ? "met" : "not met"}`,
    row.note === undefined ? undefined : `(${row.note})`,
  ];
  const against = row.against === undefined ? "" : `, against ${row.against}`;
  console.log(`${row.name}${context === "" ? "" : ` [${context}]`}${against}`);
  console.log(`    ${figures.filter((figure) => figure !== undefined).join(" ")}`);
}

function short(value: number): string {
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}
