/** Reads the georeference of a GeoTIFF (OGC GeoTIFF 1.1). */
import { isDeepStrictEqual } from "node:util";
import { messageOf, type PlaneGrid, type RasterOptions, sourceFault } from "../../raster.ts";
import { axisOrderOf, crsOfText, epsgCrs, isSameCrs } from "../../reprojection/crsText.ts";
import { crsOfGeoKeys, type GeoKeys } from "../../reprojection/geoKeys.ts";
import type { ParsedCrs } from "../../crsDefinition.ts";
import type { SrsStatement, Transform } from "./auxXml.ts";
import { type Directory, TAG } from "./directory.ts";
import { readGeoKeys } from "./geoKeys.ts";

export interface Georeference {
  /** The grid of the file in the unit of its coordinate system, before a repeated column is dropped. */
  readonly plane: PlaneGrid;
  /** The coordinate system if it is not WGS84 degrees, and the size of its unit in meters (1 for degrees on another datum). */
  readonly projected: ParsedCrs | undefined;
  /** Its position is the outer corner of the first cell in the file. */
  readonly transform: Transform;
  readonly isSouthUp: boolean;
  readonly crs: string;
  /** The vertical unit of the coordinate system, if any; GDAL uses it as the unit of the values. */
  readonly verticalUnit: string | undefined;
  readonly notes: Readonly<Record<string, unknown>>;
}

const RASTER_PIXEL_IS_POINT = 2;

/** What sidecar files state about the position of a map. */
interface SidecarReference {
  /** The name of the world file, for the error about a map without georeference. */
  readonly worldFile: string | undefined;
  /** The transform of the `.aux.xml`, used if the file has none. */
  readonly transform: Transform | undefined;
  /** The coordinate system of the `.aux.xml`, used if the file has none. */
  readonly srs: SrsStatement | undefined;
}

/**
 * Reads the georeference of an image.
 * @throws Fault `source_invalid` if there is none, if it is not a north-up or south-up grid, or if its coordinate system is
 *   not supported
 */
export async function readGeoreference(
  file: string,
  directory: Directory,
  {
    rowCount,
    columnCount,
    worldFile,
    transform: sidecarTransform,
    srs,
    ...options
  }: RasterOptions & SidecarReference & Pick<PlaneGrid, "rowCount" | "columnCount">,
): Promise<Georeference> {
  const keys = await readGeoKeys(file, directory);
  const inFile = await transformInFile(file, directory);
  const storedTransform = inFile ?? sidecarTransform;
  if (storedTransform === undefined) throw noTransformFault(file, worldFile);
  // The transform of an .aux.xml is that of the outer corner, also in a PixelIsPoint file.
  const isPoint = inFile !== undefined && keys?.["GTRasterTypeGeoKey"] === RASTER_PIXEL_IS_POINT;
  const { text: crs, datum, projected } = readCrs(file, keys, { transform: storedTransform, srs, options });

  const { pixelSizeX, pixelSizeY } = storedTransform;
  // The tie point of a PixelIsPoint file is the center of its cell.
  const transform: Transform = {
    ...storedTransform,
    originX: storedTransform.originX - (isPoint ? 0.5 * pixelSizeX : 0),
    originY: storedTransform.originY - (isPoint ? 0.5 * pixelSizeY : 0),
  };
  const isSouthUp = pixelSizeY > 0;
  return {
    plane: {
      westX: transform.originX,
      northY: isSouthUp ? transform.originY + rowCount * pixelSizeY : transform.originY,
      cellWidth: pixelSizeX,
      cellHeight: Math.abs(pixelSizeY),
      rowCount,
      columnCount,
    },
    projected,
    transform,
    isSouthUp,
    crs,
    verticalUnit: verticalUnitOf(keys),
    notes: {
      crs,
      ...(datum === undefined ? {} : { datum }),
      ...(isPoint ? { registration: "cell centers (PixelIsPoint), moved by half a cell" } : {}),
      ...(isSouthUp ? { row_order: "south to north, flipped" } : {}),
    },
  };
}

