"""Writes the small NetCDF, HDF5, Zarr and zip files in the repository, which are read where Python has no netCDF4.

Usage: python3 test/ingest/readers/writeArrayFixtures.py test/fixtures/arrays

Every file has the same maps: depths of 12 x 20 cells for the return periods 10, 100 and 1000 years, with missing and dry
cells. maps.json has their values, north-up, with null for missing cells.
"""

import json
import os
import shutil
import sys
import zipfile

import h5py
import netCDF4
import numcodecs
import numpy
import zarr

folder = sys.argv[1]
ROWS, COLUMNS, PERIODS = 12, 20, [10.0, 100.0, 1000.0]
random = numpy.random.default_rng(11)
base = numpy.floor(random.random((ROWS, COLUMNS)) * 32) / 4
base[base < 2] = 0
missing = random.random((ROWS, COLUMNS)) < 0.15
cube = numpy.stack([base + 0.25 * i for i in range(3)]).astype("f4")
cube[:, base == 0] = 0
stored = numpy.where(missing, numpy.float32(-9999), cube)
lat, lon = 50 - (numpy.arange(ROWS) + 0.5) * 0.25, 5 + (numpy.arange(COLUMNS) + 0.5) * 0.25
WGS84 = 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
COORDINATES = (("lat", lat, {"units": "degrees_north"}), ("lon", lon, {"units": "degrees_east"}),
               ("return_period", PERIODS, {"units": "years"}))
ATTRIBUTES = {"units": "m", "grid_mapping": "crs"}
ORDER = ("return_period", "lat", "lon")


def netcdf(name, format, south_up=False, **create):
    with netCDF4.Dataset(os.path.join(folder, name), "w", format=format) as data:
        for key, values, attributes in COORDINATES:
            data.createDimension(key, len(values))
            variable = data.createVariable(key, "f8", (key,))
            variable.setncatts(attributes)
            variable[:] = values[::-1] if south_up and key == "lat" else values
        data.createVariable("crs", "i4", ()).setncatts({"grid_mapping_name": "latitude_longitude", "crs_wkt": WGS84})
        depth = data.createVariable("depth", "f4", ORDER, fill_value=-9999.0, **create)
        depth.setncatts(ATTRIBUTES)
        depth[:] = stored[:, ::-1] if south_up else stored


netcdf("netcdf4.nc", "NETCDF4", zlib=True, shuffle=True, chunksizes=(1, 5, 8))
netcdf("netcdf3.nc", "NETCDF3_CLASSIC", south_up=True)
with h5py.File(os.path.join(folder, "hdf5.h5"), "w", libver="latest") as data:
    for key, values, attributes in COORDINATES:
        data[key] = numpy.array(values)
        data[key].attrs.update(attributes)
        data[key].make_scale(key)
    data["crs"] = 0
    data["crs"].attrs.update({"grid_mapping_name": "latitude_longitude", "crs_wkt": WGS84})
    depth = data.create_dataset("depth", data=stored, chunks=(3, 6, 10), compression="gzip", fletcher32=True)
    depth.attrs.update({**ATTRIBUTES, "_FillValue": numpy.float32(-9999)})
    for axis, key in enumerate(ORDER):
        depth.dims[axis].attach_scale(data[key])

store = os.path.join(folder, "zarr2.zarr")
shutil.rmtree(store, ignore_errors=True)
root = zarr.open_group(store, mode="w")
for key, values, attributes in COORDINATES:
    root.create_dataset(key, data=numpy.array(values), fill_value=None).attrs.update({**attributes, "_ARRAY_DIMENSIONS": [key]})
root.create_dataset("crs", data=numpy.int32(0), fill_value=None).attrs.update({"_ARRAY_DIMENSIONS": [], "grid_mapping_name": "latitude_longitude", "crs_wkt": WGS84})
depth = root.create_dataset("depth", shape=stored.shape, chunks=(1, 8, 12), dtype="<f4", fill_value=-9999.0, compressor=numcodecs.Blosc("zstd", 5, 1))
depth[...] = stored
depth.attrs.update({**ATTRIBUTES, "_ARRAY_DIMENSIONS": list(ORDER)})

with zipfile.ZipFile(os.path.join(folder, "maps.zip"), "w") as archive:
    archive.write(os.path.join(folder, "netcdf4.nc"), "maps/netcdf4.nc", zipfile.ZIP_DEFLATED)
    archive.write(os.path.join(folder, "netcdf3.nc"), "maps/netcdf3.nc", zipfile.ZIP_STORED)
    for parent, _, names in sorted(os.walk(store)):
        for index, name in enumerate(sorted(names)):
            path = os.path.join(parent, name)
            method = zipfile.ZIP_STORED if index % 2 else zipfile.ZIP_DEFLATED
            archive.write(path, os.path.join("zarr2.zarr", os.path.relpath(path, store)), method)

values = numpy.where(missing, numpy.nan, cube)
with open(os.path.join(folder, "maps.json"), "w") as file:
    maps = {str(int(period)): [None if v != v else float(v) for v in values[i].ravel()] for i, period in enumerate(PERIODS)}
    json.dump({"grid": {"northDeg": 50, "westDeg": 5, "cellSizeLatDeg": 0.25, "cellSizeLonDeg": 0.25, "rowCount": ROWS, "columnCount": COLUMNS}, "maps": maps}, file)
    file.write("\n")
