import { diskBlobs } from "./atlas/diskBlobs.ts";
import { openPackedAtlas } from "./atlas/packedAtlas.ts";
import { Sampler } from "./atlas/sampler.ts";
import { Fault } from "./errors.ts";
import { answeringAtlas, type Atlas } from "./hazard/answer.ts";
import { Kernel } from "./kernel/instance.ts";

export interface OpenAtlasOptions {
  /** Memory for decoded tiles in all, bytes. Default 512 MiB; it is taken as tiles are read, not before. */
  readonly cacheBytes?: number;
}

const CACHE_BYTES_DEFAULT = 512 << 20;
const CACHE_BYTES_MIN = 1 << 20;
const CACHE_BYTES_MAX = 3 * 2 ** 30;
/** The part of the cache that holds the index of the tiles, the rest holds tiles. */
const HEADER_SHARE = 1 / 16;

/**
 * Opens an atlas.
 *
 * @param address a folder that holds an atlas, or "demo" for the synthetic world
 * @throws Fault `atlas_not_found` when there is none, `atlas_unavailable` when it is damaged,
 *   `configuration_invalid` for an option out of range
 */
export async function openAtlas(address: string, options: OpenAtlasOptions = {}): Promise<Atlas> {
  const cacheBytes = options.cacheBytes ?? CACHE_BYTES_DEFAULT;
  if (!(cacheBytes >= CACHE_BYTES_MIN && cacheBytes <= CACHE_BYTES_MAX)) {
    throw new Fault("configuration_invalid", `cacheBytes must be from ${CACHE_BYTES_MIN} to ${CACHE_BYTES_MAX}.`, {
      details: { cacheBytes },
    });
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(address)) {
    throw new Fault("atlas_not_found", `An atlas is opened from a folder or as "demo"; ${address} is neither.`, {
      details: { address },
    });
  }
  const kernel = await Kernel.load();
  const headerCacheBytes = Math.floor(cacheBytes * HEADER_SHARE);
  const cells =
    address === "demo"
      ? await (await import("./demo/world.ts")).openDemo(kernel) // its coastlines are larger than all the rest
      : await openPackedAtlas(kernel, diskBlobs(address), { headerCacheBytes });
  const sampler = new Sampler(kernel, cells, { cacheBytes: cacheBytes - headerCacheBytes });
  return answeringAtlas(sampler, cells);
}
