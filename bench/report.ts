import { cpus } from "node:os";

/** One comparison, times in nanoseconds a call. */
export interface BenchRow {
  readonly name: string;
  readonly ours: number;
  readonly rival: number;
}

/** Prints comparisons as a table, or with `--json` as one JSON line each. Machines differ: the ratio is what counts. */
export function report(bench: string, rival: string, rows: readonly BenchRow[]): void {
  const where = { node: process.version, cpu: cpus()[0]?.model ?? "unknown" };
  if (process.argv.includes("--json")) {
    for (const row of rows)
      console.log(JSON.stringify({ bench, ...row, against: rival, ratio: row.rival / row.ours, ...where }));
    return;
  }
  console.log(`${bench} (${where.cpu}, Node ${where.node}), median of each, against: ${rival}`);
  for (const { name, ours, rival: theirs } of rows) {
    console.log(`  ${name.padEnd(60)} ${us(ours)} us | ${us(theirs)} us | ${(theirs / ours).toFixed(1)}x`);
  }
}

function us(nanoseconds: number): string {
  return (nanoseconds / 1000).toFixed(1).padStart(10);
}
