import { type FileHandle, open } from "node:fs/promises";
import type { GeoTIFF, GeoTIFFImage } from "geotiff";
import { gridFault } from "../atlas/catalogue.ts";
import { Fault } from "../errors.ts";
import type { Grid } from "../kernel/grid.ts";
import { requirePackages } from "../optionalPackages.ts";
import { type BandWindow, type Raster, type RasterOptions, type RasterValues, sourceFault } from "./raster.ts";

type GeoTiffModule = typeof import("geotiff");
type Source = Parameters<typeof GeoTIFF.fromSource>[0];

/**
 * Opens a GeoTIFF on disk, or at an http(s) address by range requests.
 *
 * The grid comes out north up and with edges: south-up files are flipped, PixelIsPoint tie points moved by half a
 * cell, and a world map whose last column repeats the first loses it, so that the grid closes.
 *
 * @param file a path or an http(s) address
 * @throws Fault `source_invalid` when the file is missing, no GeoTIFF, damaged, or in a system this cannot read;
 *   `configuration_invalid` when the optional package geotiff is not installed
 */
export async function openGeoTiff(file: string, options: RasterOptions = {}): Promise<Raster> {
  const module = await loadModule();
  const opened = await openSource(module, file);
  try {
    const image = await opened.tiff.getImage();
    await checkSubfiles(file, opened.tiff);
    const layout = layoutOf(file, image);
    await checkScaling(file, image);
    await checkCompression(file, module, image);
    const reference = referenceOf(file, image, options);
    return rasterOf(file, image, layout, reference, opened, options);
  } catch (error) {
    await opened.close();
    if (error instanceof Fault) throw error;
    throw sourceFault(file, `its TIFF directory cannot be read (${messageOf(error)}). It is damaged or cut short.`, {
      cause: error,
    });
  }
}

async function loadModule(): Promise<GeoTiffModule> {
  requirePackages("Reading GeoTIFF files", ["geotiff"]);
  return import("geotiff");
}

// --- opening ---------------------------------------------------------------------------------------------------

interface OpenedTiff {
  readonly tiff: GeoTIFF;
  /** Undefined where only a server could say. */
  readonly sizeBytes: number | undefined;
  close(): Promise<void>;
}

async function openSource(module: GeoTiffModule, file: string): Promise<OpenedTiff> {
  if (/^https?:\/\//.test(file)) {
    try {
      const tiff = await module.fromUrl(file);
      return { tiff, sizeBytes: undefined, close: async () => void (await tiff.close()) };
    } catch (error) {
      throw sourceFault(file, `cannot be read as a GeoTIFF (${messageOf(error)}).`, { cause: error });
    }
  }
  let handle: FileHandle;
  try {
    handle = await open(file, "r");
  } catch (error) {
    throw sourceFault(file, `cannot be opened (${messageOf(error)}).`, { cause: error });
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw sourceFault(file, "is not a file.");
    await checkSignature(file, handle);
    const tiff = await module.GeoTIFF.fromSource(fileSource(handle));
    return { tiff, sizeBytes: stat.size, close: () => handle.close() };
  } catch (error) {
    await handle.close();
    if (error instanceof Fault) throw error;
    throw sourceFault(file, `cannot be read as a GeoTIFF (${messageOf(error)}). It is damaged or cut short.`, {
      cause: error,
    });
  }
}

async function checkSignature(file: string, handle: FileHandle): Promise<void> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
  const order = buffer.toString("latin1", 0, 2);
  const isTiff =
    (order === "II" && [42, 43].includes(buffer[2] ?? 0)) || (order === "MM" && [42, 43].includes(buffer[3] ?? 0));
  if (bytesRead < 4 || !isTiff) {
    throw sourceFault(file, "is not a GeoTIFF: it does not begin with a TIFF signature. Give a .tif file.");
  }
  // The reader takes the offsets of large big-endian files as little-endian ones: refused, not misread.
  if (order === "MM") {
    throw sourceFault(
      file,
      "is a big-endian TIFF, which is not read. Convert it: gdal_translate -co ENDIANNESS=LITTLE.",
    );
  }
}

