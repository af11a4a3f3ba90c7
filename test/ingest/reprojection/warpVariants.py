#!/usr/bin/env python3
"""Writes maps in projected coordinate systems, and warps them with GDAL.

    warpVariants.py make FOLDER          writes maps, and variants.json with their names
    warpVariants.py warp FOLDER          warps each map of grids.json (name, grid in degrees) to FOLDER/name.i32

The value of each cell is its index, counted from 1, so that a result names the cell that it is from.
"""

import json
import math
import random
import sys

import numpy
from osgeo import gdal, osr

gdal.UseExceptions()
osr.UseExceptions()

SPHERE = "+R=6371007.181"
# name, coordinate system, west x, north y, cell width, cell height, rows, columns, creation options
VARIANTS = [
    ("utm_33n", "EPSG:32633", 300000, 5800000, 1000, 1000, 220, 260, []),
    ("utm_33n_tiled_deflate", "EPSG:32633", 300000, 5800000, 1000, 1000, 300, 300, ["TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64", "COMPRESS=DEFLATE"]),
    ("utm_60s_antimeridian", "EPSG:32760", 600000, 8100000, 2000, 2000, 200, 250, []),
    ("utm_1n_antimeridian", "EPSG:32601", 150000, 7300000, 1500, 1500, 150, 250, []),
    ("utm_etrs89", "EPSG:25832", 400000, 5500000, 500, 500, 200, 200, []),
    ("utm_user_defined", "+proj=utm +zone=17 +south +datum=WGS84", 300000, 9400000, 900, 900, 170, 170, []),
    ("utm_feet", "+proj=utm +zone=17 +datum=WGS84 +units=us-ft", 1400000, 14000000, 3000, 3000, 120, 130, []),
    ("utm_nad83", "EPSG:26917", 350000, 4500000, 700, 700, 180, 200, []),
    ("tmerc_towgs84", "+proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996012717 +x_0=400000 +y_0=-100000 +ellps=airy +towgs84=446.448,-125.157,542.06,0.15,0.247,0.842,-20.489", 200000, 700000, 1000, 1000, 300, 300, []),
    ("web_mercator", "EPSG:3857", -1000000, 6000000, 4000, 4000, 250, 300, []),
    ("web_mercator_world", "EPSG:3857", -20037508.342789244, 11000000, 20037508.342789244 / 300, 22000000 / 330, 330, 600, []),
    ("web_mercator_360", "EPSG:3857", 0, 6000000, 20037508.342789244 / 300, 40000, 300, 600, []),
    ("mercator", "EPSG:3395", 5000000, 2000000, 3000, 3000, 300, 300, []),
    ("mercator_2sp", "EPSG:5641", 4000000, 10500000, 3000, 3000, 300, 300, []),
    ("lambert_93", "EPSG:2154", 300000, 7000000, 2500, 2500, 300, 300, []),
    ("lambert_europe", "EPSG:3034", 2700000, 4000000, 10000, 10000, 250, 250, []),
    ("lambert_user", "+proj=lcc +lat_1=25 +lat_2=60 +lat_0=42.5 +lon_0=-100 +x_0=10 +y_0=20 +datum=WGS84", -2000000, 1500000, 10000, 10000, 250, 300, []),
    ("lambert_1sp", "+proj=lcc +lat_1=18 +lat_0=18 +lon_0=-77 +k_0=1 +x_0=750000 +y_0=650000 +datum=WGS84", 600000, 720000, 500, 500, 200, 300, []),
    ("laea_europe", "EPSG:3035", 2500000, 5000000, 10000, 10000, 300, 350, []),
    ("laea_north_pole", "EPSG:3575", -2000000, 2000000, 20000, 20000, 200, 200, []),
    ("albers_conus", "EPSG:5070", -2300000, 3100000, 15000, 15000, 180, 300, []),
    ("albers_south", "EPSG:3577", -1900000, -1000000, 10000, 10000, 380, 400, []),
    ("polar_north", "EPSG:3413", -2500000, 2500000, 20000, 20000, 250, 250, []),
    ("polar_south", "EPSG:3031", -3000000, 3000000, 25000, 25000, 240, 240, []),
    ("polar_off_pole", "EPSG:3031", 500000, 2500000, 5000, 5000, 240, 240, []),
    ("ups_north", "EPSG:32661", 1000000, 3000000, 10000, 10000, 200, 200, []),
    ("sinusoidal", "+proj=sinu +lon_0=0 +datum=WGS84", -20015000, 10010000, 50000, 50000, 400, 800, []),
    ("sinusoidal_sphere", "+proj=sinu +lon_0=0 " + SPHERE, 1111950, 5559752, 5000, 5000, 222, 222, []),
    ("mollweide", "+proj=moll +lon_0=0 +datum=WGS84", -18050000, 9025000, 50000, 50000, 361, 722, []),
    ("cylindrical", "EPSG:6933", -17367530, 7314540, 36032.22, 36032.22, 406, 964, []),
    ("oblique_stereographic", "+proj=sterea +lat_0=52.1561605555556 +lon_0=5.38763888888889 +k=0.9999079 +x_0=155000 +y_0=463000 +ellps=bessel +towgs84=565.4171,50.3319,465.5524,1.9342,-1.6677,9.1019,4.0725", 10000, 620000, 1000, 1000, 310, 270, []),
    ("nad27_like_degrees", "+proj=longlat +ellps=clrk66 +towgs84=-8,160,176", -100, 45, 0.02, 0.02, 200, 300, []),
]


