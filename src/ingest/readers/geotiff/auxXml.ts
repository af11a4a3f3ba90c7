/** GDAL's Persistent Auxiliary Metadata (PAM), the `.aux.xml` file next to a map. */
import { isFault } from "../../../errors.ts";
import { messageOf, sourceFault } from "../../raster.ts";
import {
  addBandItem,
  addMetadataItem,
  type BandStatements,
  classFault,
  noStatements,
  readXml,
  type XmlElement,
} from "./gdalMetadata.ts";
import { nodataOf, type NumberFormat } from "./nodata.ts";

/**
 * The outer corner (or center) of the first cell of a file, and signed cell sizes: x east, y north. The unit is that of the
 * coordinate system of the map: degrees, or a unit of length.
 */
export interface Transform {
  readonly originX: number;
  readonly originY: number;
  readonly pixelSizeX: number;
  readonly pixelSizeY: number;
}

/** Statements of an `.aux.xml` that are applied or compared with the map. */
export interface AuxStatements extends BandStatements {
  /** By band, from 1. */
  readonly nodata: Map<number, number>;
  readonly transform: Transform | undefined;
  readonly srs: SrsStatement | undefined;
}

/** The coordinate system that an `.aux.xml` states. */
export interface SrsStatement {
  /** The name of the sidecar file. */
  readonly sidecar: string;
  /** Well-known text, an EPSG code or a PROJ string. */
  readonly text: string;
  /** The numbers of the axes of the coordinate system that x and y of the map are, such as "2,1"; undefined for east, north. */
  readonly axisMapping: string | undefined;
}

const DATASET = "pamdataset";
const BAND = "pamdataset/pamrasterband";

/**
 * Elements that change neither values nor positions, in lower case like all names in this file, because GDAL ignores
 * case.
 */
const IGNORED_ELEMENTS: ReadonlySet<string> = new Set([
  `${DATASET}/metadata`,
  `${DATASET}/subdatasets`,
  `${BAND}/metadata`,
  `${BAND}/description`,
  `${BAND}/histograms`,
  `${BAND}/minimum`,
  `${BAND}/maximum`,
  `${BAND}/gdalrasterattributetable`,
  `${BAND}/overview`,
]);

/** Attributes that GDAL defines; it reads any other attribute as an element of that name. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  [BAND]: ["band"],
  [`${BAND}/nodatavalue`]: ["le_hex_equiv"],
  [`${DATASET}/srs`]: ["dataaxistosrsaxismapping", "coordinateepoch"],
  [`${DATASET}/metadata`]: ["domain", "format"],
  [`${BAND}/metadata`]: ["domain", "format"],
};

/** Elements that may occur only once: readers differ in which of several they use. */
const SINGLE: ReadonlySet<string> = new Set([
  "nodatavalue",
  "unittype",
  "scale",
  "offset",
  "colorinterp",
  "geotransform",
  "srs",
]);

/**
 * Reads an `.aux.xml`. Nodata values, units, scales, offsets, alpha bands, the transform and the coordinate system are applied;
 * statistics and descriptions are ignored.
 * @throws Fault `source_invalid` naming the map, the sidecar and the statement that is not supported
 */
