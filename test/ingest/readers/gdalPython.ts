import { spawnSync } from "node:child_process";
import { describe } from "vitest";

/** A Python interpreter that can import GDAL; Debian's python3-gdal works only with Debian's interpreter. */
export const GDAL_PYTHON = ["/usr/bin/python3", "python3"].find(
  (python) => spawnSync(python, ["-c", "from osgeo import gdal, gdal_array"]).status === 0,
);
if (GDAL_PYTHON === undefined) {
  // On CI a skipped test would hide a missing dependency.
  if (process.env["CI"] === "true")
    throw new Error("GDAL for Python (python3-gdal) is required on CI and was not found.");
  console.warn("skipped: no Python with GDAL found (apt-get install python3-gdal)");
}

/** Declares a suite that needs GDAL; it is skipped with a printed reason if GDAL is absent. */
export const describeWithGdal = describe.skipIf(GDAL_PYTHON === undefined);
