// Defines wgmma_type<T, U, D>, which has the string that selects the types in wgmma's inline PTX: operands of types T
// and U, accumulator registers of type D. It is undefined if wgmma does not exist for these types. Also defines the
// other strings of which the inline PTX consists.
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/float8.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/tfloat32.hpp>

namespace zellige {

/// The contiguous dimension of a shared-memory operand: K, or the other one (M of A, N of B).
enum class Major : uint8_t { K = 0, MN = 1 };

/// One combination of types: `text` is PTX's K extent and types of D, A and B, as in "16.f32.f16.f16"; `packed` is the
/// number of accumulators per register.
template <class T, class U, class D>
struct wgmma_type;  // not a combination of operands T, U and accumulator registers D

#define ZELLIGE_WGMMA_TYPE(T, U, D, numbers, ptx) \
  template <>                                     \
  struct wgmma_type<T, U, D> {                    \
    static constexpr int packed = numbers;        \
    static constexpr char text[] = ptx;           \
  };
ZELLIGE_WGMMA_TYPE(half_t, half_t, float, 1, "16.f32.f16.f16")
ZELLIGE_WGMMA_TYPE(half_t, half_t, uint32_t, 2, "16.f16.f16.f16")
ZELLIGE_WGMMA_TYPE(bfloat16_t, bfloat16_t, float, 1, "16.f32.bf16.bf16")
ZELLIGE_WGMMA_TYPE(tfloat32_t, tfloat32_t, float, 1, "8.f32.tf32.tf32")
ZELLIGE_WGMMA_TYPE(float_e4m3_t, float_e4m3_t, float, 1, "32.f32.e4m3.e4m3")
ZELLIGE_WGMMA_TYPE(float_e4m3_t, float_e5m2_t, float, 1, "32.f32.e4m3.e5m2")
ZELLIGE_WGMMA_TYPE(float_e5m2_t, float_e4m3_t, float, 1, "32.f32.e5m2.e4m3")
ZELLIGE_WGMMA_TYPE(float_e5m2_t, float_e5m2_t, float, 1, "32.f32.e5m2.e5m2")
ZELLIGE_WGMMA_TYPE(float_e4m3_t, float_e4m3_t, uint32_t, 2, "32.f16.e4m3.e4m3")
ZELLIGE_WGMMA_TYPE(float_e4m3_t, float_e5m2_t, uint32_t, 2, "32.f16.e4m3.e5m2")
ZELLIGE_WGMMA_TYPE(float_e5m2_t, float_e4m3_t, uint32_t, 2, "32.f16.e5m2.e4m3")
ZELLIGE_WGMMA_TYPE(float_e5m2_t, float_e5m2_t, uint32_t, 2, "32.f16.e5m2.e5m2")
ZELLIGE_WGMMA_TYPE(int8_t, int8_t, int32_t, 1, "32.s32.s8.s8")
ZELLIGE_WGMMA_TYPE(int8_t, uint8_t, int32_t, 1, "32.s32.s8.u8")
ZELLIGE_WGMMA_TYPE(uint8_t, int8_t, int32_t, 1, "32.s32.u8.s8")
ZELLIGE_WGMMA_TYPE(uint8_t, uint8_t, int32_t, 1, "32.s32.u8.u8")
#undef ZELLIGE_WGMMA_TYPE

template <class D>
inline constexpr bool is_float_register = false;
template <>
inline constexpr bool is_float_register<float> = true;
template <class D>
inline constexpr bool is_integer_register = false;
template <>
inline constexpr bool is_integer_register<int32_t> = true;
template <class T>
inline constexpr bool is_16_bit_float = false;
template <>
inline constexpr bool is_16_bit_float<half_t> = true;
template <>
inline constexpr bool is_16_bit_float<bfloat16_t> = true;

/// Fails to compile if wgmma does not exist with this N, these major orders, these signs, or with saturation.
template <class T, int N, Major A, Major B, int SignA, int SignB, bool Saturate, class D>
ZELLIGE_ANYWHERE constexpr void wgmma_check() {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "wgmma: N is a multiple of 8, up to 256");
  static_assert(!is_integer_register<D> || N == 8 || N == 24 || N % 16 == 0,
                "wgmma: with integers N is 8, 24 or a multiple of 16");
  static_assert((A == Major::K && B == Major::K) || is_16_bit_float<T>,
                "wgmma: operands that are not 16-bit floats are K-major");
  static_assert((SignA == 1 || SignA == -1) && (SignB == 1 || SignB == -1), "wgmma: signs are 1 or -1");
  static_assert((SignA == 1 && SignB == 1) || !is_integer_register<D>, "wgmma: integers have no sign option");
  static_assert(!Saturate || is_integer_register<D>, "wgmma: only integer sums saturate");
}