function noTransformFault(file: string, worldFile: string | undefined): Error {
  const hint =
    worldFile === undefined
      ? "Give a georeferenced GeoTIFF."
      : `A world file (${worldFile}) is not enough; write it into the file with gdal_translate -a_srs EPSG:4326.`;
  return sourceFault(
    file,
    `has no georeference: it has neither ModelTransformation nor ModelTiepoint with ModelPixelScale. ${hint}`,
  );
}

async function transformInFile(file: string, directory: Directory): Promise<Transform | undefined> {
  const matrixResult = matrixTransform(file, await directory.doubles(TAG.modelTransformation));
  const scaleResult = scaleTransform(
    file,
    await directory.doubles(TAG.modelPixelScale),
    await directory.doubles(TAG.modelTiepoint),
  );
  const transform = matrixResult ?? scaleResult;
  if (transform === undefined) return undefined;
  if (matrixResult !== undefined && scaleResult !== undefined && !isDeepStrictEqual(matrixResult, scaleResult)) {
    throw sourceFault(file, "has two contradictory georeferences: a matrix, and a tie point with a scale.");
  }
  const { originX, originY, pixelSizeX, pixelSizeY } = transform;
  if (!(Number.isFinite(originX) && Number.isFinite(originY) && pixelSizeX > 0 && Number.isFinite(pixelSizeX))) {
    throw sourceFault(
      file,
      `starts at (${originX}, ${originY}) with cells ${pixelSizeX} wide; both must be finite, and the width above 0.`,
    );
  }
  if (!(Number.isFinite(pixelSizeY) && pixelSizeY !== 0))
    throw sourceFault(
      file,
      `has cells with a height of ${pixelSizeY}; the height must be a finite number other than 0.`,
    );
  return transform;
}

function matrixTransform(file: string, matrix: readonly number[] | undefined): Transform | undefined {
  if (matrix === undefined) return undefined;
  const [a = NaN, b = NaN, , x = NaN, d = NaN, e = NaN, , y = NaN] = matrix;
  if (b !== 0 || d !== 0) {
    throw sourceFault(file, "is rotated or sheared. Convert it with gdalwarp -t_srs EPSG:4326.");
  }
  return { originX: x, originY: y, pixelSizeX: a, pixelSizeY: e };
}

function scaleTransform(
  file: string,
  scale: readonly number[] | undefined,
  tiePoint: readonly number[] | undefined,
): Transform | undefined {
  if (tiePoint === undefined) return undefined;
  if (tiePoint.length > 6) {
    throw sourceFault(file, "is georeferenced by several tie points. Convert it to a regular grid with gdalwarp.");
  }
  if (scale === undefined) return undefined;
  const [sizeX = NaN, sizeY = NaN] = scale;
  const [i = NaN, j = NaN, , x = NaN, y = NaN] = tiePoint;
  // The specification reads such a map as south-up, GDAL as north-up.
  if (sizeY < 0) {
    throw sourceFault(
      file,
      "has a negative scale of rows (ModelPixelScale), which software reads either as south-up or as north-up. Write the " +
        "transform as a matrix: gdal_translate --config GTIFF_HONOUR_NEGATIVE_SCALEY YES (south-up) or NO (north-up).",
    );
  }
  return { originX: x - i * sizeX, originY: y + j * sizeY, pixelSizeX: sizeX, pixelSizeY: -sizeY };
}

const MODEL_GEOGRAPHIC = 2;
const USER_DEFINED = 32_767;
const UNIT_DEGREE = 9102;
const WGS84 = { semiMajorM: 6_378_137, inverseFlattening: 298.257223563 } as const;
/** WGS 84 in two and three dimensions. */
const WGS84_CODES: ReadonlySet<unknown> = new Set([4326, 4979]);

const CONVERT = "GDAL can convert the map: gdalwarp -t_srs EPSG:4326.";

