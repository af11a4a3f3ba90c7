/**
 * NODATA_VALUES of GDAL: metadata of a file with a number for each band. A cell is missing if every band has its number; a
 * single band with its number is a value.
 */
import { type BandWindow, type RasterValues, sourceFault } from "../../raster.ts";
import type { CellMask } from "./bandValues.ts";
import type { Layout } from "./layout.ts";
import { canRepresent } from "./numberFormat.ts";

/**
 * Checks NODATA_VALUES. GDAL ignores them if their number differs from that of the bands, and ignores nodata values beside them.
 *
 * @param nodata the declared nodata value of each band
 * @throws Fault `source_invalid` if GDAL would ignore them, or if nodata values contradict them
 */
export function checkNodataValues(
  file: string,
  values: readonly number[],
  { layout, nodata }: { readonly layout: Layout; readonly nodata: readonly (number | undefined)[] },
): void {
  const { bandCount, format } = layout;
  const hint = "Set a nodata value with gdal_edit.py -a_nodata, and remove NODATA_VALUES with -unsetmd.";
  if (values.length !== bandCount) {
    throw sourceFault(
      file,
      `states ${values.length} NODATA_VALUES for ${bandCount} bands; one number for each band is expected. ${hint}`,
    );
  }
  const wrong = values.find((value) => !canRepresent(value, format));
  if (wrong !== undefined) {
    throw sourceFault(file, `states the NODATA_VALUES ${wrong}, which its numbers cannot represent. ${hint}`);
  }
  const declared = nodata.find((value) => value !== undefined);
  if (declared !== undefined && !(bandCount === 1 && declared === values[0])) {
    throw sourceFault(file, `states the nodata value ${declared} and NODATA_VALUES (${values.join(" ")}). ${hint}`);
  }
}

/**
 * Returns the mask of NODATA_VALUES, which is the same for all bands.
 * @param readStored reads a window of stored numbers of a band, north up
 */
export function nodataValuesMask(
  values: readonly number[],
  {
    layout,
    readStored,
  }: { readonly layout: Layout; readonly readStored: (window: BandWindow) => Promise<RasterValues> },
): CellMask {
  const stored = layout.fitsFloat32 ? values.map(Math.fround) : values;
  return {
    name: "NODATA_VALUES",
    opaque: 1,
    mustAgree: false,
    async read(window) {
      const isValid = new Uint8Array(window.rowCount * window.columnCount);
      for (const [index, missing] of stored.entries()) {
        const numbers = await readStored({ ...window, band: index + 1 });
        for (let cell = 0; cell < isValid.length; cell++) if (numbers[cell] !== missing) isValid[cell] = 1;
      }
      return isValid;
    },
  };
}
