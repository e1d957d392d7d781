// What a warp MMA computes, as a pure function of the operands of its 32 threads: the definition that the
// emulator runs, the tests examine and the hardware is compared with. Fragments are decoded by the row's
// layouts. Host code only.
#pragma once

#include <zellige/atom/config.hpp>
#include <zellige/atom/sm80.hpp>

namespace zellige {

/// The row of that name; asking for one that does not exist is an error of compilation where the name is a
/// constant.
constexpr const Instruction& instruction(const char* name) {
  for (const Instruction& row : sm80_instructions) {
    int i = 0;
    while (name[i] != 0 && name[i] == row.name[i]) ++i;
    if (name[i] == row.name[i]) return row;
  }
  throw "there is no instruction of this name";
}

namespace reference {

/// Coordinates of a whole fragment, evaluated once: index[thread][value].
template <int Threads, int Values>
struct Decoded {
  uint16_t index[Threads][Values];
};
template <int Threads, int Values>
constexpr Decoded<Threads, Values> decode(const ThreadValue& layout) {
  Decoded<Threads, Values> result{};
  for (int t = 0; t < Threads; ++t)
    for (int v = 0; v < Values; ++v) result.index[t][v] = static_cast<uint16_t>(layout(t, v));
  return result;
}

/// Colexicographic coordinates of (M, N) counted row by row instead.
template <int M, int N, int Threads, int Values>
constexpr Decoded<Threads, Values> row_major(Decoded<Threads, Values> decoded) {
  for (auto& thread : decoded.index)
    for (uint16_t& at : thread) at = static_cast<uint16_t>(at % M * N + at / M);
  return decoded;
}

/// What one thread brings to an MMA, and what it takes away.
template <class Row>
struct MmaOperands {
  typename Row::ARegisters a;
  typename Row::BRegisters b;
  typename Row::DRegisters c;
};
template <class Row>
struct MmaResult {
  typename Row::DRegisters d;
};

template <class T, int N, class Registers>
void values_of(const Registers& registers, T (&values)[N]) {
  static_assert(sizeof(values) == sizeof(registers));
  __builtin_memcpy(values, registers, sizeof(values));
}

/// The float nearest to x, or, where x lies between two, the one whose last bit is 1: rounding that to fewer
/// bits gives what rounding x at once would.
inline float round_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
  if (static_cast<double>(nearest) == x || nearest != nearest || bits % 2 == 1) return nearest;
  const bool above = __builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(x);
  return __builtin_bit_cast(float, above ? bits - 1 : bits + 1);
}

/// Two columns at once, spelt out: emulated kernels are compiled at a level that vectorises nothing by
/// itself.
using Pair = double __attribute__((vector_size(16), may_alias));

/// d = a b + c. Products are exact; they are added to c in double, k ascending, and rounded once, to nearest
/// even, to the accumulator's type. The hardware aligns the addends and cuts off low bits instead, in an
/// order it does not tell: within (K + 1) * 2^-22 of the largest addend for f32, one f16 rounding more for
/// f16.
template <class Row>
[[gnu::noinline]] void mma(const MmaOperands<Row>* in, MmaResult<Row>* out) {
  using T = typename Row::Element;
  using D = typename Row::Accumulator;
  constexpr const Instruction& row = instruction(Row::name);
  constexpr int M = row.m, N = row.n, K = row.k;
  constexpr int av = row.a.layout.value_count(), bv = row.b.layout.value_count(),
                cv = row.c.layout.value_count();
  static constexpr auto at_a = decode<32, av>(row.a.layout);
  static constexpr auto at_b = decode<32, bv>(row.b.layout);
  static constexpr auto at_c = row_major<M, N>(decode<32, cv>(row.c.layout));
  static_assert(N == 8);

  double a[K * M];  // colexicographic in (M, K), as the layout counts
  alignas(16) double b[K * N];
  alignas(16) double d[M * N];  // row by row
  for (int t = 0; t < 32; ++t) {
    T va[av], vb[bv];
    D vc[cv];
    values_of(in[t].a, va);
    values_of(in[t].b, vb);
    values_of(in[t].c, vc);
    for (int v = 0; v < av; ++v) a[at_a.index[t][v]] = static_cast<float>(va[v]);
    for (int v = 0; v < bv; ++v) b[at_b.index[t][v]] = static_cast<float>(vb[v]);
    for (int v = 0; v < cv; ++v) d[at_c.index[t][v]] = static_cast<float>(vc[v]);
  }
  for (int m = 0; m < M; ++m) {
    Pair* const line = reinterpret_cast<Pair*>(d + m * N);
    Pair sum0 = line[0], sum1 = line[1], sum2 = line[2], sum3 = line[3];
    for (int k = 0; k < K; ++k) {
      const Pair* const factor = reinterpret_cast<const Pair*>(b + k * N);
      const double x = a[k * M + m];
      sum0 += factor[0] * x;
      sum1 += factor[1] * x;
      sum2 += factor[2] * x;
      sum3 += factor[3] * x;
    }
    line[0] = sum0;
    line[1] = sum1;
    line[2] = sum2;
    line[3] = sum3;
  }
  for (int t = 0; t < 32; ++t) {
    D vd[cv];
    for (int v = 0; v < cv; ++v) {
      const double sum = d[at_c.index[t][v]];
      if constexpr (sizeof(D) == 4)
        vd[v] = static_cast<float>(sum);
      else
        vd[v] = D(round_to_odd(sum));
    }
    __builtin_memcpy(out[t].d, vd, sizeof(vd));
  }
}

}  // namespace reference
}  // namespace zellige
