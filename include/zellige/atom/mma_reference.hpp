// Implements every matrix instruction (mma.sync and wgmma) on the CPU: d = a b + c for all threads of a warp, quad
// pair or warpgroup. The emulator runs it and the tests compare GPUs with it. It uses only the instruction's
// descriptor: shape, number types and thread-value layouts. Host code only.
//
//   floats       products are exact; they are added to c in double, k ascending, and rounded once, to nearest even,
//                to the accumulator's type
//   double       one fused multiply-add after another, k ascending
//   integers     exact; the result wraps to 32 bits or, if the instruction saturates, is clamped to int32
//   single bits  the number of set bits of a xor b, or of a and b, added to c
//
// A GPU computes float results differently: it aligns the addends and truncates low bits, in an undocumented order.
// Its f32 results are within (K + 1) * 2^-22 of the largest addend; f16 results have one more f16 rounding. For 8-bit
// floats it keeps 13 bits.
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/float8.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/instruction.hpp>
#include <zellige/atom/tfloat32.hpp>

namespace zellige::reference {

/// Returns x rounded to odd: x itself if it is a float, otherwise the one of the two adjacent floats whose last bit is
/// 1. Rounding the result again to fewer bits, such as f16, then gives the same as rounding x once.
inline float round_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
  if (static_cast<double>(nearest) == x || nearest != nearest || bits % 2 == 1) return nearest;
  const bool above = __builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(x);
  return __builtin_bit_cast(float, above ? bits - 1 : bits + 1);
}
/// Returns the integer x as an int32. If x is out of range, it is clamped if `saturate`, otherwise taken modulo 2^32.
inline int32_t cut(double x, bool saturate) {
  if (saturate) x = x > 0x7fffffff ? 0x7fffffff : x < -0x1p31 ? -0x1p31 : x;
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(x)));
}

/// Table of the offsets of a layout: at[i] is the offset of index i, for i < count <= Most. If `unit` is not 1, only
/// every unit-th index of the first mode is listed.
template <int Most>
struct Offsets {
  int count = 1, at[Most];
  explicit Offsets(const ThreadValue::Mode (&modes)[ThreadValue::max_modes], int unit = 1) {
    at[0] = 0;
    for (const ThreadValue::Mode& m : modes) {
      const bool first = &m == modes;
      const int shape = first ? m.shape / unit : m.shape, stride = first ? m.stride * unit : m.stride;
      for (int i = 1; i < shape; ++i)
        for (int j = 0; j < count; ++j) at[i * count + j] = at[j] + i * stride;
      if (shape > 0) count *= shape;
    }
  }
};

/// Returns element number v of the array of T to which `from` points, as a double.
template <class T>
double value_at(const void* from, int v) {
  T x;
  __builtin_memcpy(static_cast<void*>(&x), static_cast<const T*>(from) + v, sizeof(T));
  if constexpr (requires { typename T::narrow_float_tag; })
    return static_cast<float>(x);
  else
    return static_cast<double>(x);
}
/// Returns element number v of the packed array of Bits-bit integers to which `from` points. The first element is in
/// the lowest bits.
template <int Bits, bool Signed>
double bits_at(const void* from, int v) {
  const unsigned raw = static_cast<const unsigned char*>(from)[v * Bits / 8] >> (v * Bits % 8) & ((1u << Bits) - 1);
  return static_cast<int>(raw) - (Signed && raw >> (Bits - 1) ? 1 << Bits : 0);
}

/// Writes operand `o`, a (rows, depth) matrix, as doubles to the column-major array `to`. If the operand is in
/// registers, from[lane(t)] points to the registers of thread t of the instruction, and at(pointer, v) decodes value
/// v in these. lane(t) is that thread's index in the warp or warpgroup. If the operand is in shared memory, from[0]
/// points to a row-major array.
template <class Lane, class At>
void gather(const Instruction::Operand& o, int rows, int depth, const void* const* from, Lane lane, double* to, At at) {
  if (o.space == Instruction::Space::smem) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < depth; ++c) to[r + rows * c] = at(from[0], r * depth + c);
    return;
  }
  const Offsets<128> threads(o.layout.threads), values(o.layout.values);
  for (int t = 0; t < threads.count; ++t) {
    const void* const mine = from[lane(t)];
    double* const first = to + threads.at[t];
    for (int v = 0; v < values.count; ++v) first[values.at[v]] = at(mine, v);
  }
}
/// Writes operand `o`, a (rows, depth) matrix, as doubles to the column-major array `to`. from[lane(t)] points to the
/// registers of thread t of the instruction; lane(t) is that thread's index in the warp or warpgroup. Throws if
/// matrix instructions have no operands of o's number type.
template <class Lane>
void gather(const Instruction::Operand& o, int rows, int depth, const void* const* from, Lane lane, double* to) {
  const auto take = [&](auto at) { gather(o, rows, depth, from, lane, to, at); };
  switch (o.number) {
    case Number::f16:
      return take([](const void* p, int v) { return value_at<half_t>(p, v); });
    case Number::bf16:
      return take([](const void* p, int v) { return value_at<bfloat16_t>(p, v); });
    case Number::tf32:
      return take([](const void* p, int v) { return value_at<tfloat32_t>(p, v); });
    case Number::f32:
      return take([](const void* p, int v) { return value_at<float>(p, v); });
    case Number::f64:
      return take([](const void* p, int v) { return value_at<double>(p, v); });
    case Number::e4m3:
      return take([](const void* p, int v) { return value_at<float_e4m3_t>(p, v); });
    case Number::e5m2:
      return take([](const void* p, int v) { return value_at<float_e5m2_t>(p, v); });
    case Number::s32:
      return take([](const void* p, int v) { return value_at<int32_t>(p, v); });
    case Number::s8:
      return take([](const void* p, int v) { return value_at<int8_t>(p, v); });
    case Number::u8:
      return take([](const void* p, int v) { return value_at<uint8_t>(p, v); });
    case Number::s4:
      return take([](const void* p, int v) { return bits_at<4, true>(p, v); });
    case Number::u4:
      return take([](const void* p, int v) { return bits_at<4, false>(p, v); });
    case Number::u1:
      return take([](const void* p, int v) { return bits_at<1, false>(p, v); });
    default:
      throw "no operand of a matrix instruction holds such numbers";
  }
}
/// Writes the column-major matrix `from` to the registers of the instruction's threads, as numbers of type T.
/// to[lane(t)] points to the registers of thread t of the instruction; lane(t) is that thread's index in the warp or
/// warpgroup. o.layout says which elements a thread holds. `round` converts a double to T.
template <class T, class Lane, class Round>
void deal(const Instruction::Operand& o, const double* from, void* const* to, Lane lane, Round round) {
  const Offsets<128> threads(o.layout.threads), values(o.layout.values);
  for (int t = 0; t < threads.count; ++t) {
    T* const mine = static_cast<T*>(to[lane(t)]);
    const double* const first = from + threads.at[t];
    for (int v = 0; v < values.count; ++v) {
      const T x = round(first[values.at[v]]);
      __builtin_memcpy(static_cast<void*>(mine + v), static_cast<const void*>(&x), sizeof(T));
    }
  }
}