/**
 * geotiff's own file source fills what lies beyond the end of a file with zeros, which would turn a truncated map into
 * dry land. This one gives what there is; reading past it then fails.
 */
function fileSource(handle: FileHandle): Source {
  const fetchSlice: Source["fetchSlice"] = async ({ offset, length }) => {
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return { data: bytes.buffer.slice(0, filled), offset, length: filled };
  };
  return {
    fetchSlice,
    fetch: (slices, signal) => Promise.all(slices.map(async (slice) => (await fetchSlice(slice, signal)).data)),
    get fileSize() {
      return null;
    },
    close: () => handle.close(),
  };
}

/** Overviews may follow the map; a mask would have to be applied, and is not. */
async function checkSubfiles(file: string, tiff: GeoTIFF): Promise<void> {
  const MASK = 4;
  const count = await tiff.getImageCount();
  for (let i = 1; i < count; i++) {
    const kind = (await tiff.getImage(i)).fileDirectory.getValue("NewSubfileType") ?? 0;
    if ((kind & MASK) !== 0) {
      throw sourceFault(
        file,
        "keeps missing cells in an internal mask, which is not read. Mark them by a nodata value.",
      );
    }
  }
}

// --- what the directory says -------------------------------------------------------------------------------------

interface Layout {
  readonly rowCount: number;
  readonly columnCount: number;
  readonly bandCount: number;
  /** True where a Float32Array holds every value of the file exactly. */
  readonly fitsFloat32: boolean;
  readonly declaredNodata: number | undefined;
}

const SAMPLE_FORMATS: Readonly<Record<number, string>> = { 1: "unsigned integers", 2: "integers", 3: "floats" };

function layoutOf(file: string, image: GeoTIFFImage): Layout {
  const rowCount = image.getHeight();
  const columnCount = image.getWidth();
  const bandCount = image.getSamplesPerPixel();
  if (!(rowCount > 0 && columnCount > 0 && bandCount > 0)) {
    throw sourceFault(file, `states ${rowCount} rows, ${columnCount} columns and ${bandCount} bands.`);
  }
  if (!(image.getTileWidth() > 0 && image.getTileHeight() > 0)) throw sourceFault(file, "states blocks without cells.");
  const directory = image.fileDirectory;
  const formats = new Set<string>();
  for (let i = 0; i < bandCount; i++) {
    const format = image.getSampleFormat(i);
    const bits = image.getBitsPerSample(i);
    const isRead = format === 3 ? [16, 32, 64].includes(bits) : [1, 2].includes(format) && [8, 16, 32].includes(bits);
    if (!isRead) {
      const name = SAMPLE_FORMATS[format] ?? `sample format ${format}`;
      throw sourceFault(
        file,
        `band ${i + 1} holds ${name} of ${bits} bits; 8, 16, 32-bit integers and 16, 32, 64-bit floats are read.`,
      );
    }
    formats.add(`${format}/${bits}`);
  }
  if (formats.size > 1) throw sourceFault(file, "mixes bands of different number formats. Split them into files.");
  const declared = directory.getValue("GDAL_NODATA");
  const fitsFloat32 = ["3/32", "3/16", "1/8", "2/8", "1/16", "2/16"].some((format) => formats.has(format));
  return { rowCount, columnCount, bandCount, fitsFloat32, declaredNodata: nodataOf(file, declared) };
}

function nodataOf(file: string, declared: unknown): number | undefined {
  if (typeof declared !== "string") return undefined;
  const text = declared.replaceAll("\0", "").trim();
  if (text === "") return undefined;
  if (/^[-+]?nan$/i.test(text)) return NaN;
  const value = /^[-+]?inf(inity)?$/i.test(text) ? (text.startsWith("-") ? -Infinity : Infinity) : Number(text);
  if (Number.isNaN(value))
    throw sourceFault(file, `declares the nodata value ${JSON.stringify(text)}, which is no number.`);
  return value;
}

