import type { SampleResult } from "../hazard/sampleRequest.ts";

/** Locations and space for their values, in one buffer. */
export interface SampleBuffer {
  readonly latitudes: Float64Array<ArrayBuffer>;
  readonly longitudes: Float64Array<ArrayBuffer>;
  readonly into: SampleResult;
}

/**
 * Buffers that are moved to the workers and back. A call reuses them, because new buffers for every chunk would occupy as
 * much memory as the whole call until they are garbage-collected.
 */
export class TransferBuffers {
  readonly #sizeBytes: number;
  readonly #free: ArrayBuffer[] = [];

  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
  }

  /** Returns a free or new buffer. */
  take(): ArrayBuffer {
    return this.#free.pop() ?? new ArrayBuffer(this.#sizeBytes);
  }

  /** Makes the buffer of an array available again. */
  giveBack({ buffer }: Float64Array): void {
    this.#free.push(buffer as ArrayBuffer);
  }
}

/** Returns the size of a SampleBuffer. */
export function sampleBufferBytes(locationCount: number, layerCount: number): number {
  return locationCount * (2 * 8 + layerCount * (8 + 1));
}

/** Returns the arrays of a call of `sample` in a buffer. */
export function sampleBufferIn(buffer: ArrayBuffer, locationCount: number, layerCount: number): SampleBuffer {
  const length = locationCount * layerCount;
  return {
    latitudes: new Float64Array(buffer, 0, locationCount),
    longitudes: new Float64Array(buffer, locationCount * 8, locationCount),
    into: {
      values: new Float64Array(buffer, locationCount * 16, length),
      reasons: new Uint8Array(buffer, locationCount * 16 + length * 8, length),
    },
  };
}

/** Copies the elements at the indices to the beginning of another array. */
export function gather(from: Float64Array, indices: Uint32Array, to: Float64Array): void {
  for (let i = 0; i < indices.length; i++) to[i] = from[indices[i] ?? 0] ?? NaN;
}

/** Copies rows to the positions of their locations. */
export function scatter(
  from: Float64Array | Uint8Array,
  indices: Uint32Array,
  width: number,
  to: Float64Array | Uint8Array,
): void {
  for (let i = 0; i < indices.length; i++) {
    const rowStart = (indices[i] ?? 0) * width;
    for (let column = 0; column < width; column++) to[rowStart + column] = from[i * width + column] ?? NaN;
  }
}
