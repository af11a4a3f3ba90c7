/**
 * What marks the missing cells of a file besides nodata values: an internal mask, a `.msk` file, an alpha band or NODATA_VALUES.
 */
import { isFault } from "../../../errors.ts";
import { type BandWindow, messageOf, sourceFault } from "../../raster.ts";
import { openBytes } from "../byteSource.ts";
import { type Directories, type Directory, readDirectories, TAG } from "./directory.ts";
import { type BandStatements, readXml, XML_BYTES_MAX } from "./gdalMetadata.ts";
import { type Image, ImageReader } from "./imageReader.ts";
import { readMaskLayout } from "./layout.ts";
import { canRepresent } from "./nodata.ts";
import type { MaskFile } from "./sidecars.ts";

/** Which cells of a map are valid: 0 marks a missing cell, `opaque` a valid one. */
export interface Mask {
  readonly name: string;
  /** As in the provenance. */
  readonly note: string;
  readonly opaque: number;
  /** Whether cells that are missing in the mask must have the nodata value, if there is one: alpha bands, as in GDAL. */
  readonly mustAgree: boolean;
  /** The band that is a mask instead of values, which is the last one. */
  readonly alphaBand?: number;
  /** Reads the cells of a window for a band of the map, north up. */
  read(window: BandWindow): Promise<ArrayLike<number>>;
  /** Closes the file of the mask, if it is another one than that of the map. */
  close?(): Promise<void>;
}

/** A map whose cells are masked. */
export interface MaskedMap {
  readonly image: Image;
  readonly reader: ImageReader;
  readonly directories: Directories;
  readonly statements: BandStatements;
  /** The sidecar `.msk`. */
  readonly maskFile: MaskFile | undefined;
}

const WARP_HINT = "Mark missing cells with a nodata value: gdalwarp -dstnodata -9999.";

/**
 * Opens what marks missing cells.
 * @throws Fault `source_invalid` if it is not supported, or if there are several masks
 */
export async function openMask(map: MaskedMap): Promise<Mask | undefined> {
  const { image, statements, maskFile } = map;
  const { file } = image;
  const alphaBand = await findAlphaBand(map);
  const internal = await findInternalMask(map);
  const names = [
    ...(internal === undefined ? [] : ["an internal mask"]),
    ...(maskFile === undefined ? [] : [`the mask ${maskFile.name}`]),
    ...(alphaBand === undefined ? [] : ["an alpha band"]),
    ...(statements.nodataValues === undefined ? [] : ["NODATA_VALUES"]),
  ];
  if (names.length > 1) {
    throw sourceFault(
      file,
      `has ${names.join(" and ")}, which may mark different cells as missing. Keep one of them, or mark missing cells with a nodata value: gdalwarp -dstnodata -9999.`,
    );
  }
  if (maskFile !== undefined) return openMaskFile(image, maskFile);
  if (alphaBand !== undefined) {
    return {
      name: "the alpha band",
      note: `alpha band ${alphaBand}`,
      opaque: 2 ** image.layout.format.bits - 1,
      mustAgree: true,
      alphaBand,
      read: (window) => map.reader.read({ ...window, band: alphaBand }),
    };
  }
  if (statements.nodataValues !== undefined) return maskOfNodataValues(map, statements.nodataValues);
  if (internal === undefined) return undefined;
  const layout = await readMaskLayout(file, internal, { name: "its internal mask", map: image.layout });
  const maskBand = (band: number): number => (layout.bandCount > 1 ? band : 1);
  return maskOfImage({ ...image, maskName: "the internal mask", layout, directory: internal, nodata: [] }, maskBand);
}

/** @param maskBand returns the band of the mask for a band of the map */
function maskOfImage(image: Image & { readonly maskName: string }, maskBand: (band: number) => number): Mask {
  const reader = new ImageReader(image);
  const { maskName: name, layout } = image;
  return {
    name,
    note: name,
    opaque: layout.storedBits === 1 ? 1 : 255,
    mustAgree: false,
    read: (window) => reader.read({ ...window, band: maskBand(window.band) }),
  };
}

const REDUCED = 1;
const MASK = 4;

/** Returns the directory of the mask in a file. Masks of overviews are ignored. */
async function findInternalMask({ image: { file }, directories }: MaskedMap): Promise<Directory | undefined> {
  const masks: Directory[] = [];
  for (const other of directories.others) {
    const kind = await other.number(TAG.newSubfileType, 0);
    const isMask = (kind & MASK) !== 0 || (await other.number(TAG.photometric, 1)) === MASK;
    if (isMask && (kind & REDUCED) === 0) masks.push(other);
  }
  if (masks.length <= 1) return masks[0];
  throw sourceFault(file, `has ${masks.length} masks of missing cells; one is supported. ${WARP_HINT}`);
}