export function readAuxXml(
  file: string,
  { name, text }: { readonly name: string; readonly text: string },
  format: NumberFormat,
): AuxStatements {
  const statements: { nodata: Map<number, number> } & BandStatements = { nodata: new Map(), ...noStatements() };
  let transform: Transform | undefined;
  let srs: SrsStatement | undefined;
  const seenKeys = new Set<string>();
  const sidecarFault = (why: string): Error =>
    sourceFault(file, `its sidecar ${name} ${why}`, { details: { sidecar: name } });
  try {
    readXml(text, (element) => {
      const { path, attributes } = element;
      if (path[0] !== DATASET) throw new Error(`its root element is ${path[0]}`);
      const elementPath = path.join("/");
      if (elementPath.endsWith("metadata/mdi")) {
        // GDAL uses the first attribute as the key, regardless of its name.
        if (Object.keys(attributes.at(-1) ?? {}).join() !== "key") {
          throw sidecarFault(
            "has an MDI element whose only attribute is not key. Convert the map with gdal_translate.",
          );
        }
        const domain = attributes.at(-2)?.["domain"] ?? "";
        addMetadataItem(file, statements, {
          name: attributes.at(-1)?.["key"] ?? "",
          domain,
          text: element.text,
          isOfBand: path[1] === "pamrasterband",
          messagePrefix: `its sidecar ${name}`,
        });
        return;
      }
      readStatement(element);
      if (isIgnored(path) && ATTRIBUTES[elementPath] === undefined) return;
      for (const [name, value] of Object.entries(attributes.at(-1) ?? {})) {
        if (ATTRIBUTES[elementPath]?.includes(name) === true || /^xmlns(:|$)/.test(name)) continue;
        readStatement({ path: [...path, name], attributes: [...attributes, {}], text: value });
      }
    });
  } catch (error) {
    if (isFault(error)) throw error;
    throw sidecarFault(
      `cannot be read as GDAL metadata (${messageOf(error)}). Remove the sidecar, or convert the map with gdal_translate.`,
    );
  }
  return { ...statements, transform, srs };

  function readStatement(element: XmlElement): void {
    const { path } = element;
    if (path.length === 1) return;
    const isBand = path[1] === "pamrasterband";
    const depth = isBand ? 3 : 2;
    if (isBand && !/^[1-9]\d{0,8}$/.test(element.attributes[1]?.["band"]?.trim() ?? "")) {
      throw sidecarFault("has a PAMRasterBand without a valid attribute band. Convert the map with gdal_translate.");
    }
    if (path.length < depth || isIgnored(path)) return;
    const name = path[depth - 1] ?? "";
    if (path.length > depth && name !== "colortable" && name !== "categorynames") {
      throw sidecarFault(
        `states ${path.slice(1).join("/")}, which is not supported. Convert the map with gdal_translate.`,
      );
    }
    const key = `${isBand ? Number(element.attributes[1]?.["band"]) : ""}/${name}`;
    if (SINGLE.has(name) && seenKeys.has(key)) {
      throw sidecarFault(
        `states ${name}${isBand ? ` for band ${key.split("/")[0]}` : ""} twice. Remove one of the two elements.`,
      );
    }
    seenKeys.add(key);
    if (isBand) readBandElement(element);
    else readDatasetElement(element);
  }

  function readBandElement({ path, attributes, text: value }: XmlElement): void {
    const band = Number(attributes[1]?.["band"]);
    const messagePrefix = `its sidecar ${name} states for band ${band}`;
    switch (path[2]) {
      case "nodatavalue": {
        // The attribute has the exact bits; the decimal text is rounded.
        const bits = /^[0-9a-f]{16}$/i.exec(attributes[2]?.["le_hex_equiv"] ?? "")?.[0];
        const exact = bits === undefined ? value : String(Buffer.from(bits, "hex").readDoubleLE(0));
        const nodata = nodataOf(file, exact, format, `its sidecar ${name} states`);
        if (nodata !== undefined) statements.nodata.set(band, nodata);
        return;
      }
      case "unittype":
      case "scale":
      case "offset":
      case "colorinterp":
        addBandItem(file, statements, { band, name: path[2], text: value, messagePrefix });
        return;
      case "categorynames":
      case "colortable":
        if (path.length === 3) throw classFault(file, messagePrefix);
        return;
      default:
        throw sidecarFault(
          `states ${path.slice(2).join("/")} for band ${band}, which is not supported. Convert the map with gdal_translate.`,
        );
    }
  }

  function readDatasetElement({ path, attributes, text: value }: XmlElement): void {
    switch (path[1]) {
      case "geotransform":
        transform = parseTransform(value);
        if (transform === undefined) {
          throw sidecarFault(
            `states the transform ${value.trim()}, which is rotated or malformed. Convert the map with gdalwarp.`,
          );
        }
        return;
      case "srs":
        if (value.trim() !== "")
          srs = { sidecar: name, text: value, axisMapping: attributes[1]?.["dataaxistosrsaxismapping"] };
        return;
      default:
        throw sidecarFault(`states ${path[1]}, which is not supported. Convert the map with gdal_translate.`);
    }
  }
}

/** Returns whether an element, or one that encloses it, is ignored. */
function isIgnored(path: readonly string[]): boolean {
  return IGNORED_ELEMENTS.has(path.slice(0, 2).join("/")) || IGNORED_ELEMENTS.has(path.slice(0, 3).join("/"));
}

function parseTransform(text: string): Transform | undefined {
  const numbers = text.split(",").map(Number);
  const [originX = NaN, pixelSizeX = NaN, b = NaN, originY = NaN, d = NaN, pixelSizeY = NaN] = numbers;
  const isUnrotated = numbers.length === 6 && !numbers.some(Number.isNaN) && b === 0 && d === 0;
  return isUnrotated ? { originX, originY, pixelSizeX, pixelSizeY } : undefined;
}
