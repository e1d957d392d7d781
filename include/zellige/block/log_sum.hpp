// Computes ln(e^x + e^y + ...) of numbers that several threads have, in one pass over them.
//
//   LogSum sum;                                  // of no numbers
//   for (float x : mine) sum.add(x);             // or of vectors of numbers, which is faster
//   float total = logsumexp_lanes<8>(sum);       // over the 8 lanes that have the same lane / 8
//   auto row = read_logsumexp<1, 4>(tile, 3);    // of 4 such results in shared memory
//
// As in PyTorch, the result is -inf of minus infinities alone, inf if a number is infinite, and NaN if one is NaN.
#pragma once
#include <zellige/block/reduce.hpp>
#include <zellige/block/tile.hpp>

namespace zellige {

/// A sum of exponentials: e^maximum * sum. `maximum`, the maximum of the exponents, is a finite number even if they are
/// infinite, so that no difference from it is NaN.
template <class T>
struct LogSumOf {
  static constexpr T highest = sizeof(T) == 8 ? T(0x1.fffffffffffffp1023) : T(3.4028234664e38f);
  T maximum = -highest, sum = 0;

  /// Replaces `maximum` by m, which is not below it. An infinite m counts as the highest finite number.
  ZELLIGE_CALL void raise(T m) {
    m = min(m, highest);
    sum *= exp(maximum - m);
    maximum = m;
  }
  /// Adds e^x, where x is not above a number to which `maximum` was raised.
  ZELLIGE_CALL void add_below(T x) { sum += exp(x - maximum); }
  /// Adds e^x.
  ZELLIGE_CALL void add(T x) {
    const bool above = x > maximum;
    const T top = above ? min(x, highest) : maximum, e = exp((above ? maximum : x) - top);
    sum = above ? sum * e + (T(1) + (x - top)) : sum + e;  // e^(x - top) is 1, or infinite as x - top is
    maximum = top;
  }
  /// Adds e^x of each element. This takes one exponential more than there are elements.
  template <int N>
  ZELLIGE_CALL void add(const Vec<T, N>& x) {
    T top = maximum;
#pragma unroll
    for (int i = 0; i < N; ++i) top = max(top, x[i]);
    raise(top);
#pragma unroll
    for (int i = 0; i < N; ++i) add_below(x[i]);
  }
  /// Returns the logarithm of the sum.
  ZELLIGE_CALL T value() const { return maximum + log(sum); }
};
using LogSum = LogSumOf<float>;

/// Returns the logarithm of all sums of this lane's group: `Lanes` lanes (a power of two) at a stride of `Step` lanes.
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T logsumexp_lanes(LogSumOf<T> x) {
  if constexpr (Lanes > 1) {
    x.raise(max_lanes<Lanes, Step>(x.maximum));
    x.sum = sum_lanes<Lanes, Step>(x.sum);
  }
  return x.value();
}
/// Returns logsumexp_lanes(x). `result` identifies the result, as for sum_lanes.
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T logsumexp_lanes(const LogSumOf<T>& x, int result) {
  check_lanes<Lanes, Step>(result, "logsumexp_lanes");
  return logsumexp_lanes<Lanes, Step>(x);
}

/// Returns N adjacent elements, each ln(e^x + e^y + ...) of its `Parts` partial results x, y, ..., like read_sum.
template <int N, int Parts, class Pointer, class Layout, class... Coordinate>
ZELLIGE_CALL auto read_logsumexp(const AddressTile<Pointer, Layout>& tile, Coordinate... c) {
  check_parts<Parts>(tile);
  using Read = decltype(read<N>(tile(0, c...)));
  using T = decltype(Read{}[0] + Read{}[0]);
  Read parts[Parts];
#pragma unroll
  for (int p = 0; p < Parts; ++p) parts[p] = read<N>(tile(p, c...));
  auto result = parts[0];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    Vec<T, Parts> column;
#pragma unroll
    for (int p = 0; p < Parts; ++p) column[p] = parts[p][i];
    LogSumOf<T> all;
    all.add(column);
    result[i] = all.value();
  }
  return result;
}

}  // namespace zellige
