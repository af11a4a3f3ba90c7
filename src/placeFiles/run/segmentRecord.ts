import type { HazardName } from "../../hazard/hazards.ts";
import type { ScoreGroup, ScoreStatus } from "../../hazard/scoring/scoreRequest.ts";
import type { RowError, ScoredBlock } from "../../places/placeBlock.ts";
import { ROWS_PER_BLOCK } from "../../places/placeBlock.ts";
import type { SegmentEntry } from "../segmentFormat.ts";
import { blockStatuses, ROW_STATUSES } from "../writers/rowStatuses.ts";

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

/** What the list of segments and the manifest state about a segment. */
export interface SegmentRecord extends SegmentEntry {
  /** Number of rows of the input. */
  readonly placeCount: number;
  readonly statuses: StatusCounts;
  /** Number of invalid rows by reason. */
  readonly invalidRows: Partial<Record<RowError["reason"], number>>;
  /** The first of them. */
  readonly listedInvalidRows: readonly InvalidRow[];
}

/** Counts the statuses and errors of a block. */
export function countsOf(
  block: ScoredBlock,
  groups: readonly ScoreGroup[],
): Pick<SegmentRecord, "placeCount" | "statuses" | "invalidRows" | "listedInvalidRows"> {
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
    placeCount: places.rowCount,
    statuses: byHazard,
    invalidRows,
    listedInvalidRows: listed.map(([index, { reason, message }]) => ({
      row: places.index * ROWS_PER_BLOCK + index + 1,
      reason,
      message,
    })),
  };
}

/**
 * Parses a list of segments up to the first line that is not complete.
 * @returns the records and the sizes of their lines
 */
export function parseSegmentRecords(
  text: string,
): readonly { readonly record: SegmentRecord; readonly sizeBytes: number }[] {
  const records: { record: SegmentRecord; sizeBytes: number }[] = [];
  for (let start = 0; ;) {
    const end = text.indexOf("\n", start);
    if (end < 0) return records;
    const line = text.slice(start, end + 1);
    try {
      records.push({ record: JSON.parse(line) as SegmentRecord, sizeBytes: Buffer.byteLength(line) });
    } catch (error) {
      if (error instanceof SyntaxError) return records;
      throw error;
    }
    start = end + 1;
  }
}
