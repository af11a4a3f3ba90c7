/** Recognizes the format of a map by its content. */
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, sourceFault } from "../raster.ts";

/** A format that a reader exists for, or `other` with the name of what was recognized. */
export type FileFormat =
  | { readonly kind: "geotiff" | "hdf5" | "netcdf3" | "zarr" | "zip" }
  | { readonly kind: "other"; readonly name: string };

const HDF5_SIGNATURE = "\u0089HDF\r\n\u001a\n";
/** Bytes at which the signature of HDF5 may be: 0, 512, and powers of two above. */
const HDF5_OFFSET_MAX = 65_536;
/** Metadata files of which one is in every Zarr folder. */
export const ZARR_METADATA = ["zarr.json", ".zgroup", ".zarray"] as const;

/**
 * Returns the format of a file or folder.
 * @throws Fault `source_invalid` if it cannot be opened
 */
export async function fileFormatOf(file: string, path: string): Promise<FileFormat> {
  try {
    const entry = await stat(path);
    if (entry.isDirectory())
      return (await isZarrFolder(path))
        ? { kind: "zarr" }
        : { kind: "other", name: "a folder that is not a Zarr store" };
    if (!entry.isFile()) throw sourceFault(file, "is a device, not a regular file.");
    const handle = await open(path, "r");
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HDF5_OFFSET_MAX + 8), 0, HDF5_OFFSET_MAX + 8, 0);
      return formatOfBytes(buffer.subarray(0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (
      error instanceof Error &&
      "code" in error &&
      typeof error.code === "string" &&
      error.code !== "source_invalid"
    ) {
      throw sourceFault(file, `cannot be opened (${messageOf(error)}).`, { cause: error });
    }
    throw error;
  }
}

async function isZarrFolder(path: string): Promise<boolean> {
  for (const name of ZARR_METADATA) {
    const isPresent = await stat(join(path, name)).then(
      (entry) => entry.isFile(),
      () => false,
    );
    if (isPresent) return true;
  }
  return false;
}

function formatOfBytes(bytes: Buffer): FileFormat {
  const startsWith = (text: string, offset = 0): boolean =>
    bytes.subarray(offset, offset + text.length).equals(Buffer.from(text, "latin1"));
  if (startsWith("II*\0") || startsWith("MM\0*") || startsWith("II+\0") || startsWith("MM\0+"))
    return { kind: "geotiff" };
  for (let offset = 0; offset <= HDF5_OFFSET_MAX; offset = offset === 0 ? 512 : 2 * offset) {
    if (startsWith(HDF5_SIGNATURE, offset)) return { kind: "hdf5" };
  }
  if (startsWith("CDF\u0001") || startsWith("CDF\u0002")) return { kind: "netcdf3" };
  if (startsWith("CDF\u0005"))
    return { kind: "other", name: "NetCDF in the CDF-5 format (nccopy -k nc4 converts it to NetCDF-4)" };
  if (startsWith("PK\u0003\u0004") || startsWith("PK\u0005\u0006")) return { kind: "zip" };
  if (startsWith("GRIB")) return { kind: "other", name: "GRIB" };
  if (startsWith("\u000e\u0003\u0013\u0001")) return { kind: "other", name: "HDF4" };
  return { kind: "other", name: bytes.length === 0 ? "an empty file" : "a format that is not recognized" };
}