/** A coordinate system as described in the provenance. */
interface FileCrs {
  readonly text: string;
  /** How its datum is brought to WGS84, if it is another one and nothing has to be computed. */
  readonly datum?: string;
  readonly projected?: ParsedCrs;
}

/**
 * Reads the coordinate system.
 * @throws Fault `source_invalid` if there is none, or if it is not supported
 */
function readCrs(
  file: string,
  keys: GeoKeys | undefined,
  {
    transform,
    srs,
    options,
  }: { readonly transform: Transform; readonly srs: SrsStatement | undefined; readonly options: RasterOptions },
): FileCrs {
  const assumeWgs84 = options.assumeWgs84 === true;
  const model = keys?.["GTModelTypeGeoKey"];
  const code = keys?.["GeographicTypeGeoKey"];
  const inSidecar = srs === undefined ? undefined : sidecarCrs(file, srs, assumeWgs84);
  if (keys === undefined || (model === undefined && code === undefined)) {
    if (inSidecar !== undefined && srs !== undefined) {
      if (options.crs !== undefined) throw statedCrsFault(file, `in ${srs.sidecar}`);
      if (/^\s*COMP/i.test(srs.text)) {
        throw sourceFault(
          file,
          `its sidecar ${srs.sidecar} states a coordinate system with heights, whose unit would be that of the values. Write it into the file: gdal_translate in.tif out.tif.`,
          { details: { sidecar: srs.sidecar } },
        );
      }
      return describedCrs(inSidecar, `${inSidecar.crs.name}, stated in ${srs.sidecar}`);
    }
    if (options.crs !== undefined) return crsOnRequest(file, options.crs, assumeWgs84);
    const isPlausible = Math.abs(transform.originX) <= 360.5 && Math.abs(transform.originY) <= 90.5;
    if (assumeWgs84 && isPlausible) return { text: "none stated; read as EPSG:4326 on request" };
    const hint = isPlausible ? " If its numbers are WGS84 degrees, pass --assume-wgs84." : "";
    throw sourceFault(
      file,
      `has no coordinate system. State it with crs in the layer of a manifest, or with gdal_edit.py -a_srs.${hint}`,
    );
  }
  if (options.crs !== undefined) throw statedCrsFault(file);
  const wgs84 = model === undefined || model === MODEL_GEOGRAPHIC ? describeWgs84(keys) : undefined;
  const parsed =
    wgs84 === undefined ? parsedCrs(file, () => crsOfGeoKeys(keys, { assumeWgs84 })) : { crs: epsgCrs(4326), unitM: 1 };
  if (inSidecar !== undefined && !isSameCrs(parsed, inSidecar)) {
    throw sourceFault(
      file,
      `is in the coordinate system ${wgs84 ?? parsed.crs.name}, but ${srs?.sidecar} states ${inSidecar.crs.name}. Correct the file or its .aux.xml.`,
      { details: { sidecar: srs?.sidecar } },
    );
  }
  return wgs84 === undefined ? describedCrs(parsed) : { text: wgs84 };
}

function statedCrsFault(file: string, where = ""): Error {
  const place = where === "" ? "" : ` ${where}`;
  return sourceFault(file, `states its coordinate system${place}; crs is only for files that state none. Remove crs.`);
}

/** Returns the coordinate system that an `.aux.xml` states. */
function sidecarCrs(file: string, { sidecar, text, axisMapping }: SrsStatement, assumeWgs84: boolean): ParsedCrs {
  const parsed = parsedCrs(file, () => {
    try {
      return crsOfText(text, { assumeWgs84 });
    } catch (error) {
      throw new Error(`has a sidecar ${sidecar} that ${messageOf(error)}`, { cause: error });
    }
  });
  if (axisMapping === undefined || axisMapping.replaceAll(/\s/g, "") === axisOrderOf(text)) return parsed;
  throw sourceFault(
    file,
    `its sidecar ${sidecar} states the order of axes ${JSON.stringify(axisMapping)} for ${parsed.crs.name}, in which x is not to the east. Convert the map with gdalwarp -t_srs EPSG:4326.`,
    { details: { sidecar } },
  );
}