/** Opens the mask `<map>.msk`. */
async function openMaskFile(image: Image, { name, path }: MaskFile): Promise<Mask> {
  const { file, signal } = image;
  const source = await openBytes(path, signal);
  try {
    const { first: directory } = await readDirectories(path, source);
    const layout = await readMaskLayout(file, directory, { name: `its mask ${name}`, map: image.layout });
    const bands = maskBands(file, {
      name,
      metadata: await directory.text(TAG.gdalMetadata, XML_BYTES_MAX),
      maskBandCount: layout.bandCount,
      bandCount: image.layout.bandCount,
    });
    const maskImage = { ...image, maskName: `the mask ${name}`, layout, directory, source, nodata: [] };
    return { ...maskOfImage(maskImage, (band) => bands[band - 1] ?? 1), close: () => source.close() };
  } catch (error) {
    await source.close();
    signal?.throwIfAborted();
    if (isFault(error) && error.details["file"] === file) throw error;
    throw sourceFault(file, `its mask ${name} cannot be applied (${messageOf(error)}). ${WARP_HINT}`, {
      details: { sidecar: name },
      cause: error,
    });
  }
}

/** INTERNAL_MASK_FLAGS of GDAL: one mask for each band, or one for all bands. */
const OF_BAND = 0;
const OF_ALL_BANDS = 2;

/**
 * Returns the band of the mask for each band of the map, from the metadata that GDAL writes into masks. GDAL ignores masks without
 * them.
 */
function maskBands(
  file: string,
  {
    name,
    metadata,
    maskBandCount,
    bandCount,
  }: {
    readonly name: string;
    readonly metadata: string | undefined;
    readonly maskBandCount: number;
    readonly bandCount: number;
  },
): readonly number[] {
  const flags = new Map<string, number>();
  if (metadata !== undefined && metadata.trim() !== "") {
    readXml(metadata, ({ path, attributes, text }) => {
      const key = path.at(-1) === "item" ? attributes.at(-1)?.["name"]?.toUpperCase() : undefined;
      if (key !== undefined) flags.set(key, Number(text));
    });
  }
  return Array.from({ length: bandCount }, (_, index) => {
    const flag = flags.get(`INTERNAL_MASK_FLAGS_${index + 1}`);
    if (flag === OF_ALL_BANDS) return 1;
    if (flag === OF_BAND && index < maskBandCount) return index + 1;
    throw sourceFault(
      file,
      `its mask ${name} has ${flag === undefined ? "no INTERNAL_MASK_FLAGS" : `INTERNAL_MASK_FLAGS ${flag}`} for band ${index + 1}; ${OF_ALL_BANDS} (one mask for all bands) and ${OF_BAND} (one for each band) are supported.`,
    );
  });
}

/** Kinds of ExtraSamples: alpha with which the other bands are multiplied, and alpha with which they are not. */
const ALPHA_KINDS: ReadonlySet<number> = new Set([1, 2]);

/**
 * Finds the alpha band that the file or its `.aux.xml` declares. As in GDAL, it must be the last of two or four bands; other alpha
 * bands are not applied to the other bands by GDAL and are rejected.
 */
async function findAlphaBand({ image, directories, statements }: MaskedMap): Promise<number | undefined> {
  const { file, layout } = image;
  const { bandCount, format } = layout;
  const extra = await directories.first.numbers(TAG.extraSamples);
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
  if (isSupported) return band;
  throw sourceFault(
    file,
    `has ${bandCount} bands of ${format.kind} numbers of ${format.bits} bits, of which ${[...bands].join(", ")} ${others.length === 0 ? "is alpha" : "are alpha"}. ` +
      "An alpha band is supported as the last of two or four bands of unsigned 8 or 16-bit integers. Replace it with a nodata value: " +
      "gdalwarp -srcalpha -ot Float32 -dstnodata -9999, then gdal_translate -b 1.",
  );
}

/**
 * Returns the mask of NODATA_VALUES of GDAL, which is the same for all bands: a cell is missing if every band has its number; a
 * single band with its number is a value. GDAL ignores NODATA_VALUES if their number differs from that of the bands, and ignores
 * nodata values beside them; such files are rejected.
 */
function maskOfNodataValues({ image, reader }: MaskedMap, values: readonly number[]): Mask {
  const { file, layout, nodata } = image;
  const { bandCount, format } = layout;
  const hint = "Set a nodata value with gdal_edit.py -a_nodata, and remove NODATA_VALUES with -unsetmd.";
  if (values.length !== bandCount) {
    throw sourceFault(
      file,
      `states ${values.length} NODATA_VALUES for ${bandCount} bands; one number for each band is expected. ${hint}`,
    );
  }
  const wrong = values.find((value) => !canRepresent(value, format));
  if (wrong !== undefined) {
    throw sourceFault(file, `states the NODATA_VALUES ${wrong}, which its numbers cannot represent. ${hint}`);
  }
  const declared = nodata.find((value) => value !== undefined);
  if (declared !== undefined && !(bandCount === 1 && declared === values[0])) {
    throw sourceFault(file, `states the nodata value ${declared} and NODATA_VALUES (${values.join(" ")}). ${hint}`);
  }
  const stored = layout.fitsFloat32 ? values.map(Math.fround) : values;
  return {
    name: "NODATA_VALUES",
    note: `NODATA_VALUES ${values.join(" ")}`,
    opaque: 1,
    mustAgree: false,
    async read(window) {
      const isValid = new Uint8Array(window.rowCount * window.columnCount);
      for (const [index, missing] of stored.entries()) {
        const numbers = await reader.read({ ...window, band: index + 1 });
        for (let cell = 0; cell < isValid.length; cell++) if (numbers[cell] !== missing) isValid[cell] = 1;
      }
      return isValid;
    },
  };
}
