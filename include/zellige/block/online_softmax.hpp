// Computes the softmax of rows whose scores arrive in tiles, as in FlashAttention. A step converts one tile of scores
// to exponentials and returns the factor by which earlier accumulators must be scaled.
//
//   WarpgroupFragment<128> s;                             // scores of 64 queries (rows) and 128 keys
//   WarpgroupFragment<64> o;                              // of the same rows
//   OnlineSoftmax<decltype(s)> softmax;
//   for (key tiles) { ... softmax.step(s, scale * log2e, factor); scale_rows(o, factor); /* o += s v */ }
//   softmax.finish(factor), scale_rows(o, factor);        // divides by the row sums
//
// factor[r] belongs to the r-th of the thread's rows, `s.line(i)` of run i. The lanes that share a row combine their
// maxima and sums by shuffles.
#pragma once
#include <zellige/block/fragment.hpp>
#include <zellige/block/reduce.hpp>

namespace zellige {

/// Multiplies the elements of d in each of the thread's first `Lines` rows by the row's factor.
template <class F, int Lines>
ZELLIGE_CALL void scale_rows(F& d, const float (&factor)[Lines]) {
#pragma unroll
  for (int i = 0; i < F::runs; ++i)
#pragma unroll
    for (int v = 0; v < F::neighbours; ++v)
      if (F::line(i) < Lines) d.run(i)[v] *= factor[F::line(i)];
}

/// Running maximum and sum of exponentials of a thread's first `Lines` rows of the Fragment Scores.
template <class Scores, int Lines = Scores::lines>
struct OnlineSoftmax {
  /// Where a maximum starts: finite, so that no difference from it is NaN if scores are -inf.
  static constexpr float lowest = -3.4028234664e38f;
  float max[Lines], sum[Lines];  // sum: only over this thread's columns

  ZELLIGE_CALL OnlineSoftmax() {
    for (int r = 0; r < Lines; ++r) max[r] = lowest, sum[r] = 0;
  }

  /// Replaces s by exp2(scale * (s - max)), where max is the row's largest score so far, and adds these exponentials to
  /// the row's sum. They are 0 while all scores of a row are -inf. Sets factor[r] to the factor by which the
  /// accumulators of the thread's row r must be multiplied.
  ZELLIGE_CALL void step(Scores& s, float scale, float (&factor)[Lines]) {
#pragma unroll
    for (int r = 0; r < Lines; ++r) {
      float m = 0;
      bool first = true;
#pragma unroll
      for (int i = 0; i < Scores::pairs; ++i)
        if (Scores::line(i) == r) {
          const float two = zellige::max(s.pair(i)[0], s.pair(i)[1]);
          m = first ? two : zellige::max(m, two), first = false;
        }
      factor[r] = zellige::exp2(raise_max(max[r], max_lanes<Scores::lanes_of_line>(m)) * scale);
      sum[r] *= factor[r];
      const float shift = zellige::max(max[r] * scale, lowest);  // finite
#pragma unroll
      for (int i = 0; i < Scores::pairs; ++i) {
        if (Scores::line(i) != r) continue;
        float* const x = s.pair(i);
        x[0] = zellige::exp2(zellige::fma(x[0], scale, -shift));
        x[1] = zellige::exp2(zellige::fma(x[1], scale, -shift));
        sum[r] += x[0] + x[1];
      }
    }
  }

  /// Returns the sum of all exponentials of the thread's row r.
  ZELLIGE_CALL float total(int r) const { return sum_lanes<Scores::lanes_of_line>(sum[r]); }

  /// Sets factor[r] to 1 / sum, where sum is the sum of all exponentials of the thread's row r.
  ZELLIGE_CALL void finish(float (&factor)[Lines]) const {
#pragma unroll
    for (int r = 0; r < Lines; ++r) factor[r] = 1.0f / total(r);
  }
};

}  // namespace zellige
