// Computes the softmax of rows whose scores arrive in tiles, as in FlashAttention. A step converts one tile of scores
// to exponentials and returns the factor by which earlier accumulators must be scaled.
//
//   Accumulator<WgmmaOf<half_t, 128>> s;                  // scores of 64 queries (rows) and 128 keys
//   OnlineSoftmax<decltype(s)> softmax;
//   for (key tiles) { ... softmax.step(s, scale * log2e, factor); /* o *= factor; o += s v */ }
//   softmax.finish(factor);                               // o *= factor: divides by the row sums
//
// A thread holds elements of two rows of s, and o has the same rows; factor[s.half(i)] belongs to the row of s[i]. The
// lanes that share a row combine their maxima and sums by shuffles.
#pragma once
#include <zellige/atom/math.hpp>
#include <zellige/atom/shuffle.hpp>
#include <zellige/block/accumulator.hpp>

namespace zellige {

/// Running maximum and sum of exponentials of a thread's two rows. Scores is an Accumulator.
template <class Scores>
struct OnlineSoftmax {
  static_assert(Scores::at(1, 0).row == Scores::at(0, 0).row && Scores::registers % 2 == 0,
                "OnlineSoftmax: registers lie in pairs along a row");
  float max[2] = {-infinity, -infinity}, sum[2] = {0, 0};  // sum: only over this thread's columns

  /// Replaces s by exp2(scale * (s - max)), where max is the row's largest score so far, and adds these exponentials to
  /// the row's sum. Sets factor[h] to the factor by which the accumulators of the thread's row h must be multiplied.
  /// Set Masked if all scores of a row so far may be -inf: their exponentials are then zero, not NaN.
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

  /// Sets factor[h] to 1 / sum, where sum is the sum of all exponentials of the thread's row h.
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
