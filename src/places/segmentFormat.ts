import type { ScoredBlock } from "./scores/placeBlock.ts";

/** What is known of an encoded block after its last chunk. */
export interface SegmentContent {
  readonly rowCount: number;
}

/** Describes a written segment. */
export interface SegmentEntry extends SegmentContent {
  readonly block: number;
  readonly sizeBytes: number;
}

/** A file that is written except for its footer. */
export interface WrittenSegments {
  /** All segments, in order. The first one follows the header. */
  readonly segments: readonly SegmentEntry[];
  /** Reads bytes of the file. */
  read(startBytes: number, sizeBytes: number): Promise<Uint8Array>;
}

/** Writes a footer in chunks of about a megabyte. */
export type FooterEncoder = (written: WrittenSegments) => AsyncIterable<Uint8Array>;

/**
 * Encodes an output file in segments that depend only on their own block: a file is its header, the segments of its blocks
 * in order, and its footer. A file can therefore be resumed after its last complete segment, and the segments of several
 * files can be joined into one. What the footer needs of a segment is part of the segment, so that nothing else grows with
 * the number of columns.
 */
export interface SegmentFormat {
  readonly header: Uint8Array;
  /**
   * Encodes a block in chunks of a few megabytes, because the rows of a block with many groups would take several hundred
   * megabytes at once. A chunk may be overwritten after the next but one call of `next`.
   */
  encode(block: ScoredBlock): Generator<Uint8Array, SegmentContent>;
  /** Undefined if the format has no footer. */
  readonly footer: FooterEncoder | undefined;
}
