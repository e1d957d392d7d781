// SM90::GMMA::Mma: all dense warpgroup matrix instructions (wgmma) as one template. M is 64, N is a multiple of
// 8 up to 256, and K is 32 bytes of elements.
//
//   using Op = SM90::GMMA::Mma<128, Number::f32, Number::f16, Number::f16>;  A, B in shared memory, K-major
//   make_tiled_mma(Op{}, Layout<Shape<_2,_1,_1>>{})                              two warpgroups along M
//
// A may be in registers. Operands in shared memory may be K-major or, if their elements have 16 bits, MN-major.
// gmma_names.hpp and gmma_names_ext.hpp define CuTe's names of these instructions.
#pragma once

#include <zellige/atom/gmma_descriptor_word.hpp>
#include <zellige/atom/mma_traits/table.hpp>
#include <zellige/atom/number_type.hpp>

namespace zellige::SM90::GMMA {

using zellige::Major;
/// The accumulator scale of an instruction: whether it adds to d or overwrites it.
enum class ScaleOut { Zero = 0, One = 1 };  // d = a * b, or d += a * b
/// The sign of operand A or B: Neg negates the operand.
enum class ScaleIn { Neg = -1, One = 1 };
/// The swizzle of an operand in shared memory, as encoded in its descriptor.
enum class LayoutType : unsigned char { INTERLEAVE = 0, B128 = 1, B64 = 2, B32 = 3 };

/// Issues one wgmma of type Op. `registers` are the arguments of Op::fma, each register a separate argument. Defined
/// in gmma_call.hpp.
template <class Op, class... R>
ZELLIGE_ANYWHERE void fma_registers(R&... registers);

/// The wgmma d += a b (or d = a b) of shape 64 x N x (256 / bits of A). The template arguments are N, the
/// number types of D, A and B, whether A is in registers, the major order and the sign of A and B, and whether
/// integer accumulators saturate.
template <int N, Number D, Number A, Number B, bool a_in_registers = false, Major major_a = Major::K,
          Major major_b = Major::K, ScaleIn scale_a = ScaleIn::One, ScaleIn scale_b = ScaleIn::One,
          bool saturate = false>
struct Mma {
  static constexpr bool warpgroup_tag = true;
  static constexpr int n = N, k = 256 / bits_of(A);
  static constexpr Major a_major = major_a;
  static constexpr Major b_major = major_b;
  static constexpr ScaleIn a_scale = scale_a;
  static constexpr ScaleIn b_scale = scale_b;
  static constexpr bool a_registers = a_in_registers;
  static constexpr bool saturates = saturate;

  // Of one thread: the descriptor of A or its registers, the descriptor of B, and the accumulators (two f16 per
  // register).
  using DRegisters = void;
  using ARegisters = conditional_t<a_in_registers, uint32_t[4], uint64_t[1]>;
  using BRegisters = uint64_t[1];
  using CRegisters = conditional_t<D == Number::f32, float[N / 2], uint32_t[D == Number::f16 ? N / 4 : N / 2]>;
  using TypeD = number_t<D>;
  using TypeA = number_t<A>;
  using TypeB = number_t<B>;
  /// Issues the instruction: fma(a..., b, c..., scale_D), with each register as a separate argument, as in
  /// CuTe.
  template <class... R>
  ZELLIGE_ANYWHERE static void fma(R&&... registers) {
    fma_registers<Mma>(registers...);
  }

  /// Returns the instruction's descriptor.
  ZELLIGE_ALGEBRA static constexpr MmaRow row() {
    MmaRow r{90, 64, N, short(k), D, A, B, D, Issuer::warpgroup};
    r.a_from_smem = !a_in_registers;
    if (saturate) r.ending = MmaRow::Ending::saturate;
    return r;
  }
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "GMMA: N is a multiple of 8 from 8 to 256");
  static_assert(N % 8 != 0 || detail::warpgroup_n(D, N), "GMMA: with integers N is 8, 24 or a multiple of 16");
  static_assert(bits_of(A) == 16 || (major_a == Major::K && major_b == Major::K),
                "GMMA: only 16-bit operands may be MN-major");
  static_assert(!a_in_registers || major_a == Major::K, "GMMA: an A operand in registers is K-major");
};

/// The wgmma of 8-bit integers, with 32-bit integer accumulators.
template <int N, Number A, Number B, bool a_in_registers, bool saturate>
using IntegerMma = Mma<N, Number::s32, A, B, a_in_registers, Major::K, Major::K, ScaleIn::One, ScaleIn::One, saturate>;

/// named_t<I> is the class with CuTe's name for instruction I, if an included header (gmma_names.hpp,
/// gmma_names_ext.hpp) defines one; else I.
template <class Instruction>
struct named {
  using type = Instruction;
};
template <class Instruction>
using named_t = typename named<Instruction>::type;

/// A warpgroup instruction: Mma, or a named class derived from it.
template <class Op>
concept warpgroup_operation = requires {
  Op::warpgroup_tag;
};

}  // namespace zellige::SM90::GMMA

namespace zellige {
namespace GMMA = SM90::GMMA;
}
