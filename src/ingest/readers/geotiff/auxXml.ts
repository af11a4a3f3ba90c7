/** GDAL's Persistent Auxiliary Metadata (PAM), the `.aux.xml` file beside a map. */
import { sourceFault } from "../../raster.ts";
import { messageOf } from "./byteSource.ts";
import { checkMetadataItem, checkBandItem, classFault, type Units } from "./gdalMetadata.ts";
import type { Transform } from "./georeference.ts";
import { nodataOf, type NumberFormat } from "./layout.ts";
import { readXml, type XmlElement } from "./xml.ts";

/** Statements of an `.aux.xml` that are applied or compared with the map. */
export interface AuxStatements {
  /** By band, from 1. */
  readonly nodata: Map<number, number>;
  readonly units: Units;
  readonly transform: Transform | undefined;
}

const DATASET = "PAMDataset";
const BAND = "PAMDataset/PAMRasterBand";

/** Elements that change neither values nor positions. */
const HARMLESS: ReadonlySet<string> = new Set([
  `${DATASET}/Metadata`,
  `${DATASET}/Subdatasets`,
  `${BAND}/Metadata`,
  `${BAND}/Description`,
  `${BAND}/Histograms`,
  `${BAND}/Minimum`,
  `${BAND}/Maximum`,
  `${BAND}/GDALRasterAttributeTable`,
  `${BAND}/Overview`,
]);

/**
 * Reads an `.aux.xml`. Nodata values and units are applied; statistics and descriptions are ignored.
 * @throws Fault `source_invalid` naming the map, the sidecar and the statement that is not supported
 */
export function readAuxXml(
  file: string,
  { name, text }: { readonly name: string; readonly text: string },
  format: NumberFormat,
): AuxStatements {
  const read = { nodata: new Map<number, number>(), units: new Map<number, string>() };
  let transform: Transform | undefined;
  const refuse = (why: string): Error =>
    sourceFault(file, `its sidecar ${name} ${why}`, { details: { sidecar: name } });
  try {
    readXml(text, (element) => {
      const { path, attributes } = element;
      if (path[0] !== DATASET) throw new Error(`its root element is ${path[0]}`);
      const here = path.join("/");
      if (here.endsWith("Metadata/MDI")) {
        checkMetadataItem(
          file,
          attributes.at(-1)?.["key"] ?? "",
          attributes.at(-2)?.["domain"] ?? "",
          `its sidecar ${name}`,
        );
        return;
      }
      if (path[1] === "PAMRasterBand") readBand(element);
      else if (path.length === 2) readWhole(element);
    });
  } catch (error) {
    if (error instanceof Error && error.name === "Fault") throw error;
    throw refuse(
      `cannot be read as GDAL metadata (${messageOf(error)}). Remove it, or convert the map with gdal_translate.`,
    );
  }
  return { ...read, transform };

  function readBand({ path, attributes, text: value }: XmlElement): void {
    const band = Number(attributes[1]?.["band"] ?? 1);
    const how = `its sidecar ${name} states for band ${band}`;
    if (path.length === 2 || HARMLESS.has(path.slice(0, 3).join("/"))) return;
    switch (path[2]) {
      case "NoDataValue": {
        // The attribute has the exact bits; the decimal text is rounded.
        const bits = /^[0-9a-f]{16}$/i.exec(attributes[2]?.["le_hex_equiv"] ?? "")?.[0];
        const exact = bits === undefined ? value : String(Buffer.from(bits, "hex").readDoubleLE(0));
        const nodata = nodataOf(file, exact, format, `its sidecar ${name} states`);
        if (nodata !== undefined) read.nodata.set(band, nodata);
        return;
      }
      case "UnitType":
        if (value.trim() !== "") read.units.set(band, value.trim());
        return;
      case "Scale":
      case "Offset":
      case "ColorInterp":
        checkBandItem(file, { name: path[2], text: value, how });
        return;
      case "CategoryNames":
      case "ColorTable":
        if (path.length === 3) throw classFault(file, how);
        return;
      default:
        throw refuse(
          `states ${path.slice(2).join("/")} for band ${band}, which is not supported. Convert the map with gdal_translate.`,
        );
    }
  }

  function readWhole({ path, text: value }: XmlElement): void {
    if (HARMLESS.has(path.join("/"))) return;
    switch (path[1]) {
      case "GeoTransform":
        transform = transformOf(value);
        if (transform === undefined) {
          throw refuse(
            `states the transform ${value.trim()}, which is rotated or malformed. Convert the map with gdalwarp.`,
          );
        }
        return;
      case "SRS":
        if (!isWgs84(value)) {
          throw refuse(
            `states a coordinate system other than WGS84 degrees: ${abbreviated(value)}. Convert the map with gdalwarp -t_srs EPSG:4326.`,
          );
        }
        return;
      default:
        throw refuse(`states ${path[1]}, which is not supported. Convert the map with gdal_translate.`);
    }
  }
}

function transformOf(text: string): Transform | undefined {
  const numbers = text.split(",").map(Number);
  const [xDeg = NaN, sizeXDeg = NaN, b = NaN, yDeg = NaN, d = NaN, sizeYDeg = NaN] = numbers;
  const isPlain = numbers.length === 6 && !numbers.some(Number.isNaN) && b === 0 && d === 0;
  return isPlain ? { xDeg, yDeg, sizeXDeg, sizeYDeg } : undefined;
}

/** Returns whether a coordinate system, given as WKT or EPSG code, is WGS 84 in degrees. */
function isWgs84(text: string): boolean {
  const system = text.trim();
  if (/^EPSG:4326$/i.test(system)) return true;
  const code = /(?:AUTHORITY\["EPSG",\s*"(\d+)"\]|ID\["EPSG",\s*(\d+)\])\s*\]$/i.exec(system);
  if (/^GEOG(CS|CRS|RAPHICCRS)\["/i.test(system)) {
    return code === null ? /^GEOG\w*\["(GCS_WGS_1984|WGS 84|WGS84)"/i.test(system) : (code[1] ?? code[2]) === "4326";
  }
  return false;
}

function abbreviated(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length <= 60 ? line : `${line.slice(0, 60)}...`;
}
