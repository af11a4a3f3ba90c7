/** Recognizes the format of a map by its content. */
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, sourceFault } from "../raster.ts";

/** A format for which a reader exists, or `other` with a description for error messages. */
export type FileFormat =
  | { readonly kind: "geotiff" | "hdf5" | "netcdf3" | "zarr" | "zip" }
  | { readonly kind: "other"; readonly description: string };

const HDF5_SIGNATURE = "\u0089HDF\r\n\u001a\n";
/** Largest offset at which the HDF5 signature is searched for. It is at 0, 512, 1024, 2048 and so on. */
const HDF5_OFFSET_MAX = 65_536;
/** Metadata files; every Zarr folder has at least one of them. */
export const ZARR_METADATA = ["zarr.json", ".zgroup", ".zarray"] as const;

/**
 * Returns the format of a file or folder.
 *
 * @param file name of the file in messages
 * @param path where the file is stored
 * @throws Fault `source_invalid` if it cannot be opened
 */
export async function fileFormatOf(file: string, path: string): Promise<FileFormat> {
  try {
    const entry = await stat(path);
    if (entry.isDirectory())
      return (await isZarrFolder(path))
        ? { kind: "zarr" }
        : { kind: "other", description: "a folder that is not a Zarr store" };
    if (!entry.isFile()) throw sourceFault(file, "is neither a regular file nor a folder.");
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
    return { kind: "other", description: "NetCDF in the CDF-5 format (nccopy -k nc4 converts it to NetCDF-4)" };
  if (startsWith("PK\u0003\u0004") || startsWith("PK\u0005\u0006")) return { kind: "zip" };
  if (startsWith("GRIB")) return { kind: "other", description: "GRIB" };
  if (startsWith("\u000e\u0003\u0013\u0001")) return { kind: "other", description: "HDF4" };
  return { kind: "other", description: bytes.length === 0 ? "an empty file" : "a format that is not recognized" };
}
