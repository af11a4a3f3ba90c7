import { blobsAt, isWebAddress } from "./atlas/address.ts";
import { openPackedAtlas, type PackedAtlas } from "./atlas/packedAtlas.ts";
import { Sampler } from "./atlas/sampler.ts";
import type { TileOrigin } from "./atlas/tileUse.ts";
import type { FaultItem } from "./errors.ts";
import { checkOptions, quote, type ValueSchema } from "./schemaErrors.ts";
import { createAtlas, type Atlas } from "./hazard/answer.ts";
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
 *   `configuration_invalid` with every fault of the address and the options
 */
export async function openAtlas(address: string, options: OpenAtlasOptions = {}): Promise<Atlas> {
  checkOptions(options, OPTIONS_SHAPE, { code: "configuration_invalid", items: findingsOfAddress(address) });
  const { cacheBytes = CACHE_BYTES_DEFAULT, workers = 0 } = options;
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

const OPTIONS_SHAPE: ValueSchema = {
  type: "object",
  properties: {
    cacheBytes: { type: "number", minimum: CACHE_BYTES_MIN, maximum: CACHE_BYTES_MAX },
    workers: { type: "integer", minimum: 0, maximum: WORKERS_MAX },
  },
  additionalProperties: false,
};

function findingsOfAddress(address: unknown): readonly FaultItem[] {
  if (typeof address === "string" && address.trim() !== "") return [];
  const what = address === undefined ? "is missing" : `must not be ${quote(address)}`;
  const detail = `The address ${what}; give a folder, an http or https address, or "demo", as text.`;
  const code = address === undefined ? "missing" : typeof address === "string" ? "empty" : "wrong_type";
  return [{ pointer: "/address", code, detail }];
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
  return { atlas: createAtlas(sampler, cells, originOf(address)), neighbourhoods };
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