/// A SIMD vector of two doubles: two adjacent rows of a matrix.
using Pair = double __attribute__((vector_size(16), may_alias));

/// Accumulates the matmul of a (m, k) and b (n, k) in `sums` (m, n). For each k in ascending order, sets sums =
/// f(sums, a(:, k), b(n, k)); one call of f handles two rows. Matrices are column-major, and m is a multiple of 8.
template <class F>
void add_products(int m, int n, int k, const double* a, const double* b, double* sums, F f) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; i += 8) {
      Pair* const to = reinterpret_cast<Pair*>(sums + i + m * j);
      Pair s0 = to[0], s1 = to[1], s2 = to[2], s3 = to[3];
      for (int l = 0; l < k; ++l) {
        const Pair* const x = reinterpret_cast<const Pair*>(a + i + m * l);
        const double y = b[j + n * l];
        s0 = f(s0, x[0], y), s1 = f(s1, x[1], y), s2 = f(s2, x[2], y), s3 = f(s3, x[3], y);
      }
      to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
    }
}

/// Buffers for A, B and D of the largest instruction, one set per host thread. They are on the heap, because a library
/// loaded at run time has little thread-local memory.
struct Matrices {
  struct Room {
    alignas(16) double a[16 * 256], b[256 * 32], d[64 * 256];
  };
  Room* const room = new Room;
  Matrices() = default;
  Matrices(const Matrices&) = delete;
  ~Matrices() { delete room; }
};

/// Executes the matrix instruction that descriptor `row` describes, for all its threads: operands.d = a b + c, or
/// c - a b if operands.sign is negative. A null operands.c means zeros.
inline void mma(const Instruction& row, const BodyOperands& operands) {
  const int m = row.m, n = row.n, k = row.k;
  static thread_local const Matrices matrices;
  auto& [a, b, d] = *matrices.room;
  const Offsets<128> issuers(issuing_threads(row.issuers == 8     ? Issuer::quad_pair
                                             : row.issuers == 128 ? Issuer::warpgroup
                                                                  : Issuer::warp)
                                 .threads);
  for (int group = 0; group < (row.issuers == 8 ? 4 : 1); ++group) {
    const auto lane = [&](int t) { return issuers.at[t] + 4 * group; };
    gather(row.a, m, k, operands.a, lane, a);
    gather(row.b, n, k, operands.b, lane, b);
    if (operands.sign < 0)
      for (int i = 0; i < n * k; ++i) b[i] = -b[i];
    if (operands.c)
      gather(row.c, m, n, operands.c, lane, d);
    else
      for (int i = 0; i < m * n; ++i) d[i] = 0;
    if (row.ending == MmaEnding::xor_popc)
      add_products(m, n, k, a, b, d, [](Pair s, Pair x, double y) { return s + (x - y) * (x - y); });
    else if (row.c.number == Number::f64)
      add_products(m, n, k, a, b, d, [](Pair s, Pair x, double y) {
        return Pair{__builtin_fma(x[0], y, s[0]), __builtin_fma(x[1], y, s[1])};
      });
    else
      add_products(m, n, k, a, b, d, [](Pair s, Pair x, double y) { return s + x * y; });
    const auto same = [](double x) { return x; };
    const bool saturate = row.ending == MmaEnding::saturate;
    switch (row.c.number) {
      case Number::f16:
        deal<half_t>(row.c, d, operands.d, lane, [](double x) { return half_t(round_to_odd(x)); });
        break;
      case Number::f32:
        deal<float>(row.c, d, operands.d, lane, same);
        break;
      case Number::f64:
        deal<double>(row.c, d, operands.d, lane, same);
        break;
      default:
        deal<int32_t>(row.c, d, operands.d, lane, [&](double x) { return cut(x, saturate); });
    }
  }
}

}  // namespace zellige::reference
