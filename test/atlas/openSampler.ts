import { afterEach } from "vitest";
import type { CellAtlas } from "../../src/atlas/cellSource.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { openPackedAtlas } from "../../src/atlas/packedAtlas.ts";
import type { LayerSet } from "../../src/atlas/layerSet.ts";
import { Sampler } from "../../src/atlas/sampler.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { RecordingBlobs } from "./recordingBlobs.ts";

/** Atlases to close after each test. */
const opened: CellAtlas[] = [];

/** Closes the atlases of the calling file's samplers after each test. */
export function closeSamplersAfterEach(): void {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((atlas) => atlas.close()));
  });
}

export interface OpenedSampler {
  readonly kernel: Kernel;
  readonly sampler: Sampler;
  readonly blobs: RecordingBlobs;
  readonly atlas: CellAtlas;
}

/** Opens a sampler of an atlas on disk and counts its reads. */
export async function openSampler({
  cacheBytes = 64 << 20,
  change = (atlas: CellAtlas) => atlas,
  from,
}: {
  readonly cacheBytes?: number;
  readonly change?: (atlas: CellAtlas) => CellAtlas;
  readonly from: string;
}): Promise<OpenedSampler> {
  const kernel = await Kernel.load({ scratchBytes: 16 << 20 });
  const blobs = new RecordingBlobs(diskBlobs(from));
  const atlas = change(await openPackedAtlas(kernel, blobs, { headerCacheBytes: 1 << 20 }));
  const sampler = new Sampler(kernel, atlas, { cacheBytes });
  blobs.reads.length = 0;
  opened.push(atlas);
  return { kernel, sampler, blobs, atlas };
}

/** Returns layers of the river floods of an atlas by index in `allLayers`. */
export function layersOf(sampler: Sampler, indices: readonly number[]): LayerSet {
  const hazard = sampler.hazards.get("riverine_floods");
  if (hazard === undefined) throw new Error("no such hazard");
  const all = hazard.allLayers();
  return sampler.layerSet(
    hazard,
    indices.flatMap((index) => all[index] ?? []),
  );
}
