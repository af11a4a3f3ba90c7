"""Writes the tables of EPSG codes in src/ingest/data/ from the database of an installed PROJ.

    /usr/bin/python3 scripts/epsgTables.py            rewrites the tables
    /usr/bin/python3 scripts/epsgTables.py --check    lists differences between the tables and the database, and writes nothing
    /usr/bin/python3 scripts/epsgTables.py --points   prints positions of all codes, computed by PROJ, as JSON

The codes of the first column stay as they are: to add a code to epsgCodes.csv, add a line with only the code and commas, and run
the script. Supported are projected coordinate systems in meters with the projections of src/ingest/crsDefinition.ts, on a datum of
datums.csv. A datum belongs in datums.csv if EPSG transforms it to WGS84 with parameters of 0; `aliases` and `tolerance_m` (the
accuracy of that transformation) are written by hand and checked.

Requires Debian's python3-gdal and proj-data (.ci/installTools).
"""

import csv
import io
import json
import os
import sqlite3
import sys

from osgeo import osr

osr.UseExceptions()
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "ingest", "data")
DATABASE = next(
    path for path in (os.path.join(folder, "proj.db") for folder in osr.GetPROJSearchPaths()) if os.path.exists(path)
)
database = sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True)
SOURCE = "EPSG " + database.execute("SELECT value FROM metadata WHERE key = 'EPSG.VERSION'").fetchone()[0]
# Members of PROJ strings that do not describe the projection, or that have separate columns.
OMITTED = {"units", "no_defs", "ellps", "datum", "towgs84", "type", "a", "b", "rf", "wktext", "nadgrids", "axis"}


def reference(code):
    system = osr.SpatialReference()
    system.ImportFromEPSG(code)
    system.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return system


def definition(code):
    """Returns the projection as in epsgCodes.csv: the members of its PROJ string, without those of the default value."""
    text = reference(code).ExportToProj4()
    if "+nadgrids=@null" in text:
        return "proj=webmerc"
    parts = []
    for part in text.split():
        name, _, value = part.removeprefix("+").partition("=")
        if name in OMITTED:
            continue
        name = "k_0" if name == "k" else name
        if name == "proj" or float(value) != (1 if name == "k_0" else 0):
            parts.append(f"{name}={value}")
    return " ".join(parts)


def projected(code):
    """Returns the name and the geographic code of a projected coordinate system."""
    row = database.execute(
        "SELECT name, geodetic_crs_code FROM projected_crs WHERE auth_name = 'EPSG' AND code = ?", (str(code),)
    ).fetchone()
    if row is None:
        raise SystemExit(f"EPSG:{code} is not a projected coordinate system in {DATABASE}.")
    if reference(code).GetLinearUnits() != 1:
        raise SystemExit(f"EPSG:{code} is not in meters.")
    return row[0], int(row[1])


def epsg_row(row):
    code = int(row["code"])
    name, geographic_code = projected(code)
    text = definition(code)
    source = row["source"] if row["definition"] == text and row["source"] else SOURCE
    return {"code": code, "name": name, "geographic_code": geographic_code, "definition": text, "source": source}


def utm_row(row):
    first, last = int(row["first_code"]), int(row["last_code"])
    geographic_codes, zones, souths = set(), [], set()
    for code in range(first, last + 1):
        geographic_codes.add(projected(code)[1])
        zone = reference(code).GetUTMZone()
        zones.append(abs(zone) - (code - first))
        souths.add(zone < 0)
    if len(geographic_codes) > 1 or len(set(zones)) > 1 or len(souths) > 1 or zones[0] + last - first > 60:
        raise SystemExit(f"EPSG:{first} to EPSG:{last} are not consecutive UTM zones on one datum.")
    return {
        "first_code": first,
        "last_code": last,
        "geographic_code": geographic_codes.pop(),
        "first_zone": zones[0],
        "is_south": int(souths.pop()),
        "source": row["source"] or SOURCE,
    }


