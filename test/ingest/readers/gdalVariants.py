"""Writes GeoTIFF variants with GDAL, and for each the values that GDAL reads from it.

Usage: python3 gdalVariants.py FOLDER [--fixtures]

With --fixtures only the variants named in FIXTURES, and smaller: `python3 test/ingest/readers/gdalVariants.py
test/fixtures/gdal --fixtures` writes the files in the repository, which are read where GDAL is not installed.

FOLDER/variants.json lists the files. Each band has (for fixtures in variants.json, deflated and in base64) a file of little-endian float64 values with mask, scale, offset and
the factor from the declared unit to meters applied; NaN marks a missing cell. `grid` is null if GDAL reports no north-up
or south-up geotransform.
"""

import itertools
import json
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
    FIXTURES,
    listed,
    make,
    osr,
    pam,
    sidecar,
    values_of,
    variants,
    wgs84,
    with_mask,
)

# --- compressions, predictors, types, layouts -------------------------------------------------------------------------

for method, predictor, kind, layout in itertools.product(
    ("NONE", "LZW", "PACKBITS", "DEFLATE", "ZSTD"),
    (1, 2, 3),
    ("Byte", "UInt16", "Int16", "UInt32", "Int32", "Float32", "Float64"),
    LAYOUTS,
):
    if method in ("NONE", "PACKBITS") and predictor != 1:
        continue
    if predictor == 3 and not kind.startswith("Float"):
        continue
    options = [f"COMPRESS={method}", f"PREDICTOR={predictor}", *LAYOUTS[layout]]
    hole = 99
    make(f"{method}-p{predictor}-{kind}-{layout}", [values_of(kind, hole=hole)], kind, options, nodata=hole)
for method in ("LZMA", "LERC", "LERC_DEFLATE", "LERC_ZSTD", "JPEG", "WEBP", "JXL", "CCITTFAX4"):
    for kind in ("Byte", "Float32"):
        for hole in (99, math.nan):
            if kind == "Byte" and hole != 99:
                continue
            for error in (None, 0.01, 0.5):
                options = [f"COMPRESS={method}"] + ([] if error is None else [f"MAX_Z_ERROR={error}"])
                if error is not None and not method.startswith("LERC"):
                    continue
                label = f"{method}-{kind}-{'nan' if hole != 99 else 'nodata'}-{error}"
                arrays = [values_of(kind, band, hole) for band in range(3 if method == "WEBP" else 1)]
                make(label, arrays, kind, options, nodata=hole)
make("LERC-mask-no-nodata", [values_of("Float32", hole=math.nan)], options=["COMPRESS=LERC"])
make("ZSTD-level22", [values_of("Float32")], options=["COMPRESS=ZSTD", "ZSTD_LEVEL=22"])
make("DEFLATE-level12", [values_of("Float32")], options=["COMPRESS=DEFLATE", "ZLEVEL=12"])
for kind in ("CInt16", "CInt32", "CFloat32", "CFloat64", "Int64", "UInt64"):
    make(f"type-{kind}", [values_of("Float32")], kind)
make("type-Int8", [values_of("Int8")], "Int8", ["PIXELTYPE=SIGNEDBYTE"])
for kind, bits in (
    *(("Byte", bits) for bits in range(1, 8)),
    *(("UInt16", bits) for bits in range(9, 16)),
    *(("UInt32", bits) for bits in (17, 20, 24, 31)),
    ("Float32", 16),
    ("Float32", 24),
):
    # Multiples of a prime number fill all bits.
    array = values_of(kind) if kind == "Float32" else (values_of(kind) * 7919) % 2**bits
    for method in ("NONE", "DEFLATE"):
        make(f"nbits{bits}-{kind}-{method}", [array], kind, [f"NBITS={bits}", f"COMPRESS={method}"])
for bits, method, interleave, layout, order in itertools.product(
    (1, 4, 12, 24), ("LZW", "PACKBITS", "ZSTD"), ("PIXEL", "BAND"), LAYOUTS, ("LITTLE", "BIG")
):
    kind = "Byte" if bits < 8 else "UInt16" if bits < 16 else "UInt32"
    options = [f"NBITS={bits}", f"COMPRESS={method}", f"INTERLEAVE={interleave}", f"ENDIANNESS={order}", *LAYOUTS[layout]]
    arrays = [(values_of(kind, band) * 7919) % 2**bits for band in range(3)]
    make(f"nbits{bits}-bands-{method}-{interleave}-{layout}-{order}", arrays, kind, options)
