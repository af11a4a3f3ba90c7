/**
 * What the GDAL_METADATA tag of a file states about bands: units, scales, offsets, color interpretations and NODATA_VALUES. The
 * file's `.aux.xml` states the same (see auxXml.ts).
 */
import sax from "sax";
import { isFault } from "../../../errors.ts";
import { messageOf, sourceFault } from "../../raster.ts";
import { isSameUnit } from "../../units.ts";

/** Statements by band, from 1. */
export interface BandStatements {
  readonly units: Map<number, string>;
  readonly scales: Map<number, number>;
  readonly offsets: Map<number, number>;
  /** Color interpretations in lower case. */
  readonly colors: Map<number, string>;
  /** NODATA_VALUES of GDAL, a number for each band: a cell is missing if every band has its number. */
  nodataValues: readonly number[] | undefined;
}

export function noStatements(): BandStatements {
  return { units: new Map(), scales: new Map(), offsets: new Map(), colors: new Map(), nodataValues: undefined };
}

/** Value = stored number x scale + offset. */
export interface Packing {
  readonly scale: number;
  readonly offset: number;
}

/** One statement about a band. */
export interface BandItem {
  readonly band: number;
  /** In any case: UnitType, Scale, Offset, ColorInterp; other names are ignored. */
  readonly name: string;
  readonly text: string;
  /** The start of error messages, such as "band 1 declares". */
  readonly messagePrefix: string;
}

/**
 * Adds a statement about a band.
 * @throws Fault `source_invalid` for palettes, scales that are 0, numbers that cannot be read, and contradictions
 */
export function addBandItem(file: string, statements: BandStatements, item: BandItem): void {
  const { band, messagePrefix } = item;
  const text = item.text.trim();
  const add = <T>(map: Map<number, T>, value: T): void => {
    const known = map.get(band);
    if (known !== undefined && known !== value) {
      throw sourceFault(
        file,
        `${messagePrefix} ${item.name} twice, as ${JSON.stringify(known)} and ${JSON.stringify(value)}. Remove one of them.`,
      );
    }
    map.set(band, value);
  };
  switch (item.name.toLowerCase()) {
    case "unittype":
      if (text !== "") add(statements.units, text);
      return;
    case "scale":
      add(statements.scales, packingNumber(file, item, text));
      return;
    case "offset":
      add(statements.offsets, packingNumber(file, item, text));
      return;
    case "colorinterp":
      if (text.toLowerCase() === "palette") throw classFault(file, messagePrefix);
      add(statements.colors, text.toLowerCase());
  }
}

function packingNumber(file: string, { name, messagePrefix }: BandItem, text: string): number {
  const number = text === "" ? NaN : Number(text);
  const isScale = name.toLowerCase() === "scale";
  if (Number.isFinite(number) && !(isScale && number === 0)) return number;
  throw sourceFault(
    file,
    `${messagePrefix} ${isScale ? "a scale" : "an offset"} of ${JSON.stringify(text)}; a finite number${isScale ? " other than 0" : ""} is expected. Correct it with gdal_edit.py -${isScale ? "scale" : "offset"}.`,
  );
}

/** Returns the error for a map of class codes. */
export function classFault(file: string, messagePrefix: string): Error {
  return sourceFault(
    file,
    `${messagePrefix} classes or a palette: the values of the band are class codes, not quantities.`,
  );
}

/**
 * Combines the statements of a file with those of its `.aux.xml`.
 * @throws Fault `source_invalid` if the two contradict each other
 */