/// The decimal digits of N, as a string for inline PTX.
template <int N, int Digits = (N < 10    ? 1
                               : N < 100 ? 2
                                         : 3)>
struct wgmma_digits;
template <int N>
struct wgmma_digits<N, 1> {
  static constexpr char text[] = {'0' + N, 0};
};
template <int N>
struct wgmma_digits<N, 2> {
  static constexpr char text[] = {'0' + N / 10, '0' + N % 10, 0};
};
template <int N>
struct wgmma_digits<N, 3> {
  static constexpr char text[] = {'0' + N / 100, '0' + N / 10 % 10, '0' + N % 10, 0};
};

/// Immediate operands of wgmma after scale-d: none (8-bit integers), the signs of A and B, the signs and B's major
/// order (A in registers), or the signs and both major orders.
enum class WgmmaTail : uint8_t { none, signs, signs_b, signs_a_b };
/// The wgmma_type `Type` with PTX's .satfinite if Saturate, for integer accumulators.
template <class Type, bool Saturate>
struct wgmma_saturated : Type {};
#define ZELLIGE_WGMMA_SATURATED(T, U, ptx)                  \
  template <>                                               \
  struct wgmma_saturated<wgmma_type<T, U, int32_t>, true> { \
    static constexpr int packed = 1;                        \
    static constexpr char text[] = ptx;                     \
  };
ZELLIGE_WGMMA_SATURATED(int8_t, int8_t, "32.s32.s8.s8.satfinite")
ZELLIGE_WGMMA_SATURATED(int8_t, uint8_t, "32.s32.s8.u8.satfinite")
ZELLIGE_WGMMA_SATURATED(uint8_t, int8_t, "32.s32.u8.s8.satfinite")
ZELLIGE_WGMMA_SATURATED(uint8_t, uint8_t, "32.s32.u8.u8.satfinite")
#undef ZELLIGE_WGMMA_SATURATED

/// The immediate operands as a string for inline PTX.
template <WgmmaTail, int SignA, int SignB, Major A, Major B>
struct wgmma_tail_text {
  static constexpr char text[] = "";
};
template <int SignA, int SignB, Major A, Major B>
struct wgmma_tail_text<WgmmaTail::signs, SignA, SignB, A, B> {
  static constexpr char text[] = {',', ' ', SignA < 0 ? '-' : ' ', '1', ',', SignB < 0 ? '-' : ' ', '1', 0};
};
template <int SignA, int SignB, Major A, Major B>
struct wgmma_tail_text<WgmmaTail::signs_b, SignA, SignB, A, B> {
  static constexpr char text[] = {',', ' ', SignA < 0 ? '-' : ' ',     '1', ',', SignB < 0 ? '-' : ' ', '1',
                                  ',', ' ', '0' + static_cast<int>(B), 0};
};
template <int SignA, int SignB, Major A, Major B>
struct wgmma_tail_text<WgmmaTail::signs_a_b, SignA, SignB, A, B> {
  static constexpr char text[] = {',', ' ', SignA < 0 ? '-' : ' ',     '1', ',', SignB < 0 ? '-' : ' ',     '1',
                                  ',', ' ', '0' + static_cast<int>(A), ',', ' ', '0' + static_cast<int>(B), 0};
};
template <class T>
inline constexpr bool is_8_bit_integer = false;
template <>
inline constexpr bool is_8_bit_integer<int8_t> = true;
template <>
inline constexpr bool is_8_bit_integer<uint8_t> = true;

/// The immediate operands of wgmma with operands of type T. ShareA: A is in shared memory.
template <class T, int SignA, int SignB, bool ShareA, Major A, Major B>
using wgmma_tail = wgmma_tail_text<is_8_bit_integer<T>   ? WgmmaTail::none
                                   : !is_16_bit_float<T> ? WgmmaTail::signs
                                   : ShareA              ? WgmmaTail::signs_a_b
                                                         : WgmmaTail::signs_b,
                                   SignA, SignB, A, B>;

}  // namespace zellige