def datum_row(row):
    code = row["geographic_code"]
    name, datum_code = database.execute(
        "SELECT name, datum_code FROM geodetic_crs WHERE auth_name = 'EPSG' AND code = ?", (code,)
    ).fetchone()
    datum_name, ellipsoid_code = database.execute(
        "SELECT name, ellipsoid_code FROM geodetic_datum WHERE auth_name = 'EPSG' AND code = ?", (datum_code,)
    ).fetchone()
    inverse_flattening, semi_minor = database.execute(
        "SELECT inv_flattening, semi_minor_axis FROM ellipsoid WHERE auth_name = 'EPSG' AND code = ?", (ellipsoid_code,)
    ).fetchone()
    if inverse_flattening is None:
        raise SystemExit(f"EPSG:{code} has an ellipsoid with axes ({semi_minor}), which is not supported.")
    if int(code) != 4326:
        accuracies = database.execute(
            "SELECT accuracy FROM helmert_transformation_table WHERE source_crs_auth_name = 'EPSG' AND source_crs_code = ?"
            " AND target_crs_code = '4326' AND abs(tx) + abs(ty) + abs(tz) + abs(ifnull(rx, 0)) + abs(ifnull(ry, 0))"
            " + abs(ifnull(rz, 0)) + abs(ifnull(scale_difference, 0)) = 0 AND deprecated = 0",
            (code,),
        ).fetchall()
        if not accuracies:
            raise SystemExit(f"EPSG:{code} has no transformation to WGS84 with parameters of 0.")
        if max(float(accuracy) for (accuracy,) in accuracies) > float(row["tolerance_m"]):
            raise SystemExit(f"EPSG:{code} has the accuracies {accuracies}, above the tolerance of {row['tolerance_m']} m.")
    return {
        **row,
        "name": name,
        "datum_code": int(datum_code),
        "datum_name": datum_name,
        "inverse_flattening": repr(float(inverse_flattening)).removesuffix(".0"),
        "source": row["source"] or SOURCE,
    }


TABLES = (("datums.csv", datum_row), ("epsgCodes.csv", epsg_row), ("utmCodes.csv", utm_row))


def read(name):
    with open(os.path.join(FOLDER, name), newline="") as file:
        text = file.read()
    reader = csv.DictReader(io.StringIO(text))
    return text, reader.fieldnames, list(reader)


def update(is_check):
    differences = []
    for name, row_of in TABLES:
        text, columns, rows = read(name)
        output = io.StringIO()
        writer = csv.DictWriter(output, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            expected = {column: str(value) for column, value in row_of(row).items()}
            writer.writerow(expected)
            differences += [
                f"{name}: {row[columns[0]]}: {column} is {row[column]!r}, not {expected[column]!r}"
                for column in columns
                if row[column] != expected[column]
            ]
        if not is_check:
            with open(os.path.join(FOLDER, name), "w", newline="") as file:
                file.write(output.getvalue())
    print(json.dumps({"database": SOURCE, "differences": differences}) if is_check else "\n".join(differences))


def points():
    """Prints, for each code, positions in its area of use: longitude and latitude on its own datum, x, y."""
    _, _, rows = read("epsgCodes.csv")
    _, _, ranges = read("utmCodes.csv")
    codes = [int(row["code"]) for row in rows]
    for row in ranges:
        codes += range(int(row["first_code"]), int(row["last_code"]) + 1)
    result = {}
    for code in codes:
        area = reference(code).GetAreaOfUse()
        west, east = area.west_lon_degree, area.east_lon_degree
        east += 360 if east < west else 0
        geographic = reference(projected(code)[1])
        transformation = osr.CoordinateTransformation(geographic, reference(code))
        found = []
        for u, v in ((0.1, 0.1), (0.1, 0.9), (0.5, 0.5), (0.9, 0.1), (0.9, 0.9)):
            lon = west + u * (east - west)
            lon -= 360 if lon > 180 else 0
            lat = area.south_lat_degree + v * (area.north_lat_degree - area.south_lat_degree)
            x, y, _ = transformation.TransformPoint(lon, lat)
            found.append([lon, lat, x, y])
        result[code] = found
    print(json.dumps(result))


if "--points" in sys.argv[1:]:
    points()
else:
    update("--check" in sys.argv[1:])