make("nbits4-nodata", [values_of("Byte", hole=15) % 16], "Byte", ["NBITS=4"], nodata=15)
make("nbits12-south-up", [values_of("UInt16") % 4096], "UInt16", ["NBITS=12"], transform=(10.0, 0.25, 0.0, 40.0, 0.0, 0.25))
make("nbits16-predictor3", [values_of("Float32")], "Float32", ["NBITS=16", "COMPRESS=DEFLATE", "PREDICTOR=3"])
for interleave, method, predictor, layout in itertools.product(("PIXEL", "BAND"), ("NONE", "LZW", "ZSTD"), (1, 2), LAYOUTS):
    if method == "NONE" and predictor == 2:
        continue
    options = [f"INTERLEAVE={interleave}", f"COMPRESS={method}", f"PREDICTOR={predictor}", *LAYOUTS[layout]]
    arrays = [values_of("Int16", band, -9999) for band in range(3)]
    make(f"bands-{interleave}-{method}-p{predictor}-{layout}", arrays, "Int16", options, nodata=-9999)
for height in (1, 16, 64):
    make(f"strips-of-{height}", [values_of("Float32")], options=[f"BLOCKYSIZE={height}"])
make("bigtiff", [values_of("Float32", hole=-9999)], options=["BIGTIFF=YES"], nodata=-9999)
make("bigtiff-tiles", [values_of("Int16", hole=-9999)], "Int16", ["BIGTIFF=YES", *LAYOUTS["tiles"]], nodata=-9999)
for method, kind in itertools.product(("NONE", "DEFLATE"), ("Byte", "Float32")):
    make(f"big-endian-{method}-{kind}", [values_of(kind)], kind, ["ENDIANNESS=BIG", f"COMPRESS={method}"])
make("big-endian-bigtiff", [values_of("Float32")], options=["ENDIANNESS=BIG", "BIGTIFF=YES"])


# --- missing values ---------------------------------------------------------------------------------------------------

for label, kind, hole, nodata in (
    ("nan", "Float32", math.nan, math.nan),
    ("nan-undeclared", "Float32", math.nan, None),
    ("nan-float64", "Float64", math.nan, math.nan),
    ("minus-9999", "Float32", -9999, -9999),
    ("minus-9999-float64", "Float64", -9999, -9999),
    ("1e20", "Float32", 1e20, 1e20),
    ("float-min", "Float32", -3.4028234663852886e38, -3.4028234663852886e38),
    ("float-min-rounded", "Float32", -3.4028234663852886e38, -3.40282306073709653e38),
    ("tenth", "Float32", 0.1, 0.1),
    ("infinite", "Float32", math.inf, math.inf),
    ("zero", "Float32", 0, 0),
    ("zero-byte", "Byte", 0, 0),
    ("below-byte", "Byte", 7, -9999),
    ("above-byte", "Byte", 7, 300),
    ("above-int16", "Int16", 7, 99999),
    ("below-uint16", "UInt16", 7, -1),
    ("nan-on-int16", "Int16", 7, math.nan),
    ("fraction-on-byte", "Byte", 2, 2.5),
    ("int32-large", "Int32", 2147483647, 2147483647),
    ("uint32-large", "UInt32", 4294967295, 4294967295),
    ("int32-rounded", "Int32", 16777217, 16777217),
):
    make(f"nodata-{label}", [values_of(kind, hole=hole)], kind, nodata=nodata)


def sparse(name, kind, nodata, options=()):
    def finish(data):
        data.GetRasterBand(1).WriteArray(values_of(kind)[:16, :16])

    if is_fixture and name not in FIXTURES:
        return
    blank = numpy.zeros((ROWS, COLUMNS))
    path = os.path.join(folder, f"{name}.tif")
    data = gtiff.Create(
        path, COLUMNS, ROWS, 1, gdal.GetDataTypeByName(kind), ["SPARSE_OK=TRUE", *LAYOUTS["tiles"], *options]
    )
    data.SetGeoTransform(WEST_UP)
    data.SetProjection(wgs84.ExportToWkt())
    if nodata is not None:
        data.GetRasterBand(1).SetNoDataValue(nodata)
    finish(data)
    data = None
    listed(name, path)


for label, kind, nodata in (
    ("none", "Float32", None),
    ("nodata", "Float32", -9999),
    ("nan", "Float32", math.nan),
    ("zero", "Int16", 0),
    ("byte-below", "Byte", -9999),
    ("int-nan", "Int16", math.nan),
):
    sparse(f"sparse-{label}", kind, nodata)