/** A file may say that its values are to be scaled. Nothing here does, so such a file must not pass. */
async function checkScaling(file: string, image: GeoTIFFImage): Promise<void> {
  if (!image.fileDirectory.hasTag("GDAL_METADATA")) return;
  const xml = String(await image.fileDirectory.loadValue("GDAL_METADATA"));
  for (const [item, role = "", text = ""] of xml.matchAll(/<Item[^>]*\brole="(scale|offset)"[^>]*>([^<]*)</g)) {
    if (Number(text) === (role === "scale" ? 1 : 0)) continue;
    const band = Number(/\bsample="(\d+)"/.exec(item)?.[1] ?? 0) + 1;
    throw sourceFault(
      file,
      `band ${band} declares a ${role} of ${text}, which is not applied. Write the values themselves: gdal_translate -unscale.`,
    );
  }
}

async function checkCompression(file: string, module: GeoTiffModule, image: GeoTIFFImage): Promise<void> {
  const compression = image.fileDirectory.getValue("Compression") ?? 1;
  try {
    await module.getDecoder(compression, {
      tileWidth: image.getTileWidth(),
      tileHeight: image.getTileHeight(),
      planarConfiguration: image.planarConfiguration,
      bitsPerSample: [image.getBitsPerSample()],
      predictor: 1,
    });
  } catch (error) {
    throw sourceFault(
      file,
      `is compressed by method ${compression}, which is not read. Write it with DEFLATE, LZW, ZSTD or none.`,
      { cause: error },
    );
  }
  // JPEG and WebP change values: no map of numbers is kept so.
  if ([6, 7, 34892, 50001].includes(compression)) {
    throw sourceFault(file, `is compressed as a picture (method ${compression}), which does not keep values.`);
  }
}

interface Reference {
  /** The grid as the file has it, before a repeated column is dropped. */
  readonly grid: Grid;
  readonly isSouthUp: boolean;
  readonly notes: Readonly<Record<string, unknown>>;
}

const RASTER_PIXEL_IS_POINT = 2;

function referenceOf(file: string, image: GeoTIFFImage, options: RasterOptions): Reference {
  const transform = transformOf(file, image);
  const keys = image.getGeoKeys();
  const isPoint = keys?.GTRasterTypeGeoKey === RASTER_PIXEL_IS_POINT;
  const crs = systemOf(file, keys, transform, options);

  const { sizeXDeg, sizeYDeg } = transform;
  const rowCount = image.getHeight();
  // The tie point of a PixelIsPoint file is the centre of its cell.
  const westDeg = transform.xDeg - (isPoint ? 0.5 * sizeXDeg : 0);
  const startDeg = transform.yDeg - (isPoint ? 0.5 * sizeYDeg : 0);
  const isSouthUp = sizeYDeg > 0;
  return {
    grid: {
      northDeg: isSouthUp ? startDeg + rowCount * sizeYDeg : startDeg,
      westDeg,
      cellSizeLatDeg: Math.abs(sizeYDeg),
      cellSizeLonDeg: sizeXDeg,
      rowCount,
      columnCount: image.getWidth(),
    },
    isSouthUp,
    notes: {
      crs,
      ...(isPoint ? { registration: "cell centres (PixelIsPoint), moved by half a cell" } : {}),
      ...(isSouthUp ? { row_order: "south to north, flipped" } : {}),
    },
  };
}

/** The outer corner (or centre) of the first cell of the file, and signed cell sizes: x east, y north. */
interface Transform {
  readonly xDeg: number;
  readonly yDeg: number;
  readonly sizeXDeg: number;
  readonly sizeYDeg: number;
}

