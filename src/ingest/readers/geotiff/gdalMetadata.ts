/** GDAL metadata of bands, from the GDAL_METADATA tag of the file or from its `.aux.xml`. */
import { messageOf, sourceFault } from "../../raster.ts";
import { alphaFault } from "./layout.ts";
import { readXml } from "./xml.ts";

/** Units by band, from 1. */
export type Units = Map<number, string>;

const ITEM_ATTRIBUTES: readonly string[] = ["name", "domain", "sample", "role"];

/**
 * Reads the GDAL_METADATA tag. Only elements and attributes that GDAL writes are accepted.
 * @returns the units of bands
 * @throws Fault `source_invalid` for unsupported metadata, such as a scale, an offset, an alpha band or NODATA_VALUES
 */
export function readGdalMetadata(file: string, xml: string | undefined): Units {
  const units: Units = new Map();
  if (xml === undefined || xml.trim() === "") return units;
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
      checkBandItem(file, { name: itemAttributes["role"] ?? "", text, messagePrefix: `band ${band} declares` });
      checkMetadataItem(file, itemAttributes["name"] ?? "", itemAttributes["domain"] ?? "", "its GDAL metadata");
      if (itemAttributes["role"]?.toLowerCase() === "unittype" && text.trim() !== "") units.set(band, text.trim());
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
  return units;
}

/** Rejects scales other than 1, offsets other than 0, alpha bands and palettes. */
export function checkBandItem(
  file: string,
  { name, text, messagePrefix }: { readonly name: string; readonly text: string; readonly messagePrefix: string },
): void {
  const kind = name.toLowerCase();
  if (kind === "scale" || kind === "offset") {
    if (text.trim() !== "" && Number(text) === (kind === "scale" ? 1 : 0)) return;
    throw sourceFault(
      file,
      `${messagePrefix} ${kind === "scale" ? "a scale" : "an offset"} of ${text.trim()}, which is not supported. Write unscaled values with gdal_translate -unscale.`,
    );
  }
  if (kind !== "colorinterp") return;
  const color = text.trim().toLowerCase();
  if (color === "alpha") throw alphaFault(file, `${messagePrefix} the color interpretation alpha`);
  if (color === "palette") throw classFault(file, messagePrefix);
}

/** Returns the error for a map of class codes. */
export function classFault(file: string, messagePrefix: string): Error {
  return sourceFault(
    file,
    `${messagePrefix} classes or a palette: the values of the band are class codes, not quantities.`,
  );
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