sparse("sparse-deflate", "Float32", -9999, ["COMPRESS=DEFLATE"])
for interleave, band in itertools.product(("BAND", "PIXEL"), (1, 2)):
    # Band 2 is not written; the sidecar states nodata for one band.
    sidecar(
        f"sparse-one-nodata-{interleave}-{band}",
        [values_of("Float32"), None],
        f'<PAMDataset><PAMRasterBand band="{band}"><NoDataValue>-9999</NoDataValue></PAMRasterBand></PAMDataset>',
        options=["SPARSE_OK=TRUE", "BLOCKYSIZE=8", f"INTERLEAVE={interleave}"],
    )


make("mask-internal", [values_of("Float32")], finish=with_mask(True))
make("mask-internal-tiles", [values_of("Int16")], "Int16", LAYOUTS["tiles"], finish=with_mask(True))
make("mask-internal-and-nodata", [values_of("Float32", hole=-9999)], nodata=-9999, finish=with_mask(True))
make("mask-file", [values_of("Float32")], finish=with_mask(False))
make("mask-file-deflate", [values_of("Int16")], "Int16", ["COMPRESS=DEFLATE"], finish=with_mask(False))
make("mask-file-of-one-band", [values_of("Float32")], finish=with_mask(False, flags=0))
gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", None)


pair = [values_of("Byte"), numpy.where(values_of("Byte", 1) > 30, 255, 0)]
make("alpha-option", pair, "Byte", ["ALPHA=YES"])
make("alpha-premultiplied", pair, "Byte", ["ALPHA=PREMULTIPLIED"])
make("alpha-interpretation", pair, "Byte", finish=colors("GrayIndex", "AlphaBand"))
make("alpha-float", [array.astype("float32") for array in pair], "Float32", finish=colors("Undefined", "AlphaBand"))
make("alpha-planar", pair, "Byte", ["ALPHA=YES", "INTERLEAVE=BAND"])
make("bytes-4", [values_of("Byte", band) for band in range(4)], "Byte")
make("bytes-4-no-alpha", [values_of("Byte", band) for band in range(4)], "Byte", ["ALPHA=NO", "PHOTOMETRIC=MINISBLACK"])
make("bytes-3", [values_of("Byte", band) for band in range(3)], "Byte")
make("floats-2", [values_of("Float32", band) for band in range(2)])


def palette(data):
    table = gdal.ColorTable()
    for value in range(256):
        table.SetColorEntry(value, (value, 255 - value, 7, 255))
    data.GetRasterBand(1).SetColorTable(table)


make("palette", [values_of("Byte")], "Byte", finish=palette)
make("white-is-zero", [values_of("Byte")], "Byte", ["PHOTOMETRIC=MINISWHITE"])


# --- scale, offset, units ---------------------------------------------------------------------------------------------


def band_setting(name, *values):
    return lambda data: getattr(data.GetRasterBand(1), name)(*values)


for label, finish in {
    "scale": band_setting("SetScale", 0.1),
    "offset": band_setting("SetOffset", 5.0),
    "scale-1-offset-0": lambda data: (data.GetRasterBand(1).SetScale(1), data.GetRasterBand(1).SetOffset(0)),
    "statistics": lambda data: data.GetRasterBand(1).SetStatistics(0, 12, 5, 3),
    "description": band_setting("SetDescription", "depth <100> & more"),
    "metadata": lambda data: data.SetMetadata({"AUTHOR": 'role="scale">7<', "TIFFTAG_SOFTWARE": "x"}),
    "nodata-values": lambda data: data.SetMetadata({"NODATA_VALUES": "0"}),
    "nodata-values-two": lambda data: data.SetMetadata({"NODATA_VALUES": "0 0"}),
    "nodata-values-text": lambda data: data.SetMetadata({"NODATA_VALUES": "none"}),
    "nodata-values-same": lambda data: (data.SetMetadata({"NODATA_VALUES": "0"}), data.GetRasterBand(1).SetNoDataValue(0)),
    "nodata-values-other": lambda data: (data.SetMetadata({"NODATA_VALUES": "0"}), data.GetRasterBand(1).SetNoDataValue(5)),
    "nodata-values-of-band": lambda data: data.GetRasterBand(1).SetMetadata({"NODATA_VALUES": "0"}),
    "rpc": lambda data: data.SetMetadata(
        {
            "LINE_OFF": "1", "SAMP_OFF": "1", "LAT_OFF": "1", "LONG_OFF": "1", "HEIGHT_OFF": "1", "LINE_SCALE": "1",
            "SAMP_SCALE": "1", "LAT_SCALE": "1", "LONG_SCALE": "1", "HEIGHT_SCALE": "1",
            **{key: " ".join(["0"] * 20) for key in ("LINE_NUM_COEFF", "LINE_DEN_COEFF", "SAMP_NUM_COEFF", "SAMP_DEN_COEFF")},
        },
        "RPC",
    ),
}.items():
    make(f"set-{label}", [values_of("Float32")], finish=finish)
