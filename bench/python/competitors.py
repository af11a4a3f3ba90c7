"""Competitors in Python. The protocol is documented in bench/competitors/competitorProcess.ts.

    python3 competitors.py WHICH CELLS GEOTIFF PLACES POINTS ROWS COLUMNS NORTH WEST CELL_LAT CELL_LON
"""

import sys
import time

import numpy as np

LAYERS = 21
STEPS_MAX = 65533
MEAN_RADIUS_KM = 6371.0088
# Lower bound of the length of a degree of latitude.
KM_PER_DEGREE_MIN = 110

which, cells_path, geotiff_path, places_path, points_path = sys.argv[1:6]
ROWS, COLUMNS = (int(word) for word in sys.argv[6:8])
NORTH, WEST, CELL_LAT, CELL_LON = (float(word) for word in sys.argv[8:12])


def read_cells():
    """Returns u16[row][column][layer], the layout of the file."""
    return np.fromfile(cells_path, dtype=np.uint16).reshape(ROWS, COLUMNS, LAYERS)


def bounding_window(lat, lon, radius_km):
    radius_lat_deg = radius_km / KM_PER_DEGREE_MIN
    radius_lon_deg = radius_lat_deg / np.cos(np.radians(abs(lat) + radius_lat_deg))
    top = max(0, int(np.floor((NORTH - lat - radius_lat_deg) / CELL_LAT)))
    bottom = min(ROWS, int(np.ceil((NORTH - lat + radius_lat_deg) / CELL_LAT)) + 1)
    left = max(0, int(np.floor((lon - radius_lon_deg - WEST) / CELL_LON)))
    right = min(COLUMNS, int(np.ceil((lon + radius_lon_deg - WEST) / CELL_LON)) + 1)
    return top, bottom, left, right


class NumpyMask:
    """Bands in memory as f32[layer][row][column], NaN for nodata; a haversine mask over the bounding box."""

    def __init__(self):
        steps = read_cells().transpose(2, 0, 1)
        self.bands = np.ascontiguousarray(steps, dtype=np.float32)
        self.bands[self.bands > STEPS_MAX] = np.nan

    def circle(self, lat, lon, radius_km, wants_max, wants_mean):
        top, bottom, left, right = bounding_window(lat, lon, radius_km)
        lats = np.radians(NORTH - (np.arange(top, bottom) + 0.5) * CELL_LAT)[:, None]
        lons = np.radians(WEST + (np.arange(left, right) + 0.5) * CELL_LON)[None, :]
        lat0, lon0 = np.radians(lat), np.radians(lon)
        h = np.sin((lats - lat0) / 2) ** 2 + np.cos(lat0) * np.cos(lats) * np.sin((lons - lon0) / 2) ** 2
        inside = h <= np.sin(radius_km / 2 / MEAN_RADIUS_KM) ** 2
        values = self.bands[:, top:bottom, left:right][:, inside]
        largest = np.fmax.reduce(values, axis=1) if wants_max else None
        mean = None
        if wants_mean:
            area = np.broadcast_to(np.cos(lats), inside.shape)[inside].astype(np.float32)
            valid = ~np.isnan(values)
            with np.errstate(invalid="ignore"):
                mean = np.where(valid, values, 0).dot(area) / valid.dot(area)
        return largest, mean


class RasterioMask:
    """rasterio.mask on the open GeoTIFF with a polygon of 128 corners, cropped, then numpy on the masked array."""

    def __init__(self):
        import rasterio
        import rasterio.mask

        self.mask = rasterio.mask.mask
        self.file = rasterio.open(geotiff_path)

    def circle(self, lat, lon, radius_km, wants_max, wants_mean):
        turn = np.linspace(0, 2 * np.pi, 129)
        arc = radius_km / MEAN_RADIUS_KM
        lat0 = np.radians(lat)
        ring_lat = np.arcsin(np.sin(lat0) * np.cos(arc) + np.cos(lat0) * np.sin(arc) * np.cos(turn))
        ring_lon = np.radians(lon) + np.arctan2(
            np.sin(turn) * np.sin(arc) * np.cos(lat0), np.cos(arc) - np.sin(lat0) * np.sin(ring_lat)
        )
        ring = list(zip(np.degrees(ring_lon).tolist(), np.degrees(ring_lat).tolist()))
        polygon = {"type": "Polygon", "coordinates": [ring]}
        values, transform = self.mask(self.file, [polygon], crop=True, filled=False)
        largest = mean = None
        if wants_max:
            largest = values.max(axis=(1, 2)).astype(np.float64).filled(np.nan)
        if wants_mean:
            lats = transform.f + (np.arange(values.shape[1]) + 0.5) * transform.e
            area = np.cos(np.radians(lats))[None, :, None]
            valid = ~values.mask
            with np.errstate(invalid="ignore"):
                mean = (values.filled(0) * area * valid).sum(axis=(1, 2)) / (area * valid).sum(axis=(1, 2))
        return largest, mean


class NumpyIndex:
    """Bands in memory as u16[layer][row][column], indexed by two arrays."""

    def __init__(self):
        self.bands = np.ascontiguousarray(read_cells().transpose(2, 0, 1))

    def points(self, lats, lons):
        rows = ((NORTH - lats) / CELL_LAT).astype(np.int32)
        columns = ((lons - WEST) / CELL_LON).astype(np.int32)
        return self.bands[:, np.minimum(rows, ROWS - 1), np.minimum(columns, COLUMNS - 1)]


class RasterioSample:
    """rasterio's sample() on the open GeoTIFF."""

    def __init__(self):
        import rasterio

        self.file = rasterio.open(geotiff_path)

    def points(self, lats, lons):
        return np.array(list(self.file.sample(zip(lons.tolist(), lats.tolist()))))


COMPETITORS = {
    "numpyMask": NumpyMask,
    "rasterioMask": RasterioMask,
    "numpyIndex": NumpyIndex,
    "rasterioSample": RasterioSample,
}


def main():
    competitor = COMPETITORS[which]()
    places = np.loadtxt(places_path)
    points = np.fromfile(points_path, dtype=np.float64).reshape(2, -1)
    print("ready", flush=True)
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "points":
            lats, lons = points[:, : int(words[0])]
            start = time.perf_counter_ns()
            steps = competitor.points(lats, lons)
            print(time.perf_counter_ns() - start, int(steps.astype(np.int64).sum()), flush=True)
            continue
        aggregation, radius_km = words[0], float(words[1])
        wants_max, wants_mean = aggregation != "mean", aggregation != "max"
        start = time.perf_counter_ns()
        for index in words[2:]:
            lat, lon = places[int(index)]
            largest, mean = competitor.circle(lat, lon, radius_km, wants_max, wants_mean)
        elapsed = time.perf_counter_ns() - start
        if verb == "run":
            print(elapsed, flush=True)
        else:
            none = np.full(LAYERS, np.nan)
            values = np.concatenate([none if largest is None else largest, none if mean is None else mean])
            print(*(repr(float(value)) for value in values), flush=True)


main()
