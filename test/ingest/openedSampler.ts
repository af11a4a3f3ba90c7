import { afterEach } from "vitest";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { openPackedAtlas } from "../../src/atlas/packedAtlas.ts";
import { Sampler } from "../../src/atlas/sampler.ts";
import { Kernel } from "../../src/kernel/instance.ts";

/** Returns a function that opens the atlas in a folder; the atlases are closed after each test of the calling file. */
export function useOpenedSamplers(): (folder: string) => Promise<Sampler> {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((atlas) => atlas.close()));
  });
  return async (folder) => {
    const kernel = await Kernel.load();
    const atlas = await openPackedAtlas(kernel, diskBlobs(folder), { headerCacheBytes: 1 << 20 });
    opened.push(atlas);
    return new Sampler(kernel, atlas, { cacheBytes: 32 << 20 });
  };
}
