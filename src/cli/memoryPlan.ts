import { totalmem } from "node:os";
import { constrainedMemory } from "node:process";
import { Fault } from "../errors.ts";
import { DEFAULT_LOAD_LIMITS } from "../host/admission/resources.ts";
import { DEFAULT_BODY_BYTES_MAX, plainBodyMemoryBytes } from "../host/admission/resources.ts";

const MIB = 2 ** 20;
/** Memory of the process without tiles and requests: the program, the atlas' directories and the event loop's heap. */
const BASE_BYTES = 160 * MIB;
const WORKER_BYTES = 48 * MIB;
/** Garbage takes as much memory as the values in use. */
const GARBAGE_FACTOR = 2;
const CACHE_DEFAULT_BYTES_MAX = 512 * MIB;
const CACHE_SHARE = 1 / 3;
const CACHE_BYTES_MIN = 16 * MIB;
/** Requests hold no more without `--memory`, however large the machine: more would only let attackers fill it. */
const DEFAULT_REQUEST_BYTES_MAX = 256 * MIB;
const DEFAULT_REQUEST_BYTES_PER_WORKER = 128 * MIB;
/** Half of a worker's heap (`pool/startWorker.ts`), beyond which the thread ends. */
const REQUEST_BYTES_PER_WORKER_MAX = 512 * MIB;
/** Share of the physical memory if neither the option nor a control group limits the process. */
const PHYSICAL_SHARE = 0.5;

/** How the memory of the process is divided. */
export interface MemoryPlan {
  /** What the process takes at most. */
  readonly memoryBytes: number;
  /** Decoded tiles of all threads. */
  readonly cacheBytes: number;
  /** Bodies, parsed values, partial results and responses. */
  readonly requestBytes: number;
}

export interface MemoryPlanOptions {
  /** Absent: the limit of the control group, otherwise half of the physical memory. */
  readonly memoryBytes?: number | undefined;
  /** Absent: a third of the memory that remains after the threads, 512 MiB at most. */
  readonly cacheBytes?: number | undefined;
  readonly workers: number;
  /** Largest request body. */
  readonly bodyBytesMax?: number | undefined;
  /** Memory that is available to the process. */
  readonly availableBytes?: number;
}

/**
 * Divides the memory of the process:
 *
 *     base = 160 MiB + 48 MiB * workers
 *     cache = min(512 MiB, (memory - base) / 3)
 *     requests = min((memory - base - cache) / 2, 512 MiB * workers)
 *
 * Without the option, requests have at most 256 MiB + 128 MiB * workers. A body of the largest size must fit into the half
 * that one account may hold, if it has few values.
 *
 * @throws Fault `configuration_invalid` if the memory is too small for the threads, the cache and the largest body
 */
export function planMemory({
  memoryBytes,
  cacheBytes: givenCacheBytes,
  workers,
  bodyBytesMax = DEFAULT_BODY_BYTES_MAX,
  availableBytes = availableMemoryBytes(),
}: MemoryPlanOptions): MemoryPlan {
  const totalBytes = memoryBytes ?? availableBytes;
  const freeBytes = totalBytes - BASE_BYTES - workers * WORKER_BYTES;
  const cacheBytes =
    givenCacheBytes ??
    Math.max(CACHE_BYTES_MIN, Math.min(CACHE_DEFAULT_BYTES_MAX, Math.floor(freeBytes * CACHE_SHARE)));
  const requestBytesMin = Math.ceil(plainBodyMemoryBytes(bodyBytesMax) / DEFAULT_LOAD_LIMITS.accountShare);
  const requestBytesMax = Math.max(
    requestBytesMin,
    memoryBytes === undefined
      ? DEFAULT_REQUEST_BYTES_MAX + workers * DEFAULT_REQUEST_BYTES_PER_WORKER
      : Math.max(1, workers) * REQUEST_BYTES_PER_WORKER_MAX,
  );
  const requestBytes = Math.min(requestBytesMax, Math.floor((freeBytes - cacheBytes) / GARBAGE_FACTOR));
  if (requestBytes < requestBytesMin) {
    const requestShareBytes = GARBAGE_FACTOR * requestBytesMin;
    const neededBytes =
      totalBytes -
      freeBytes +
      (givenCacheBytes === undefined ? requestShareBytes / (1 - CACHE_SHARE) : givenCacheBytes + requestShareBytes);
    const message =
      `--memory must be at least ${Math.ceil(neededBytes / MIB)} MiB with ${workers} workers` +
      (givenCacheBytes === undefined ? "" : `, ${Math.floor(givenCacheBytes / MIB)} MiB for tiles`) +
      ` and bodies of up to ${Math.floor(bodyBytesMax / MIB)} MiB ` +
      `(got ${Math.floor(totalBytes / MIB)}).`;
    throw new Fault("configuration_invalid", message);
  }
  const plannedBytes = totalBytes - freeBytes + cacheBytes + GARBAGE_FACTOR * requestBytes;
  return { memoryBytes: plannedBytes, cacheBytes, requestBytes };
}

/** Returns the limit of the control group, or half of the physical memory if there is none. */
function availableMemoryBytes(): number {
  const physicalBytes = totalmem();
  // 0 or a number beyond the physical memory if there is no limit.
  const limitBytes = constrainedMemory();
  return limitBytes > 0 && limitBytes < physicalBytes ? limitBytes : Math.floor(physicalBytes * PHYSICAL_SHARE);
}