export function combineStatements(file: string, inFile: BandStatements, inAuxXml: BandStatements): BandStatements {
  const combine = <T>(
    name: string,
    select: (statements: BandStatements) => ReadonlyMap<number, T>,
    isSame: (a: T, b: T) => boolean,
  ): Map<number, T> => {
    const combined = new Map(select(inFile));
    for (const [band, value] of select(inAuxXml)) {
      const known = combined.get(band);
      if (known !== undefined && !isSame(known, value)) {
        throw sourceFault(
          file,
          `band ${band} has the ${name} ${JSON.stringify(known)}, but its .aux.xml states ${JSON.stringify(value)}. Correct the file or its .aux.xml.`,
        );
      }
      combined.set(band, known ?? value);
    }
    return combined;
  };
  const isEqual = <T>(a: T, b: T): boolean => a === b;
  const [first, second] = [inFile.nodataValues, inAuxXml.nodataValues];
  if (first !== undefined && second !== undefined && first.join() !== second.join()) {
    throw sourceFault(
      file,
      `has the NODATA_VALUES ${first.join(" ")}, but its .aux.xml states ${second.join(" ")}. Correct the file or its .aux.xml.`,
    );
  }
  return {
    units: combine("unit", ({ units }) => units, isSameUnit),
    scales: combine("scale", ({ scales }) => scales, isEqual),
    offsets: combine("offset", ({ offsets }) => offsets, isEqual),
    colors: combine("color interpretation", ({ colors }) => colors, isEqual),
    nodataValues: first ?? second,
  };
}

/** Returns scale and offset of a band. */
export function packingOf({ scales, offsets }: BandStatements, band: number): Packing {
  return { scale: scales.get(band) ?? 1, offset: offsets.get(band) ?? 0 };
}

const ITEM_ATTRIBUTES: readonly string[] = ["name", "domain", "sample", "role"];

/**
 * Reads the GDAL_METADATA tag. Only elements and attributes that GDAL writes are accepted.
 * @throws Fault `source_invalid` for unsupported metadata
 */
export function readGdalMetadata(file: string, xml: string | undefined): BandStatements {
  const statements = noStatements();
  if (xml === undefined || xml.trim() === "") return statements;
  try {
    readXml(xml, ({ path, attributes, text }) => {
      const itemAttributes = attributes.at(-1) ?? {};
      const elementPath = path.join("/");
      const knownAttributes =
        elementPath === "gdalmetadata" ? [] : elementPath === "gdalmetadata/item" ? ITEM_ATTRIBUTES : undefined;
      const unknown =
        knownAttributes === undefined
          ? path.at(-1)
          : Object.keys(itemAttributes).find((name) => !knownAttributes.includes(name));
      if (unknown !== undefined) {
        throw sourceFault(
          file,
          `its GDAL metadata contains ${unknown}, which is not supported. Convert the map with gdal_translate.`,
        );
      }
      if (elementPath === "gdalmetadata") return;
      const sample = itemAttributes["sample"]?.trim();
      if (itemAttributes["role"] !== undefined && !/^\d{1,9}$/.test(sample ?? "")) {
        throw sourceFault(
          file,
          `its GDAL metadata has an item with the role ${itemAttributes["role"]} but without a valid band (sample is ${sample === undefined ? "missing" : JSON.stringify(sample)}). Convert the map with gdal_translate.`,
        );
      }
      const band = Number(sample) + 1;
      const name = itemAttributes["role"] ?? "";
      addBandItem(file, statements, { band, name, text, messagePrefix: `band ${band} declares` });
      addMetadataItem(file, statements, {
        name: itemAttributes["name"] ?? "",
        domain: itemAttributes["domain"] ?? "",
        text,
        isOfBand: sample !== undefined,
        messagePrefix: "its GDAL metadata",
      });
    });
  } catch (error) {
    if (isFault(error)) throw error;
    throw sourceFault(
      file,
      `its GDAL metadata cannot be read (${messageOf(error)}). Convert the map with gdal_translate.`,
      {
        cause: error,
      },
    );
  }
  return statements;
}

/** A free-form metadata item. */
interface MetadataItem {
  readonly name: string;
  readonly domain: string;
  readonly text: string;
  /** Whether it is about one band; GDAL uses NODATA_VALUES only of the whole file. */
  readonly isOfBand: boolean;
  /** The start of error messages. */
  readonly messagePrefix: string;
}