# A cell is missing if every band has the number of the band.
for kind, layout, interleave in itertools.product(("Byte", "Int16", "UInt32", "Float32", "Float64"), LAYOUTS, ("PIXEL", "BAND")):
    arrays = [values_of(kind, band, 3 + band) for band in range(3)]
    make(
        f"nodata-values-{kind}-{layout}-{interleave}",
        arrays,
        kind,
        [f"INTERLEAVE={interleave}", *LAYOUTS[layout]],
        finish=lambda data: data.SetMetadata({"NODATA_VALUES": "3 4 5"}),
    )
make("nodata-values-rounded", [values_of("Float32", hole=0.1)], finish=lambda data: data.SetMetadata({"NODATA_VALUES": "0.1"}))
make("nodata-values-negative-byte", [values_of("Byte")], "Byte", finish=lambda data: data.SetMetadata({"NODATA_VALUES": "-1"}))
make(
    "nodata-values-south-up",
    [values_of("Int16", band, 3 + band) for band in range(2)],
    "Int16",
    finish=lambda data: data.SetMetadata({"NODATA_VALUES": "3 4"}),
    transform=(10.0, 0.25, 0.0, 40.0, 0.0, 0.25),
)
for unit in ("m", "metre", "cm", "mm", "ft", "km", "US survey foot", "furlong", "m/s", "K"):
    make(f"unit-{unit.replace('/', '-per-').replace(' ', '-')}", [values_of("Float32")], finish=band_setting("SetUnitType", unit))


# --- sidecar files ----------------------------------------------------------------------------------------------------

plain = [values_of("Float32", hole=-9999)]
for label, inside, band in (
    ("nodata", "", "<NoDataValue>-9999</NoDataValue>"),
    ("nodata-hex", "", '<NoDataValue le_hex_equiv="000000008087C3C0">-9.99900000000000E+03</NoDataValue>'),
    ("nodata-hex-only", "", '<NoDataValue le_hex_equiv="000000008087C3C0">-9.9E+03</NoDataValue>'),
    ("scale", "", "<Scale>0.1</Scale>"),
    ("offset", "", "<Offset>3</Offset>"),
    ("scale-1", "", "<Scale>1</Scale><Offset>0</Offset>"),
    ("unit-m", "", "<UnitType>m</UnitType>"),
    ("unit-cm", "", "<UnitType>cm</UnitType>"),
    ("unit-unknown", "", "<UnitType>furlong</UnitType>"),
    ("description", "", "<Description>depth</Description>"),
    ("alpha", "", "<ColorInterp>Alpha</ColorInterp>"),
    ("gray", "", "<ColorInterp>Gray</ColorInterp>"),
    ("categories", "", "<CategoryNames><Category>a</Category><Category>b</Category></CategoryNames>"),
    ("statistics", "", '<Metadata><MDI key="STATISTICS_MAXIMUM">12</MDI><MDI key="STATISTICS_MEAN">3</MDI></Metadata>'),
    (
        "histogram",
        "",
        "<Histograms><HistItem><HistMin>0</HistMin><HistMax>1</HistMax><BucketCount>1</BucketCount>"
        "<IncludeOutOfRange>1</IncludeOutOfRange><Approximate>0</Approximate><HistCounts>7</HistCounts></HistItem></Histograms>",
    ),
    ("nodata-values", '<Metadata><MDI key="NODATA_VALUES">0</MDI></Metadata>', ""),
    ("nodata-values-of-band", "", '<Metadata><MDI key="NODATA_VALUES">0</MDI></Metadata>'),
    ("metadata", '<Metadata><MDI key="AUTHOR">me</MDI></Metadata>', ""),
    ("transform-same", "<GeoTransform> 1.0e+01, 2.5e-01, 0.0, 5.0e+01, 0.0, -2.5e-01</GeoTransform>", ""),
    ("transform-other", "<GeoTransform> 1.1e+01, 2.5e-01, 0.0, 5.0e+01, 0.0, -2.5e-01</GeoTransform>", ""),
    ("srs-same", f"<SRS>{wgs84.ExportToWkt().replace(chr(34), '&quot;')}</SRS>", ""),
    ("srs-other", "<SRS>EPSG:3857</SRS>", ""),
):
    sidecar(f"aux-{label}", plain, pam(inside, band))