/** Returns the coordinate system that the user states for a file without one. */
function crsOnRequest(file: string, text: string, assumeWgs84: boolean): FileCrs {
  const parsed = parsedCrs(file, () => crsOfText(text, { assumeWgs84 }));
  return describedCrs(parsed, `none stated; read as ${parsed.crs.name} on request`);
}

function parsedCrs(file: string, read: () => ParsedCrs): ParsedCrs {
  try {
    return read();
  } catch (error) {
    const why = messageOf(error).replace(/\.$/, "");
    throw sourceFault(file, `${why}.${why.includes("gdalwarp") ? "" : ` ${CONVERT}`}`, { cause: error });
  }
}

/** Returns a coordinate system whose coordinates can be used as WGS84 degrees, or must be reprojected. */
function describedCrs(parsed: ParsedCrs, text = parsed.crs.name): FileCrs {
  const { method, datum } = parsed.crs;
  return method === "longlat" && datum.kind === "unchanged"
    ? { text, datum: datum.description }
    : { text, projected: parsed };
}

/** Describes a coordinate system in WGS84 degrees, or returns undefined for another one. */
function describeWgs84(keys: GeoKeys): string | undefined {
  const code = keys["GeographicTypeGeoKey"];
  const unit = keys["GeogAngularUnitsGeoKey"];
  const meridianDeg = keys["GeogPrimeMeridianLongGeoKey"] ?? 0;
  const meridian = keys["GeogPrimeMeridianGeoKey"];
  const isGreenwich = meridianDeg === 0 && (meridian === undefined || meridian === 8901 || meridian === USER_DEFINED);
  if ((unit !== undefined && unit !== UNIT_DEGREE) || !isGreenwich) return undefined;
  if (WGS84_CODES.has(code)) return `EPSG:${code as number}`;
  const isWgs84Ellipsoid =
    keys["GeogSemiMajorAxisGeoKey"] === WGS84.semiMajorM &&
    Math.abs(Number(keys["GeogInvFlatteningGeoKey"]) - WGS84.inverseFlattening) < 1e-9;
  const isWgs84Datum = keys["GeogGeodeticDatumGeoKey"] === 6326;
  if ((code !== USER_DEFINED && code !== undefined) || (!isWgs84Datum && !isWgs84Ellipsoid)) return undefined;
  return `user-defined on the WGS84 ${isWgs84Datum ? "datum" : "ellipsoid"}: ${citationOf(keys)}`;
}

/** Vertical units by EPSG code. */
const VERTICAL_UNITS: Readonly<Record<number, string>> = { 9001: "m", 9002: "ft", 9003: "US survey foot" };
/** EPSG codes of vertical systems in meters: EGM2008, EGM96, mean sea level, NAVD88, ellipsoidal height. */
const METRIC_HEIGHTS: ReadonlySet<unknown> = new Set([3855, 5773, 5714, 5703, 4979]);

function verticalUnitOf(keys: GeoKeys | undefined): string | undefined {
  const unit = keys?.["VerticalUnitsGeoKey"];
  if (typeof unit === "number") return VERTICAL_UNITS[unit] ?? `EPSG:${unit}`;
  const system = keys?.["VerticalCSTypeGeoKey"];
  if (system === undefined) return undefined;
  return METRIC_HEIGHTS.has(system) ? "m" : `of the vertical system ${JSON.stringify(system)}`;
}

function citationOf(keys: GeoKeys): string {
  const name = keys["PCSCitationGeoKey"] ?? keys["GTCitationGeoKey"] ?? keys["GeogCitationGeoKey"];
  return typeof name === "string" && name !== "" ? name.replace(/\|$/, "") : "user-defined, unnamed";
}