function transformOf(file: string, image: GeoTIFFImage): Transform {
  const directory = image.fileDirectory;
  const matrix = directory.getValue("ModelTransformation");
  const scale = directory.getValue("ModelPixelScale");
  const tiePoint = directory.getValue("ModelTiepoint");
  let transform: Transform;
  if (matrix !== undefined) {
    const [a = NaN, b = NaN, , x = NaN, d = NaN, e = NaN, , y = NaN] = Array.from(matrix as ArrayLike<number>);
    if (b !== 0 || d !== 0) {
      throw sourceFault(
        file,
        "is rotated or sheared. Give a map whose rows run along parallels: gdalwarp -t_srs EPSG:4326.",
      );
    }
    transform = { xDeg: x, yDeg: y, sizeXDeg: a, sizeYDeg: e };
  } else if (scale !== undefined && tiePoint !== undefined) {
    const [sizeX = NaN, sizeY = NaN] = Array.from(scale as ArrayLike<number>);
    const points = Array.from(tiePoint as ArrayLike<number>);
    const [i = NaN, j = NaN, , x = NaN, y = NaN] = points;
    if (points.length > 6)
      throw sourceFault(file, "is placed by several tie points. Give a map on a regular grid: gdalwarp.");
    // A scale of 0.1 means that latitudes fall by 0.1 a row; a negative one is written by some for south-up maps.
    transform = { xDeg: x - i * sizeX, yDeg: y + j * sizeY, sizeXDeg: sizeX, sizeYDeg: -sizeY };
  } else {
    throw sourceFault(
      file,
      "has no georeference: neither ModelTransformation nor ModelTiepoint with ModelPixelScale. Give a GeoTIFF that says where it lies.",
    );
  }
  const { xDeg, yDeg, sizeXDeg, sizeYDeg } = transform;
  if (!(Number.isFinite(xDeg) && Number.isFinite(yDeg) && sizeXDeg > 0 && Number.isFinite(sizeXDeg))) {
    throw sourceFault(
      file,
      `begins at (${xDeg}, ${yDeg}) with cells of ${sizeXDeg} east-west; columns must run eastward.`,
    );
  }
  if (!(Number.isFinite(sizeYDeg) && sizeYDeg !== 0)) throw sourceFault(file, `has rows of height ${sizeYDeg}.`);
  return transform;
}

const MODEL_GEOGRAPHIC = 2;
const USER_DEFINED = 32_767;
const UNIT_DEGREE = 9102;
const WGS84 = { semiMajorM: 6_378_137, inverseFlattening: 298.257223563 } as const;
/** WGS 84 in two and three dimensions. */
const WGS84_CODES: ReadonlySet<unknown> = new Set([4326, 4979]);
const RIGHT = "WGS84 longitudes and latitudes in degrees (EPSG:4326) are read; convert it: gdalwarp -t_srs EPSG:4326.";

type GeoKeys = NonNullable<ReturnType<GeoTIFFImage["getGeoKeys"]>>;

/** The coordinate system in words, once it is known to be WGS84 degrees. */
function systemOf(file: string, keys: GeoKeys | null, transform: Transform, options: RasterOptions): string {
  const model: unknown = keys?.GTModelTypeGeoKey;
  const code: unknown = keys?.GeographicTypeGeoKey;
  if (keys === null || (model === undefined && code === undefined)) {
    const isPlausible = Math.abs(transform.xDeg) <= 360.5 && Math.abs(transform.yDeg) <= 90.5;
    if (options.assumeWgs84 === true && isPlausible) return "none stated, taken for EPSG:4326 on request";
    const hint = isPlausible
      ? " Its numbers look like degrees: where you know them to be, assume WGS84 (--assume-wgs84)."
      : "";
    throw sourceFault(file, `states no coordinate system. ${RIGHT}${hint}`);
  }
  if (model !== undefined && model !== MODEL_GEOGRAPHIC) {
    const projected: unknown = keys.ProjectedCSTypeGeoKey;
    const name = typeof projected === "number" && projected !== USER_DEFINED ? `EPSG:${projected}` : nameIn(keys);
    throw sourceFault(file, `is in a projected coordinate system (${name}). ${RIGHT}`);
  }
  const unit: unknown = keys.GeogAngularUnitsGeoKey;
  if (unit !== undefined && unit !== UNIT_DEGREE) {
    throw sourceFault(file, `measures angles in unit ${JSON.stringify(unit)}, not degrees. ${RIGHT}`);
  }
  const meridianDeg: unknown = keys.GeogPrimeMeridianLongGeoKey ?? 0;
  const meridian: unknown = keys.GeogPrimeMeridianGeoKey;
  if (meridianDeg !== 0 || (meridian !== undefined && meridian !== 8901 && meridian !== USER_DEFINED)) {
    throw sourceFault(file, `counts longitudes from another meridian than Greenwich (${nameIn(keys)}). ${RIGHT}`);
  }
  if (WGS84_CODES.has(code)) return `EPSG:${code as number}`;
  const isWgs84Ellipsoid =
    keys.GeogSemiMajorAxisGeoKey === WGS84.semiMajorM &&
    Math.abs(Number(keys.GeogInvFlatteningGeoKey) - WGS84.inverseFlattening) < 1e-9;
  const isWgs84Datum = keys.GeogGeodeticDatumGeoKey === 6326;
  if ((code === USER_DEFINED || code === undefined) && (isWgs84Datum || isWgs84Ellipsoid)) {
    return `user-defined on the WGS84 ${isWgs84Datum ? "datum" : "ellipsoid"}: ${nameIn(keys)}`;
  }
  const name = typeof code === "number" && code !== USER_DEFINED ? `EPSG:${code}` : nameIn(keys);
  throw sourceFault(file, `is in the geographic coordinate system ${name}, which is not WGS84. ${RIGHT}`);
}

