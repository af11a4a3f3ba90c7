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
          `its GDAL metadata states ${unknown}, which is not supported. Convert the map with gdal_translate.`,
        );
      }
      if (elementPath === "gdalmetadata") return;
      const sample = itemAttributes["sample"]?.trim();
      if (itemAttributes["role"] !== undefined && !/^\d{1,9}$/.test(sample ?? "")) {
        throw sourceFault(
          file,
          `its GDAL metadata states ${itemAttributes["role"]} for ${sample === undefined ? "no band" : `the band ${JSON.stringify(sample)}`}. Convert the map with gdal_translate.`,
        );
      }
      const band = Number(sample) + 1;
      checkBandItem(file, { name: itemAttributes["role"] ?? "", text, how: `band ${band} declares` });
      checkMetadataItem(file, itemAttributes["name"] ?? "", itemAttributes["domain"] ?? "", "its GDAL metadata");
      if (itemAttributes["role"]?.toLowerCase() === "unittype" && text.trim() !== "") units.set(band, text.trim());
    });
  } catch (error) {
    if (error instanceof Error && error.name === "Fault") throw error;
    throw sourceFault(
      file,
      `its GDAL metadata is not a valid XML document (${messageOf(error)}). The file is damaged.`,
      {
        cause: error,
      },
    );
  }
  return units;
}

/** Rejects metadata items that change values or mark cells as missing: scales, offsets, alpha bands and palettes. */
export function checkBandItem(
  file: string,
  { name, text, how }: { readonly name: string; readonly text: string; readonly how: string },
): void {
  const kind = name.toLowerCase();
  if (kind === "scale" || kind === "offset") {
    if (text.trim() !== "" && Number(text) === (kind === "scale" ? 1 : 0)) return;
    throw sourceFault(
      file,
      `${how} ${kind === "scale" ? "a scale" : "an offset"} of ${text.trim()}, which is not supported. Write unscaled values with gdal_translate -unscale.`,
    );
  }
  if (kind !== "colorinterp") return;
  const color = text.trim().toLowerCase();
  if (color === "alpha") throw alphaFault(file, `${how} that it `);
  if (color === "palette") throw classFault(file, how);
}

/** Returns the error for a map of class codes. */
export function classFault(file: string, how: string): Error {
  return sourceFault(file, `${how} classes or a palette: its values are class codes, not quantities.`);
}

/** Rejects the free-form metadata items that change the meaning of values: NODATA_VALUES, and NBITS or PIXELTYPE. */
export function checkMetadataItem(file: string, name: string, domain: string, where: string): void {
  if (name.toUpperCase() === "NODATA_VALUES" && domain === "") {
    throw sourceFault(
      file,
      `${where} marks missing cells with NODATA_VALUES, which is not supported. Set a nodata value with gdal_edit.py -a_nodata.`,
    );
  }
  if (domain.toUpperCase() === "IMAGE_STRUCTURE" && ["NBITS", "PIXELTYPE"].includes(name.toUpperCase())) {
    throw sourceFault(file, `${where} states ${name}, which is not supported. Convert the map with gdal_translate.`);
  }
}
