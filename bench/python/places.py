"""Samples GeoTIFF files at many places with rasterio.sample, and converts stored steps to values with numpy.

    python3 places.py PLACES OUT < hazards.json

PLACES has f64[2][count]: latitudes, then longitudes. OUT receives f64[count][band]: the bands of all files, NaN where a value
is missing. Prints the processor time in nanoseconds, without that of reading PLACES and writing OUT.
"""

import json
import sys
import time

import numpy as np
import rasterio

STEPS_MAX = 65533

places_path, out_path = sys.argv[1:3]
latitudes, longitudes = np.fromfile(places_path, dtype=np.float64).reshape(2, -1)
hazards = json.load(sys.stdin)

start = time.process_time_ns()
columns = []
for hazard in hazards:
    with rasterio.open(hazard["geoTiffPath"]) as file:
        steps = np.array([cell for cell in file.sample(zip(longitudes, latitudes))])
    values = steps / np.array(hazard["stepsPerUnit"], dtype=np.float64) + np.array(hazard["offsets"], dtype=np.float64)
    values[steps > STEPS_MAX] = np.nan
    columns.append(values)
found = np.concatenate(columns, axis=1)
end = time.process_time_ns()
found.tofile(out_path)
print(end - start)
