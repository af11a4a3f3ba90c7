"""Writes Zarr variants: version 2 with zarr, version 3 from its specification with numcodecs.

Usage: python3 zarrVariants.py FOLDER

See array_variants.py for the list of variants.
"""

import base64
import itertools
import json
import os
import struct

import numcodecs
import numpy
import zarr
from array_variants import COLUMNS, FIELD, MISSING, NORTH, ROWS, SIZE, WEST, folder, lats, listed, lons, write_list

CHUNKS = (8, 16)
PLAIN = FIELD.astype("f4").astype("f8")
HOLES = numpy.where(MISSING, numpy.nan, PLAIN)


def version2(name, values=None, field=None, chunks=CHUNKS, dtype="f4", fill=None, attributes={}, xarray=True, skip=(),
             dimensions=("lat", "lon"), variable_path="depth", separator=".", **options):
    """Writes a group with coordinates and one map. `skip` lists chunks that are deleted after writing."""
    create = {key: options.pop(key) for key in ("compressor", "filters", "order") if key in options}
    path = os.path.join(folder, f"{name}.zarr")
    root = zarr.open_group(path, mode="w")
    for key, coordinates, unit in (("lat", lats(), "degrees_north"), ("lon", lons(), "degrees_east")):
        array = root.create_dataset(key, data=coordinates, fill_value=None)
        array.attrs.update({"_ARRAY_DIMENSIONS": [key], "units": unit})
    field = FIELD if field is None else field
    array = root.create_dataset(variable_path, shape=field.shape, chunks=chunks, dtype=dtype, fill_value=fill,
                                dimension_separator=separator, write_empty_chunks=True, **create)
    array[...] = field.astype(dtype)
    if xarray:
        array.attrs["_ARRAY_DIMENSIONS"] = list(dimensions)
    array.attrs.update(attributes)
    for chunk in skip:
        os.remove(os.path.join(path, variable_path, separator.join(map(str, chunk))))
    listed(name, path, values, **options)
    return path


def without(field, chunk, value, chunks=CHUNKS):
    result = numpy.array(field, dtype="f8")
    result[tuple(slice(c * s, (c + 1) * s) for c, s in zip(chunk, chunks))] = value
    return result


COMPRESSORS = {
    "none": None,
    "zlib": numcodecs.Zlib(5),
    "gzip": numcodecs.GZip(5),
    "zstd": numcodecs.Zstd(3),
    "lz4": numcodecs.LZ4(),
    **{f"blosc-{name}-{shuffle}": numcodecs.Blosc(name, 5, shuffle)
       for name, shuffle in itertools.product(("lz4", "lz4hc", "zstd", "zlib", "blosclz"), (0, 1, 2))},
}
for name, compressor in COMPRESSORS.items():
    version2(f"v2-{name}", PLAIN, compressor=compressor)
version2("v2-bz2", compressor=numcodecs.BZ2())
version2("v2-lzma", compressor=numcodecs.LZMA())
for dtype in ("i1", "u1", "<i2", ">i2", "<u2", "<i4", ">u4", "<i8", "<u8", "<f4", ">f4", "<f8", ">f8"):
    version2(f"v2-type-{dtype.replace('<', 'little-').replace('>', 'big-')}", FIELD.astype(dtype).astype("f8"), dtype=dtype)
for dtype in ("f2", "bool", "U4", "c8"):
    version2(f"v2-type-{dtype}", dtype=dtype)
version2("v2-order-f", PLAIN, order="F")
version2("v2-order-f-big-endian", PLAIN, order="F", dtype=">f4")
version2("v2-separator", PLAIN, separator="/")
version2("v2-separator-absent", without(PLAIN, (1, 2), numpy.nan), separator="/", skip=[(1, 2)])
version2("v2-delta", FIELD.astype("i4").astype("f8"), dtype="i4", filters=[numcodecs.Delta("<i4")])
version2("v2-shuffle", PLAIN, filters=[numcodecs.Shuffle(4)], compressor=numcodecs.Zlib())
version2("v2-fixedscaleoffset", filters=[numcodecs.FixedScaleOffset(0, 10, "<f4", "<i2")])
version2("v2-quantize", filters=[numcodecs.Quantize(1, "<f4")])
version2("v2-absent-null", without(PLAIN, (0, 1), numpy.nan), skip=[(0, 1)])
version2("v2-absent-null-integer", without(FIELD.astype("i2"), (0, 1), numpy.nan), dtype="i2", skip=[(0, 1)])
version2("v2-absent-null-int64", dtype="i8", skip=[(0, 1)])
version2("v2-absent-nan", without(PLAIN, (0, 1), numpy.nan), fill=numpy.nan, skip=[(0, 1)])
version2("v2-absent-zero-xarray", numpy.where(PLAIN == 0, numpy.nan, without(PLAIN, (0, 1), numpy.nan)), fill=0, skip=[(0, 1)])
version2("v2-fill-xarray", numpy.where(FIELD == 4.0, numpy.nan, PLAIN), fill=4.0)
version2("v2-packed", FIELD.astype("i2") * 0.1 + 3, dtype="i2", attributes={"scale_factor": 0.1, "add_offset": 3})
version2("v2-valid-range-packed", dtype="i2", attributes={"scale_factor": 0.1, "valid_min": 3})
version2("v2-group", PLAIN, variable_path="floods/depth")
version2("v2-no-dimensions", xarray=False)

