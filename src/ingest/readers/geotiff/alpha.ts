/** Alpha bands, whose zeros mark missing cells. */
import { sourceFault } from "../../raster.ts";
import type { BandStatements } from "./bandStatements.ts";
import { type Directory, TAG } from "./directory.ts";
import type { Layout } from "./layout.ts";

export interface AlphaBand {
  readonly band: number;
  /** The value of cells that are not missing. */
  readonly opaque: number;
}

/** Kinds of ExtraSamples: alpha with which the other bands are multiplied, and alpha with which they are not. */
const ALPHA_KINDS: ReadonlySet<number> = new Set([1, 2]);

/**
 * Finds the alpha band that the file or its `.aux.xml` declares. As in GDAL, it must be the last of two or four bands.
 * @throws Fault `source_invalid` for alpha bands that GDAL does not apply to the other bands
 */
export async function findAlphaBand(
  file: string,
  {
    directory,
    layout,
    statements,
  }: {
    readonly directory: Directory;
    readonly layout: Layout;
    readonly statements: BandStatements;
  },
): Promise<AlphaBand | undefined> {
  const { bandCount, format } = layout;
  const extra = await directory.numbers(TAG.extraSamples);
  const bands = new Set<number>();
  for (const [index, kind] of extra.entries()) {
    if (ALPHA_KINDS.has(kind)) bands.add(bandCount - extra.length + index + 1);
  }
  for (const [band, color] of statements.colors) {
    if (color === "alpha" && band <= bandCount) bands.add(band);
    else if (bands.has(band)) {
      throw sourceFault(
        file,
        `its band ${band} is declared both as alpha and as ${color}. Correct the file with gdal_edit.py -colorinterp_${band}.`,
      );
    }
  }
  const [band, ...others] = bands;
  if (band === undefined) return undefined;
  const isSupported =
    others.length === 0 &&
    band === bandCount &&
    (bandCount === 2 || bandCount === 4) &&
    format.kind === "unsigned" &&
    (format.bits === 8 || format.bits === 16);
  if (!isSupported) {
    throw sourceFault(
      file,
      `has ${bandCount} bands of ${format.kind} numbers of ${format.bits} bits, of which ${[...bands].join(", ")} ${others.length === 0 ? "is alpha" : "are alpha"}. ` +
        "An alpha band is supported as the last of two or four bands of unsigned 8 or 16-bit integers. Replace it with a nodata value: " +
        "gdalwarp -srcalpha -ot Float32 -dstnodata -9999, then gdal_translate -b 1.",
    );
  }
  return { band, opaque: 2 ** format.bits - 1 };
}