function nameIn(keys: GeoKeys): string {
  const name: unknown = keys.PCSCitationGeoKey ?? keys.GTCitationGeoKey ?? keys.GeogCitationGeoKey;
  return typeof name === "string" && name !== "" ? name.replace(/\|$/, "") : "user-defined, unnamed";
}

// --- reading -----------------------------------------------------------------------------------------------------

function rasterOf(
  file: string,
  image: GeoTIFFImage,
  layout: Layout,
  reference: Reference,
  opened: OpenedTiff,
  options: RasterOptions,
): Raster {
  const stored = reference.grid;
  const repeatsColumn = Math.abs((stored.columnCount - 1) * stored.cellSizeLonDeg - 360) < 1e-3 * stored.cellSizeLonDeg;
  const grid = repeatsColumn ? { ...stored, columnCount: stored.columnCount - 1 } : stored;
  const why = gridFault(grid);
  if (why !== undefined) throw sourceFault(file, `does not lie on Earth: ${why}`);

  const context = { file, image, layout, reference, opened, markers: markersOf(layout, options), remembered: {} };
  return {
    file,
    grid,
    bandCount: layout.bandCount,
    declaredNodata: Array.from({ length: layout.bandCount }, () => layout.declaredNodata),
    blockRowCount: image.getTileHeight(),
    blockColumnCount: image.getTileWidth(),
    notes: {
      ...reference.notes,
      ...(repeatsColumn ? { repeated_meridian: "the last column is the first once more and was joined with it" } : {}),
      ...(options.nodata === undefined || options.nodata.length === 0
        ? {}
        : {
            // JSON has no infinite numbers.
            extra_nodata: options.nodata.map((value) => (Number.isFinite(value) ? value : String(value))),
          }),
    },
    async readWindow(window) {
      checkWindow(window, grid, layout.bandCount);
      if (!repeatsColumn || window.firstColumn > 0) return readStored(context, window);
      return readClosing(context, window, grid.columnCount);
    },
    close: opened.close,
  };
}

interface ReadContext {
  readonly file: string;
  readonly image: GeoTIFFImage;
  readonly layout: Layout;
  readonly reference: Reference;
  readonly opened: OpenedTiff;
  /** Values that mean missing, as the file's number format holds them. */
  readonly markers: readonly number[];
  /** The last window of a file whose bands lie side by side. */
  readonly remembered: { key?: string; bands?: Promise<readonly ArrayLike<number>[]> };
}

function markersOf(layout: Layout, options: RasterOptions): readonly number[] {
  const all = [...(layout.declaredNodata === undefined ? [] : [layout.declaredNodata]), ...(options.nodata ?? [])];
  return all.filter((value) => !Number.isNaN(value)).map((value) => (layout.fitsFloat32 ? Math.fround(value) : value));
}

