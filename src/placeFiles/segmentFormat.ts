import type { ScoredBlock } from "../places/placeBlock.ts";

/** What is known of an encoded block after its last chunk. */
export interface SegmentContent {
  readonly rowCount: number;
  /** What the footer needs to know of the segment, as JSON; offsets are relative to the segment. */
  readonly description?: unknown;
}

/** Describes a written segment. */
export interface SegmentEntry extends SegmentContent {
  readonly block: number;
  readonly sizeBytes: number;
}

/**
 * Encodes an output file in segments that depend only on their own block: a file is its header, the segments of its blocks
 * in order, and its footer. A file can therefore be resumed after its last complete segment, and the segments of several
 * files can be joined into one.
 */
export interface SegmentFormat {
  readonly header: Uint8Array;
  /**
   * Encodes a block in chunks of a few megabytes, because the rows of a block with many groups would take several hundred
   * megabytes at once. A chunk may be overwritten after the next but one call of `next`.
   */
  encode(block: ScoredBlock): Generator<Uint8Array, SegmentContent>;
  /** @param segments all segments of the file, in order */
  footer(segments: readonly SegmentEntry[]): Uint8Array;
}
