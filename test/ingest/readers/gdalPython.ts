import { spawnSync } from "node:child_process";
import { describe } from "vitest";

/** A Python interpreter that can import GDAL: Debian's python3-gdal serves Debian's interpreter only. */
export const GDAL_PYTHON = ["/usr/bin/python3", "python3"].find(
  (python) => spawnSync(python, ["-c", "from osgeo import gdal, gdal_array"]).status === 0,
);
if (GDAL_PYTHON === undefined) {
  // On CI a skipped test would be a check that cannot fail.
  if (process.env["CI"] === "true") throw new Error("GDAL for Python (python3-gdal) is needed on CI and is missing.");
  console.warn("skipped: no Python with GDAL (apt-get install python3-gdal) to write and read the variants with");
}

/** A suite that needs GDAL: skipped, with the reason printed, where it is absent. */
export const describeWithGdal = describe.skipIf(GDAL_PYTHON === undefined);
