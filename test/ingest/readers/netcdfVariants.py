"""Writes NetCDF variants with netCDF4, and for each the values that netCDF4 reads from it.

Usage: python3 netcdfVariants.py FOLDER

See array_variants.py for the list of variants. netCDF4 applies missing values, valid ranges, scale and offset; without
these attributes its values are also compared with those that were written.
"""

import os

import netCDF4
import numpy
from array_variants import COLUMNS, FIELD, MISSING, NORTH, ROWS, SIZE, WEST, folder, lats, listed, lons, random, write_list

ALL_FORMATS = ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET")
FILLS = {"i1": -1, "u1": 255, "i2": -999, "u2": 65000, "i4": -99999, "u4": 4000000000, "i8": -(2**63), "f4": -9999.0, "f8": 1e20}


def coordinate(data, name, values, dtype="f8", size=None, **attributes):
    data.createDimension(name, len(values) if size is None else size)
    variable = data.createVariable(name, dtype, (name,))
    variable.setncatts(attributes)
    variable[:] = values
    return variable


def make(
    name,
    field=None,
    dtype="f4",
    format="NETCDF4",
    lat=None,
    lon=None,
    lat_attributes={"units": "degrees_north"},
    lon_attributes={"units": "degrees_east"},
    coordinate_dtype="f8",
    order=("lat", "lon"),
    others={},
    attributes={},
    fill="default",
    create={},
    finish=None,
    rejected=False,
    grid=None,
    expected=None,
    pick=lambda read: read,
    unlimited=None,
    mask=True,
    **options,
):
    """Writes one file. `others` gives the sizes of other dimensions; `pick` returns the selected map, rows first."""
    path = os.path.join(folder, f"{name}.nc")
    lat = lats() if lat is None else lat
    lon = lons() if lon is None else lon
    field = FIELD if field is None else field
    with netCDF4.Dataset(path, "w", format=format) as data:
        for dimension, size in others.items():
            data.createDimension(dimension, None if dimension == unlimited else size)
        coordinate(data, "lat", lat, coordinate_dtype, **lat_attributes)
        coordinate(data, "lon", lon, coordinate_dtype, **lon_attributes)
        fill_value = FILLS[dtype] if isinstance(fill, str) and fill == "default" else fill
        variable = data.createVariable("depth", dtype, order, fill_value=fill_value, **create)
        variable.set_auto_maskandscale(False)
        variable.setncatts(attributes)
        stored = field.astype(dtype)
        if mask and fill_value is not None and fill_value is not False:
            stored[MISSING[: field.shape[0], : field.shape[1]]] = fill_value
        if lat[0] < lat[-1]:
            stored = stored[::-1]
        full = [others.get(d, len(lat) if d == "lat" else len(lon)) for d in order]
        values = numpy.zeros(full, dtype)
        layout = stored if order.index("lat") < order.index("lon") else stored.T
        shape = [1 if d in others else full[i] for i, d in enumerate(order)]
        values[...] = layout.reshape(shape)
        for axis, d in enumerate(order):
            if d in others and others[d] > 1:
                # Each position has its own values, so that a wrong selection is noticed.
                index = [slice(None)] * len(order)
                for position in range(1, others[d]):
                    index[axis] = position
                    part = values[tuple(index)]
                    values[tuple(index)] = numpy.where(part == fill_value, part, part + position)
        variable[:] = values
        if finish:
            finish(data, variable)
    if rejected:
        listed(name, path, **options)
        return
    with netCDF4.Dataset(path) as data:
        read = numpy.ma.filled(data["depth"][:].astype("f8"), numpy.nan)
    read = pick(read)
    if order.index("lat") > order.index("lon"):
        read = read.T
    if lat[0] < lat[-1]:
        read = read[::-1]
    if expected is None and not attributes and "least_significant_digit" not in create and fill_value is not None and fill_value is not False:
        intended = field.astype(dtype).astype("f8")
        if mask:
            intended[MISSING[: field.shape[0], : field.shape[1]]] = numpy.nan
        if not options.get("select"):
            assert numpy.array_equal(read, intended, equal_nan=True), name
    listed(name, path, read if expected is None else expected, grid, **options)


