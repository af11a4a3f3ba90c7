"""Variants in which the stored numbers are not the values: byte order, 64-bit integers, scale and offset, masks, alpha, LERC."""

import itertools
import math
import os

import numpy
from gdalWriter import (
    COLUMNS,
    LAYOUTS,
    ROWS,
    WEST_UP,
    colors,
    folder,
    gdal,
    gtiff,
    is_fixture,
    listed,
    make,
    pam,
    sidecar,
    values_of,
    wgs84,
    with_mask,
)

KINDS = ("Byte", "UInt16", "Int16", "UInt32", "Int32", "Int64", "UInt64", "Float32", "Float64")
SIGNED = ("Int16", "Int32", "Int64", "Float32", "Float64")


def predictors(method, kind):
    """Returns the predictors that GDAL writes with a compression and a type."""
    if method in ("NONE", "PACKBITS"):
        return (1,)
    return (1, 2, 3) if kind.startswith("Float") else (1, 2)


# --- big-endian files -------------------------------------------------------------------------------------------------

for kind, method in itertools.product(KINDS, ("NONE", "LZW", "DEFLATE", "ZSTD", "PACKBITS")):
    for predictor in predictors(method, kind):
        layout = "tiles" if (len(kind) + len(method) + predictor) % 2 == 0 else "strips"
        options = ["ENDIANNESS=BIG", f"COMPRESS={method}", f"PREDICTOR={predictor}", *LAYOUTS[layout]]
        make(f"be-{method}-p{predictor}-{kind}", [values_of(kind, hole=99)], kind, options, nodata=99)
for interleave, kind, predictor, big in itertools.product(
    ("PIXEL", "BAND"), ("Int16", "Float32", "Int64"), (1, 2, 3), ("YES", "NO")
):
    if predictor in predictors("ZSTD", kind):
        options = ["ENDIANNESS=BIG", "COMPRESS=ZSTD", f"PREDICTOR={predictor}", f"INTERLEAVE={interleave}"]
        arrays = [values_of(kind, band, -9999) for band in range(3)]
        make(
            f"be-bands-{interleave}-p{predictor}-{kind}-{big}",
            arrays,
            kind,
            [*options, f"BIGTIFF={big}", *LAYOUTS["tiles"]],
            nodata=-9999,
        )
make("be-half", [values_of("Float32")], "Float32", ["ENDIANNESS=BIG", "NBITS=16", "COMPRESS=DEFLATE", "PREDICTOR=3"])
make("be-signed-byte", [values_of("Int8")], "Int8", ["ENDIANNESS=BIG", "PIXELTYPE=SIGNEDBYTE"])
make("be-many-strips", [values_of("Int16")], "Int16", ["ENDIANNESS=BIG", "BLOCKYSIZE=1"])
make("be-many-strips-bigtiff", [values_of("Int16")], "Int16", ["ENDIANNESS=BIG", "BLOCKYSIZE=1", "BIGTIFF=YES"])
make("be-sparse", [None], "Int16", ["ENDIANNESS=BIG", "SPARSE_OK=TRUE", "BLOCKYSIZE=4"], nodata=-9999)
make("be-south-up", [values_of("Int16")], "Int16", ["ENDIANNESS=BIG"], transform=(10.0, 0.25, 0.0, 40.0, 0.0, 0.25))


# --- 64-bit integers --------------------------------------------------------------------------------------------------

for kind, method, layout in itertools.product(("Int64", "UInt64"), ("NONE", "LZW", "DEFLATE", "ZSTD"), LAYOUTS):
    for predictor in predictors(method, kind):
        options = [f"COMPRESS={method}", f"PREDICTOR={predictor}", *LAYOUTS[layout]]
        make(f"int64-{method}-p{predictor}-{kind}-{layout}", [values_of(kind, hole=99)], kind, options, nodata=99)
for label, kind, hole, nodata in (
    ("smallest", "Int64", -(2**63), -(2**63)),
    ("largest", "Int64", 2**63 - 1, 2**63 - 1),
    ("largest-unsigned", "UInt64", 2**64 - 1, 2**64 - 1),
    ("exact", "Int64", 2**53 - 1, None),
    ("inexact", "Int64", 2**53 + 1, None),
    ("inexact-unsigned", "UInt64", 2**60, None),
    ("inexact-nodata", "Int64", 2**60 + 1, 2**60 + 1),
    ("undeclared", "Int64", -(2**63), None),
    ("next-to-nodata", "Int64", 2**63 - 2, 2**63 - 1),
):
    array = values_of(kind).astype("uint64" if kind == "UInt64" else "int64")
    array[5:17, 8:31] = hole
    make(f"int64-{label}", [array], kind, nodata=nodata)


# --- scale and offset -------------------------------------------------------------------------------------------------


def scaled(scale, offset, band=1):
    def finish(data):
        if scale is not None:
            data.GetRasterBand(band).SetScale(scale)
        if offset is not None:
            data.GetRasterBand(band).SetOffset(offset)

    return finish


