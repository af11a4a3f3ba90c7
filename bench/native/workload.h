// Shared by the native competitors: the workload in memory, the row spans of a geodesic circle, and the protocol with
// the benchmark (documented in bench/competitors/competitorProcess.ts).
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

constexpr int LAYERS = 21;
constexpr uint16_t STEPS_MAX = 65533;
constexpr double METERS_PER_DEGREE_MIN = 110500;  // lower bound of the length of a degree of latitude
constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

struct Grid {
  int rows, columns;
  double northDeg, westDeg, cellLatDeg, cellLonDeg;
};

struct Place {
  double latDeg, lonDeg;
};

struct CircleResult {
  double max[LAYERS];
  double mean[LAYERS];
};

/** One span of columns for each row from firstRow on; first > last if the circle misses the row. */
struct Spans {
  int firstRow = 0, lastRow = -1;
  std::vector<int> first, last;
};

constexpr double DEGREE = M_PI / 180, WGS84_A = 6378137, WGS84_F = 1 / 298.257223563;
constexpr double E2 = WGS84_F * (2 - WGS84_F);

/** Per-row values needed for spans, computed once. */
struct RowTables {
  std::vector<double> p, z, sin, cos, weight;

  explicit RowTables(const Grid& grid) {
    const double e = std::sqrt(E2);
    for (int row = 0; row < grid.rows; row++) {
      const double latRad = (grid.northDeg - (row + 0.5) * grid.cellLatDeg) * DEGREE;
      const double s = std::sin(latRad), c = std::cos(latRad), n = WGS84_A / std::sqrt(1 - E2 * s * s);
      sin.push_back(s);
      cos.push_back(c);
      p.push_back(n * c);
      z.push_back(n * (1 - E2) * s);
      const double northRad = std::min(90.0, grid.northDeg - row * grid.cellLatDeg) * DEGREE;
      const double southRad = std::max(-90.0, grid.northDeg - (row + 1) * grid.cellLatDeg) * DEGREE;
      const double sinN = std::sin(northRad), sinS = std::sin(southRad);
      const double rise = 2 * std::cos((northRad + southRad) / 2) * std::sin((northRad - southRad) / 2);
      const double product = E2 * sinN * sinS;
      weight.push_back(rise * (1 + product) / ((1 - E2 * sinN * sinN) * (1 - E2 * sinS * sinS)) +
                       std::atanh(e * rise / (1 - product)) / e);
    }
  }
};

/**
 * Finds the cells whose centers are within the circle: squared chord with a single correction for the arc's curvature.
 */
inline void findSpans(const Grid& grid, const RowTables& rows, Place place, double radiusM, Spans& spans) {
  const double sin0 = std::sin(place.latDeg * DEGREE), cos0 = std::cos(place.latDeg * DEGREE);
  const double n0 = WGS84_A / std::sqrt(1 - E2 * sin0 * sin0);
  const double p0 = n0 * cos0, z0 = n0 * (1 - E2) * sin0, radius2 = radiusM * radiusM;
  const double x0 = radius2 / (4 * (n0 * (1 - E2) / (1 - E2 * sin0 * sin0)) * n0);
  const double chord2AtCenter = radius2 * (1 - x0 / 3 - x0 * x0 / 15);
  const double columnsPerHalfAngle = 2 / (grid.cellLonDeg * DEGREE);
  const double middle = (place.lonDeg - grid.westDeg) / grid.cellLonDeg - 0.5;
  const double middleRow = (grid.northDeg - place.latDeg) / grid.cellLatDeg - 0.5;
  const double reachRows = radiusM / METERS_PER_DEGREE_MIN / grid.cellLatDeg;
  spans.firstRow = std::max(0, int(std::floor(middleRow - reachRows)));
  spans.lastRow = std::min(grid.rows - 1, int(std::ceil(middleRow + reachRows)));
  spans.first.resize(spans.lastRow - spans.firstRow + 1);
  spans.last.resize(spans.first.size());
  for (int row = spans.firstRow; row <= spans.lastRow; row++) {
    const double p1 = rows.p[row], dp = p1 - p0, dz = rows.z[row] - z0, meridianChord2 = dp * dp + dz * dz;
    const double inverseLonChord2Max = 1 / (4 * p0 * p1);
    const double h1 = std::clamp((chord2AtCenter - meridianChord2) * inverseLonChord2Max, 0.0, 1.0);
    const double dip0 = -(cos0 * (dp - 2 * p1 * h1) + sin0 * dz);
    const double dip1 = rows.cos[row] * (dp + 2 * p0 * h1) + rows.sin[row] * dz;
    const double x = dip0 * dip1 / chord2AtCenter;
    const double h = (radius2 * (1 - x / 3 - x * x / 15 - 31 * x * x * x / 945) - meridianChord2) * inverseLonChord2Max;
    const double halfWidth = std::asin(std::sqrt(std::clamp(h, 0.0, 1.0))) * columnsPerHalfAngle;
    const int at = row - spans.firstRow;
    spans.first[at] = h < 0 ? 1 : std::max(0, int(std::ceil(middle - halfWidth)));
    spans.last[at] = h < 0 ? 0 : std::min(grid.columns - 1, int(std::floor(middle + halfWidth)));
  }
}

