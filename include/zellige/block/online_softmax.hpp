// OnlineSoftmax: the softmax of rows that are processed in pieces. Each step converts a piece's scores into
// exponentials and returns the factor for earlier accumulators.
//
//   Accumulator<WgmmaOf<half_t, 128>> s;                  // 64 rows of 128 keys' scores
//   OnlineSoftmax<decltype(s)> softmax;
//   for (pieces) { ... softmax.step(s, scale * log2e, factor); /* o *= factor; o += s v */ }
//   softmax.finish(factor);                               // o *= factor: divides by the row sums
//
// Rows are those of the accumulator: a thread has two, half(i) returns the row of s[i], and neighbouring
// lanes share them.
#pragma once
#include <zellige/atom/math.hpp>
#include <zellige/atom/shuffle.hpp>
#include <zellige/block/accumulator.hpp>

namespace zellige {

template <class Scores>
struct OnlineSoftmax {
  static_assert(Scores::at(1, 0).row == Scores::at(0, 0).row && Scores::registers % 2 == 0,
                "OnlineSoftmax: registers lie in pairs along a row");
  float max[2] = {-infinity, -infinity}, sum[2] = {0, 0};  // sum: over this thread's columns

  /// s = exp2(scale * (s - max)), where max is the largest score so far. Set Masked if whole rows may be -inf
  /// up to here: their exponentials are then zeros.
  template <bool Masked = false>
  ZELLIGE_CALL void step(Scores& s, float scale, float (&factor)[2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float m = max[h];
#pragma unroll
      for (int i = 0; i < Scores::registers; i += 2)
        if (Scores::half(i) == h)  // max ignores a NaN, which reappears in the exponentials
          m = max_number(m, max_number(s[i], s[i + 1]));
#pragma unroll
      for (int lanes = 1; lanes < Scores::lanes_of_row; lanes *= 2) m = max_number(m, shfl_xor(m, lanes));
      const float top = Masked && m == -infinity ? 0.0f : m;
      factor[h] = zellige::exp2((max[h] - top) * scale);
      max[h] = m;
      sum[h] *= factor[h];
      const float shift = top * scale;
#pragma unroll
      for (int i = 0; i < Scores::registers; i += 2) {
        if (Scores::half(i) != h) continue;
        s[i] = zellige::exp2(zellige::fma(s[i], scale, -shift));
        s[i + 1] = zellige::exp2(zellige::fma(s[i + 1], scale, -shift));
        sum[h] += s[i] + s[i + 1];
      }
    }
  }

  /// Sets factor to the reciprocal of each row's sum.
  ZELLIGE_CALL void finish(float (&factor)[2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int lanes = 1; lanes < Scores::lanes_of_row; lanes *= 2) sum[h] += shfl_xor(sum[h], lanes);
      factor[h] = 1.0f / sum[h];
    }
  }
};

}  // namespace zellige
