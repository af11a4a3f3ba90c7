import { spawnSync } from "node:child_process";
import { describe } from "vitest";

/** Returns a Python interpreter that can import modules; Debian's packages work only with Debian's interpreter. */
function pythonWith(modules: string, debianPackages: string): string | undefined {
  const found = ["/usr/bin/python3", "python3"].find(
    (python) => spawnSync(python, ["-c", `import ${modules}`]).status === 0,
  );
  if (found !== undefined) return found;
  // On CI a skipped test would hide a missing dependency.
  if (process.env["CI"] === "true") throw new Error(`Python with ${modules} (${debianPackages}) is required on CI.`);
  console.warn(`skipped: no Python with ${modules} found (apt-get install ${debianPackages})`);
  return undefined;
}

export const GDAL_PYTHON = pythonWith("osgeo.gdal_array", "python3-gdal");

/** Declares a suite that needs GDAL; it is skipped with a printed reason if GDAL is absent. */
export const describeWithGdal = describe.skipIf(GDAL_PYTHON === undefined);

const ARRAY_PYTHON = pythonWith("netCDF4, h5py, zarr", "python3-netcdf4 python3-h5py python3-zarr");

/** Returns the interpreter that writes NetCDF, HDF5 and Zarr; use it in suites of `describeWithArrayPython`. */
export function arrayPython(): string {
  if (ARRAY_PYTHON === undefined) throw new Error("There is no Python with netCDF4, h5py and zarr.");
  return ARRAY_PYTHON;
}

/** Declares a suite that needs netCDF4, h5py and zarr for Python; it is skipped with a printed reason if they are absent. */
export const describeWithArrayPython = describe.skipIf(ARRAY_PYTHON === undefined);
