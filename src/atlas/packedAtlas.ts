import { Fault } from "../errors.ts";
import type { Kernel } from "../kernel/instance.ts";
import { type Blobs, readBlob } from "./blobs.ts";
import { TileCache } from "./cache.ts";
import { CATALOG_NAME, type Catalog, contentHashOf, decodeCatalog, gridOf } from "./catalog.ts";
import type { CellAtlas } from "./cellSource.ts";
import { type PackContext, PackSource } from "./packSource.ts";
import { diskBlobs } from "./diskBlobs.ts";
import { httpBlobs, schemeOf, withoutSecrets } from "./httpBlobs.ts";
import { headerBytesMax } from "./pyramidHeader.ts";
import { withoutStaleSupplements } from "./supplement.ts";

/** An open atlas in the format of docs/atlas-format.md, with its catalog. */
export interface PackedAtlas extends CellAtlas {
  readonly catalog: Catalog;
  readonly packs: readonly { readonly hazard: string; readonly id: string; readonly source: PackSource }[];
}

/** Minimum number of headers that the cache can hold: each call pins one header, and several calls run concurrently. */
const CACHED_HEADERS_MIN = 8;

/**
 * Returns the file storage of the atlas at an address. Does not read any file.
 *
 * @param address a folder (not in a browser), or an http or https address
 * @throws Fault `atlas_not_found` for any other scheme, `configuration_invalid` for a malformed address
 */
export function blobsAt(address: string): Blobs {
  const scheme = schemeOf(address);
  if (scheme === undefined) return diskBlobs(address);
  if (scheme === "http" || scheme === "https") return httpBlobs(address);
  const publicAddress = withoutSecrets(address);
  throw new Fault(
    "atlas_not_found",
    `The address of an atlas must be a folder, an http or https address, or "demo" (got ${publicAddress}).`,
    { details: { address: publicAddress } },
  );
}

/**
 * Opens an atlas: reads and verifies the catalog and the root file of each pack, but no tiles.
 * @throws Fault `atlas_not_found` if there is no catalog, `atlas_unavailable` if a file is missing, has the wrong size or
 *   is damaged
 */
export async function openPackedAtlas(
  kernel: Kernel,
  blobs: Blobs,
  { headerCacheBytes }: { readonly headerCacheBytes: number },
): Promise<PackedAtlas> {
  const bytes = await readBlob(blobs, CATALOG_NAME);
  if (bytes === undefined) {
    throw new Fault("atlas_not_found", `There is no atlas at ${blobs.description}: ${CATALOG_NAME} does not exist.`, {
      details: { address: blobs.description },
    });
  }
  const catalog = await decodeCatalog(bytes, blobs.description);
  const packs = catalog.hazards.flatMap(({ packs: entries }) => entries);
  const largest = Math.max(0, ...packs.map(({ groups }) => TileCache.costBytes(headerBytesMax(groups))));
  const headers = new TileCache(kernel, { sizeBytes: Math.max(CACHED_HEADERS_MIN * largest, headerCacheBytes) });

  const opened: { hazard: string; id: string; source: PackSource }[] = [];
  for (const { hazard, grid, packs: entries } of withoutStaleSupplements(catalog.hazards)) {
    for (const pack of entries) {
      const context: PackContext = { blobs, kernel, headers };
      opened.push({ hazard, id: pack.id, source: await PackSource.open(context, gridOf(grid), pack) });
    }
  }
  return {
    catalog,
    packs: opened,
    release: catalog.release,
    contentHash: await contentHashOf(catalog),
    synthetic: catalog.synthetic,
    hazards: catalog.hazards.map(({ hazard, grid, rules }) => ({
      hazard,
      grid: gridOf(grid),
      rules,
      sources: opened.filter((pack) => pack.hazard === hazard).map(({ source }) => source),
    })),
    close: () => blobs.close(),
  };
}