for kind, (scale, offset) in itertools.product(KINDS, ((0.1, None), (None, 3), (0.001, -1.5), (-2, 100))):
    nodata = -9999 if kind in SIGNED else 99
    array = values_of(kind, hole=nodata)
    make(f"scaled-{kind}-{scale}-{offset}", [array], kind, nodata=nodata, finish=scaled(scale, offset))
make(
    "scaled-band-2",
    [values_of("Int16", band, -9999) for band in range(3)],
    "Int16",
    nodata=-9999,
    finish=scaled(0.01, 2, 2),
)
make("scaled-zero", [values_of("Int16")], "Int16", finish=scaled(0, 1))
make("scaled-nan", [values_of("Float32", hole=math.nan)], finish=scaled(0.5, 1))
make("scaled-unit", [values_of("Int16")], "Int16", finish=lambda data: (scaled(0.01, 0)(data), data.GetRasterBand(1).SetUnitType("m")))
for label, band in (
    ("aux", "<Offset>5</Offset><Scale>0.25</Scale>"),
    ("aux-text", "<Scale>a tenth</Scale>"),
    ("aux-infinite", "<Scale>inf</Scale>"),
):
    sidecar(f"scaled-{label}", [values_of("Int16", hole=-9999)], pam("", band), kind="Int16", nodata=-9999)
sidecar("scaled-aux-agrees", [values_of("Int16")], pam("", "<Scale>0.5</Scale>"), kind="Int16", finish=scaled(0.5, None))
sidecar("scaled-aux-contradicts", [values_of("Int16")], pam("", "<Scale>3</Scale>"), kind="Int16", finish=scaled(0.5, None))


# --- masks ------------------------------------------------------------------------------------------------------------

for internal, layout, method, kind in itertools.product((True, False), LAYOUTS, ("NONE", "LZW", "ZSTD"), ("Int16", "Float32")):
    label = f"mask-{'internal' if internal else 'file'}-{layout}-{method}-{kind}"
    make(label, [values_of(kind)], kind, [f"COMPRESS={method}", *LAYOUTS[layout]], finish=with_mask(internal))
for internal in (True, False):
    label = "internal" if internal else "file"
    bands = [values_of("Int16", band) for band in range(3)]
    make(f"mask-{label}-bands", bands, "Int16", finish=with_mask(internal))
    make(f"mask-{label}-planar", bands, "Int16", ["INTERLEAVE=BAND"], finish=with_mask(internal))
    make(f"mask-{label}-big-endian", bands, "Int16", ["ENDIANNESS=BIG"], finish=with_mask(internal))
    make(f"mask-{label}-bigtiff", bands, "Int16", ["BIGTIFF=YES"], finish=with_mask(internal))
    make(f"mask-{label}-scaled", [values_of("Int16")], "Int16", finish=lambda data: (with_mask(internal)(data), scaled(0.1, 2)(data)))
    south_up = (10.0, 0.25, 0.0, 40.0, 0.0, 0.25)
    make(f"mask-{label}-south-up", [values_of("Int16")], "Int16", transform=south_up, finish=with_mask(internal))
    agreeing = values_of("Float32")
    agreeing[3:9, 4:20] = -9999
    make(f"mask-{label}-agrees-with-nodata", [agreeing], nodata=-9999, finish=with_mask(internal))
    make(f"mask-{label}-contradicts-nodata", [values_of("Float32", hole=-9999)], nodata=-9999, finish=with_mask(internal))
make("mask-file-of-each-band", [values_of("Int16", band) for band in range(2)], "Int16", finish=with_mask(False, flags=0))
gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", None)


def mask_file(name, rows, columns, metadata):
    """Writes a map, and a file with the name of its mask."""
    if is_fixture:
        return
    path = os.path.join(folder, f"{name}.tif.msk")
    mask = gtiff.Create(path, columns, rows, 1, gdal.GDT_Byte)
    mask.GetRasterBand(1).WriteArray(numpy.full((rows, columns), 255))
    if metadata is not None:
        mask.SetMetadataItem("INTERNAL_MASK_FLAGS_1", metadata)
    mask = None
    make(name, [values_of("Float32")])


mask_file("mask-file-without-flags", ROWS, COLUMNS, None)
mask_file("mask-file-with-alpha-flag", ROWS, COLUMNS, "4")
mask_file("mask-file-of-another-size", 5, 7, "2")


