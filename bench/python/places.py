"""Reads the values of GeoTIFF files at many places with rasterio, and converts stored steps to values with numpy.

    python3 places.py PLACES RADIUS_KM OUT < hazards.json

PLACES has f64[2][count]: latitudes, then longitudes. With the radius 0, a place has the values of its cell, by rasterio.sample.
Otherwise, it has the largest values of the cells whose centers are within the radius, and of its own cell: a window is read
around each place and masked with numpy. OUT receives f64[count][band]: the bands of all files, NaN where a value is missing.
Prints the processor time in nanoseconds, without that of reading PLACES and writing OUT.
"""

import json
import sys
import time

import numpy as np
import rasterio
from rasterio.windows import Window

STEPS_MAX = 65533
# WGS84: semi-major axis and squared eccentricity.
A_KM = 6378.137
E2 = 0.00669437999014131
# Lower bound of the length of a degree of latitude.
KM_PER_DEGREE_MIN = 110


def meridian_plane_km(lat_deg):
    """Returns the distances from the axis of the Earth and from the plane of the equator, and the prime vertical radius."""
    lat = np.radians(lat_deg)
    normal = A_KM / np.sqrt(1 - E2 * np.sin(lat) ** 2)
    return normal * np.cos(lat), normal * (1 - E2) * np.sin(lat), normal


def is_within(lat_deg, lon_deg, lats_deg, lons_deg, radius_km):
    """
    Returns, by row and column, which points are within a geodesic distance on WGS84. Compares straight lines through the Earth
    with the chord of a geodesic of that length (docs/methods/geodesy.md); at 10 km, the error is a hundredth of a millimeter.
    """
    p0, z0, normal = meridian_plane_km(lat_deg)
    p, z, _ = meridian_plane_km(lats_deg)
    half_lon = np.radians(lons_deg - lon_deg) / 2
    chord2 = ((p - p0) ** 2 + (z - z0) ** 2)[:, None] + 4 * p0 * p[:, None] * np.sin(half_lon)[None, :] ** 2
    meridional = normal**3 * (1 - E2) / A_KM**2
    return chord2 <= radius_km**2 * (1 - radius_km**2 / (12 * meridional * normal))


def sampled_steps(file, latitudes, longitudes):
    return np.array([cell for cell in file.sample(zip(longitudes, latitudes))])


def largest_steps(file, latitudes, longitudes, radius_km):
    west, north = file.transform.c, file.transform.f
    cell_lon, cell_lat = file.transform.a, -file.transform.e
    largest = np.empty((len(latitudes), file.count), dtype=np.int32)
    for index, (lat, lon) in enumerate(zip(latitudes, longitudes)):
        reach_lat = radius_km / KM_PER_DEGREE_MIN
        reach_lon = reach_lat / np.cos(np.radians(abs(lat) + reach_lat))
        top = max(0, int(np.floor((north - lat - reach_lat) / cell_lat)))
        bottom = min(file.height, int(np.ceil((north - lat + reach_lat) / cell_lat)))
        left = max(0, int(np.floor((lon - reach_lon - west) / cell_lon)))
        right = min(file.width, int(np.ceil((lon + reach_lon - west) / cell_lon)))
        steps = file.read(window=Window(left, top, right - left, bottom - top))
        lats = north - (np.arange(top, bottom) + 0.5) * cell_lat
        lons = west + (np.arange(left, right) + 0.5) * cell_lon
        inside = is_within(lat, lon, lats, lons, radius_km)
        inside[int((north - lat) / cell_lat) - top, int((lon - west) / cell_lon) - left] = True
        cells = steps[:, inside].astype(np.int32)
        cells[cells > STEPS_MAX] = -1
        largest[index] = cells.max(axis=1)
    largest[largest < 0] = STEPS_MAX + 1
    return largest


def main():
    places_path, radius_km, out_path = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    latitudes, longitudes = np.fromfile(places_path, dtype=np.float64).reshape(2, -1)
    hazards = json.load(sys.stdin)
    start = time.process_time_ns()
    columns = []
    for hazard in hazards:
        with rasterio.open(hazard["geoTiffPath"]) as file:
            if radius_km == 0:
                steps = sampled_steps(file, latitudes, longitudes)
            else:
                steps = largest_steps(file, latitudes, longitudes, radius_km)
        values = steps / np.array(hazard["stepsPerUnit"], dtype=np.float64) + np.array(hazard["offsets"], dtype=np.float64)
        values[steps > STEPS_MAX] = np.nan
        columns.append(values)
    found = np.concatenate(columns, axis=1)
    end = time.process_time_ns()
    found.tofile(out_path)
    print(end - start)


main()
