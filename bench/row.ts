import { cpus, loadavg } from "node:os";

/** What a figure should be: a goal that measurements are held against, and tests never. */
export type Mark = { readonly atLeast: number } | { readonly atMost: number };

/** One line of the table: a figure of ours, beside a rival's where there is one. */
export interface Row {
  readonly bench: string;
  /** What was measured, in words; with `grid` and `state` it names the row. */
  readonly name: string;
  readonly grid?: string;
  /** hot, random or cold. */
  readonly state?: string;
  /** Of `ours` and `rival`: "ns a circle", "tiles a circle". */
  readonly unit: string;
  readonly ours?: number;
  readonly against?: string;
  readonly rival?: number;
  /** What is judged, where it is neither rival / ours (times faster) nor `ours` itself. */
  readonly ratio?: number;
  readonly mark?: Mark;
  /** Why there is no figure, or what to know about it. */
  readonly note?: string;
}

/** A row as it is printed with `--json`, one line each. */
export interface PrintedRow extends Omit<Row, "mark"> {
  readonly mark: string | null;
  readonly reached: boolean | null;
  readonly machine: string;
  /** Processes that wanted to run during the last minute, ours among them, for each core: above 1, times are inflated. */
  readonly load: number;
  readonly node: string;
}

/** The figure that the mark is about. A mark from below speaks of "times faster", one from above of "times the cost". */
export function judge({ ours, rival, ratio, mark }: Row): Pick<PrintedRow, "mark" | "reached"> & { ratio?: number } {
  const isAtMost = mark !== undefined && "atMost" in mark;
  const compared =
    ratio ?? (ours === undefined || rival === undefined ? undefined : isAtMost ? ours / rival : rival / ours);
  const figure = compared ?? ours;
  const wanted = mark === undefined ? null : "atMost" in mark ? `<= ${mark.atMost}` : `>= ${mark.atLeast}`;
  const reached =
    mark === undefined || figure === undefined
      ? null
      : "atMost" in mark
        ? figure <= mark.atMost
        : figure >= mark.atLeast;
  return { mark: wanted, reached, ...(compared === undefined ? {} : { ratio: compared }) };
}

/** Prints a row: for people, or with `--json` for programs. Machines differ; the ratios are what counts. */
export function print(row: Row): void {
  const { mark: _mark, ...shown } = row;
  const judged = judge(row);
  if (process.argv.includes("--json")) {
    const printed: PrintedRow = {
      ...shown,
      ...judged,
      machine: cpus()[0]?.model.trim() ?? "unknown",
      load: Number(((loadavg()[0] ?? Number.NaN) / cpus().length).toFixed(2)),
      node: process.version,
    };
    console.log(JSON.stringify(printed));
    return;
  }
  const where = [row.grid, row.state].filter((word) => word !== undefined).join(", ");
  const figures = [
    row.ours === undefined ? "-" : short(row.ours),
    row.rival === undefined ? undefined : `| ${short(row.rival)}`,
    row.unit,
    judged.ratio === undefined ? undefined : `| ratio ${short(judged.ratio)}`,
    judged.mark === null ? undefined : `| mark ${judged.mark}: ${judged.reached === true ? "reached" : "not reached"}`,
    row.note === undefined ? undefined : `(${row.note})`,
  ];
  const against = row.against === undefined ? "" : `, against ${row.against}`;
  console.log(`${row.name}${where === "" ? "" : ` [${where}]`}${against}`);
  console.log(`    ${figures.filter((figure) => figure !== undefined).join(" ")}`);
}

function short(value: number): string {
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}