function checkWindow(window: BandWindow, grid: Grid, bandCount: number): void {
  const { band, firstRow, rowCount, firstColumn, columnCount } = window;
  const isInside =
    firstRow >= 0 &&
    rowCount > 0 &&
    firstRow + rowCount <= grid.rowCount &&
    firstColumn >= 0 &&
    columnCount > 0 &&
    firstColumn + columnCount <= grid.columnCount;
  if (!isInside || band < 1 || band > bandCount) {
    throw new Error(
      `No such window in ${grid.rowCount} x ${grid.columnCount} cells of ${bandCount} bands: ${JSON.stringify(window)}`,
    );
  }
}

/**
 * A window that begins at the seam of a closing world map, whose extra last column stands for the same meridian as the
 * first. They must not contradict each other; where only one has a value, that is the meridian's (maps put together
 * from basins that end there, as STORM's are, have one half of the meridian in each column).
 */
async function readClosing(context: ReadContext, window: BandWindow, extraColumn: number): Promise<RasterValues> {
  const { rowCount, columnCount } = window;
  const isWhole = columnCount === extraColumn;
  // A striped file would be decoded twice for one column: whole rows are read once, with it.
  const wideCount = isWhole ? columnCount + 1 : columnCount;
  const wide = await readStored(context, { ...window, columnCount: wideCount });
  const extra = isWhole
    ? undefined
    : await readStored(context, { ...window, firstColumn: extraColumn, columnCount: 1 });
  const values = isWhole ? emptyValues(context, rowCount * columnCount) : wide;
  for (let row = 0; row < rowCount; row++) {
    const first = wide[row * wideCount] ?? NaN;
    const last = (extra === undefined ? wide[row * wideCount + columnCount] : extra[row]) ?? NaN;
    if (first !== last && !Number.isNaN(first) && !Number.isNaN(last)) {
      throw sourceFault(
        context.file,
        `its columns make one turn and one column more, but in row ${window.firstRow + row} the last column (${last}) ` +
          `contradicts the first (${first}), which is the same meridian. Give a map whose columns end where they begin.`,
        { details: { row: window.firstRow + row, band: window.band } },
      );
    }
    if (isWhole) values.set(wide.subarray(row * wideCount, row * wideCount + columnCount), row * columnCount);
    if (Number.isNaN(first)) values[row * columnCount] = last;
  }
  return values;
}

function emptyValues({ layout }: ReadContext, count: number): RasterValues {
  return layout.fitsFloat32 ? new Float32Array(count) : new Float64Array(count);
}

/** A window of the columns that the file has, north up, missing as NaN. */
async function readStored(context: ReadContext, window: BandWindow): Promise<RasterValues> {
  const { file, layout, reference } = context;
  const { band, rowCount, firstColumn, columnCount } = window;
  const top = reference.isSouthUp ? layout.rowCount - window.firstRow - rowCount : window.firstRow;
  const box = { left: firstColumn, top, right: firstColumn + columnCount, bottom: top + rowCount };
  const where = `band ${band}, rows ${window.firstRow} to ${window.firstRow + rowCount - 1}, columns ${firstColumn} to ${box.right - 1}`;

  const sparse = await checkBlocks(context, box, band, where);
  const values = emptyValues(context, rowCount * columnCount);
  const read = await readSamples(context, box, band).catch((error: unknown) => {
    throw sourceFault(file, `cannot be read at ${where} (${messageOf(error)}). It is damaged or cut short.`, {
      details: { window },
      cause: error,
    });
  });
  for (let row = 0; row < rowCount; row++) {
    const from = (reference.isSouthUp ? rowCount - 1 - row : row) * columnCount;
    const to = row * columnCount;
    for (let column = 0; column < columnCount; column++) values[to + column] = read[from + column] ?? NaN;
  }
  for (const marker of context.markers) {
    for (let i = 0; i < values.length; i++) if (values[i] === marker) values[i] = NaN;
  }
  for (const hole of sparse) {
    for (let row = hole.top; row < hole.bottom; row++) {
      const to = reference.isSouthUp ? rowCount - 1 - row : row;
      values.fill(NaN, to * columnCount + hole.left, to * columnCount + hole.right);
    }
  }
  return values;
}

/** All bands of a window are kept up to this many values. */
const REMEMBERED_VALUES = 25_000_000;

