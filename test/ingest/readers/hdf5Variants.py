"""Writes HDF5 variants with h5py.

Usage: python3 hdf5Variants.py FOLDER

See array_variants.py for the list of variants.
"""

import os

import h5py
from array_variants import FIELD, folder, lats, listed, lons, write_list

def hdf5(name, create, values=None, finish=None, scales=True, dtype="f4", userblock=0, **options):
    path = os.path.join(folder, f"{name}.h5")
    with h5py.File(path, "w", userblock_size=userblock) as data:
        data["lat"], data["lon"] = lats(), lons()
        data["lat"].attrs["units"], data["lon"].attrs["units"] = "degrees_north", "degrees_east"
        depth = create(data, FIELD.astype(dtype))
        if scales:
            for axis, axis_name in enumerate(("lat", "lon")):
                data[axis_name].make_scale(axis_name)
                depth.dims[axis].attach_scale(data[axis_name])
        if finish:
            finish(data, depth)
    listed(name, path, values, **options)


def dataset(**options):
    return lambda data, field: data.create_dataset("depth", data=field, **options)


plain = FIELD.astype("f4").astype("f8")
hdf5("h5-plain", dataset(), plain)
hdf5("h5-gzip", dataset(compression="gzip", shuffle=True, chunks=(10, 10)), plain)
hdf5("h5-fletcher", dataset(fletcher32=True, chunks=(10, 10)), plain)
hdf5("h5-big-endian", lambda data, field: data.create_dataset("depth", data=field.astype(">f8")), FIELD, dtype="f8")
hdf5("h5-scaleoffset", dataset(scaleoffset=0, chunks=(10, 10)), FIELD.astype("i4").astype("f8"), dtype="i4")
if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
    hdf5("h5-szip", dataset(compression="szip", chunks=(10, 10)), plain)
hdf5("h5-userblock", dataset(), plain, userblock=1024)
hdf5("h5-lzf", dataset(compression="lzf"))
hdf5("h5-float16", dataset(), dtype="f2")
hdf5("h5-bool", dataset(), dtype="bool")
hdf5("h5-no-scales", dataset(), scales=False)
hdf5("h5-compound", lambda data, field: data.create_dataset("depth", data=field.astype([("a", "f4"), ("b", "f4")])))
hdf5("h5-large-chunk", lambda data, field: data.create_dataset("depth", shape=(21, 40), maxshape=(None, None), chunks=(20000, 20000), dtype="f4"))


def virtual(data, field):
    layout = h5py.VirtualLayout(shape=field.shape, dtype="f4")
    layout[:] = h5py.VirtualSource(os.path.join(folder, "h5-plain.h5"), "depth", shape=field.shape)
    return data.create_virtual_dataset("depth", layout)


hdf5("h5-virtual", virtual)
hdf5("h5-external-link", dataset(), plain, lambda data, _: data.__setitem__("linked", h5py.ExternalLink("h5-gzip.h5", "/depth")))
hdf5("h5-external-link-chosen", dataset(), None, lambda data, _: data.__setitem__("linked", h5py.ExternalLink("h5-gzip.h5", "/depth")), variable="linked")

write_list()