# --- formats, types, layouts -------------------------------------------------------------------------------------------

for format in ALL_FORMATS:
    for dtype in ("i1", "i2", "i4", "f4", "f8") + (("u1", "u2", "u4", "i8") if format == "NETCDF4" else ()):
        for direction, lat in (("north", lats()), ("south", lats()[::-1])):
            make(f"type-{format}-{dtype}-{direction}", dtype=dtype, format=format, lat=lat)
    make(f"order-{format}-lon-lat", format=format, order=("lon", "lat"))
    make(f"record-{format}", format=format, order=("time", "lat", "lon"), others={"time": 3}, unlimited="time",
         pick=lambda read: read[1], select={"time": {"index": 1}})
    make(f"record-short-{format}", dtype="i1", field=FIELD[:, :39], lon=lons(columns=39), format=format,
         order=("time", "lat", "lon"), others={"time": 3}, unlimited="time", pick=lambda read: read[2],
         select={"time": {"index": 2}})
    make(f"last-{format}", format=format, order=("lat", "lon", "rp"), others={"rp": 4}, pick=lambda read: read[:, :, 2],
         select={"rp": {"index": 2}})
    make(f"single-{format}", format=format, order=("time", "lat", "lon"), others={"time": 1}, pick=lambda read: read[0])
make("cdf5", format="NETCDF3_64BIT_DATA", rejected=True)


def two_records(data, _):
    other = data.createVariable("short", "i2", ("time",))
    other[:] = [1, 2, 3]


for format in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET"):
    make(f"records-padded-{format}", dtype="i1", field=FIELD[:, :39], lon=lons(columns=39), format=format, variable="depth",
         order=("time", "lat", "lon"), others={"time": 3}, unlimited="time", pick=lambda read: read[2],
         finish=two_records, select={"time": {"index": 2}})
for name, create in {
    "contiguous": {"contiguous": True},
    "zlib": {"zlib": True},
    "zlib-shuffle-chunks": {"zlib": True, "shuffle": True, "chunksizes": (7, 16)},
    "fletcher": {"fletcher32": True, "chunksizes": (5, 40)},
    "big-endian": {"endian": "big"},
    "digits": {"zlib": True, "least_significant_digit": 2},
}.items():
    make(f"storage-{name}", create=create)
make("storage-big-endian-i2", dtype="i2", create={"endian": "big"})

# --- missing values, packing -------------------------------------------------------------------------------------------

