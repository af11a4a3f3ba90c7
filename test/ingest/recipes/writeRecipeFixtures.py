"""Writes the small files in test/fixtures/recipes, which have the names and the layout of public products.

Usage: python3 test/ingest/recipes/writeRecipeFixtures.py test/fixtures/recipes

The values are invented. Each product has its layout: names, variables, dimensions, coordinates, types and missing values.
"""

import os
import sys
import zipfile

import netCDF4
import numpy
from osgeo import gdal, osr

gdal.UseExceptions()
folder = sys.argv[1]


def zipped(archive, paths, inside=""):
    """Moves files into an archive with a fixed date, so that the archive does not depend on when it is written."""
    with zipfile.ZipFile(os.path.join(folder, archive), "w") as target:
        for path in paths:
            entry = zipfile.ZipInfo(inside + os.path.basename(path), (2020, 1, 1, 0, 0, 0))
            with open(path, "rb") as source:
                target.writestr(entry, source.read(), zipfile.ZIP_DEFLATED, 9)
            os.remove(path)


def geotiff(name, values, west, north, size, nodata, **options):
    """Writes a GeoTIFF whose northwest corner is at `west`, `north`."""
    path = os.path.join(folder, name)
    rows, columns = values.shape
    kind = gdal.GDT_Float32
    data = gdal.GetDriverByName("GTiff").Create(path, columns, rows, 1, kind, ["COMPRESS=DEFLATE"])
    data.SetGeoTransform((west, size, 0, north, 0, -size))
    system = osr.SpatialReference()
    system.ImportFromEPSG(4326)
    data.SetProjection(system.ExportToWkt())
    band = data.GetRasterBand(1)
    band.SetNoDataValue(nodata)
    band.WriteArray(values.astype("f4"))
    data = None
    return path


def write_jrc():
    """10 x 12 cells of 30 arc seconds. Dry cells are missing; the last column is missing on every map."""
    size = 1 / 120
    rows, columns = numpy.mgrid[0:10, 0:12]
    for years in (10, 20, 50, 100, 200, 500):
        depth = numpy.log(years) * 0.2 + columns * 0.1 - rows * 0.15
        depth = numpy.where((depth > 0.05) & (columns < 11), depth, -9999)
        zipped(f"floodMapGL_rp{years}y.zip", [geotiff(f"floodMapGL_rp{years}y.tif", depth, 8, 50, size, -9999)])


STORM_PERIODS = [*range(10, 100, 10), *range(100, 1000, 100), *range(1000, 10001, 1000)]
# West, north (of the first cell center), columns and rows of a part of each basin. EP and NA overlap, SP crosses 180.
STORM_BASINS = {
    "EP": (268.0, 14.0, 20, 8),
    "NA": (269.0, 14.0, 30, 8),
    "NI": (88.0, 14.0, 12, 8),
    "SI": (130.0, 13.7, 12, 8),
    "SP": (179.0, 14.0, 20, 8),
    "WP": (140.0, 14.0, 12, 8),
}


def storm_winds(basin, years, model_shift, conflict):
    """10-minute winds: 18 to 35 m/s at 10 years, rising with the logarithm of the return period; some cells are missing."""
    west, north, columns, rows = STORM_BASINS[basin]
    row, column = numpy.mgrid[0:rows, 0:columns]
    lon = west + column * 0.1
    lat = north - row * 0.1
    winds = 26 + 6 * numpy.sin(lon / 3) + 4 * numpy.cos(lat * 2) + model_shift + 3 * numpy.log(years / 10)
    if conflict and basin == "EP":
        winds = numpy.where((row == 3) & (column == 15), winds + 1, winds)
        winds = numpy.where((row == 4) & (column == 15), winds - 1, winds)
    return numpy.where((row + column) % 7 == 6, numpy.nan, winds)


