/** GDAL metadata of bands, from the GDAL_METADATA tag of the file or from its `.aux.xml`. */
import { messageOf, sourceFault } from "../../raster.ts";
import { addBandItem, type BandStatements, noStatements } from "./bandStatements.ts";
import { readXml } from "./xml.ts";

const ITEM_ATTRIBUTES: readonly string[] = ["name", "domain", "sample", "role"];

/**
 * Reads the GDAL_METADATA tag. Only elements and attributes that GDAL writes are accepted.
 * @throws Fault `source_invalid` for unsupported metadata, such as NODATA_VALUES
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
      checkMetadataItem(file, itemAttributes["name"] ?? "", itemAttributes["domain"] ?? "", "its GDAL metadata");
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

/** Rejects the free-form metadata items that change the meaning of values: NODATA_VALUES, and NBITS or PIXELTYPE. */
export function checkMetadataItem(file: string, name: string, domain: string, messagePrefix: string): void {
  if (name.toUpperCase() === "NODATA_VALUES" && domain === "") {
    throw sourceFault(
      file,
      `${messagePrefix} marks missing cells with NODATA_VALUES, which is not supported. Set a nodata value with gdal_edit.py -a_nodata.`,
    );
  }
  if (domain.toUpperCase() === "IMAGE_STRUCTURE" && ["NBITS", "PIXELTYPE"].includes(name.toUpperCase())) {
    throw sourceFault(
      file,
      `${messagePrefix} contains ${name}, which is not supported. Convert the map with gdal_translate.`,
    );
  }
}
