/** What GDAL notes about bands, in the file's own GDAL_METADATA tag or in the `.aux.xml` beside it. */
import { sourceFault } from "../../raster.ts";
import { messageOf } from "./byteSource.ts";
import { alphaFault } from "./layout.ts";
import { readXml } from "./xml.ts";

/** Units by band, from 1. */
export type Units = Map<number, string>;

/**
 * Reads the GDAL_METADATA tag.
 * @returns the units that bands state
 * @throws Fault `source_invalid` for a scale, an offset, an alpha band or nodata by band, which are not applied
 */
export function readGdalMetadata(file: string, xml: string | undefined): Units {
  const units: Units = new Map();
  if (xml === undefined || xml.trim() === "") return units;
  try {
    readXml(xml, ({ path, attributes, text }) => {
      const own = attributes.at(-1) ?? {};
      if (path.join("/") !== "GDALMetadata/Item") return;
      const band = Number(own["sample"] ?? 0) + 1;
      checkBandItem(file, { name: own["role"] ?? "", text, how: `band ${band} declares` });
      checkMetadataItem(file, own["name"] ?? "", own["domain"] ?? "", "its GDAL metadata");
      if (own["role"]?.toLowerCase() === "unittype" && text.trim() !== "") units.set(band, text.trim());
    });
  } catch (error) {
    if (error instanceof Error && error.name === "Fault") throw error;
    throw sourceFault(file, `its GDAL metadata is no XML document (${messageOf(error)}). It is damaged.`, {
      cause: error,
    });
  }
  return units;
}

/** Refuses what changes values or makes cells missing: a scale other than 1, an offset other than 0, opacity, classes. */
export function checkBandItem(
  file: string,
  { name, text, how }: { readonly name: string; readonly text: string; readonly how: string },
): void {
  const kind = name.toLowerCase();
  if (kind === "scale" || kind === "offset") {
    if (text.trim() !== "" && Number(text) === (kind === "scale" ? 1 : 0)) return;
    throw sourceFault(
      file,
      `${how} ${kind === "scale" ? "a scale" : "an offset"} of ${text.trim()}, which is not applied. Write the values themselves: gdal_translate -unscale.`,
    );
  }
  if (kind !== "colorinterp") return;
  const color = text.trim().toLowerCase();
  if (color === "alpha") throw alphaFault(file, `${how} that it `);
  if (color === "palette") throw classFault(file, how);
}

export function classFault(file: string, how: string): Error {
  return sourceFault(file, `${how} classes or a palette: its values are class codes, not amounts.`);
}

/** Metadata of free choice, of which two kinds have a meaning. */
export function checkMetadataItem(file: string, name: string, domain: string, where: string): void {
  if (name.toUpperCase() === "NODATA_VALUES" && domain === "") {
    throw sourceFault(
      file,
      `${where} marks missing cells by NODATA_VALUES, which is not applied. Set a nodata value: gdal_edit.py -a_nodata.`,
    );
  }
  if (domain.toUpperCase() === "IMAGE_STRUCTURE" && ["NBITS", "PIXELTYPE"].includes(name.toUpperCase())) {
    throw sourceFault(file, `${where} states ${name}, which is not applied. Convert it: gdal_translate.`);
  }
}