def crs_of(text):
    crs = osr.SpatialReference()
    crs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    crs.SetFromUserInput(text)
    return crs


def make(folder):
    names = []
    for name, crs, west, north, width, height, rows, columns, options in VARIANTS:
        for suffix in ("", "_point", "_south_up") if name == "utm_33n" else ("",):
            metadata = {"AREA_OR_POINT": "Point"} if suffix == "_point" else {}
            data = gdal.GetDriverByName("GTiff").Create(
                f"{folder}/{name}{suffix}.tif", columns, rows, 1, gdal.GDT_Int32, options
            )
            if suffix == "_south_up":
                data.SetGeoTransform([west, width, 0, north - rows * height, 0, height])
            else:
                data.SetGeoTransform([west, width, 0, north, 0, -height])
            data.SetProjection(crs_of(crs).ExportToWkt())
            data.SetMetadata(metadata)
            data.GetRasterBand(1).WriteArray(numpy.arange(1, rows * columns + 1, dtype="int32").reshape(rows, columns))
            data = None
            names.append(name + suffix)
    json.dump(names, open(f"{folder}/variants.json", "w"))


def warp(folder):
    for entry in json.load(open(f"{folder}/grids.json")):
        grid = entry["grid"]
        north, west = grid["northDeg"], grid["westDeg"]
        south = north - grid["rowCount"] * grid["cellSizeLatDeg"]
        east = west + grid["columnCount"] * grid["cellSizeLonDeg"]
        source = gdal.Open(entry["file"])
        # PROJ transforms NAD83 and others to WGS84 by grid files where it has them; our datums are used unchanged.
        options = {
            "format": "MEM", "dstSRS": "EPSG:4326", "outputBounds": [west, south, east, north],
            "width": grid["columnCount"], "height": grid["rowCount"], "resampleAlg": "near", "errorThreshold": 0,
            "dstNodata": 0, "warpOptions": ["SAMPLE_GRID=YES", "SOURCE_EXTRA=20"],
        }
        if "crs" in entry:
            options["srcSRS"] = entry["crs"]
        result = gdal.Warp("", source, **options)
        result.GetRasterBand(1).ReadAsArray().astype("<i4").tofile(f"{folder}/{entry['name']}.i32")


if __name__ == "__main__":
    {"make": make, "warp": warp}[sys.argv[1]](sys.argv[2])
