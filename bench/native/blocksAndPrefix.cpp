// Isotherm's algorithm in C++ with 128-bit vectors, as wide as those of WebAssembly: maxima of 8 x 8 blocks, reading
// only the cells of blocks that could raise the maximum, and sums of whole rows from a prefix. Cells are stored row by
// row; an atlas stores them in 64 x 64 tiles.
#include <smmintrin.h>

#include "workload.h"

namespace {

constexpr int BLOCK = 8;
/** Prefix entry of one layer: sum of valid steps in the upper bits, count of valid cells in the lower. */
constexpr int COUNT_BITS = 20;

// 21 steps of 16 bits in lanes 0 to 7, 8 to 15 and 13 to 20, stored as step + 2 modulo 2^16: outside and nodata become
// 0 and 1 and any value is larger, so a plain maximum ignores them.
struct Largest {
  __m128i part[3] = {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
  void addBounds(const uint16_t* bounds) {
    for (int i = 0; i < 3; i++) part[i] = _mm_max_epu16(part[i], load(bounds + OFFSETS[i]));
  }
  void addSteps(const uint16_t* cell) {
    const __m128i two = _mm_set1_epi16(2);
    for (int i = 0; i < 3; i++) part[i] = _mm_max_epu16(part[i], _mm_add_epi16(load(cell + OFFSETS[i]), two));
  }
  /** Returns whether any layer's bound exceeds the maximum so far. */
  bool isBelow(const uint16_t* bounds) const {
    __m128i more = _mm_setzero_si128();
    for (int i = 0; i < 3; i++) more = _mm_or_si128(more, _mm_subs_epu16(load(bounds + OFFSETS[i]), part[i]));
    return !_mm_testz_si128(more, more);
  }
  void store(uint16_t* out) const {
    for (int i = 0; i < 3; i++) _mm_storeu_si128(reinterpret_cast<__m128i*>(out + OFFSETS[i]), part[i]);
  }
  static __m128i load(const uint16_t* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }
  static constexpr int OFFSETS[3] = {0, 8, 13};
};

/** Converts two integers below 2^52 to doubles by placing them in the mantissa of 2^52, which is then subtracted. */
__m128d toDouble(__m128i integers) {
  const __m128d magic = _mm_set1_pd(4503599627370496.0);
  return _mm_sub_pd(_mm_castsi128_pd(_mm_or_si128(integers, _mm_castpd_si128(magic))), magic);
}

}  // namespace

int main(int count, char** args) {
  if (count < 11) return 2;
  const Workload workload(args);
  const Grid& grid = workload.grid;
  const RowTables rows(grid);
  const std::vector<uint16_t> cells = workload.readCells();
  const int width = (grid.columns + BLOCK - 1) / BLOCK, height = (grid.rows + BLOCK - 1) / BLOCK;
  std::vector<uint16_t> bounds(size_t(height) * width * LAYERS + 64);
  std::vector<uint64_t> prefix(size_t(grid.rows) * (grid.columns + 1) * LAYERS + 16);
  for (int row = 0; row < grid.rows; row++) {
    for (int column = 0; column < grid.columns; column++) {
      const uint16_t* cell = &cells[(size_t(row) * grid.columns + column) * LAYERS];
      uint16_t* block = &bounds[(size_t(row / BLOCK) * width + column / BLOCK) * LAYERS];
      uint64_t* sum = &prefix[(size_t(row) * (grid.columns + 1) + column) * LAYERS];
      for (int layer = 0; layer < LAYERS; layer++) {
        const bool isValid = cell[layer] <= STEPS_MAX;
        if (isValid) block[layer] = std::max(block[layer], uint16_t(cell[layer] + 2));
        sum[LAYERS + layer] = sum[layer] + (isValid ? (uint64_t(cell[layer]) << COUNT_BITS) + 1 : 0);
      }
    }
  }

  Spans spans;
  const auto findMax = [&](CircleResult& result) {
    Largest largest;
    for (int pass = 0; pass < 2; pass++) {
      for (int blockRow = spans.firstRow / BLOCK; blockRow <= spans.lastRow / BLOCK; blockRow++) {
        const int top = std::max(spans.firstRow, blockRow * BLOCK);
        const int bottom = std::min(spans.lastRow, blockRow * BLOCK + BLOCK - 1);
        const bool isWhole = bottom - top == BLOCK - 1;
        int west = grid.columns, east = -1, innerWest = isWhole ? 0 : 1, innerEast = isWhole ? grid.columns : 0;
        for (int row = top; row <= bottom; row++) {
          const int first = spans.first[row - spans.firstRow], last = spans.last[row - spans.firstRow];
          innerWest = std::max(innerWest, first);
          innerEast = std::min(innerEast, last);
          if (first > last) continue;
          west = std::min(west, first);
          east = std::max(east, last);
        }
        const int innerFirst = (innerWest + BLOCK - 1) / BLOCK, innerLast = (innerEast + 1) / BLOCK - 1;
        const uint16_t* boundsOfRow = &bounds[size_t(blockRow) * width * LAYERS];
        if (pass == 0) {
          for (int block = innerFirst; block <= innerLast; block++) largest.addBounds(boundsOfRow + block * LAYERS);
          continue;
        }
        for (int block = west / BLOCK; block <= (east < 0 ? -1 : east / BLOCK); block++) {
          if (block >= innerFirst && block <= innerLast) {
            block = innerLast;
            continue;
          }
          if (!largest.isBelow(boundsOfRow + block * LAYERS)) continue;
          for (int row = top; row <= bottom; row++) {
            const int first = std::max(spans.first[row - spans.firstRow], block * BLOCK);
            const int last = std::min(spans.last[row - spans.firstRow], block * BLOCK + BLOCK - 1);
            const uint16_t* cell = &cells[(size_t(row) * grid.columns + first) * LAYERS];
            for (int column = first; column <= last; column++, cell += LAYERS) largest.addSteps(cell);
          }
        }
      }
    }
    uint16_t found[LAYERS];
    largest.store(found);
    for (int layer = 0; layer < LAYERS; layer++) result.max[layer] = found[layer] < 2 ? NONE : found[layer] - 2;
  };

  const auto findMean = [&](CircleResult& result) {
    constexpr int PAIRS = 11;  // lanes 0 and 1, 2 and 3, ... and 19 and 20
    const auto laneOf = [](int pair) { return pair == PAIRS - 1 ? LAYERS - 2 : 2 * pair; };
    const __m128i countMask = _mm_set1_epi64x((1 << COUNT_BITS) - 1);
    __m128d totals[PAIRS], areas[PAIRS];
    for (int pair = 0; pair < PAIRS; pair++) totals[pair] = areas[pair] = _mm_setzero_pd();
    for (int row = spans.firstRow; row <= spans.lastRow; row++) {
      const int first = spans.first[row - spans.firstRow], last = spans.last[row - spans.firstRow];
      if (first > last) continue;
      const uint64_t* prefixOfRow = &prefix[size_t(row) * (grid.columns + 1) * LAYERS];
      const uint64_t* from = prefixOfRow + size_t(first) * LAYERS;
      const uint64_t* to = prefixOfRow + size_t(last + 1) * LAYERS;
      const __m128d weight = _mm_set1_pd(rows.weight[row]);
      for (int pair = 0; pair < PAIRS; pair++) {
        const __m128i* a = reinterpret_cast<const __m128i*>(from + laneOf(pair));
        const __m128i* b = reinterpret_cast<const __m128i*>(to + laneOf(pair));
        const __m128i sums = _mm_sub_epi64(_mm_loadu_si128(b), _mm_loadu_si128(a));
        totals[pair] = _mm_add_pd(totals[pair], _mm_mul_pd(weight, toDouble(_mm_srli_epi64(sums, COUNT_BITS))));
        areas[pair] = _mm_add_pd(areas[pair], _mm_mul_pd(weight, toDouble(_mm_and_si128(sums, countMask))));
      }
    }
    for (int pair = 0; pair < PAIRS; pair++) _mm_storeu_pd(result.mean + laneOf(pair), _mm_div_pd(totals[pair], areas[pair]));
  };

  serveRequests(workload, [&](Place place, double radiusM, bool wantsMax, bool wantsMean, CircleResult& result) {
    findSpans(grid, rows, place, radiusM, spans);
    if (wantsMax) findMax(result);
    if (wantsMean) findMean(result);
  });
}