sidecar("aux-nodata-values-agree", plain, pam('<Metadata><MDI key="NODATA_VALUES">0</MDI></Metadata>'), finish=lambda data: data.SetMetadata({"NODATA_VALUES": "0"}))
sidecar("aux-nodata-values-contradict", plain, pam('<Metadata><MDI key="NODATA_VALUES">0</MDI></Metadata>'), finish=lambda data: data.SetMetadata({"NODATA_VALUES": "1"}))


def srs_element(code, mapping=None, version="WKT1_GDAL"):
    reference = osr.SpatialReference()
    reference.SetFromUserInput(code)
    text = reference.ExportToWkt([f"FORMAT={version}"]).replace("&", "&amp;").replace('"', "&quot;")
    attribute = "" if mapping is None else f' dataAxisToSRSAxisMapping="{mapping}"'
    return f"<SRS{attribute}>{text}</SRS>"


# The coordinate system, the transform, or both only in the .aux.xml
TRANSFORM = "<GeoTransform> 1.0e+01, 2.5e-01, 0.0, 5.0e+01, 0.0, -2.5e-01</GeoTransform>"
for version in ("WKT1_GDAL", "WKT1_ESRI", "WKT2_2015", "WKT2_2018"):
    sidecar(f"aux-only-srs-{version}", plain, pam(srs_element("EPSG:4326", None, version)), srs=None)
    sidecar(f"aux-only-srs-{version}-NAD83", plain, pam(srs_element("EPSG:4269", None, version)), srs=None)
sidecar("aux-only-srs-mapped", plain, pam(srs_element("EPSG:4326", "2,1")), srs=None)
sidecar("aux-only-srs-swapped", plain, pam(srs_element("EPSG:4326", "1,2")), srs=None)
sidecar("aux-only-srs-code", plain, pam("<SRS>EPSG:4326</SRS>"), srs=None)
sidecar("aux-only-srs-32633", plain, pam(srs_element("EPSG:32633", "1,2")), srs=None)
sidecar("aux-only-srs-unknown", plain, pam("<SRS>LOCAL_CS[&quot;site&quot;]</SRS>"), srs=None)
sidecar("aux-only-srs-with-heights", plain, pam(srs_element("EPSG:4326+3855")), srs=None)
sidecar("aux-only-transform", plain, pam(TRANSFORM), transform=None)
sidecar("aux-only-transform-and-srs", plain, pam(TRANSFORM + srs_element("EPSG:4326", "2,1")), transform=None, srs=None)
sidecar("aux-only-transform-point", plain, pam(TRANSFORM), transform=None, finish=lambda data: data.SetMetadataItem("AREA_OR_POINT", "Point"))
sidecar("aux-srs-agrees-mapped", plain, pam(srs_element("EPSG:4326", "2,1")))
sidecar("aux-srs-contradicts-datum", plain, pam(srs_element("EPSG:4230", "2,1")))
# GDAL ignores the case of names, and takes attributes for elements.
for label, body in (
    ("case-nodata", '<pamdataset><PAMRASTERBAND Band="1"><nodatavalue>-9999</nodatavalue></PAMRASTERBAND></pamdataset>'),
    ("case-scale", '<PAMDataset><pamrasterband BAND="1"><scale>10</scale></pamrasterband></PAMDataset>'),
    ("attribute-nodata", '<PAMDataset><PAMRasterBand band="1" NoDataValue="-9999"/></PAMDataset>'),
    ("attribute-scale", '<PAMDataset><PAMRasterBand band="1" Scale="10"/></PAMDataset>'),
    ("attribute-unit", '<PAMDataset><PAMRasterBand band="1" UnitType="cm"/></PAMDataset>'),
    ("attribute-transform", '<PAMDataset GeoTransform="11,0.25,0,50,0,-0.25"/>'),
    ("attribute-none", "<PAMDataset><PAMRasterBand><Scale>10</Scale></PAMRasterBand></PAMDataset>"),
):
    sidecar(f"aux-{label}", plain, body)