for format in ("NETCDF4", "NETCDF3_CLASSIC"):
    t = format[-7:]
    make(f"fill-none-{t}", format=format, fill=None)
    make(f"fill-default-f4-{t}", format=format, fill=None, field=numpy.where(MISSING, netCDF4.default_fillvals["f4"], FIELD))
    make(f"fill-default-i2-{t}", format=format, dtype="i2", fill=None, field=numpy.where(MISSING, -32767, FIELD))
    make(f"fill-nan-{t}", format=format, fill=numpy.nan)
    make(f"missing-value-{t}", format=format, fill=None, attributes={"missing_value": numpy.float32(0)})
    make(f"missing-values-{t}", format=format, attributes={"missing_value": numpy.float32([0, 4.5])})
    # netCDF4 ignores a missing value that is not a number of the variable's type; here it is rounded to that type.
    make(f"missing-value-double-{t}", format=format, fill=None, attributes={"missing_value": 4.4},
         expected=numpy.where(FIELD == 4.4, numpy.nan, FIELD.astype("f4").astype("f8")))
    make(f"packed-{t}", format=format, dtype="i2", attributes={"scale_factor": 0.01, "add_offset": 5.0})
    make(f"packed-negative-scale-{t}", format=format, dtype="i2", attributes={"scale_factor": -0.5, "add_offset": 50.0})
    make(f"packed-f4-scale-{t}", format=format, dtype="i2", attributes={"scale_factor": numpy.float32(0.25)})
    make(f"valid-min-{t}", format=format, attributes={"valid_min": numpy.float32(1)})
    make(f"valid-max-{t}", format=format, attributes={"valid_max": numpy.float32(9)})
    make(f"valid-range-{t}", format=format, attributes={"valid_range": numpy.float32([1, 9])})
    make(f"valid-range-packed-{t}", format=format, dtype="i2",
         attributes={"scale_factor": 0.01, "valid_range": numpy.int16([3, 9])})
    make(f"unsigned-{t}", format=format, dtype="i1", field=FIELD * 20, fill=numpy.int8(-1),
         attributes={"_Unsigned": "true"})
    make(f"valid-range-type-{t}", format=format, dtype="i2", rejected=True,
         attributes={"scale_factor": 0.01, "valid_range": numpy.int32([3, 9])})
    make(f"text-missing-{t}", format=format, fill=None, attributes={"missing_value": "-9999"}, rejected=True)
    make(f"text-scale-{t}", format=format, attributes={"scale_factor": "0.1"}, rejected=True)
    make(f"zero-scale-{t}", format=format, attributes={"scale_factor": 0.0}, rejected=True)
    make(f"flags-{t}", format=format, dtype="i1", attributes={"flag_values": numpy.int8([0, 1])}, rejected=True)
make("int64-too-large", dtype="i8", field=FIELD + 2.0**60, rejected=True)
make("extra-nodata", expected=numpy.where(MISSING | (FIELD == 0), numpy.nan, FIELD.astype("f4").astype("f8")), nodata=[0])

# --- coordinates -------------------------------------------------------------------------------------------------------

world = numpy.round(random.random((18, 36)) * 9, 1)
world_lat = lats(90, 10, 18)
WORLD = {"northDeg": 90, "cellSizeLatDeg": 10, "cellSizeLonDeg": 10}
for format in ("NETCDF4", "NETCDF3_CLASSIC"):
    t = format[-7:]
    make(f"world-360-{t}", world, format=format, lat=world_lat, lon=lons(0, 10, 36), grid={**WORLD, "westDeg": 0}, mask=False)
    make(f"world-180-{t}", world, format=format, lat=world_lat, lon=lons(-180, 10, 36), grid={**WORLD, "westDeg": -180}, mask=False)
    make(f"float32-{t}", format=format, coordinate_dtype="f4")
    make(f"float32-fine-{t}", format=format, coordinate_dtype="f4", lat=lats(30, 1 / 120), lon=lons(-179, 1 / 120),
         grid={"westDeg": -179, "cellSizeLatDeg": 1 / 120, "cellSizeLonDeg": 1 / 120, "toleranceDeg": 2e-5})
make("world-repeated", numpy.hstack([world, world[:, :1]]), lat=world_lat, lon=lons(-185, 10, 37), mask=False,
     expected=world.astype("f4").astype("f8"), grid={**WORLD, "westDeg": -185, "columnCount": 36})
make("world-pole-centered", numpy.vstack([world, world[:1]]), lat=lats(95, 10, 19), lon=lons(0, 10, 36), mask=False,
     grid={**WORLD, "northDeg": 95, "westDeg": 0})
make("antimeridian", lon=(lons(170) + 180) % 360 - 180, grid={"westDeg": 170})
make("unit-variants", lat_attributes={"units": "degree_N"}, lon_attributes={"units": "degreesE"})
make("no-units", lat_attributes={}, lon_attributes={})
make("standard-names", lat_attributes={"units": "degrees", "standard_name": "latitude"},
     lon_attributes={"units": "degrees", "standard_name": "longitude"})