/** The workload, and the loader of its cells. */
class Workload {
 public:
  Grid grid;
  std::vector<Place> places;

  explicit Workload(char** args)
      : grid{std::atoi(args[5]), std::atoi(args[6]), std::atof(args[7]),
             std::atof(args[8]), std::atof(args[9]), std::atof(args[10])},
        cellsPath(args[1]) {
    std::ifstream in(args[3]);
    for (Place place; in >> place.latDeg >> place.lonDeg;) places.push_back(place);
  }

  /** Returns u16[rows][columns][21], padded so that vector loads may read past the end. */
  std::vector<uint16_t> readCells() const {
    const size_t count = size_t(grid.rows) * grid.columns * LAYERS;
    std::vector<uint16_t> cells(count + 64);
    std::ifstream in(cellsPath, std::ios::binary);
    in.read(reinterpret_cast<char*>(cells.data()), std::streamsize(count * 2));
    if (!in) {
      std::cerr << cellsPath << " is too short\n";
      std::exit(1);
    }
    return cells;
  }

 private:
  std::string cellsPath;
};

/**
 * Answers requests until standard input is closed. `ask(place, radiusM, wantsMax, wantsMean, result)` computes one
 * circle. `description` is printed after `ready`.
 */
template <typename Ask>
void serveRequests(const Workload& workload, Ask ask, const char* description = "") {
  std::cout << "ready " << description << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb, aggregation;
    double radiusKm = 0;
    words >> verb >> aggregation >> radiusKm;
    std::vector<int> places;
    for (int place; words >> place;) places.push_back(place);
    const bool wantsMax = aggregation != "mean", wantsMean = aggregation != "max";
    CircleResult result;
    std::fill_n(result.max, LAYERS, NONE);
    std::fill_n(result.mean, LAYERS, NONE);
    volatile double sink = 0;
    const auto from = std::chrono::steady_clock::now();
    for (int place : places) {
      ask(workload.places[place], radiusKm * 1000, wantsMax, wantsMean, result);
      sink = sink + result.max[0] + result.mean[0];
    }
    const auto elapsed = std::chrono::steady_clock::now() - from;
    if (verb == "run") {
      std::cout << std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count() << std::endl;
      continue;
    }
    std::printf("%.17g", result.max[0]);
    for (int layer = 1; layer < LAYERS; layer++) std::printf(" %.17g", result.max[layer]);
    for (int layer = 0; layer < LAYERS; layer++) std::printf(" %.17g", result.mean[layer]);
    std::printf("\n");
    std::fflush(stdout);
  }
}