sidecar(
    "aux-unit-contradicts",
    plain,
    pam("", "<UnitType>m</UnitType>"),
    finish=lambda data: data.GetRasterBand(1).SetUnitType("cm"),
)
sidecar("aux-nodata-contradicts", plain, pam("", "<NoDataValue>0</NoDataValue>"), nodata=-9999)
sidecar("aux-nodata-agrees", plain, pam("", "<NoDataValue>-9999</NoDataValue>"), nodata=-9999)
sidecar(
    "aux-nodata-of-band-2",
    [values_of("Float32", 0, -9999), values_of("Float32", 1, -9999)],
    '<PAMDataset><PAMRasterBand band="2"><NoDataValue>-9999</NoDataValue></PAMRasterBand></PAMDataset>',
)
sidecar("aux-damaged", plain, "<PAMDataset><PAMRasterBand band='1'><NoDataValue>-9999</NoData", nodata=-9999)
sidecar("aux-another-document", plain, "<Other/>", nodata=-9999)
WORLD = "0.25\n0\n0\n-0.25\n10.125\n49.875\n"
sidecar("world-agrees", plain, WORLD, "~.tfw")
sidecar("world-contradicts", plain, WORLD.replace("10.125", "11.125"), "~.tfw")
sidecar("world-contradicts-wld", plain, WORLD.replace("10.125", "11.125"), "~.wld")
sidecar("world-alone", plain, WORLD, "~.tfw", transform=None)
sidecar("uppercase-msk-like-name", plain, "not a mask", ".msk.txt")


# --- georeference -----------------------------------------------------------------------------------------------------

make("pixel-is-point", [values_of("Float32")], finish=lambda data: data.SetMetadataItem("AREA_OR_POINT", "Point"))
make("rotated", [values_of("Float32")], transform=(10.0, 0.25, 0.01, 50.0, 0.01, -0.25))
make("south-up", [values_of("Float32")], transform=(10.0, 0.25, 0.0, 40.0, 0.0, 0.25))
make("no-georeference", [values_of("Float32")], transform=None, srs=None)
make("no-system", [values_of("Float32")], srs=None)
gcps = [gdal.GCP(10 + 0.25 * x, 50 - 0.25 * y, 0, x, y) for x, y in ((0, 0), (53, 0), (53, 37), (0, 37))]
make(
    "ground-control-points",
    [values_of("Float32")],
    transform=None,
    srs=None,
    finish=lambda data: data.SetGCPs(gcps, wgs84.ExportToWkt()),
)
for code in (3857, 4269, 32633, 4979):
    other = osr.SpatialReference()
    other.ImportFromEPSG(code)
    make(f"system-{code}", [values_of("Float32")], srs=other)
compound = osr.SpatialReference()
compound.SetFromUserInput("EPSG:4326+6360")
make("system-4326-with-heights-in-feet", [values_of("Float32")], srs=compound)


# --- overviews and cloud-optimized files ------------------------------------------------------------------------------

large = numpy.round(numpy.random.default_rng(3).random((300, 400)) * 10, 2)
large[100:200, 50:90] = -9999


def overviews(name, external):
    path = os.path.join(folder, f"{name}.tif")
    data = gtiff.Create(path, 400, 300, 1, gdal.GDT_Float32, ["TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64", "COMPRESS=ZSTD"])
    data.SetGeoTransform(WEST_UP)
    data.SetProjection(wgs84.ExportToWkt())
    data.GetRasterBand(1).SetNoDataValue(-9999)
    data.GetRasterBand(1).WriteArray(large)
    data = None
    data = gdal.Open(path, gdal.GA_ReadOnly if external else gdal.GA_Update)
    data.BuildOverviews("AVERAGE", [2, 4])
    data = None
    listed(name, path)


if not is_fixture:
    overviews("overviews-internal", False)
    overviews("overviews-external", True)
for method in () if is_fixture else ("DEFLATE", "LZW", "ZSTD", "LERC"):
    source = os.path.join(folder, "overviews-internal.tif")
    path = os.path.join(folder, f"cog-{method}.tif")
    gdal.Translate(path, source, format="COG", creationOptions=[f"COMPRESS={method}", "BLOCKSIZE=128", "PREDICTOR=YES"])
    listed(f"cog-{method}", path)

import gdalMeaningVariants  # noqa: E402, F401 (writes its variants when it is imported)

if not is_fixture:
    import gdalPublicVariants  # noqa: F401

with open(os.path.join(folder, "variants.json"), "w") as file:
    json.dump({"gdal": gdal.__version__, "variants": variants}, file, indent=1 if is_fixture else None)
    file.write("\n")
