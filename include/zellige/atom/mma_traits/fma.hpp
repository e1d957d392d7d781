// Defines the function fma of a warp's matrix instructions, which takes each register as a separate argument, in
// CuTe's order: D, A, B, C. Instruction structs inherit fma from RegisterByRegister.
//
//   SM80_16x8x8_F32TF32TF32F32_TN::fma(d[0], d[1], d[2], d[3], a[0], ..., b[0], b[1], c[0], ..., c[3]);
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige::detail {

/// Number of elements of an array type R; 0 for other types.
template <class R>
inline constexpr int register_count = 0;
template <class T, int N>
inline constexpr int register_count<T[N]> = N;

/// Collects the separate register arguments of fma in the arrays that Op::call takes, and copies the results back.
template <class Op>
struct OperandRegisters {
  static constexpr int nd = register_count<typename Op::DRegisters>;
  static constexpr int na = register_count<typename Op::ARegisters>;
  static constexpr int nb = register_count<typename Op::BRegisters>;
  typename Op::DRegisters d;
  typename Op::ARegisters a;
  typename Op::BRegisters b;

  /// Copies r, argument number I of fma, and `more`, the arguments after it, to the arrays: arguments of A to `a`, of
  /// B to `b`, of C to `d`. Arguments of D are ignored.
  template <int I, class R, class... More>
  ZELLIGE_ANYWHERE void set(R const& r, More const&... more) {
    // Arguments are D, A, B, C. The old values of D are ignored; the accumulators start with C.
    if constexpr (I >= nd + na + nb)
      d[I - nd - na - nb] = r;
    else if constexpr (I >= nd + na)
      b[I - nd - na] = r;
    else if constexpr (I >= nd)
      a[I - nd] = r;
    if constexpr (sizeof...(More) > 0) set<I + 1>(more...);
  }
  /// Writes the accumulators to the arguments of D: accumulator number I to r, the next ones to `more`.
  template <int I, class R, class... More>
  ZELLIGE_ANYWHERE void get(R& r, More&... more) const {
    r = d[I];
    if constexpr (I + 1 < nd) get<I + 1>(more...);
  }
};

/// Base class of instruction Op that adds fma(d..., a..., b..., c...): d = a b + c. On the CPU fma does nothing.
template <class Op>
struct RegisterByRegister {
  template <class... R>
  ZELLIGE_ANYWHERE static void fma([[maybe_unused]] R&&... registers) {
    using All = OperandRegisters<Op>;
    static_assert(sizeof...(R) == 2 * All::nd + All::na + All::nb,
                  "fma takes each register of D, A, B and C of this instruction by itself");
#if defined(__CUDA_ARCH__)
    All all;
    all.template set<0>(registers...);
    Op::call(all.d, all.a, all.b);
    all.template get<0>(registers...);
#endif
  }
};

}  // namespace zellige::detail
