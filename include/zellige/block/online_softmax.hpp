// The running softmax of rows that come piece by piece: each step makes exponentials of a piece's scores and says
// by what earlier sums and products are to be multiplied.
//
//   OnlineSoftmax<64> softmax;                            // 64 scores a thread: 64 x 128 keys of a warpgroup
//   for (pieces) { ... softmax.step(s, scale * log2e, factor); /* o *= factor; o += s v */ }
//   softmax.finish(factor);                               // o *= factor: divided by the sums
//
// Rows are those of MMA accumulators: a thread has two, 8 apart, s[i] belonging to row i / 2 % 2; the four lanes of a
// quad share them.
#pragma once
#include <zellige/atom/math.hpp>
#include <zellige/atom/shuffle.hpp>

namespace zellige {

template <int N>
struct OnlineSoftmax {
  float max[2] = {-__builtin_inff(), -__builtin_inff()}, sum[2] = {0, 0};  // sum: of this thread's columns

  /// s = exp2(scale * (s - max)), max being the largest score so far. Where whole rows may be -inf up to here, because
  /// they are masked, say so: their exponentials are then zeros.
  template <bool Masked = false>
  ZELLIGE_CALL void step(float (&s)[N], float scale, float (&factor)[2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float m = max[h];
#pragma unroll
      for (int i = 2 * h; i < N; i += 4) m = fmax_fast(m, fmax_fast(s[i], s[i + 1]));
      m = fmax_fast(m, shfl_xor(m, 1));
      m = fmax_fast(m, shfl_xor(m, 2));
      const float top = Masked && m == -__builtin_inff() ? 0.0f : m;
      factor[h] = zellige::exp2((max[h] - top) * scale);
      max[h] = m;
      sum[h] *= factor[h];
      const float shift = top * scale;
#pragma unroll
      for (int i = 2 * h; i < N; i += 4) {
        s[i] = zellige::exp2(zellige::fma(s[i], scale, -shift));
        s[i + 1] = zellige::exp2(zellige::fma(s[i + 1], scale, -shift));
        sum[h] += s[i] + s[i + 1];
      }
    }
  }

  /// One over each row's sum.
  ZELLIGE_CALL void finish(float (&factor)[2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      sum[h] += shfl_xor(sum[h], 1);
      sum[h] += shfl_xor(sum[h], 2);
      factor[h] = 1.0f / sum[h];
    }
  }

 private:
  /// One instruction; a NaN gives way, and shows again in the exponentials.
  ZELLIGE_CALL static float fmax_fast(float x, float y) { return __builtin_fmaxf(x, y); }
};

}  // namespace zellige
