// The fastest scan without an index: f32[row][column][21], NaN for nodata. Reads every cell of the circle once, in
// order. The maximum is in f32; the sum is in f64, which keeps it exact.
#include <immintrin.h>

#include "workload.h"

namespace {

#if defined(__AVX512F__)

constexpr char VECTORS[] = "AVX-512";

// A cell is 21 floats: lanes 0 to 15 and, overlapping, 5 to 20, so that no tail needs a mask.
struct Largest {
  __m512 low = _mm512_set1_ps(-1), high = _mm512_set1_ps(-1);
  void add(const float* cell) {  // max(v, acc) returns acc if v is NaN
    low = _mm512_max_ps(_mm512_loadu_ps(cell), low);
    high = _mm512_max_ps(_mm512_loadu_ps(cell + 5), high);
  }
  void add(const Largest& other) {
    low = _mm512_max_ps(other.low, low);
    high = _mm512_max_ps(other.high, high);
  }
  void store(float* out) const {
    _mm512_storeu_ps(out, low);
    _mm512_storeu_ps(out + 5, high);
  }
};

// Lanes 0 to 7, 8 to 15 and 13 to 20.
struct Sums {
  __m512d sum[3] = {_mm512_setzero_pd(), _mm512_setzero_pd(), _mm512_setzero_pd()};
  __m512d count[3] = {_mm512_setzero_pd(), _mm512_setzero_pd(), _mm512_setzero_pd()};
  void add(const float* cell) {
    const __m512d one = _mm512_set1_pd(1);
    for (int i = 0; i < 3; i++) {
      const __m512d v = _mm512_cvtps_pd(_mm256_loadu_ps(cell + OFFSETS[i]));
      const __mmask8 valid = _mm512_cmp_pd_mask(v, v, _CMP_ORD_Q);
      sum[i] = _mm512_mask_add_pd(sum[i], valid, sum[i], v);
      count[i] = _mm512_mask_add_pd(count[i], valid, count[i], one);
    }
  }
  void store(double* sums, double* counts) const {
    for (int i = 0; i < 3; i++) {
      _mm512_storeu_pd(sums + OFFSETS[i], sum[i]);
      _mm512_storeu_pd(counts + OFFSETS[i], count[i]);
    }
  }
  static constexpr int OFFSETS[3] = {0, 8, 13};
};

#else

constexpr char VECTORS[] = "AVX2";

struct Largest {
  __m256 part[3] = {_mm256_set1_ps(-1), _mm256_set1_ps(-1), _mm256_set1_ps(-1)};
  void add(const float* cell) {
    for (int i = 0; i < 3; i++) part[i] = _mm256_max_ps(_mm256_loadu_ps(cell + OFFSETS[i]), part[i]);
  }
  void add(const Largest& other) {
    for (int i = 0; i < 3; i++) part[i] = _mm256_max_ps(other.part[i], part[i]);
  }
  void store(float* out) const {
    for (int i = 0; i < 3; i++) _mm256_storeu_ps(out + OFFSETS[i], part[i]);
  }
  static constexpr int OFFSETS[3] = {0, 8, 13};
};

// Lanes in groups of four, the last from 17 to 20.
struct Sums {
  __m256d sum[6], count[6];
  Sums() {
    for (int i = 0; i < 6; i++) sum[i] = count[i] = _mm256_setzero_pd();
  }
  void add(const float* cell) {
    const __m256d one = _mm256_set1_pd(1);
    for (int i = 0; i < 6; i++) {
      const __m256d v = _mm256_cvtps_pd(_mm_loadu_ps(cell + OFFSETS[i]));
      const __m256d valid = _mm256_cmp_pd(v, v, _CMP_ORD_Q);
      sum[i] = _mm256_add_pd(sum[i], _mm256_and_pd(valid, v));
      count[i] = _mm256_add_pd(count[i], _mm256_and_pd(valid, one));
    }
  }
  void store(double* sums, double* counts) const {
    for (int i = 0; i < 6; i++) {
      _mm256_storeu_pd(sums + OFFSETS[i], sum[i]);
      _mm256_storeu_pd(counts + OFFSETS[i], count[i]);
    }
  }
  static constexpr int OFFSETS[6] = {0, 4, 8, 12, 16, 17};
};

#endif

}  // namespace

int main(int count, char** args) {
  if (count < 11) return 2;
  const Workload workload(args);
  const Grid& grid = workload.grid;
  const RowTables rows(grid);
  std::vector<float> cells;
  {
    const std::vector<uint16_t> steps = workload.readCells();
    cells.resize(steps.size());
    for (size_t i = 0; i < steps.size(); i++) cells[i] = steps[i] > STEPS_MAX ? float(NONE) : float(steps[i]);
  }
  Spans spans;
  serveRequests(workload, [&](Place place, double radiusM, bool wantsMax, bool wantsMean, CircleResult& result) {
    findSpans(grid, rows, place, radiusM, spans);
    Largest largest[4];  // independent accumulators, so that consecutive maxima do not wait for each other
    double totals[LAYERS] = {}, areas[LAYERS] = {};
    for (int row = spans.firstRow; row <= spans.lastRow; row++) {
      const int first = spans.first[row - spans.firstRow], last = spans.last[row - spans.firstRow];
      const float* cell = cells.data() + (size_t(row) * grid.columns + first) * LAYERS;
      if (wantsMax) {
        const float* at = cell;
        int column = first;
        for (; column + 3 <= last; column += 4, at += 4 * LAYERS)
          for (int i = 0; i < 4; i++) largest[i].add(at + i * LAYERS);
        for (; column <= last; column++, at += LAYERS) largest[0].add(at);
      }
      if (wantsMean) {
        Sums sums;
        for (int column = first; column <= last; column++, cell += LAYERS) sums.add(cell);
        double rowSums[LAYERS], rowCounts[LAYERS];
        sums.store(rowSums, rowCounts);
        for (int layer = 0; layer < LAYERS; layer++) {
          totals[layer] += rows.weight[row] * rowSums[layer];
          areas[layer] += rows.weight[row] * rowCounts[layer];
        }
      }
    }
    if (wantsMax) {
      for (int i = 1; i < 4; i++) largest[0].add(largest[i]);
      float found[LAYERS];
      largest[0].store(found);
      for (int layer = 0; layer < LAYERS; layer++) result.max[layer] = found[layer] < 0 ? NONE : found[layer];
    }
    if (wantsMean)
      for (int layer = 0; layer < LAYERS; layer++)
        result.mean[layer] = areas[layer] > 0 ? totals[layer] / areas[layer] : NONE;
  }, VECTORS);
}
