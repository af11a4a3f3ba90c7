import type { Blobs, ByteRange } from "../../src/atlas/blobs.ts";

/** Wraps a `Blobs` and records its reads. */
export class RecordingBlobs implements Blobs {
  readonly description: string;
  readonly reads: (ByteRange & { readonly name: string })[] = [];
  readonly #blobs: Blobs;

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
    this.description = blobs.description;
  }

  sizeBytes(name: string): Promise<number | undefined> {
    return this.#blobs.sizeBytes(name);
  }
  read(name: string, range: ByteRange): Promise<Uint8Array> {
    this.reads.push({ name, ...range });
    return this.#blobs.read(name, range);
  }
  close(): Promise<void> {
    return this.#blobs.close();
  }

  /** Returns the count and total size of the reads of files with this suffix, and clears all recorded reads. */
  countAndReset(suffix: string): { readonly count: number; readonly sizeBytes: number } {
    const reads = this.reads.filter(({ name }) => name.endsWith(suffix));
    this.reads.length = 0;
    return { count: reads.length, sizeBytes: reads.reduce((sum, read) => sum + read.sizeBytes, 0) };
  }
}
