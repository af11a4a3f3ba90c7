/** GDAL metadata of bands, from the GDAL_METADATA tag of the file or from its `.aux.xml`. */
import { messageOf, sourceFault } from "../../raster.ts";
import { addBandItem, type BandStatements, noStatements } from "./bandStatements.ts";
import { readXml } from "./xml.ts";

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
    if (error instanceof Error && error.name === "Fault") throw error;
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
