import type { ScoredBlock } from "../../../src/places/scores/placeBlock.ts";
import type { SegmentEntry, SegmentFormat } from "../../../src/places/segmentFormat.ts";

/** Encodes blocks as a complete file. */
export async function encodedFile(format: SegmentFormat, blocks: readonly ScoredBlock[]): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [format.header];
  const segments: SegmentEntry[] = [];
  for (const block of blocks) {
    const generator = format.encode(block);
    let sizeBytes = 0;
    let next = generator.next();
    for (; next.done !== true; next = generator.next()) {
      parts.push(next.value.slice());
      sizeBytes += next.value.length;
    }
    segments.push({ block: block.places.index, sizeBytes, ...next.value });
  }
  const rows = Buffer.concat(parts);
  const read = (start: number, sizeBytes: number): Promise<Uint8Array> =>
    Promise.resolve(rows.subarray(start, start + sizeBytes));
  const footer: Uint8Array[] = [];
  for await (const chunk of format.footer?.({ segments, read }) ?? []) footer.push(chunk);
  return Buffer.concat([rows, ...footer]);
}
