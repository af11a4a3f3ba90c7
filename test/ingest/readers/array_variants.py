"""Shared by the scripts that write variants of array files: the field, the grid, and the list of variants.

FOLDER/variants.json, which `write_list` writes, lists the files. `values` is the name of a file of little-endian float64
values, north-up, with NaN for missing cells; it is absent for files that must be rejected.
"""

import json
import os
import sys

import numpy

folder = sys.argv[1]
variants = []
ROWS, COLUMNS = 21, 40
random = numpy.random.default_rng(7)
# Depths with dry and missing cells; the same field for every variant.
FIELD = numpy.round(random.random((ROWS, COLUMNS)) * 12, 1)
FIELD[FIELD < 3] = 0
MISSING = random.random((ROWS, COLUMNS)) < 0.2
NORTH, WEST, SIZE = 30.0, -20.0, 0.5


def lats(north=NORTH, size=SIZE, rows=ROWS):
    return north - (numpy.arange(rows) + 0.5) * size


def lons(west=WEST, size=SIZE, columns=COLUMNS):
    return west + (numpy.arange(columns) + 0.5) * size


def listed(name, path, values=None, grid=None, **options):
    entry = {"name": name, "file": path, "options": {"assumeWgs84": True, **options}}
    if values is not None:
        entry["values"] = os.path.join(folder, f"{name}.f64")
        numpy.ascontiguousarray(values, dtype="<f8").tofile(entry["values"])
        rows, columns = values.shape
        entry["grid"] = {
            "northDeg": NORTH, "westDeg": WEST, "cellSizeLatDeg": SIZE, "cellSizeLonDeg": SIZE,
            "rowCount": rows, "columnCount": columns, **(grid or {}),
        }
    variants.append(entry)


def write_list():
    with open(os.path.join(folder, "variants.json"), "w") as file:
        json.dump({"variants": variants}, file)
