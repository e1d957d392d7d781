// Defines Unpacked<T>: m16n8k32 of 8-bit floats, executed as two m16n8k16 of halves whose operands are unpacked in
// registers. sm_90 has no mma.sync of 8-bit floats: its compiler converts the operands itself, and adds the two products
// to the accumulators by further instructions.
//
//   using Op = Unpacked<float_e4m3_t>;              // shape and accumulators of mma_row<float_e4m3_t, 32, float>
//   Op::ARegisters a;                               // fragments of the two m16n8k16
//   Op::BRegisters b;
//   Op::unpack(a, packed_a), Op::unpack(b, packed_b);   // of fragments of 8-bit elements, as ldmatrix leaves them
//   mma<Op>(d, a, b);
//
// Halves represent all numbers of both types exactly. The first m16n8k16 multiplies elements 0 to 15 along K, the second
// one 16 to 31; the accumulators are rounded after each. Element 4 i + j of the 16 is element 2 i + j of m16n8k16 if j is
// 0 or 1, and 2 i + j + 6 if it is 2 or 3, in A and B alike. The emulator executes the same two instructions.
#pragma once

#include <zellige/atom/float8.hpp>
#include <zellige/atom/mma.hpp>

namespace zellige {

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
/// Converts the four 8-bit floats of type T in `packed` to halves: the lower two in `low`, the upper two in `high`.
template <class T>
ZELLIGE_CALL void unpack_halves(uint32_t& low, uint32_t& high, uint32_t packed) {
#if defined(__CUDA_ARCH__)
  if constexpr (is_same_v<T, float_e5m2_t>)  // the upper byte of a half
    low = __byte_perm(packed, 0, 0x1404), high = __byte_perm(packed, 0, 0x3424);
  else
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.rn.f16x2.e4m3x2 %0, l; cvt.rn.f16x2.e4m3x2 %1, h; }"
        : "=r"(low), "=r"(high)
        : "r"(packed));
#else
  const auto at = [&](int i) { return float(T::bitcast(static_cast<uint8_t>(packed >> 8 * i))); };
  low = half_t::pack(at(0), at(1)), high = half_t::pack(at(2), at(3));
#endif
}
#endif

/// The matrix instruction of 8-bit floats T (float_e4m3_t or float_e5m2_t) by two of halves. Its name, from which shape and
/// layouts are derived, is that of the instruction of T (mma_traits/names.hpp).
template <class T>
struct Unpacked {
  using Packed = typename mma_row<T, 32, float>::type;
  using Half = SM80_16x8x16_F32F16F16F32_TN;
  using DRegisters = Half::DRegisters;
  using ARegisters = Half::ARegisters[2];
  using BRegisters = Half::BRegisters[2];
  using CRegisters = DRegisters;
  static constexpr const char* name = Packed::name;
#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
  /// Sets `to`, an ARegisters or a BRegisters, to the fragment of Packed in the registers at `from`.
  template <int N>
  ZELLIGE_CALL static void unpack(uint32_t (&to)[2][N], const uint32_t* from) {
    constexpr int rows = N / 2;  // registers of one instruction with equal k
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < rows; ++j) unpack_halves<T>(to[i][j], to[i][rows + j], from[rows * i + j]);
  }
  ZELLIGE_CALL static void call(DRegisters& d, const ARegisters& a, const BRegisters& b) {
    mma<Half>(d, a[0], b[0]);
    mma<Half>(d, a[1], b[1]);
  }
#endif
};

}  // namespace zellige