make("packed-coordinates", coordinate_dtype="f8", lat_attributes={"units": "degrees_north", "add_offset": 0.0})
make("descending-longitudes", lon=lons()[::-1], rejected=True)
make("gaussian", lat=lats() + numpy.linspace(0, 0.2, ROWS) ** 2, rejected=True)
make("radians", lat_attributes={"units": "radian"}, rejected=True)
make("one-row", FIELD[:1], lat=lats(rows=1), rejected=True)
make("projected", lat_attributes={"units": "m", "standard_name": "projection_y_coordinate"},
     lon_attributes={"units": "m", "standard_name": "projection_x_coordinate"}, rejected=True)
make("rotated-pole", lat_attributes={"units": "degrees", "standard_name": "grid_latitude"},
     lon_attributes={"units": "degrees", "standard_name": "grid_longitude"}, rejected=True)
make("beyond-pole", lat=lats(120), rejected=True)


def bounds(lower_lat, upper_lat, lower_lon, upper_lon):
    def finish(data, _):
        data.createDimension("two", 2)
        for name, lower, upper in (("lat", lower_lat, upper_lat), ("lon", lower_lon, upper_lon)):
            data[name].bounds = f"{name}_bounds"
            data.createVariable(f"{name}_bounds", "f8", (name, "two"))[:] = numpy.stack([lower, upper], -1)

    return finish


h = SIZE / 2
make("bounds", finish=bounds(lats() + h, lats() - h, lons() - h, lons() + h))
make("bounds-southwest-corner", finish=bounds(lats(), lats() + SIZE, lons(), lons() + SIZE),
     grid={"northDeg": NORTH + h, "westDeg": WEST + h})
make("bounds-one-row", FIELD[:1], lat=lats(rows=1), finish=bounds(lats(rows=1) - h, lats(rows=1) + h, lons() - h, lons() + h))
make("bounds-gap", finish=bounds(lats() - h, lats() + h, lons() - 0.2, lons() + 0.2), rejected=True)
make("bounds-clipped", numpy.vstack([world, world[:1]]), lat=lats(95, 10, 19), lon=lons(0, 10, 36), mask=False,
     finish=bounds(numpy.clip(lats(95, 10, 19) - 5, -90, 90), numpy.clip(lats(95, 10, 19) + 5, -90, 90),
                   lons(0, 10, 36) - 5, lons(0, 10, 36) + 5), grid={**WORLD, "northDeg": 95, "westDeg": 0})


def curvilinear(data, variable):
    for name, units in (("lat2", "degrees_north"), ("lon2", "degrees_east")):
        data.createVariable(name, "f8", ("lat", "lon")).units = units
    variable.coordinates = "lat2 lon2"


make("curvilinear", lat_attributes={"units": "1"}, lon_attributes={"units": "1"}, finish=curvilinear, rejected=True)

# --- coordinate systems ------------------------------------------------------------------------------------------------

WGS84 = 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]'
NAD83 = WGS84.replace("WGS 84", "NAD83").replace("298.257223563", "298.257222101").replace("4326", "4269")
LL = {"grid_mapping_name": "latitude_longitude"}


def system(name="crs", reference=True, **attributes):
    def finish(data, variable):
        data.createVariable(name, "i4", ()).setncatts(attributes)
        if reference:
            variable.grid_mapping = name

    return finish


for name, finish, rejected in (
    ("wkt", system(crs_wkt=WGS84, **LL), False),
    ("spatial-ref", system("spatial_ref", False, spatial_ref=WGS84, **LL), False),
    ("ellipsoid", system(semi_major_axis=6378137.0, inverse_flattening=298.257223563, **LL), False),
    ("minor-axis", system(semi_major_axis=6378137.0, semi_minor_axis=6356752.314245179, **LL), False),
    ("geotransform", system(spatial_ref=WGS84, GeoTransform=f"{WEST} {SIZE} 0 {NORTH} 0 {-SIZE}", **LL), False),
    ("geotransform-shifted", system(spatial_ref=WGS84, GeoTransform=f"{WEST + h} {SIZE} 0 {NORTH} 0 {-SIZE}", **LL), True),
    ("nad83", system(crs_wkt=NAD83, **LL), False),
    ("sphere", system(earth_radius=6371229.0, **LL), True),
    ("airy", system(semi_major_axis=6377563.396, inverse_flattening=299.3249646, **LL), True),
    ("paris", system(semi_major_axis=6378137.0, inverse_flattening=298.257223563, longitude_of_prime_meridian=2.337, **LL), True),
    ("lambert", system(grid_mapping_name="lambert_conformal_conic"), True),
    ("missing-variable", lambda data, variable: variable.setncattr("grid_mapping", "absent"), True),
):
    make(f"system-{name}", finish=finish, rejected=rejected, assumeWgs84=False)
