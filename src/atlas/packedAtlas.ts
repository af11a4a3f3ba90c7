import { Fault } from "../errors.ts";
import type { Kernel } from "../kernel/instance.ts";
import { type Blobs, readWhole } from "./blobs.ts";
import { TileCache } from "./cache.ts";
import { CATALOGUE_NAME, type Catalogue, contentHashOf, decodeCatalogue, gridOf } from "./catalogue.ts";
import type { CellAtlas } from "./cellSource.ts";
import { headerBytesMax, type PackContext, PackSource } from "./packSource.ts";

/** An atlas as docs/atlas-format.md describes it, with its catalogue at hand. */
export interface PackedAtlas extends CellAtlas {
  readonly catalogue: Catalogue;
  readonly packs: readonly { readonly hazard: string; readonly id: string; readonly source: PackSource }[];
}

/** A call asks for one header at a time and may take half of the cache; a few go on side by side. */
const HEADERS_AT_LEAST = 8;

/**
 * Opens an atlas: catalogue and roots are read and checked, no tile is.
 * @throws Fault `atlas_not_found` when there is no catalogue, `atlas_unavailable` when something is damaged
 */
export async function openPackedAtlas(
  kernel: Kernel,
  blobs: Blobs,
  { headerCacheBytes }: { readonly headerCacheBytes: number },
): Promise<PackedAtlas> {
  const bytes = await readWhole(blobs, CATALOGUE_NAME);
  if (bytes === undefined) {
    throw new Fault("atlas_not_found", `There is no atlas at ${blobs.description}: it has no ${CATALOGUE_NAME}.`, {
      details: { address: blobs.description },
    });
  }
  const catalogue = await decodeCatalogue(bytes, blobs.description);
  const packs = catalogue.hazards.flatMap(({ packs: entries }) => entries);
  const largest = Math.max(0, ...packs.map(({ groups }) => TileCache.costBytes(headerBytesMax(groups))));
  const headers = new TileCache(kernel, { sizeBytes: Math.max(HEADERS_AT_LEAST * largest, headerCacheBytes) });

  const opened: { hazard: string; id: string; source: PackSource }[] = [];
  for (const { hazard, grid, packs: entries } of catalogue.hazards) {
    for (const pack of entries) {
      const context: PackContext = { blobs, kernel, headers };
      opened.push({ hazard, id: pack.id, source: await PackSource.open(context, gridOf(grid), pack) });
    }
  }
  return {
    catalogue,
    packs: opened,
    release: catalogue.release,
    contentHash: await contentHashOf(catalogue),
    synthetic: catalogue.synthetic,
    hazards: catalogue.hazards.map(({ hazard, grid, rules }) => ({
      hazard,
      grid: gridOf(grid),
      rules,
      sources: opened.filter((pack) => pack.hazard === hazard).map(({ source }) => source),
    })),
    close: () => blobs.close(),
  };
}
