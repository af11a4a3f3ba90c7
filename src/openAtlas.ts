import { blobsAt, isWebAddress } from "./atlas/address.ts";
import { openPackedAtlas, type PackedAtlas } from "./atlas/packedAtlas.ts";
import { Sampler } from "./atlas/sampler.ts";
import type { TileOrigin } from "./atlas/tileUse.ts";
import { Fault } from "./errors.ts";
import { answeringAtlas, type Atlas } from "./hazard/answer.ts";
import { Kernel } from "./kernel/instance.ts";
import type { Neighbourhoods } from "./pool/owners.ts";
import { Pool } from "./pool/pool.ts";
import { startWorker } from "./workerThreads.ts";

export interface OpenAtlasOptions {
  /**
   * Memory for decoded tiles in all, bytes, at least 4 MiB, and that for each worker, too. Default 512 MiB; it is taken
   * as tiles are read, not before.
   */
  readonly cacheBytes?: number;
  /**
   * Worker threads for bulk work (`hazardRiskBatch` and `sample` of many places), each with its share of the cache. They
   * are started when they are first needed and end with `close`. Default 0: all is done on the caller's thread. Node
   * only.
   */
  readonly workers?: number;
}

const CACHE_BYTES_DEFAULT = 512 << 20;
/** For each thread: half of it takes the largest tile of the 84 values that one question may ask for, 1.5 MiB. */
const CACHE_BYTES_MIN = 4 << 20;
const CACHE_BYTES_MAX = 3 * 2 ** 30;
const WORKERS_MAX = 256;
/** The part of the cache that holds the index of the tiles, the rest holds tiles. */
const HEADER_SHARE = 1 / 16;

/**
 * Opens an atlas.
 *
 * @param address a folder that holds an atlas (not in a browser), an http or https address that serves one by range
 *   requests, or "demo" for the synthetic world
 * @throws Fault `atlas_not_found` when there is none, `atlas_unavailable` when it is damaged or cannot be reached,
 *   `configuration_invalid` for an option out of range
 */
export async function openAtlas(address: string, options: OpenAtlasOptions = {}): Promise<Atlas> {
  const cacheBytes = options.cacheBytes ?? CACHE_BYTES_DEFAULT;
  if (!(cacheBytes >= CACHE_BYTES_MIN && cacheBytes <= CACHE_BYTES_MAX)) {
    throw new Fault("configuration_invalid", `cacheBytes must be from ${CACHE_BYTES_MIN} to ${CACHE_BYTES_MAX}.`, {
      details: { cacheBytes },
    });
  }
  const workers = options.workers ?? 0;
  if (!(Number.isInteger(workers) && workers >= 0 && workers <= WORKERS_MAX)) {
    throw new Fault("configuration_invalid", `workers must be a whole number from 0 to ${WORKERS_MAX}.`, {
      details: { workers },
    });
  }
  const share = Math.max(CACHE_BYTES_MIN, Math.floor(cacheBytes / (workers + 1)));
  const { atlas, neighbourhoods } = await openAtlasHere(address, share);
  if (workers === 0) return atlas;
  const pool = new Pool({
    workers,
    opened: atlas,
    start: () => startWorker({ address, cacheBytes: share }),
  });
  return pool.behind(atlas, neighbourhoods);
}

/** Opens the atlas on this thread. */
export async function openAtlasHere(
  address: string,
  cacheBytes: number,
): Promise<{ readonly atlas: Atlas; readonly neighbourhoods: Neighbourhoods }> {
  const kernel = await Kernel.load();
  const headerCacheBytes = Math.floor(cacheBytes * HEADER_SHARE);
  const cells =
    address === "demo"
      ? await (await import("./demo/world.ts")).openDemo(kernel) // its coastlines are larger than all the rest
      : await openPackedAt(kernel, address, { headerCacheBytes });
  const sampler = new Sampler(kernel, cells, { cacheBytes: cacheBytes - headerCacheBytes });
  const neighbourhoods: Neighbourhoods = {
    numberOf: (hazard, { latitude, longitude }) =>
      sampler.neighbourhoodOf(hazard, { latDeg: latitude, lonDeg: longitude }),
  };
  return { atlas: answeringAtlas(sampler, cells, originOf(address)), neighbourhoods };
}

function originOf(address: string): TileOrigin {
  if (address === "demo") return "demo";
  return isWebAddress(address) ? "http" : "disk";
}

/** Leaves nothing open where there is no atlas to be had. */
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
