/** Reads the values of GeoTIFF files at many places with Python, rasterio and numpy. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StoredHazard } from "../storedDemo.ts";
import { pythonWith } from "./python.ts";

interface RasterioValues {
  /** f64[place][band]: the bands of all hazards, NaN where a value is missing. */
  readonly values: Float64Array<ArrayBuffer>;
  readonly cpuNanoseconds: number;
}

/**
 * Reads the cells of places, or the largest values within a radius.
 * @param places.radiusKm 0 for the cells of the places
 * @returns a message if a module is missing
 */
export async function rasterioPlaces(
  hazards: readonly StoredHazard[],
  {
    latitudes,
    longitudes,
    radiusKm,
  }: { readonly latitudes: Float64Array; readonly longitudes: Float64Array; readonly radiusKm: number },
): Promise<RasterioValues | string> {
  const python = pythonWith("rasterio");
  if (python === undefined) return "python3 with rasterio is not installed";
  const folder = await mkdtemp(join(tmpdir(), "isotherm-bench-"));
  try {
    const [placesPath, outPath] = [join(folder, "places.f64"), join(folder, "values.f64")];
    await writeFile(placesPath, Buffer.concat([bytesOf(latitudes), bytesOf(longitudes)]));
    const child = spawn(python, ["bench/python/places.py", placesPath, String(radiusKm), outPath], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.end(JSON.stringify(hazards));
    let printed = "";
    child.stdout.on("data", (text: Buffer) => (printed += text.toString()));
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new Error(`bench/python/places.py ended with ${code}`);
    const bytes = await readFile(outPath);
    const values = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    return { values, cpuNanoseconds: Number(printed) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
