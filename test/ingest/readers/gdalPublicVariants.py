"""Variants with the configurations of public test files: number type, nodata, coordinate system, layout, masks and size.

They are named after the files of rasterio (rio), rio-tiler (tiler), opentopodata (topo), rioxarray (rx) and GDAL (gdal). The
files themselves are not used; values and positions are our own.
"""

import math

import numpy
from gdalWriter import colors, gdal, make, osr, with_mask

TILED = ["TILED=YES", "BLOCKXSIZE=128", "BLOCKYSIZE=128"]
COLORS = ["PHOTOMETRIC=RGB"]
LIMITS = {"Byte": 256, "Int8": 128, "UInt16": 10_000, "Int16": 10_000}


def grid(kind, rows, columns, band=0, hole=None):
    generator = numpy.random.default_rng(100 + band)
    array = generator.random((rows, columns)) * LIMITS.get(kind, 1000)
    if not kind.startswith("Float"):
        array = numpy.floor(array)
    if hole is not None:
        array[rows // 4 : rows // 2, columns // 3 : columns // 2] = hole
        array[:, : columns // 9] = hole
    return array


def system(code):
    if code is None:
        return None
    srs = osr.SpatialReference()
    srs.SetFromUserInput(code)
    srs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return srs


def public(name, kind, bands, size, crs="EPSG:4326", nodata=None, options=(), finish=None, transform=None, hole=None, arrays=None):
    """Writes a variant of `size` rows and columns; projected ones have cells of 30 m."""
    rows, columns = size
    srs = system(crs)
    if transform is None:
        is_degrees = srs is None or srs.IsGeographic()
        transform = (12.5, 0.01, 0.0, 48.25, 0.0, -0.01) if is_degrees else (500_000, 30.0, 0.0, 5_300_000, 0.0, -30.0)
    if arrays is None:
        arrays = [grid(kind, rows, columns, band, nodata if hole is None else hole) for band in range(bands)]
    make(f"public-{name}", arrays, kind, list(options), nodata=nodata, finish=finish, transform=transform, srs=srs, size=size)
    gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", None)


WORLD = (-180.0, 0.5, 0.0, 90.0, 0.0, -0.5)
opaque = numpy.where(grid("Byte", 99, 133) > 90, 255, 0)

# rasterio
public("rio-RGB.byte", "Byte", 3, (71, 79), "EPSG:32618", 0, COLORS)
public("rio-RGB.byte-degrees", "Byte", 3, (71, 79), nodata=0, options=COLORS)
public("rio-RGBA.byte", "Byte", 4, (99, 133), options=[*COLORS, "ALPHA=YES"], arrays=[*(grid("Byte", 99, 133, b) for b in range(3)), opaque])
public("rio-RGBA.uint16", "UInt16", 4, (99, 133), options=[*COLORS, "ALPHA=YES"], arrays=[*(grid("UInt16", 99, 133, b) for b in range(3)), opaque * 257])
public("rio-all-nodata", "Byte", 1, (20, 30), nodata=0, arrays=[numpy.zeros((20, 30))])
public("rio-alpha", "Byte", 4, (99, 133), "EPSG:3857", options=[*COLORS, "ALPHA=YES"], arrays=[*(grid("Byte", 99, 133, b) for b in range(3)), opaque])
public("rio-cogeo", "Byte", 3, (150, 140), "EPSG:3857", options=[*TILED, *COLORS, "COMPRESS=DEFLATE"], finish=with_mask(True))
public("rio-cogeo-degrees", "Byte", 3, (150, 140), options=[*TILED, *COLORS, "COMPRESS=DEFLATE"], finish=with_mask(True))
public("rio-float32", "Float32", 1, (2, 3))
public("rio-float_nan", "Float32", 1, (2, 3), nodata=math.nan)
public("rio-float_raster_with_nodata", "Float32", 1, (60, 61), nodata=-3.4028234663852886e38)
public("rio-float_raster_with_extra_nodata", "Float32", 1, (60, 61), nodata=-3.40282346639e38, hole=-3.4028234663852886e38)
public("rio-int_raster_with_nodata", "Int16", 1, (55, 50), nodata=-32768)
public("rio-goes", "Int16", 1, (40, 40), "+proj=geos +h=35785831 +lon_0=-75 +sweep=x +ellps=GRS80", -1)
public("rio-green", "Byte", 1, (64, 64), "EPSG:32618")
public("rio-rgb-byte-tenth", "Byte", 3, (10, 9), nodata=0)
public("rio-rgb1", "Byte", 3, (99, 33), options=["COMPRESS=LZW", "PREDICTOR=2"])
public("rio-rgb_deflate", "Byte", 3, (99, 33), options=["COMPRESS=DEFLATE"], nodata=0)
public("rio-rgb_lzw", "Byte", 3, (99, 33), options=["COMPRESS=LZW", "INTERLEAVE=BAND"], nodata=0)
public("rio-rotated", "Byte", 1, (40, 30), transform=(12.5, 0.01, 0.003, 48.25, 0.003, -0.01))
public("rio-shade", "Byte", 1, (128, 128), "EPSG:3857", 255, [*TILED, "COMPRESS=DEFLATE"])
public("rio-test_esri_wkt", "Float32", 1, (20, 20), "ESRI:102039")
public("rio-world.byte", "Byte", 1, (360, 720), transform=WORLD)

# rio-tiler
for colors_name in ("blue", "green", "red"):
    public(f"tiler-{colors_name}", "Byte", 1, (90, 80), "EPSG:3857", options=TILED)
for number, kind in ((13, "UInt16"), (5, "Byte"), (2, "Byte"), (10, "UInt16")):
    public(f"tiler-satellite-{number}", kind, 1, (130, 129), "EPSG:32617", 0, [*TILED, "COMPRESS=DEFLATE", "PREDICTOR=2"])
public("tiler-satellite-degrees", "UInt16", 1, (130, 129), nodata=0, options=[*TILED, "COMPRESS=DEFLATE", "PREDICTOR=2"])


def palette(data):
    table = gdal.ColorTable()
    for value in range(256):
        table.SetColorEntry(value, (value, 0, 0, 255))
    data.GetRasterBand(1).SetColorTable(table)


def packed(scale, offset, bands=1):
    def finish(data):
        for band in range(1, bands + 1):
            data.GetRasterBand(band).SetScale(scale)
            data.GetRasterBand(band).SetOffset(offset)

    return finish


public("tiler-cog_cmap", "Byte", 1, (64, 64), options=TILED, finish=palette)
public("tiler-cog_dateline", "Int16", 1, (60, 200), nodata=-9999, transform=(175.0, 0.05, 0.0, 10.0, 0.0, -0.05), options=TILED)
public("tiler-cog_fullearth", "Byte", 1, (360, 720), transform=WORLD, options=[*TILED, "COMPRESS=DEFLATE"])
public("tiler-cog_gradient", "Int16", 1, (70, 70), options=TILED)
public("tiler-cog_hirise_mars", "Byte", 1, (40, 40), "+proj=longlat +R=3396190 +no_defs", 0)
public("tiler-cog_int16", "Int16", 1, (90, 91), nodata=-9999, options=[*TILED, "COMPRESS=DEFLATE", "PREDICTOR=2"])
for kind, bands in (("UInt16", 3), ("Byte", 3), ("UInt16", 1)):
    label = f"{kind}-{bands}"
    public(f"tiler-cog_mask-{label}", kind, bands, (140, 131), options=[*TILED, "COMPRESS=DEFLATE"], finish=with_mask(True))
    public(f"tiler-cog_mask_nodata-{label}", kind, bands, (140, 131), nodata=0, options=TILED, finish=with_mask(True))
public("tiler-cog_name", "UInt16", 1, (50, 50), finish=lambda data: data.GetRasterBand(1).SetDescription("red"))
public("tiler-cog_nodata", "UInt16", 1, (140, 131), nodata=0, options=[*TILED, "COMPRESS=DEFLATE"])
public("tiler-cog_nodata_nan", "Float32", 1, (140, 131), nodata=math.nan, options=[*TILED, "COMPRESS=LZW", "PREDICTOR=3"])
public("tiler-cog_rgb", "Byte", 3, (100, 100), options=[*TILED, *COLORS])
public("tiler-cog_rgba", "UInt16", 4, (99, 133), options=[*TILED, *COLORS, "ALPHA=YES"], arrays=[*(grid("UInt16", 99, 133, b) for b in range(3)), opaque * 257])
public("tiler-cog_uint8_rgba", "Byte", 4, (99, 133), options=[*TILED, *COLORS, "ALPHA=YES"], arrays=[*(grid("Byte", 99, 133, b) for b in range(3)), opaque])
public("tiler-cog_uint8_rgb_nodata", "Byte", 3, (99, 133), nodata=0, options=[*TILED, *COLORS])
public("tiler-cog_scale", "Int16", 2, (80, 81), nodata=-9999, options=TILED, finish=packed(0.0001, 1000, 2))
public("tiler-cog_scale-float", "Float32", 1, (80, 81), nodata=-9999, options=TILED, finish=packed(0.5, -3))
public("tiler-cog_tags", "Byte", 2, (64, 64), finish=lambda data: data.GetRasterBand(2).SetMetadata({"STATISTICS_MAXIMUM": "255"}))
public("tiler-inverted_lat", "Float32", 1, (45, 60), nodata=-9999, transform=(10.0, 0.1, 0.0, 40.0, 0.0, 0.1))
public("tiler-mosaic_value", "Byte", 1, (64, 64), nodata=255, arrays=[numpy.full((64, 64), 2)])
public("tiler-alpha", "Byte", 4, (99, 133), options=[*TILED, *COLORS, "ALPHA=YES"], arrays=[*(grid("Byte", 99, 133, b) for b in range(3)), opaque])
public("tiler-extmask", "Byte", 3, (99, 133), options=[*TILED, *COLORS], finish=with_mask(False))
public("tiler-alpha_nodata", "Byte", 4, (99, 133), nodata=0, options=[*COLORS, "ALPHA=YES"], arrays=[*(numpy.where(opaque == 0, 0, 1 + grid("Byte", 99, 133, b) % 255) for b in range(3)), opaque])
public("tiler-nocog", "UInt16", 1, (90, 90), options=["BLOCKYSIZE=1"])

# opentopodata (ETOPO1 itself, with rows at the poles and a repeated meridian, is in poleCentered.exhaustive.test.ts)
public("topo-etopo1-cells", "Int16", 1, (180, 360), nodata=-2147483648, transform=(-180.0, 1.0, 0.0, 90.0, 0.0, -1.0))
for code in ("EPSG:3035", None):
    public(f"topo-eu-dem-{code or 'none'}".replace(":", ""), "Float32", 1, (50, 50), code, -3.4028234663852886e38)
public("topo-nodata", "Int16", 1, (10, 10), nodata=-9999, arrays=[numpy.full((10, 10), -9999)])
public("topo-srtm-utm", "Int16", 1, (50, 50), "EPSG:32632", -32768)
public("topo-srtm", "Int16", 1, (121, 121), nodata=-32768, finish=lambda data: data.SetMetadataItem("AREA_OR_POINT", "Point"))

# rioxarray
public("rx-2d_test", "Byte", 1, (10, 10), transform=(0, 1.0, 0, 10.0, 0, -1.0))
public("rx-cint16", "CInt16", 1, (20, 20), arrays=[numpy.ones((20, 20))])
public("rx-clip_bbox", "Float32", 1, (25, 9), nodata=-3.4e38)
public("rx-cog", "UInt16", 1, (60, 60), "EPSG:32615", options=[*TILED, "COMPRESS=DEFLATE"])
public("rx-small_dem", "Float64", 1, (65, 78), nodata=-1.79769313486232e308, options=["COMPRESS=LZW"])

# GDAL
for kind in ("Byte", "UInt16", "Int16", "UInt32", "Int32", "Float32", "Float64", "CInt16", "CInt32", "CFloat32", "CFloat64"):
    public(f"gdal-{kind}", kind, 1, (20, 20), "EPSG:26711", arrays=[grid("Byte", 20, 20)])
    public(f"gdal-{kind}-degrees", kind, 1, (20, 20), arrays=[grid("Byte", 20, 20)])
for strips, name in ((20, "one"), (10, "two"), (5, "four")):
    for order, big in (("LITTLE", "NO"), ("BIG", "NO"), ("LITTLE", "YES"), ("BIG", "YES")):
        options = [f"BLOCKYSIZE={strips}", f"ENDIANNESS={order}", f"BIGTIFF={big}"]
        public(f"gdal-{name}-strips-{order}-{big}", "Int16", 1, (20, 20), options=options)
for compression in ("DEFLATE", "LZW", "ZSTD", "LERC", "LERC_DEFLATE", "LERC_ZSTD", "PACKBITS", "JPEG", "JXL", "LZMA", "WEBP"):
    public(f"gdal-byte_{compression}", "Byte", 1, (20, 20), options=[f"COMPRESS={compression}"])
    public(f"gdal-byte_{compression}_tiled", "Byte", 3, (40, 40), options=[f"COMPRESS={compression}", "TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16"])
public("gdal-byte_5_bands_LZW_predictor_2", "Byte", 5, (20, 20), options=["COMPRESS=LZW", "PREDICTOR=2"])
for bits, kind in ((1, "Byte"), (2, "Byte"), (4, "Byte"), (12, "UInt16"), (16, "Float32"), (24, "Float32")):
    public(f"gdal-nbits-{bits}", kind, 1, (20, 20), options=[f"NBITS={bits}"], arrays=[grid("Byte", 20, 20) % 2])
public("gdal-1bit_2bands", "Byte", 2, (20, 20), options=["NBITS=1"], arrays=[grid("Byte", 20, 20) % 2] * 2)
public("gdal-byte_signed", "Int8", 1, (20, 20), options=["PIXELTYPE=SIGNEDBYTE"])
public("gdal-float32_minwhite", "Float32", 1, (20, 20), options=["PHOTOMETRIC=MINISWHITE"])
for photometric, bands in (("CMYK", 4), ("CIELAB", 3), ("ICCLAB", 3), ("YCBCR", 3)):
    public(f"gdal-{photometric}", "Byte", bands, (20, 20), options=[f"PHOTOMETRIC={photometric}"])
for label, nodata, hole in (
    ("flt_min", 1.17549435e-38, 1.17549435e-38),
    ("almost_max", 3.4028234663852886e38, 3.40282336e38),
    ("above_max", 3.40282346639e38, 3.4028234663852886e38),
):
    public(f"gdal-float32-nodata-{label}", "Float32", 1, (20, 20), nodata=nodata, hole=hole)
public("gdal-dbl_min", "Float64", 1, (20, 20), nodata=-1.7976931348623157e308)
public("gdal-empty_nodata", "Float32", 1, (20, 20), options=["SPARSE_OK=TRUE"], nodata=-1, arrays=[None])
public("gdal-empty1bit", "Byte", 1, (20, 20), options=["SPARSE_OK=TRUE", "NBITS=1"], arrays=[None])
for code in ("EPSG:4979", "EPSG:4326+3855", "EPSG:4326+5773", "EPSG:26711+3855", "EPSG:2853", "EPSG:4258", "EPSG:4230", "EPSG:4047"):
    public(f"gdal-{code.replace(':', '')}", "Int16", 1, (20, 20), code)
public("gdal-no-georeference", "Byte", 1, (20, 20), None, transform=(0, 1, 0, 0, 0, 1))
public("gdal-sheared", "Byte", 1, (20, 20), transform=(10, 0.01, 0.001, 50, 0, -0.01))
public("gdal-sparse-tiles", "Int32", 2, (300, 300), options=[*TILED, "SPARSE_OK=TRUE"], nodata=-5, arrays=[None, grid("Int32", 300, 300)])
public("gdal-stefan_rgba", "Byte", 4, (99, 133), options=[*COLORS, "ALPHA=UNSPECIFIED"])
public("gdal-int64", "Int64", 1, (20, 20), nodata=-(2**63))
public("gdal-uint64", "UInt64", 1, (20, 20), nodata=2**64 - 1)

# Files that the lists of these repositories have besides those above
def overviews(data):
    data.BuildOverviews("AVERAGE", [2, 4])


def gcps(data):
    points = [gdal.GCP(12 + 0.01 * x, 48 - 0.01 * y, 0, x, y) for x, y in ((0, 0), (40, 0), (40, 30), (0, 30))]
    data.SetGCPs(points, system("EPSG:4326").ExportToWkt())


def rpcs(data):
    scalars = {f"{name}_{kind}": "1" for name in ("LINE", "SAMP", "LAT", "LONG", "HEIGHT") for kind in ("OFF", "SCALE")}
    series = {f"{name}_{kind}_COEFF": " ".join(["0"] * 20) for name in ("LINE", "SAMP") for kind in ("NUM", "DEN")}
    data.SetMetadata({**scalars, **series}, "RPC")


public("rio-RGB2.byte-degrees", "Byte", 3, (71, 79), options=COLORS, finish=with_mask(False))
for number, layout in ((2, ["INTERLEAVE=BAND"]), (3, TILED), (4, ["COMPRESS=PACKBITS"])):
    public(f"rio-rgb{number}", "Byte", 3, (99, 33), nodata=0, options=[*COLORS, *layout])
public("rio-rgb1_fake_nir", "Byte", 4, (99, 33), "EPSG:3857", 0, ["ALPHA=UNSPECIFIED"])
public("rio-rgb1_fake_nir-degrees", "Byte", 4, (99, 33), nodata=0, options=["ALPHA=UNSPECIFIED"])
public("rio-red-overviews", "Byte", 1, (64, 64), options=TILED, finish=overviews)
public("tiler-cog_gcps", "Int16", 1, (30, 40), None, transform=(0, 1, 0, 0, 0, 1), options=TILED, finish=gcps)
public("tiler-cog_nonearth", "Byte", 1, (40, 40), "+proj=longlat +R=1737400 +no_defs", 0)
public("tiler-cog_ovr", "Int16", 1, (130, 120), nodata=-9999, options=TILED, finish=overviews)
public("tiler-cog_rgb_mask", "UInt16", 3, (99, 133), options=[*TILED, *COLORS], finish=with_mask(True))
public("tiler-cog_uint8_rgb_mask", "Byte", 3, (99, 133), options=[*TILED, *COLORS], finish=with_mask(True))
public("tiler-cog_scale_epsg4326", "Int16", 2, (80, 81), options=TILED, finish=packed(0.001, 10, 2))
public("tiler-cog_world", "Byte", 3, (180, 360), transform=(-180.0, 1.0, 0.0, 90.0, 0.0, -1.0), options=[*TILED, *COLORS])
public("tiler-lowres", "Byte", 1, (5, 10), transform=(-180.0, 36.0, 0.0, 90.0, 0.0, -36.0), nodata=0)
public("tiler-landsat-quality", "UInt16", 1, (129, 130), "EPSG:32617", 1, [*TILED, "COMPRESS=DEFLATE", "PREDICTOR=2"])
public("tiler-pix4d", "Byte", 4, (99, 133), nodata=-10000, options=[*TILED, *COLORS, "ALPHA=YES"], arrays=[*(grid("Byte", 99, 133, b) for b in range(3)), opaque])
public("rx-rpcs", "UInt16", 1, (30, 40), None, transform=(0, 1, 0, 0, 0, 1), finish=rpcs)
public("rx-small_dem_merged", "Float32", 1, (65, 78), nodata=-3.4028234663852886e38, options=["COMPRESS=LZW"])
for interleave in ("PIXEL", "BAND"):
    for label, layout in (("strip", ["BLOCKYSIZE=4"]), ("tiled", ["TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16"])):
        public(f"gdal-{interleave}_{label}", "Byte", 3, (40, 35), options=[f"INTERLEAVE={interleave}", *layout])
public("gdal-geomatrix", "Byte", 1, (20, 20), transform=(12.5, 0.002, 0.01, 48.25, -0.01, 0.002))
public("gdal-web-mercator", "Byte", 1, (20, 20), "EPSG:3857")
public("gdal-EPSG32631+4979", "Int16", 1, (20, 20), "EPSG:32631+5773")
public("gdal-gcp", "Byte", 1, (20, 20), None, transform=(0, 1, 0, 0, 0, 1), finish=gcps)
public("gdal-sparse-compressed", "Byte", 1, (300, 300), options=[*TILED, "SPARSE_OK=TRUE", "COMPRESS=DEFLATE"], arrays=[None])

# Longitudes from 0 to 360, odd sizes, and cells at the antimeridian
public("longitudes-0-360", "Float32", 1, (90, 180), nodata=-9999, transform=(0.0, 2.0, 0.0, 90.0, 0.0, -2.0))
public("longitudes-0-360-centers", "Float32", 1, (90, 180), nodata=-9999, transform=(-1.0, 2.0, 0.0, 90.0, 0.0, -2.0))
public("beyond-the-antimeridian", "Float32", 1, (20, 40), nodata=-9999, transform=(170.0, 0.5, 0.0, 10.0, 0.0, -0.5))
for rows, columns in ((1, 1), (1, 57), (57, 1), (17, 255), (257, 129), (129, 257)):
    for layout in ([], TILED, ["TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16", "COMPRESS=DEFLATE"]):
        public(f"size-{rows}x{columns}-{len(layout)}", "Float32", 1, (rows, columns), nodata=-9999, options=layout)
