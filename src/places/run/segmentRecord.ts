import type { HazardName } from "../../hazard/hazards.ts";
import type { ScoreGroup, ScoreStatus } from "../../hazard/scoring/scoreRequest.ts";
import type { RowError, ScoredBlock } from "../scores/placeBlock.ts";
import type { SegmentEntry } from "../segmentFormat.ts";
import { blockStatuses, ROW_STATUSES } from "../writers/blockArrays.ts";

/** A row of the input that cannot be scored. */
export interface InvalidRow {
  /** Number of the row, from 1, without the header. */
  readonly row: number;
  readonly reason: RowError["reason"];
  readonly message: string;
}

/** Number of invalid rows that reports list. All of them are in the output. */
export const LISTED_INVALID_ROW_COUNT_MAX = 100;

/** Number of values by hazard and status. */
export type StatusCounts = Partial<Record<HazardName, Partial<Record<ScoreStatus, number>>>>;

/** What the manifest states about a segment. Its size does not depend on the columns. */
export interface SegmentRecord extends SegmentEntry {
  /** Number of rows of the input. */
  readonly placeCount: number;
}

/** Counts of the rows of a segment or of an output. */
export interface RowCounts {
  readonly statuses: StatusCounts;
  /** Number of invalid rows by reason. */
  readonly invalidRows: Partial<Record<RowError["reason"], number>>;
  /** The first of them. */
  readonly listedInvalidRows: readonly InvalidRow[];
}

/** A line of the list of segments. */
export interface SegmentLine extends SegmentRecord {
  /** Absent if the segment was copied from a part. Lists only the invalid rows that the report lists. */
  readonly counts?: RowCounts;
}

export const NO_COUNTS: RowCounts = { statuses: {}, invalidRows: {}, listedInvalidRows: [] };

/** Adds counts. The invalid rows that come first in the file are listed. */
export function addCounts(a: RowCounts, b: RowCounts): RowCounts {
  const statuses: Partial<Record<HazardName, Partial<Record<ScoreStatus, number>>>> = { ...a.statuses };
  for (const [hazard, counts] of Object.entries(b.statuses) as [HazardName, Record<ScoreStatus, number>][]) {
    statuses[hazard] = addNumbers(statuses[hazard] ?? {}, counts);
  }
  const listed = [...a.listedInvalidRows, ...b.listedInvalidRows].toSorted((one, other) => one.row - other.row);
  return {
    statuses,
    invalidRows: addNumbers(a.invalidRows, b.invalidRows),
    listedInvalidRows: listed.slice(0, LISTED_INVALID_ROW_COUNT_MAX),
  };
}

function addNumbers<Name extends string>(
  a: Partial<Record<Name, number>>,
  b: Partial<Record<Name, number>>,
): Partial<Record<Name, number>> {
  const sums = { ...a };
  for (const [name, number] of Object.entries(b) as [Name, number][]) sums[name] = (sums[name] ?? 0) + number;
  return sums;
}

/** Counts the rows of segments. */
export function countRows(records: readonly SegmentRecord[]): {
  readonly placeCount: number;
  readonly rowCount: number;
} {
  return {
    placeCount: records.reduce((count, record) => count + record.placeCount, 0),
    rowCount: records.reduce((count, record) => count + record.rowCount, 0),
  };
}

/** Counts the statuses and errors of a block. */
export function countsOf(block: ScoredBlock, groups: readonly ScoreGroup[]): RowCounts {
  const { places } = block;
  const statuses = blockStatuses(block, groups);
  const byGroup = new Uint32Array(groups.length * ROW_STATUSES.length);
  for (let i = 0; i < statuses.length; i++) {
    const counter = (i % groups.length) * ROW_STATUSES.length + (statuses[i] as number);
    byGroup[counter] = (byGroup[counter] as number) + 1;
  }
  const byHazard: Partial<Record<HazardName, Partial<Record<ScoreStatus, number>>>> = {};
  for (const [group, { hazard }] of groups.entries()) {
    const counts = (byHazard[hazard] ??= {});
    for (const [status, name] of ROW_STATUSES.entries()) {
      const count = byGroup[group * ROW_STATUSES.length + status] ?? 0;
      if (name !== "invalid_row" && count > 0) counts[name] = (counts[name] ?? 0) + count;
    }
  }
  const invalidRows: Partial<Record<RowError["reason"], number>> = {};
  for (const { reason } of places.errors.values()) invalidRows[reason] = (invalidRows[reason] ?? 0) + 1;
  const listed = [...places.errors].toSorted(([a], [b]) => a - b).slice(0, LISTED_INVALID_ROW_COUNT_MAX);
  return {
    statuses: byHazard,
    invalidRows,
    listedInvalidRows: listed.map(([index, { reason, message }]) => ({
      row: places.firstRow + index + 1,
      reason,
      message,
    })),
  };
}

/**
 * Parses a list of segments, read in chunks, up to the first line that is not complete.
 * @returns the lines and their sizes
 */
export async function* parseSegmentLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly line: SegmentLine; readonly sizeBytes: number }> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const line = parseLine(rest.toString("utf8", 0, end));
      if (line === undefined) return;
      yield { line, sizeBytes: end + 1 };
      rest = rest.subarray(end + 1);
    }
  }
}

function parseLine(text: string): SegmentLine | undefined {
  try {
    return JSON.parse(text) as SegmentLine;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