make("system-none", rejected=True, assumeWgs84=False)
make("system-empty-mapping", finish=system(**LL), rejected=True, assumeWgs84=False)
make("system-none-assumed")

# --- other dimensions --------------------------------------------------------------------------------------------------


def values_of(name, values, dtype="f8", **attributes):
    def finish(data, _):
        variable = data.createVariable(name, dtype, (name,))
        variable.setncatts(attributes)
        variable[:] = values

    return finish


def times(units, calendar, values):
    return values_of("time", values, units=units, calendar=calendar)


TIME = {"order": ("time", "lat", "lon"), "others": {"time": 3}, "pick": lambda read: read[1], "variable": "depth"}
RP = {"order": ("rp", "lat", "lon"), "others": {"rp": 3}, "pick": lambda read: read[2], "variable": "depth"}
make("select-rp", finish=values_of("rp", [10, 100, 1000]), select={"rp": 1000}, **RP)
make("select-rp-float32", finish=values_of("rp", [1.1, 2.2, 3.3], "f4"), select={"rp": 3.3}, **RP)
make("select-rp-absent", finish=values_of("rp", [10, 100, 1000]), select={"rp": 500}, rejected=True, **RP)
make("select-rp-twice", finish=values_of("rp", [10, 100, 100]), select={"rp": 100}, rejected=True, **RP)
make("select-none", finish=values_of("rp", [10, 100, 1000]), rejected=True, **RP)
make("select-unknown", finish=values_of("rp", [10, 100, 1000]), select={"period": 10}, rejected=True, **RP)
make("select-index-outside", select={"rp": {"index": 3}}, rejected=True, **RP)
make("select-text", finish=values_of("rp", numpy.array(["a", "b", "c"], object), str), select={"rp": "c"}, **RP)
for calendar, days in (("standard", [0, 366, 731]), ("noleap", [0, 365, 730]), ("360_day", [0, 360, 720]), ("all_leap", [0, 366, 732])):
    for choice in ("2021", "2021-01", "2021-01-01", "2021-01-01T00:00:00"):
        make(f"time-{calendar}-{len(choice)}", finish=times("days since 2020-01-01", calendar, days), select={"time": choice}, **TIME)
make("time-hours", finish=times("hours since 2020-01-01 00:00:00", "gregorian", [0, 24, 48]), select={"time": "2020-01-02"}, **TIME)
make("time-number", finish=times("years since 2020-01-01", "standard", [0, 1, 2]), select={"time": 1}, rejected=True, **TIME)
make("time-ambiguous", finish=times("days since 2020-01-01", "standard", [0, 1, 2]), select={"time": "2020"}, rejected=True, **TIME)
make("two-dimensions", order=("time", "rp", "lat", "lon"), others={"time": 2, "rp": 3}, select={"time": {"index": 1}, "rp": {"index": 2}},
     pick=lambda read: read[1, 2])
make("wrong-variable", variable="none", rejected=True)


def second_map(data, _):
    data.createVariable("other", "f4", ("lat", "lon"))[:] = 1


make("two-maps", finish=second_map, rejected=True)
make("two-maps-chosen", finish=second_map, variable="depth")
make("two-maps-band", finish=second_map, variable="/depth")

write_list()