# --- the OS-Climate hazard store ---------------------------------------------------------------------------------------

TRANSFORM = [SIZE, 0.0, WEST, 0.0, -SIZE, NORTH, 0.0, 0.0, 1.0]
OSC = {"transform_mat3x3": TRANSFORM, "index_values": [10.0, 100.0, 1000.0], "index_name": "return period (years)", "crs": "EPSG:4326"}
CUBE = numpy.stack([FIELD, FIELD + 1, FIELD + 2])
PERIOD = {"return period (years)": 100}


def osc(name, values=None, attributes={}, field=CUBE, select=PERIOD, **options):
    version2(name, values, field, chunks=(3, 8, 16), fill=0, xarray=False, attributes={**OSC, **attributes}, assumeWgs84=False,
             select=select, **options)


HUNDRED = (FIELD + 1).astype("f4").astype("f8")
osc("osc-plain", HUNDRED)
osc("osc-absent", without(HUNDRED, (0, 1), 0), skip=[(0, 0, 1)])
osc("osc-south-up", HUNDRED, {"transform_mat3x3": [SIZE, 0, WEST, 0, SIZE, NORTH - ROWS * SIZE, 0, 0, 1]}, field=CUBE[:, ::-1])
osc("osc-crs-default", attributes={"crs": "EPSG:3857"})
osc("osc-rotated", attributes={"transform_mat3x3": [SIZE, 0.1, WEST, 0, -SIZE, NORTH, 0, 0, 1]})
osc("osc-short-transform", attributes={"transform_mat3x3": [SIZE, 0]})
osc("osc-no-selection", select={})
osc("osc-wrong-period", select={"return period (years)": 200})
osc("osc-no-values", (FIELD + 2).astype("f4").astype("f8"), {"index_values": None}, select={"return period (years)": {"index": 2}})
path = version2("osc-array", None, CUBE, chunks=(1, 8, 16), fill=0, xarray=False, attributes=OSC, assumeWgs84=False, select=PERIOD, variable="none")
listed("osc-array-alone", os.path.join(path, "depth"), HUNDRED, assumeWgs84=False, select=PERIOD)

# --- version 3 ---------------------------------------------------------------------------------------------------------

CRC_TABLE = []
for index in range(256):
    for _ in range(8):
        index = (index >> 1) ^ (0x82F63B78 if index & 1 else 0)
    CRC_TABLE.append(index)


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = CRC_TABLE[(value ^ byte) & 255] ^ (value >> 8)
    return data + struct.pack("<I", value ^ 0xFFFFFFFF)


def encode(block, codecs):
    data = None
    for codec in codecs:
        name, configuration = codec["name"], codec.get("configuration", {})
        if name == "transpose":
            block = block.transpose(configuration["order"])
        elif name == "bytes":
            data = numpy.ascontiguousarray(block.astype(block.dtype.newbyteorder("<" if configuration.get("endian") != "big" else ">"))).tobytes()
        elif name == "crc32c":
            data = crc32c(data)
        else:
            encoder = {"gzip": numcodecs.GZip(5), "zstd": numcodecs.Zstd(3)}.get(name) or numcodecs.Blosc("lz4", 5, 1)
            data = bytes(encoder.encode(data))
    return data


def blocks(field, chunks, fill):
    counts = [-(-size // chunk) for size, chunk in zip(field.shape, chunks)]
    for index in itertools.product(*map(range, counts)):
        block = numpy.full(chunks, fill, field.dtype)
        part = field[tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunks))]
        block[tuple(slice(0, size) for size in part.shape)] = part
        yield index, block


def write_json(path, value):
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "zarr.json"), "w") as file:
        json.dump(value, file)


def write_array(path, field, chunks, codecs, fill=0.0, names=None, attributes={}, skip=(), encoding=None, shard=None, damage=None, **extra):
    encoding = encoding or {"name": "default", "configuration": {"separator": "/"}}
    stored = codecs
    if shard:
        stored = [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": list(shard), "codecs": codecs,
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}], **extra.pop("sharding", {})}}]
    write_json(path, {
        "zarr_format": 3, "node_type": "array", "shape": list(field.shape), "data_type": str(field.dtype),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}}, "chunk_key_encoding": encoding,
        "fill_value": "NaN" if fill != fill else fill, "codecs": stored, "attributes": attributes,
        **({"dimension_names": list(names)} if names else {}), **extra})
    for index, block in blocks(field, chunks, fill):
        if index in skip:
            continue
        separator = encoding["configuration"]["separator"]
        key = separator.join(map(str, index)) if encoding["name"] == "v2" else separator.join(["c", *map(str, index)])
        target = os.path.join(path, key)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        data = encode_shard(block, shard, codecs, fill) if shard else encode(block, codecs)
        if damage is not None:
            data = data[:damage] + bytes([data[damage] ^ 255]) + data[damage + 1:]
        with open(target, "wb") as file:
            file.write(data)