def write_storm():
    for archive, model, shift, conflict in (
        ("STORM_FIXED_RETURN_PERIODS_TIF_FILES.zip", None, 0, False),
        ("STORM_FIXED_RETURN_PERIODS_CMCC-CM2-VHR4_TIF_FILES.zip", "CMCC-CM2-VHR4", 2, False),
        ("STORM_FIXED_RETURN_PERIODS_HADGEM3-GC31-HM_TIF_FILES.zip", "HadGEM3-GC31-HM", 4, True),
    ):
        paths = []
        for basin, (west, north, _, _) in STORM_BASINS.items():
            for years in STORM_PERIODS if model is None else (10, 50, 100, 1000):
                name = "_".join(part for part in ("STORM_FIXED_RETURN_PERIODS", model, basin, str(years)) if part)
                values = storm_winds(basin, years, shift, conflict)
                # The coordinates are those of cell centers.
                paths.append(geotiff(f"{name}_YR_RP.tif", values, west - 0.05, north + 0.05, 0.1, float("nan")))
        zipped(archive, paths)


def write_deltares():
    """The variable inun (time, lat, lon) on 12 x 14 cells of about 1 km, from south to north."""
    paths = []
    for model, resolution in (("MERIT", "1km"), ("NASA", "1km")):
        for year in (2018, 2050):
            for years in (0, 2, 5, 10, 25, 50, 100, 250):
                path = os.path.join(folder, f"GFM_global_{model}DEM{resolution}_{year}slr_rp{years:04d}_masked.nc")
                paths.append(path)
                with netCDF4.Dataset(path, "w") as data:
                    data.Conventions = "CF-1.6"
                    data.createDimension("time", None)
                    data.createDimension("lat", 12)
                    data.createDimension("lon", 14)
                    time = data.createVariable("time", "f8", ("time",))
                    time.units = "days since 1960-01-01 00:00:00"
                    time[:] = [18263]
                    lat = data.createVariable("lat", "f8", ("lat",))
                    lat.units, lat.standard_name = "degrees_north", "latitude"
                    lat[:] = 4.3 + (numpy.arange(12) + 0.5) / 120
                    lon = data.createVariable("lon", "f8", ("lon",))
                    lon.units, lon.standard_name = "degrees_east", "longitude"
                    lon[:] = 73.4 + (numpy.arange(14) + 0.5) / 120
                    projection = data.createVariable("projection", "i4")
                    projection.long_name = "wgs84"
                    projection.EPSG_code = "EPSG:4326"
                    projection.proj4_params = "+proj=longlat +ellps=WGS84 +datum=WGS84 +no_defs"
                    projection.grid_mapping_name = "latitude_longitude"
                    depth = data.createVariable("inun", "f4", ("time", "lat", "lon"), fill_value=-9999.0, zlib=True)
                    depth.units, depth.long_name = "m", "Coastal flooding"
                    depth.standard_name = "water_surface_height_above_reference_datum"
                    row, column = numpy.mgrid[0:12, 0:14]
                    values = 0.1 * column + 0.05 * row + 0.25 * numpy.log(max(years, 1)) + (0.3 if year == 2050 else 0)
                    values = numpy.where(row + column < 4, 0, values + (0.2 if model == "NASA" else 0))
                    depth[0] = numpy.ma.masked_array(values, column == 13)
    zipped("deltares.zip", paths, "global/")


def write_iris():
    """The variable vmax (rp, latitude, longitude) on 9 x 11 cells, whose centers are multiples of 0.1 degrees."""
    periods = [10, 20, 50, 100, 200, 500, 1000]
    for name, shift in (("PRESENT", 0), ("2050-SSP1", 1), ("2050-SSP2", 2), ("2050-SSP5", 3)):
        with netCDF4.Dataset(os.path.join(folder, f"IRIS_vmax_maps_{name}_tenthdeg.nc"), "w") as data:
            data.createDimension("rp", len(periods))
            data.createDimension("latitude", 9)
            data.createDimension("longitude", 11)
            data.createVariable("rp", "i8", ("rp",))[:] = periods
            data.createVariable("latitude", "f8", ("latitude",))[:] = 17.8 + numpy.arange(9) / 10
            data.createVariable("longitude", "f8", ("longitude",))[:] = -67 + numpy.arange(11) / 10
            winds = data.createVariable("vmax", "f4", ("rp", "latitude", "longitude"), fill_value=numpy.nan, zlib=True)
            period, row, column = numpy.meshgrid(periods, range(9), range(11), indexing="ij")
            values = 20 + shift + row + 0.5 * column + 4 * numpy.log10(period)
            winds[:] = numpy.where((row == 0) & (column > 6), numpy.nan, values)


os.makedirs(folder, exist_ok=True)
write_jrc()
write_storm()
write_deltares()
write_iris()
