// What wgmma computes, as a pure function of its operands' elements and the accumulators of its 128 threads:
// the definition that the emulator runs, the tests examine and the hardware is compared with. Host code only.
#pragma once

#include <zellige/atom/mma_reference.hpp>
#include <zellige/atom/wgmma_type.hpp>

namespace zellige::reference {

/// The element of the 64 x N result that thread t holds as its v-th value.
struct WgmmaElement {
  int row, column;
};
constexpr WgmmaElement wgmma_element(int t, int v) {
  return {16 * (t / 32) + t % 32 / 4 + 8 * (v / 2 % 2), 8 * (v / 4) + 2 * (t % 4) + v % 2};
}

/// The element of the 64 x K first operand that is the i-th of thread t's register r; `per` to a register.
constexpr WgmmaElement wgmma_operand_element(int t, int r, int i, int per) {
  return {16 * (t / 32) + t % 32 / 4 + 8 * (r % 2), r / 2 * 4 * per + per * (t % 4) + i};
}

template <class T>
inline constexpr bool is_integer_operand = false;
template <>
inline constexpr bool is_integer_operand<int8_t> = true;
template <>
inline constexpr bool is_integer_operand<uint8_t> = true;

/// The accumulators' numbers: halves come two to a register.
template <class D>
struct wgmma_number {
  using type = D;
};
template <>
struct wgmma_number<uint32_t> {
  using type = half_t;
};

/// d[t] = a b + c[t], where c[t] and d[t] are thread t's registers of type D: a is 64 x k, b n x k, both row
/// by row. Products are exact; they are added to c in double, k ascending, and rounded once, to nearest even,
/// to the accumulators' type. The hardware aligns the addends and cuts off low bits instead; of 8-bit floats
/// it keeps fewer. Integers are exact, modulo 2^32 or saturated.
template <class T, class U, class D, bool Saturate = false>
[[gnu::noinline]] void wgmma(int n, int k, const T* a, const U* b, const void* const* c, void* const* d,
                             bool accumulate, int sign_a, int sign_b) {
  using Number = typename wgmma_number<D>::type;
  const auto number = [](auto x) {
    if constexpr (is_integer_operand<T>)
      return static_cast<double>(static_cast<int>(x));
    else
      return static_cast<double>(static_cast<float>(x));
  };
  double* const right = new double[static_cast<unsigned>(n * k)];  // k x n
  double* const sum = new double[static_cast<unsigned>(64 * n)];
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < k; ++i) right[i * n + j] = sign_b * number(b[j * k + i]);
  for (int t = 0; t < 128; ++t) {
    for (int v = 0; v < n / 2; ++v) {
      const WgmmaElement at = wgmma_element(t, v);
      Number before{};
      __builtin_memcpy(static_cast<void*>(&before), static_cast<const Number*>(c[t]) + v, sizeof(before));
      sum[at.row * n + at.column] = accumulate ? static_cast<double>(before) : 0.0;
    }
  }
  for (int m = 0; m < 64; ++m) {
    for (int i = 0; i < k; ++i) {
      const double x = sign_a * number(a[m * k + i]);
      Pair* const line = reinterpret_cast<Pair*>(sum + m * n);
      const Pair* const factor = reinterpret_cast<const Pair*>(right + i * n);
      for (int j = 0; j < n / 2; j += 4) {
        line[j] += factor[j] * x;
        line[j + 1] += factor[j + 1] * x;
        line[j + 2] += factor[j + 2] * x;
        line[j + 3] += factor[j + 3] * x;
      }
    }
  }
  for (int t = 0; t < 128; ++t) {
    for (int v = 0; v < n / 2; ++v) {
      const WgmmaElement at = wgmma_element(t, v);
      const double x = sum[at.row * n + at.column];
      Number after;
      if constexpr (sizeof(Number) == 2)
        after = Number(round_to_odd(x));
      else if constexpr (is_integer_operand<T>)
        after = static_cast<Number>(!Saturate        ? static_cast<int64_t>(x)
                                    : x > 0x7fffffff ? 0x7fffffff
                                    : x < -0x1p31    ? -0x80000000LL
                                                     : static_cast<int64_t>(x));
      else
        after = static_cast<Number>(x);
      __builtin_memcpy(static_cast<Number*>(d[t]) + v, static_cast<const void*>(&after), sizeof(after));
    }
  }
  delete[] right;
  delete[] sum;
}

}  // namespace zellige::reference
