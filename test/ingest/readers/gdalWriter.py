"""Functions that write GeoTIFF variants with GDAL, and list the values that GDAL reads from them (see gdalVariants.py)."""

import base64
import json
import math
import os
import sys
import zlib

import numpy
from osgeo import gdal, osr

gdal.UseExceptions()
gdal.PushErrorHandler("CPLQuietErrorHandler")
folder = sys.argv[1]
is_fixture = "--fixtures" in sys.argv[2:]
# One variant of each kind of encoding, of each way to mark missing cells, and of each reason to reject a file.
FIXTURES = {
    "NONE-p1-Float32-strips",
    "PACKBITS-p1-Int16-strips",
    "LZW-p2-UInt16-tiles",
    "LZW-p3-Float32-tiles",
    "DEFLATE-p2-Int32-tiles",
    "DEFLATE-p3-Float64-strips",
    "ZSTD-p3-Float32-tiles",
    "bands-BAND-LZW-p2-tiles",
    "bands-PIXEL-ZSTD-p1-strips",
    "nbits16-predictor3",
    "bigtiff-tiles",
    "nodata-nan",
    "nodata-below-byte",
    "sparse-nodata",
    "sparse-deflate",
    "aux-nodata-hex",
    "world-agrees",
    "LERC-mask-no-nodata",
    "mask-internal",
    "mask-file",
    "set-scale",
    "aux-scale",
    "alpha-option",
    "palette",
    "unit-cm",
    "rotated",
    "system-3857",
    "be-LZW-p2-Int32",
    "be-DEFLATE-p3-Float64",
    "be-NONE-p1-UInt16",
    "be-bands-PIXEL-p2-Int64-YES",
    "be-many-strips-bigtiff",
    "int64-ZSTD-p2-UInt64-tiles",
    "int64-inexact",
    "scaled-Int16-0.001--1.5",
    "mask-internal-tiles-ZSTD-Int16",
    "mask-file-planar",
    "mask-internal-contradicts-nodata",
    "alpha-UInt16-full-BAND-tiles",
    "alpha-Byte-half-PIXEL-strips",
    "LERC-kinds-LERC_DEFLATE-Float64-tiles",
    "LERC-bands-PIXEL-Int16-all",
    "nbits12-UInt16-DEFLATE",
    "nbits4-bands-LZW-PIXEL-tiles-LITTLE",
    "nodata-values-Int16-tiles-PIXEL",
    "aux-only-transform-and-srs",
}
gtiff = gdal.GetDriverByName("GTiff")
wgs84 = osr.SpatialReference()
wgs84.ImportFromEPSG(4326)
wgs84.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
WEST_UP = (10.0, 0.25, 0.0, 50.0, 0.0, -0.25)
ROWS, COLUMNS = (20, 44) if is_fixture else (37, 53)
METERS = {"": 1, "m": 1, "metre": 1, "cm": 0.01, "mm": 0.001, "ft": 0.3048, "km": 1000, "US survey foot": 1200 / 3937}
variants = []


def values_of(kind, band=0, hole=None):
    """Returns reproducible values of the type, including zeros; `hole` fills a block of cells."""
    generator = numpy.random.default_rng(7 + band)
    depth = numpy.round(generator.random((ROWS, COLUMNS)) * 12, 2)
    depth[generator.random((ROWS, COLUMNS)) < 0.2] = 0
    if kind in ("Byte", "UInt16", "Int16", "UInt32", "Int32", "Int64", "UInt64", "Int8"):
        depth = numpy.floor(depth * (9 if kind in ("Byte", "Int8") else 100))
    if hole is not None:
        depth[5:17, 8:31] = hole
    return depth


def make(name, arrays, kind="Float32", options=(), nodata=None, finish=None, transform=WEST_UP, srs=wgs84, size=(ROWS, COLUMNS)):
    """Writes a file; `finish` is called before it is closed. `size` is that of a file without values."""
    if is_fixture and name not in FIXTURES:
        return
    path = os.path.join(folder, f"{name}.tif")
    rows, columns = next((array.shape for array in arrays if array is not None), size)
    type_code = gdal.GDT_Byte if kind == "Int8" else gdal.GetDataTypeByName(kind)
    try:
        data = gtiff.Create(path, columns, rows, len(arrays), type_code, list(options))
        if transform is not None:
            data.SetGeoTransform(transform)
        if srs is not None:
            data.SetProjection(srs.ExportToWkt())
        if nodata is not None:
            for index in range(len(arrays)):
                data.GetRasterBand(index + 1).SetNoDataValue(nodata)
        if finish is not None:
            finish(data)
        for index, array in enumerate(arrays):
            if array is not None:
                data.GetRasterBand(index + 1).WriteArray(array)
        data.FlushCache()
        data = None
    except RuntimeError as error:
        print(f"not written: {name}: {error}", file=sys.stderr)
        return
    listed(name, path)


