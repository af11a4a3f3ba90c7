import { schemeOf } from "./atlas/httpBlobs.ts";
import { blobsAt, openPackedAtlas, type PackedAtlas } from "./atlas/packedAtlas.ts";
import { Sampler } from "./atlas/sampler.ts";
import type { TileOrigin } from "./atlas/tileUse.ts";
import type { FaultItem } from "./errors.ts";
import { checkOptions, quote, type ValueSchema } from "./validation/schemaErrors.ts";
import { type Atlas, createAtlas, type LocalAtlas } from "./hazard/answer.ts";
import { Kernel } from "./kernel/instance.ts";
import { Executor } from "./pool/executor.ts";
import { PooledAtlas } from "./pool/pooledAtlas.ts";
import { startWorker } from "./pool/startWorker.ts";

export interface OpenAtlasOptions {
  /**
   * Total memory for decoded tiles, in bytes, shared equally by the calling thread and the workers, 4 MiB to 3 GiB. Each
   * thread uses at least 4 MiB even if its share is smaller. Default 512 MiB.
   */
  readonly cacheBytes?: number;
  /**
   * Number of worker threads for bulk work (`hazardRiskBatch`, `curveBatch`, `scorePortfolio`, and `sample` of many
   * locations), each with its share of the cache; 0 to 256. They start on first use and end with `close`. Default 0:
   * everything runs on the calling thread. Node.js only.
   */
  readonly workers?: number;
}

const CACHE_BYTES_DEFAULT = 512 << 20;
/**
 * Minimum per thread. Half of it holds the largest possible tile, which takes 1.4 MiB for the 84 layers that one query
 * can request.
 */
const CACHE_BYTES_MIN = 4 << 20;
const CACHE_BYTES_MAX = 3 * 2 ** 30;
const WORKERS_MAX = 256;
/** Share of the cache for pyramid tile headers; the rest holds tiles. */
const HEADER_SHARE = 1 / 16;
/** Share of the cache for tiles of maps, and its maximum: about 2000 tiles of 8 KiB. */
const RASTER_SHARE = 1 / 16;
const RASTER_CACHE_BYTES_MAX = 16 << 20;

/**
 * Opens an atlas.
 *
 * @param address a folder (not in a browser), an http or https address that supports range requests, or "demo" for the
 *   synthetic world
 * @throws Fault `atlas_not_found` if there is no atlas, `atlas_unavailable` if it is damaged or unreachable,
 *   `configuration_invalid` with all errors of the address and the options
 */
export async function openAtlas(address: string, options: OpenAtlasOptions = {}): Promise<Atlas> {
  checkOptions(options, ATLAS_OPTIONS_SHAPE, { code: "configuration_invalid", items: addressErrors(address) });
  const { cacheBytes = CACHE_BYTES_DEFAULT, workers = 0 } = options;
  const threadCacheBytes = Math.max(CACHE_BYTES_MIN, Math.floor(cacheBytes / (workers + 1)));
  const atlas = await openLocalAtlas(address, threadCacheBytes);
  if (workers === 0) return atlas;
  const start = () => startWorker({ atlasAddress: address, cacheBytes: threadCacheBytes });
  return new PooledAtlas(atlas, new Executor({ workers, opened: atlas, start }));
}

const ATLAS_OPTIONS_SHAPE: ValueSchema = {
  type: "object",
  properties: {
    cacheBytes: { type: "number", minimum: CACHE_BYTES_MIN, maximum: CACHE_BYTES_MAX },
    workers: { type: "integer", minimum: 0, maximum: WORKERS_MAX },
  },
  additionalProperties: false,
};

/** Returns the errors of an address. */
function addressErrors(address: unknown): readonly FaultItem[] {
  if (typeof address === "string" && address.trim() !== "") return [];
  const got = address === undefined ? "is missing" : `is ${quote(address)}`;
  const detail = `The address must be a folder, an http or https address, or "demo", as a string; it ${got}.`;
  const code = address === undefined ? "missing" : typeof address === "string" ? "empty" : "wrong_type";
  return [{ pointer: "/address", code, detail }];
}

/** Opens an atlas on the current thread. */
export async function openLocalAtlas(address: string, cacheBytes: number): Promise<LocalAtlas> {
  const kernel = await Kernel.load();
  const headerCacheBytes = Math.floor(cacheBytes * HEADER_SHARE);
  const cells =
    address === "demo"
      ? await (await import("./demo/world.ts")).openDemo(kernel) // loaded on demand, because its coastlines are larger than the rest of the library
      : await openPackedAt(kernel, address, { headerCacheBytes });
  const rasterCacheBytes = Math.min(RASTER_CACHE_BYTES_MAX, Math.floor(cacheBytes * RASTER_SHARE));
  const sampler = new Sampler(kernel, cells, {
    cacheBytes: cacheBytes - headerCacheBytes - rasterCacheBytes,
    rasterCacheBytes,
  });
  return createAtlas(sampler, cells, originOf(address));
}

function originOf(address: string): TileOrigin {
  if (address === "demo") return "demo";
  return schemeOf(address) === undefined ? "disk" : "http";
}

/** Opens a stored atlas. Closes its files if opening fails. */
async function openPackedAt(
  kernel: Kernel,
  address: string,
  sizes: { readonly headerCacheBytes: number },
): Promise<PackedAtlas> {
  const blobs = blobsAt(address);
  try {
    return await openPackedAtlas(kernel, blobs, sizes);
  } catch (error) {
    await blobs.close();
    throw error;
  }
}