def encode_shard(block, inner, codecs, fill):
    content, index = b"", []
    for _, part in blocks(block, inner, fill):
        # A chunk of fill values is not stored in a shard.
        if (part == fill).all() or numpy.isnan(part).all():
            index += [2**64 - 1, 2**64 - 1]
            continue
        data = encode(part, codecs)
        index += [len(content), len(data)]
        content += data
    return content + crc32c(struct.pack(f"<{len(index)}Q", *index))


BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def version3(name, values=None, field=None, dtype="float32", codecs=[BYTES], chunks=CHUNKS, attributes={}, fill=0.0, skip=(), options={}, **extra):
    path = os.path.join(folder, f"{name}.zarr")
    write_json(path, {"zarr_format": 3, "node_type": "group", "attributes": {}})
    for key, coordinates, unit in (("lat", lats(), "degrees_north"), ("lon", lons(), "degrees_east")):
        write_array(os.path.join(path, key), coordinates, coordinates.shape, [BYTES], names=[key], attributes={"units": unit})
    field = (FIELD if field is None else field).astype(dtype)
    write_array(os.path.join(path, "depth"), field, chunks, codecs, fill, ("lat", "lon"), attributes, skip, **extra)
    listed(name, path, values, **options)


GZIP, ZSTD, CRC = {"name": "gzip", "configuration": {"level": 5}}, {"name": "zstd", "configuration": {"level": 3, "checksum": False}}, {"name": "crc32c"}
BLOSC = {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}}
for name, codec in (("gzip", GZIP), ("zstd", ZSTD), ("blosc", BLOSC), ("crc32c", CRC)):
    version3(f"v3-{name}", PLAIN, codecs=[BYTES, codec])
version3("v3-plain", PLAIN)
version3("v3-big-endian", PLAIN, codecs=[{"name": "bytes", "configuration": {"endian": "big"}}])
version3("v3-transpose", PLAIN, codecs=[{"name": "transpose", "configuration": {"order": [1, 0]}}, BYTES, ZSTD])
version3("v3-zstd-crc32c", PLAIN, codecs=[BYTES, ZSTD, CRC])
version3("v3-crc32c-damaged", codecs=[BYTES, CRC], damage=5)
for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float64"):
    version3(f"v3-{dtype}", FIELD.astype(dtype).astype("f8"), dtype=dtype, fill=0)
version3("v3-float16", dtype="float16")
version3("v3-v2-keys", PLAIN, encoding={"name": "v2", "configuration": {"separator": "."}})
version3("v3-absent-zero", without(PLAIN, (1, 1), 0), skip=[(1, 1)])
version3("v3-absent-nan", without(PLAIN, (1, 1), numpy.nan), fill=float("nan"), skip=[(1, 1)])
version3("v3-fill-attribute", numpy.where(FIELD == 4.0, numpy.nan, PLAIN), attributes={"_FillValue": 4.0})
version3("v3-fill-base64", numpy.where(FIELD == 4.0, numpy.nan, PLAIN), attributes={"_FillValue": base64.b64encode(struct.pack("<d", 4.0)).decode()})
version3("v3-fill-text", attributes={"_FillValue": "none"})
version3("v3-null-fill", fill=None)
version3("v3-extension", another={"name": "x"})
version3("v3-extension-ignorable", PLAIN, another={"name": "x", "must_understand": False})
version3("v3-storage-transformer", storage_transformers=[{"name": "x"}])
version3("v3-unknown-codec", codecs=[BYTES, {"name": "zfp"}])
version3("v3-large-chunk", chunks=(8192, 16384), skip=[(0, 0)])
dry = numpy.array(FIELD)
dry[0:4, 0:8] = 0
for name, inner in (("plain", [BYTES]), ("blosc", [BYTES, BLOSC]), ("zstd-crc", [BYTES, ZSTD, CRC]), ("gzip", [BYTES, GZIP])):
    version3(f"v3-sharding-{name}", dry.astype("f4").astype("f8"), dry, codecs=inner, chunks=(8, 16), shard=(4, 8))
version3("v3-sharding-absent", without(PLAIN, (1, 1), 0), shard=(4, 8), skip=[(1, 1)])
version3("v3-sharding-start", shard=(4, 8), sharding={"index_location": "start"})
version3("v3-sharding-uneven", shard=(8, 16), chunks=(8, 16), sharding={"chunk_shape": [5, 16]})
version3("v3-sharding-damaged", shard=(4, 8), codecs=[BYTES, CRC], damage=9)
empty = os.path.join(folder, "not-a-store")
os.makedirs(empty)
listed("not-a-store", empty)
write_json(os.path.join(folder, "broken.zarr"), "text")
listed("broken", os.path.join(folder, "broken.zarr"))

write_list()
