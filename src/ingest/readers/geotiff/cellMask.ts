/**
 * The one thing that marks the missing cells of a file besides nodata values: an internal mask, a `.msk` file, an alpha band or
 * NODATA_VALUES.
 */
import type { BandWindow, RasterValues } from "../../raster.ts";
import { sourceFault } from "../../raster.ts";
import { type AlphaBand, findAlphaBand } from "./alpha.ts";
import type { BandStatements } from "./bandStatements.ts";
import type { CellMask } from "./bandValues.ts";
import type { ByteSource } from "./byteSource.ts";
import type { Directories } from "./directory.ts";
import type { Layout } from "./layout.ts";
import { findInternalMask, type MaskImage, openMaskFile } from "./maskImage.ts";
import { nodataValuesMask } from "./nodataValues.ts";
import type { Sidecars } from "./sidecars.ts";

/** At most one of the members is present. */
export interface MaskSource {
  readonly image: MaskImage | undefined;
  readonly alpha: AlphaBand | undefined;
  readonly nodataValues: readonly number[] | undefined;
}

/**
 * Finds what marks missing cells.
 * @throws Fault `source_invalid` if it is not supported, or if there are several masks
 */
export async function openMaskSource(
  file: string,
  {
    source,
    directories,
    layout,
    sidecars,
    statements,
    signal,
  }: {
    readonly source: ByteSource;
    readonly directories: Directories;
    readonly layout: Layout;
    readonly sidecars: Sidecars;
    readonly statements: BandStatements;
    readonly signal: AbortSignal | undefined;
  },
): Promise<MaskSource> {
  const alpha = await findAlphaBand(file, { directory: directories.first, layout, statements });
  const internal = await findInternalMask(file, { directories, layout, source });
  const names = [
    ...(internal === undefined ? [] : ["an internal mask"]),
    ...(sidecars.mask === undefined ? [] : [`the mask ${sidecars.mask.name}`]),
    ...(alpha === undefined ? [] : ["an alpha band"]),
    ...(statements.nodataValues === undefined ? [] : ["NODATA_VALUES"]),
  ];
  if (names.length > 1) {
    throw sourceFault(
      file,
      `has ${names.join(" and ")}, which may mark different cells as missing. Keep one of them, or mark missing cells with a nodata value: gdalwarp -dstnodata -9999.`,
    );
  }
  const image =
    sidecars.mask === undefined ? internal : await openMaskFile(file, { ...sidecars.mask, map: layout, signal });
  return { image, alpha, nodataValues: statements.nodataValues };
}

/** Returns the name of the mask for the provenance. */
export function maskNotes({ image, alpha, nodataValues }: MaskSource): Readonly<Record<string, unknown>> {
  if (nodataValues !== undefined) return { missing_cells: `NODATA_VALUES ${nodataValues.join(" ")}` };
  if (image !== undefined) return { missing_cells: image.name };
  return alpha === undefined ? {} : { missing_cells: `alpha band ${alpha.band}` };
}

/**
 * Returns the mask of the bands of a file.
 * @param readStored reads a window of stored numbers, north up
 */
export function cellMaskOf(
  { image, alpha, nodataValues }: MaskSource,
  {
    layout,
    isSouthUp,
    readStored,
  }: {
    readonly layout: Layout;
    readonly isSouthUp: boolean;
    readonly readStored: (window: BandWindow) => Promise<RasterValues>;
  },
): CellMask | undefined {
  if (alpha !== undefined) {
    const { band, opaque } = alpha;
    return { name: "the alpha band", opaque, mustAgree: true, read: (window) => readStored({ ...window, band }) };
  }
  if (nodataValues !== undefined) return nodataValuesMask(nodataValues, { layout, readStored });
  if (image === undefined) return undefined;
  return {
    name: image.name,
    opaque: image.opaque,
    mustAgree: false,
    async read({ band, firstRow, rowCount, firstColumn, columnCount }) {
      const top = isSouthUp ? layout.rowCount - firstRow - rowCount : firstRow;
      const box = { left: firstColumn, top, right: firstColumn + columnCount, bottom: top + rowCount };
      const where = `rows ${firstRow} to ${firstRow + rowCount - 1}, columns ${firstColumn} to ${box.right - 1}`;
      const cells = await image.read(box, band, where);
      return isSouthUp ? flipped(cells, columnCount) : cells;
    },
  };
}

/** Reverses the order of rows. */
function flipped(cells: Uint8Array, columnCount: number): Uint8Array {
  const rows = new Uint8Array(cells.length);
  for (let from = 0; from < cells.length; from += columnCount) {
    rows.set(cells.subarray(from, from + columnCount), cells.length - columnCount - from);
  }
  return rows;
}
