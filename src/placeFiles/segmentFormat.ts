import type { ScoredBlock } from "../places/placeBlock.ts";

/** The encoded rows of one block. A file is its header, the segments of its blocks in order, and its footer. */
export interface Segment {
  readonly bytes: Uint8Array;
  readonly rowCount: number;
  /** What the footer needs to know of the segment, as JSON; offsets are relative to the segment. */
  readonly description?: unknown;
}

/** Describes a written segment. */
export interface SegmentEntry {
  readonly block: number;
  readonly sizeBytes: number;
  readonly rowCount: number;
  readonly description?: unknown;
}

/**
 * Encodes an output file in segments that depend only on their own block. A file can therefore be resumed after its last
 * complete segment, and the segments of several files can be joined into one.
 */
export interface SegmentFormat {
  readonly header: Uint8Array;
  encode(block: ScoredBlock): Segment;
  /** @param segments all segments of the file, in order */
  footer(segments: readonly SegmentEntry[]): Uint8Array;
}
