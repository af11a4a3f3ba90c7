import { instantiateSync } from "@assemblyscript/loader";
import { HEAP_BASE, KERNEL_WASM_BASE64, type KernelExports, STATUS_OK } from "./kernel.generated.ts";
import * as constants from "./kernel.generated.ts";

const MEMORY_PAGE_BYTES = 65_536;
/** 4 GiB minus one page: the end address of a range that ends at exactly 4 GiB would wrap to 0. */
const PAGES_MAX = 65_535;
/** The memory grows by multiples of 64 MiB: each growth collects garbage, and unused memory costs only address space. */
const GROWTH_PAGES = 1024;
const ALIGNMENT_BYTES = 64;
/** Vector loads and stores may extend past the end of a region. */
export const PADDING_BYTES = 64;

/** A range of the kernel's memory. Views of it must not be kept, because memory growth detaches them. */
export interface Region {
  readonly pointer: number;
  readonly sizeBytes: number;
}

/** Allocates memory for the duration of one call. */
export interface Scratch {
  reserve(sizeBytes: number): Region;
  /** Allocates a region and copies the array into it. */
  copyIn(array: Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array): Region;
}

/** Thrown if a kernel rejects its arguments, which is a bug in the calling module and not an error of the user. */
export class KernelError extends Error {
  override readonly name = "KernelError";
  readonly status: number;
  constructor(call: string, status: number) {
    const named = Object.entries(constants).find(([name, value]) => name.startsWith("STATUS_") && value === status);
    super(`kernel function ${call} failed with status ${named?.[0] ?? status}`);
    this.status = status;
  }
}

/** The module, which all kernels of a thread share with its optimized code. */
let compiled: Promise<WebAssembly.Module> | undefined;

/**
 * One instance of the kernel module with its own memory. JavaScript manages the memory: static data of the kernel, then
 * scratch for calls, then regions reserved permanently, such as tiles. Kernels do not allocate.
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
    this.#scratchTop = alignAddress(HEAP_BASE);
    this.#scratchEnd = alignAddress(HEAP_BASE + scratchBytes);
    this.#reservedTop = this.#scratchEnd;
    this.#growTo(this.#reservedTop);
  }

  /** Creates an instance. `scratchBytes` limits the scratch of one call; unused scratch costs only address space. */
  static async load({ scratchBytes = 64 << 20 }: { readonly scratchBytes?: number } = {}): Promise<Kernel> {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: PAGES_MAX });
    compiled ??= WebAssembly.compile(decodeBase64(KERNEL_WASM_BASE64));
    // Not the asynchronous function, which refers to `Response`, so that Node would load its HTTP client.
    const { instance } = instantiateSync(await compiled, { env: { memory } });
    // Use the raw exports: the loader's wrappers, which count arguments, are too slow for hot calls.
    return new Kernel(instance.exports as unknown as KernelExports, memory, scratchBytes);
  }

  /** Reserves memory for the lifetime of the kernel. @throws RangeError above 4 GiB */
  reserve(sizeBytes: number): Region {
    const pointer = this.#reservedTop;
    const end = alignAddress(pointer + sizeBytes + PADDING_BYTES);
    this.#growTo(end);
    this.#reservedTop = end; // after #growTo, which may throw
    return { pointer, sizeBytes };
  }

  /** Calls a synchronous function with scratch memory, which is released on return and on throw. */
  withScratch<T>(use: (scratch: Scratch) => T): T {
    const topBefore = this.#scratchTop;
    const reserve = (sizeBytes: number): Region => {
      const pointer = this.#scratchTop;
      const end = alignAddress(pointer + sizeBytes + PADDING_BYTES);
      if (!(end <= this.#scratchEnd))
        throw new RangeError(
          `scratch memory exhausted: ${sizeBytes} bytes requested, ${this.#scratchEnd - pointer} left`,
        );
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
      this.#scratchTop = topBefore;
    }
  }

  /** @throws KernelError if the status is not OK */
  check(status: number, call: string): void {
    if (status !== STATUS_OK) throw new KernelError(call, status);
  }

  /** The entire memory as i32. The view is replaced when the memory grows. */
  get words(): Int32Array {
    if (this.#words.buffer !== this.#memory.buffer) this.#words = new Int32Array(this.#memory.buffer);
    return this.#words;
  }

  /**
   * Returns the address stored in a directory entry, given as an index into `words`, without the used flag in bit 0.
   * Entries above 2 GiB read as negative numbers.
   */
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
    const pages = Math.ceil(end / MEMORY_PAGE_BYTES);
    const present = this.#memory.buffer.byteLength / MEMORY_PAGE_BYTES;
    if (!(pages <= PAGES_MAX))
      throw new RangeError(`kernel memory is limited to ${PAGES_MAX} pages (${pages} requested)`);
    if (pages <= present) return;
    const grown = Math.min(PAGES_MAX, Math.ceil(pages / GROWTH_PAGES) * GROWTH_PAGES);
    this.#memory.grow(grown - present);
  }
}

/** Returns the first address at or after `address` that is a multiple of ALIGNMENT_BYTES. */
function alignAddress(address: number): number {
  return Math.ceil(address / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
}

/** Decodes base64, also in browsers. */
export function decodeBase64(base64: string): Uint8Array<ArrayBuffer> {
  const { Buffer: NodeBuffer } = globalThis as Partial<typeof globalThis>;
  if (NodeBuffer !== undefined) return new Uint8Array(NodeBuffer.from(base64, "base64"));
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}