def masked_overviews():
    path = os.path.join(folder, "mask-internal-overviews.tif")
    gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES")
    data = gtiff.Create(path, 300, 200, 1, gdal.GDT_Int16, ["TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64", "COMPRESS=DEFLATE"])
    data.SetGeoTransform(WEST_UP)
    data.SetProjection(wgs84.ExportToWkt())
    data.GetRasterBand(1).WriteArray(numpy.arange(60_000).reshape(200, 300) % 1000)
    data.CreateMaskBand(gdal.GMF_PER_DATASET)
    data.GetRasterBand(1).GetMaskBand().WriteArray(255 * (numpy.add.outer(numpy.arange(200), numpy.arange(300)) % 7 > 2))
    data = None
    data = gdal.Open(path, gdal.GA_Update)
    data.BuildOverviews("NEAREST", [2, 4])
    data = None
    listed("mask-internal-overviews", path)
    cog = os.path.join(folder, "mask-cog.tif")
    gdal.Translate(cog, path, format="COG", creationOptions=["COMPRESS=DEFLATE", "BLOCKSIZE=128"])
    listed("mask-cog", cog)
    gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", None)


if not is_fixture:
    masked_overviews()


# --- alpha bands ------------------------------------------------------------------------------------------------------

for kind, opaque, interleave, layout in itertools.product(("Byte", "UInt16"), ("full", "half"), ("PIXEL", "BAND"), LAYOUTS):
    largest = (255 if kind == "Byte" else 65535) // (1 if opaque == "full" else 2)
    alpha = numpy.where(values_of("Byte", 1) > 30, largest, 0)
    options = ["ALPHA=YES", f"INTERLEAVE={interleave}", *LAYOUTS[layout]]
    make(f"alpha-{kind}-{opaque}-{interleave}-{layout}", [values_of(kind), alpha], kind, options)
alpha = numpy.where(values_of("Byte", 1) > 30, 255, 0)
make("alpha-of-colors", [*(values_of("Byte", band) for band in range(3)), alpha], "Byte", ["PHOTOMETRIC=RGB", "ALPHA=YES"])
make("alpha-of-two-maps", [values_of("Byte"), values_of("Byte", 1), alpha], "Byte", finish=colors("Undefined", "Undefined", "AlphaBand"))
make("alpha-first", [alpha, values_of("Byte")], "Byte", finish=colors("AlphaBand", "GrayIndex"))
make("alpha-big-endian", [values_of("UInt16"), alpha * 257], "UInt16", ["ALPHA=YES", "ENDIANNESS=BIG"])
make("alpha-scaled", [values_of("Byte"), alpha], "Byte", ["ALPHA=YES"], finish=scaled(0.1, 1))
agreeing = numpy.where(alpha == 0, 0, values_of("Byte") + 1)
make("alpha-agrees-with-nodata", [agreeing, alpha], "Byte", ["ALPHA=YES"], nodata=0)
make("alpha-contradicts-nodata", [values_of("Byte"), alpha], "Byte", ["ALPHA=YES"], nodata=0)
make("alpha-and-mask", [values_of("Byte"), alpha], "Byte", ["ALPHA=YES"], finish=with_mask(True))
gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", None)


# --- LERC -------------------------------------------------------------------------------------------------------------

for method, kind, layout in itertools.product(
    ("LERC", "LERC_DEFLATE", "LERC_ZSTD"), ("Byte", "UInt16", "Int16", "UInt32", "Int32", "Float32", "Float64"), LAYOUTS
):
    hole = math.nan if kind.startswith("Float") else 7
    make(f"LERC-kinds-{method}-{kind}-{layout}", [values_of(kind, hole=hole)], kind, [f"COMPRESS={method}", *LAYOUTS[layout]])
for interleave, kind, hole in itertools.product(("PIXEL", "BAND"), ("Int16", "Float32"), (7, math.nan)):
    if kind == "Float32" or hole == 7:
        arrays = [values_of(kind, band, hole if band != 1 else None) for band in range(3)]
        options = ["COMPRESS=LERC", f"INTERLEAVE={interleave}", *LAYOUTS["tiles"]]
        make(f"LERC-bands-{interleave}-{kind}-{'nan' if hole != 7 else 'all'}", arrays, kind, options)
make("LERC-constant", [numpy.full((ROWS, COLUMNS), 3.25)], options=["COMPRESS=LERC"])
make("LERC-all-nan", [numpy.full((ROWS, COLUMNS), math.nan)], options=["COMPRESS=LERC"])
make("LERC-infinite", [values_of("Float32", hole=math.inf)], options=["COMPRESS=LERC"])
make("LERC-large", [values_of("Float64") * 1e200], "Float64", ["COMPRESS=LERC"])
make("LERC-big-endian", [values_of("Float32", hole=math.nan)], options=["COMPRESS=LERC", "ENDIANNESS=BIG"])
make("LERC-alpha", [values_of("Byte"), alpha], "Byte", ["COMPRESS=LERC", "ALPHA=YES"])
make("LERC-mask-internal", [values_of("Int16")], "Int16", ["COMPRESS=LERC"], finish=with_mask(True))
make("LERC-scaled", [values_of("Int16")], "Int16", ["COMPRESS=LERC"], finish=scaled(0.1, 3))
make("LERC-int64", [values_of("Int64")], "Int64", ["COMPRESS=LERC"])
gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", None)