/**
 * The values of one band as the file holds them. Where bands lie side by side in each cell a block has to be decoded for
 * all of them: the last window is then read for all at once and remembered, since its other bands are asked for next.
 */
async function readSamples(context: ReadContext, box: Box, band: number): Promise<ArrayLike<number>> {
  const { image, layout, remembered } = context;
  const window = [box.left, box.top, box.right, box.bottom];
  const valueCount = (box.right - box.left) * (box.bottom - box.top) * layout.bandCount;
  const readBands = async (samples: readonly number[]): Promise<readonly ArrayLike<number>[]> =>
    image.readRasters({ window, samples: [...samples], interleave: false });
  if (layout.bandCount === 1 || image.planarConfiguration === 2 || valueCount > REMEMBERED_VALUES) {
    const [values] = await readBands([band - 1]);
    return values ?? [];
  }
  const key = window.join(" ");
  if (remembered.key !== key) {
    remembered.key = key;
    remembered.bands = readBands(Array.from({ length: layout.bandCount }, (_, index) => index));
  }
  const bands = await remembered.bands;
  return bands?.[band - 1] ?? [];
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/**
 * Looks at the blocks under a window before they are read: each must lie within the file. A block that was left out
 * holds missing values where the file declares a nodata value, zeros where it does not.
 * @returns the left-out blocks that are missing, in cells of the window, rows in the file's order
 */
async function checkBlocks(context: ReadContext, box: Box, band: number, where: string): Promise<readonly Box[]> {
  const { file, image, layout, opened } = context;
  const blockRows = image.getTileHeight();
  const blockColumns = image.getTileWidth();
  const acrossCount = Math.ceil(layout.columnCount / blockColumns);
  const downCount = Math.ceil(layout.rowCount / blockRows);
  const planeStart = image.planarConfiguration === 2 ? (band - 1) * acrossCount * downCount : 0;
  const [offsets, sizes] = image.isTiled
    ? (["TileOffsets", "TileByteCounts"] as const)
    : (["StripOffsets", "StripByteCounts"] as const);
  const holes: Box[] = [];
  for (let down = Math.floor(box.top / blockRows); down * blockRows < box.bottom; down++) {
    for (let across = Math.floor(box.left / blockColumns); across * blockColumns < box.right; across++) {
      const index = planeStart + down * acrossCount + across;
      const place = await blockPlace(context, offsets, sizes, index, where);
      if (place.sizeBytes === 0) {
        if (layout.declaredNodata === undefined) continue;
        holes.push({
          left: Math.max(0, across * blockColumns - box.left),
          right: Math.min(box.right, (across + 1) * blockColumns) - box.left,
          top: Math.max(0, down * blockRows - box.top),
          bottom: Math.min(box.bottom, (down + 1) * blockRows) - box.top,
        });
      } else if (opened.sizeBytes !== undefined && place.offset + place.sizeBytes > opened.sizeBytes) {
        throw sourceFault(
          file,
          `is cut short at ${where}: a block of it should end at byte ${place.offset + place.sizeBytes}, the file ends at ${opened.sizeBytes}.`,
          { details: { offset: place.offset, sizeBytes: opened.sizeBytes } },
        );
      }
    }
  }
  return holes;
}

async function blockPlace(
  { file, image }: ReadContext,
  offsets: "TileOffsets" | "StripOffsets",
  sizes: "TileByteCounts" | "StripByteCounts",
  index: number,
  where: string,
): Promise<{ readonly offset: number; readonly sizeBytes: number }> {
  try {
    const offset = Number(await image.fileDirectory.loadValueIndexed(offsets, index));
    const sizeBytes = Number(await image.fileDirectory.loadValueIndexed(sizes, index));
    if (Number.isFinite(offset) && Number.isFinite(sizeBytes)) return { offset, sizeBytes };
  } catch (error) {
    throw sourceFault(file, `its block index cannot be read at ${where} (${messageOf(error)}). It is cut short.`, {
      cause: error,
    });
  }
  throw sourceFault(file, `has no block ${index}, which should hold ${where}. It is damaged.`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
