import { instantiate } from "@assemblyscript/loader";
import { HEAP_BASE, KERNEL_WASM_BASE64, type KernelExports, STATUS_OK } from "./kernel.generated.ts";
import * as constants from "./kernel.generated.ts";

const PAGE_BYTES = 65_536;
/** 4 GiB less one page: a range that ends at exactly 4 GiB would wrap to 0. */
const PAGES_MAX = 65_535;
const ALIGNMENT = 64;
/** SIMD tails may read past the end of what they were given. */
const PADDING_BYTES = 64;

/** Some bytes of the kernel's memory. A view is made when it is read and never kept: growth detaches it. */
export interface Region {
  readonly pointer: number;
  readonly sizeBytes: number;
}

/** Hands out memory for the length of one call. */
export interface Scratch {
  reserve(sizeBytes: number): Region;
  /** Reserves room for the array and copies it in. */
  copyIn(array: Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array): Region;
}

/** A kernel refused what one of our own modules gave it: a bug, never the caller's fault. */
export class KernelError extends Error {
  override readonly name = "KernelError";
  readonly status: number;
  constructor(call: string, status: number) {
    const named = Object.entries(constants).find(([name, value]) => name.startsWith("STATUS_") && value === status);
    super(`The kernel's ${call} answered ${named?.[0] ?? status}.`);
    this.status = status;
  }
}

/**
 * One instance of the kernel with a memory of its own, which JavaScript lays out: the kernel's
 * constants, then scratch for calls, then what is reserved for good (tiles). Kernels never allocate.
 */
export class Kernel {
  readonly exports: KernelExports;
  readonly #memory: WebAssembly.Memory;
  readonly #scratchEnd: number;
  #scratchTop: number;
  #reservedTop: number;
  #words = new Int32Array();

  private constructor(exports: KernelExports, memory: WebAssembly.Memory, scratchBytes: number) {
    this.exports = exports;
    this.#memory = memory;
    this.#scratchTop = aligned(HEAP_BASE);
    this.#scratchEnd = aligned(HEAP_BASE + scratchBytes);
    this.#reservedTop = this.#scratchEnd;
    this.#growTo(this.#reservedTop);
  }

  /** `scratchBytes` bounds what one call may use; untouched, it costs address space only. */
  static async load({ scratchBytes = 64 << 20 }: { readonly scratchBytes?: number } = {}): Promise<Kernel> {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: PAGES_MAX });
    const { instance } = await instantiate(bytesOf(KERNEL_WASM_BASE64), { env: { memory } });
    // The loader wraps each export and counts its arguments; hot calls go to the functions themselves.
    return new Kernel(instance.exports as unknown as KernelExports, memory, scratchBytes);
  }

  /** Reserves memory for as long as the kernel lives. */
  reserve(sizeBytes: number): Region {
    const pointer = this.#reservedTop;
    const end = aligned(pointer + sizeBytes + PADDING_BYTES);
    this.#growTo(end);
    this.#reservedTop = end; // only now: a refused reservation leaves no trace
    return { pointer, sizeBytes };
  }

  /** Lends scratch to a synchronous piece of work and takes it back on return and on throw. */
  withScratch<T>(use: (scratch: Scratch) => T): T {
    const before = this.#scratchTop;
    const reserve = (sizeBytes: number): Region => {
      const pointer = this.#scratchTop;
      const end = aligned(pointer + sizeBytes + PADDING_BYTES);
      if (!(end <= this.#scratchEnd))
        throw new RangeError(`A call needs ${sizeBytes} bytes more scratch than there is.`);
      this.#scratchTop = end;
      return { pointer, sizeBytes };
    };
    const copyIn: Scratch["copyIn"] = (array) => {
      const region = reserve(array.byteLength);
      this.bytes(region).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
      return region;
    };
    try {
      return use({ reserve, copyIn });
    } finally {
      this.#scratchTop = before;
    }
  }

  check(status: number, call: string): void {
    if (status !== STATUS_OK) throw new KernelError(call, status);
  }

  /** All of the memory as 32-bit integers. The view is renewed when the memory has grown. */
  get words(): Int32Array {
    if (this.#words.buffer !== this.#memory.buffer) this.#words = new Int32Array(this.#memory.buffer);
    return this.#words;
  }

  /** Where a word of a directory points to, without the mark of use in bit 0. Above 2 GiB a word reads as negative. */
  pointerAt(word: number): number {
    return ((this.words[word] ?? 0) & ~1) >>> 0;
  }

  bytes({ pointer, sizeBytes }: Region): Uint8Array {
    return new Uint8Array(this.#memory.buffer, pointer, sizeBytes);
  }
  u16({ pointer, sizeBytes }: Region): Uint16Array {
    return new Uint16Array(this.#memory.buffer, pointer, sizeBytes >>> 1);
  }
  i32({ pointer, sizeBytes }: Region): Int32Array {
    return new Int32Array(this.#memory.buffer, pointer, sizeBytes >>> 2);
  }
  f64({ pointer, sizeBytes }: Region): Float64Array {
    return new Float64Array(this.#memory.buffer, pointer, sizeBytes >>> 3);
  }

  #growTo(end: number): void {
    const pages = Math.ceil(end / PAGE_BYTES);
    const missing = pages - this.#memory.buffer.byteLength / PAGE_BYTES;
    if (!(pages <= PAGES_MAX))
      throw new RangeError(`The kernel's memory ends at ${PAGES_MAX} pages; ${pages} are needed.`);
    if (missing > 0) this.#memory.grow(missing);
  }
}

function aligned(address: number): number {
  return Math.ceil(address / ALIGNMENT) * ALIGNMENT;
}

/** What a text of base64 holds; `Buffer` would do it in Node alone. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}