/**
 * Adds a free-form metadata item if it changes the meaning of values: NODATA_VALUES.
 * @throws Fault `source_invalid` for malformed NODATA_VALUES, and for NBITS or PIXELTYPE
 */
export function addMetadataItem(file: string, statements: BandStatements, item: MetadataItem): void {
  const { domain, text, isOfBand, messagePrefix } = item;
  const name = item.name.toUpperCase();
  if (name === "NODATA_VALUES" && domain === "") {
    const hint = "Set a nodata value with gdal_edit.py -a_nodata.";
    const numbers = text.trim().split(/\s+/).map(Number);
    if (isOfBand)
      throw sourceFault(file, `${messagePrefix} states NODATA_VALUES for one band, which GDAL ignores. ${hint}`);
    if (text.trim() === "" || !numbers.every(Number.isFinite)) {
      throw sourceFault(
        file,
        `${messagePrefix} states the NODATA_VALUES ${JSON.stringify(text.trim())}; a finite number for each band is expected. ${hint}`,
      );
    }
    if (statements.nodataValues !== undefined)
      throw sourceFault(file, `${messagePrefix} states NODATA_VALUES twice. ${hint}`);
    statements.nodataValues = numbers;
  }
  if (domain.toUpperCase() === "IMAGE_STRUCTURE" && ["NBITS", "PIXELTYPE"].includes(name)) {
    throw sourceFault(
      file,
      `${messagePrefix} contains ${item.name}, which is not supported. Convert the map with gdal_translate.`,
    );
  }
}

/** An element at its end. The arrays are reused between calls; copy them to keep them. */
export interface XmlElement {
  /**
   * Names of the enclosing elements and the element, outermost first, in lower case because GDAL ignores the case of names.
   */
  readonly path: readonly string[];
  /** Attributes of the elements in `path`, in the same order; their names are in lower case. */
  readonly attributes: readonly Readonly<Record<string, string>>[];
  /** The text of the element without that of nested elements. */
  readonly text: string;
}

/** Largest size of a document; parsing one of this size takes about a second. */
export const XML_BYTES_MAX = 1 << 20;
/** Largest nesting depth of elements; GDAL's documents use six levels. */
const DEPTH_MAX = 50;

/**
 * Parses an XML document and calls `onElement` at the end of each element. Document type definitions are rejected.
 *
 * @throws Error if the document is malformed, is nested too deeply, or has attributes that differ only in case; errors of
 *   `onElement`
 */
export function readXml(text: string, onElement: (element: XmlElement) => void): void {
  const path: string[] = [];
  const attributes: Record<string, string>[] = [];
  const texts: string[] = [];
  let rootCount = 0;
  const addText = (text: string): void => {
    const top = texts.length - 1;
    if (top >= 0) texts[top] += text;
  };
  const handlers: Partial<sax.SAXParser> = {
    onerror(error) {
      throw new Error(error.message.replaceAll("\n", ", "));
    },
    ondoctype() {
      throw new Error("it has a document type definition");
    },
    onopentag({ name, attributes: tagAttributes }) {
      if (path.length === 0) rootCount++;
      if (path.length >= DEPTH_MAX) throw new Error(`its elements are nested more than ${DEPTH_MAX} levels deep`);
      path.push(name.toLowerCase());
      attributes.push(withLowerCaseNames(tagAttributes as Record<string, string>));
      texts.push("");
    },
    ontext: addText,
    oncdata: addText,
    onclosetag() {
      onElement({ path, attributes, text: texts.pop() ?? "" });
      path.pop();
      attributes.pop();
    },
  };
  const parser = Object.assign(sax.parser(true), handlers);
  parser.write(text).close();
  if (rootCount !== 1) throw new Error(`it has ${rootCount} root elements; 1 is required`);
}

function withLowerCaseNames(attributes: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(attributes).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (new Set(entries.map(([name]) => name)).size < entries.length) {
    throw new Error("it has an element with attributes whose names differ only in case");
  }
  return Object.fromEntries(entries);
}
