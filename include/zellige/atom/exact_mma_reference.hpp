// Matrix instructions as an H200's tensor cores accumulate them, bit for bit: the products of an instruction and the accumulator are aligned to
// the greatest exponent among them, each is cut after 25 bits of fraction, their addition is exact, and it is cut to a float. Of numbers of 8 bits,
// wgmma keeps 13 bits of fraction, also in the result. tests/cuda/programs/exact.cu has what an H200 answered.
#pragma once
#include <cmath>

#include "zellige/atom/mma_reference.hpp"

namespace zellige::reference {

inline bool is_float8(Number x) { return x == Number::e4m3 || x == Number::e5m2; }

/// Returns whether exact_mma knows how the hardware adds the products of an instruction.
inline bool has_exact_sums(const Instruction& row) {
  if (is_float8(row.a.number) && is_float8(row.b.number)) return row.issuers == 128 && row.c.number == Number::f32;
  const auto known = [](Number x) { return x == Number::f16 || x == Number::bf16 || x == Number::tf32; };
  return known(row.a.number) && known(row.b.number) && (row.c.number == Number::f32 || row.c.number == Number::f16);
}

/// Returns the bits of fraction below the greatest exponent that a tensor core keeps of each product.
inline int kept_bits(const Instruction& row) { return is_float8(row.a.number) ? 13 : 25; }

/// Returns the exponent of a number's leading bit; numbers below the smallest normal one of its type have that one's.
inline int exponent_of(double x, int smallest) {
  const int e = std::ilogb(x);
  return e < smallest ? smallest : e;
}
inline int smallest_exponent(Number x) {
  return x == Number::e4m3 ? -6 : x == Number::f16 || x == Number::e5m2 ? -14 : -126;
}

/// Returns the float that x is cut to, towards zero.
inline float cut_to_float(double x) {
  const float f = static_cast<float>(x);
  return std::isfinite(f) && std::fabs(static_cast<double>(f)) > std::fabs(x) ? std::nextafterf(f, 0.0f) : f;
}

/// Returns c plus the sum of k products as the hardware adds them; a and b are `step` elements from one to the next.
inline double exact_sum(double c, const double* a, int a_step, const double* b, int b_step, int k,
                        const Instruction& row) {
  const int smallest_a = smallest_exponent(row.a.number), smallest_b = smallest_exponent(row.b.number);
  int greatest = -10000;
  double unscaled = c;
  for (int l = 0; l < k; ++l) {
    const double x = a[l * a_step], y = b[l * b_step];
    unscaled += x * y;
    if (x == 0 || y == 0) continue;
    const int e = exponent_of(x, smallest_a) + exponent_of(y, smallest_b);
    if (e > greatest) greatest = e;
  }
  if (!std::isfinite(unscaled) || greatest == -10000) return unscaled + 0.0;  // a zero is never negative
  if (c != 0) {
    const int e = exponent_of(c, smallest_exponent(row.c.number));
    if (e > greatest) greatest = e;
  }
  const int kept = kept_bits(row);
  double sum = std::trunc(std::ldexp(c, kept - greatest));
  for (int l = 0; l < k; ++l) sum += std::trunc(std::ldexp(a[l * a_step] * b[l * b_step], kept - greatest));
  if (is_float8(row.a.number) && sum != 0) {
    const int more = std::ilogb(sum) - kept;  // bits beyond those that the result keeps
    if (more > 0) sum = std::ldexp(std::trunc(std::ldexp(sum, -more)), more);
  }
  return std::ldexp(sum, greatest - kept) + 0.0;
}

/// Executes the matrix instruction that descriptor `row` describes, as mma() does, with the hardware's accumulation.
inline void exact_mma(const Instruction& row, const BodyOperands& operands) {
  const int m = row.m, n = row.n, k = row.k;
  static thread_local const Matrices matrices;
  auto& [a, b, d] = *matrices.room;
  const Offsets<128> issuers(issuing_threads(row.issuers == 128 ? Issuer::warpgroup : Issuer::warp).threads);
  const auto lane = [&](int t) { return issuers.at[t]; };
  gather(row.a, m, k, operands.a, lane, a);
  gather(row.b, n, k, operands.b, lane, b);
  if (operands.sign < 0)
    for (int i = 0; i < n * k; ++i) b[i] = -b[i];
  if (operands.c)
    gather(row.c, m, n, operands.c, lane, d);
  else
    for (int i = 0; i < m * n; ++i) d[i] = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) d[i + m * j] = exact_sum(d[i + m * j], a + i, m, b + j, n, k, row);
  if (row.c.number == Number::f16)
    deal<half_t>(row.c, d, operands.d, lane, [](double x) { return half_t(round_to_odd(x)); });
  else
    deal<float>(row.c, d, operands.d, lane, [](double x) { return cut_to_float(x); });
}

}  // namespace zellige::reference