def listed(name, path):
    """Adds a file to the list, with the values that GDAL reads from it."""
    try:
        data = gdal.Open(path)
        geo = data.GetGeoTransform(can_return_null=True)
        rotated = geo is not None and (geo[2] != 0 or geo[4] != 0)
        bands = []
        count = data.RasterCount
        # The last of two or four bands is not a map if it is alpha.
        is_alpha = count in (2, 4) and data.GetRasterBand(count).GetColorInterpretation() == gdal.GCI_AlphaBand
        for index in range(1, count + 1 - is_alpha):
            band = data.GetRasterBand(index)
            array = band.ReadAsArray()
            if numpy.iscomplexobj(array):
                array = array.real
            array = array.astype("float64")
            if data.GetMetadataItem("PIXELTYPE", "IMAGE_STRUCTURE") == "SIGNEDBYTE" or (
                band.GetMetadataItem("PIXELTYPE", "IMAGE_STRUCTURE") == "SIGNEDBYTE"
            ):
                array[array > 127] -= 256
            mask = band.GetMaskBand().ReadAsArray()
            array = array * (band.GetScale() if band.GetScale() is not None else 1.0) + (band.GetOffset() or 0.0)
            array *= METERS.get(band.GetUnitType(), math.nan)
            # GDAL returns masks of another size as they are; such files must be rejected.
            array[mask == 0 if mask.shape == array.shape else ...] = math.nan
            if geo is not None and geo[5] > 0:
                array = array[::-1]
            if is_fixture:
                bands.append(base64.b64encode(zlib.compress(array.astype("<f8").tobytes(), 9)).decode())
                continue
            expected = f"{name}.{index}.f64"
            array.astype("<f8").tofile(os.path.join(folder, expected))
            bands.append(expected)
        system = data.GetSpatialRef()
        # NAD83 and ETRS89 are read as WGS84, from which they differ by a few meters.
        codes = ("4326", "4979", "4269", "4258")
        # Esri's well-known text has names instead of codes.
        datums = ("WGS_1984", "D_WGS_1984", "North_American_Datum_1983", "D_North_American_1983")
        is_known = system is not None and (
            system.GetAuthorityCode("GEOGCS") in codes or system.GetAttrValue("DATUM") in datums
        )
        is_wgs84 = is_known and system.IsGeographic()
        grid = None
        if geo is not None and not rotated:
            north = geo[3] if geo[5] < 0 else geo[3] + data.RasterYSize * geo[5]
            grid = {
                "northDeg": north,
                "westDeg": geo[0],
                "cellSizeLatDeg": abs(geo[5]),
                "cellSizeLonDeg": geo[1],
                "rowCount": data.RasterYSize,
                "columnCount": data.RasterXSize,
            }
        file = os.path.basename(path) if is_fixture else path
        variants.append({"name": name, "file": file, "bands": bands, "grid": grid, "isWgs84": bool(is_wgs84)})
        data = None
    except RuntimeError as error:
        print(f"not listed: {name}: {error}", file=sys.stderr)


def sidecar(name, arrays, body, suffix=".aux.xml", before=None, **more):
    """Writes a file with a sidecar, which exists before GDAL reads the file."""
    if is_fixture and name not in FIXTURES:
        return
    make(name, arrays, **more)
    variants.pop()
    path = os.path.join(folder, f"{name}.tif")
    target = os.path.join(folder, name + suffix[1:]) if suffix.startswith("~") else path + suffix
    with open(target, "w") as file:
        file.write(body)
    listed(name, path)


def pam(inside, band=""):
    rest = f'<PAMRasterBand band="1">{band}</PAMRasterBand>' if band else ""
    return f"<PAMDataset>{inside}{rest}</PAMDataset>"

LAYOUTS = {"strips": ["BLOCKYSIZE=8"], "tiles": ["TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=32"]}


def with_mask(internal, options=(), flags=gdal.GMF_PER_DATASET):
    def finish(data):
        gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES" if internal else "NO")
        if flags == gdal.GMF_PER_DATASET:
            data.CreateMaskBand(flags)
        else:
            data.GetRasterBand(1).CreateMaskBand(0)
        mask = numpy.full((ROWS, COLUMNS), 255)
        mask[3:9, 4:20] = 0
        data.GetRasterBand(1).GetMaskBand().WriteArray(mask)

    return finish


def colors(*names):
    def finish(data):
        for index, name in enumerate(names):
            data.GetRasterBand(index + 1).SetColorInterpretation(getattr(gdal, f"GCI_{name}"))

    return finish
