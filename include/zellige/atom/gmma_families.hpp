// Defines the macros by which gmma_names.hpp and gmma_names_ext.hpp declare CuTe's names of the dense wgmma
// instructions. One use of a macro declares the instructions of all types for one value of N.
#pragma once

#include <zellige/atom/gmma.hpp>

// Helper macros of ZELLIGE_GMMA_NAMES(what, n). That macro expands to one declaration per combination of operand
// types. If `what` is CLASS, it declares classes named MMA_..., so that template arguments can be deduced
// (`MMA_64x8x8_F32TF32TF32_SS_TN()`) and a parameter pack can be passed. If `what` is ALIAS, it declares
// aliases of these classes, named SM90_...
// clang-format off
#define ZELLIGE_GMMA_CLASS_MAJORS_OF(name, n, d, a, b, registers)                                   \
  template <Major ma, Major mb, ScaleIn sa = ScaleIn::One, ScaleIn sb = ScaleIn::One>               \
  struct name : Mma<n, Number::d, Number::a, Number::b, registers, ma, mb, sa, sb> {};              \
  template <Major ma, Major mb, ScaleIn sa, ScaleIn sb>                                             \
  struct named<Mma<n, Number::d, Number::a, Number::b, registers, ma, mb, sa, sb>> {                \
    using type = name<ma, mb, sa, sb>;                                                              \
  };
#define ZELLIGE_GMMA_CLASS_SCALES_OF(name, n, d, a, b, registers)                                   \
  template <ScaleIn sa = ScaleIn::One, ScaleIn sb = ScaleIn::One>                                   \
  struct name : Mma<n, Number::d, Number::a, Number::b, registers, Major::K, Major::K, sa, sb> {};  \
  template <ScaleIn sa, ScaleIn sb>                                                                 \
  struct named<Mma<n, Number::d, Number::a, Number::b, registers, Major::K, Major::K, sa, sb>> {    \
    using type = name<sa, sb>;                                                                      \
  };
#define ZELLIGE_GMMA_CLASS_INTEGERS_OF(name, n, a, b, registers, saturate)                          \
  struct name : IntegerMma<n, Number::a, Number::b, registers, saturate> {};                        \
  template <>                                                                                       \
  struct named<IntegerMma<n, Number::a, Number::b, registers, saturate>> {                          \
    using type = name;                                                                              \
  };
#define ZELLIGE_GMMA_CLASS_MAJORS(name, n, d, a, b)                   \
  ZELLIGE_GMMA_CLASS_MAJORS_OF(MMA_##name##_SS, n, d, a, b, false)    \
  ZELLIGE_GMMA_CLASS_MAJORS_OF(MMA_##name##_RS, n, d, a, b, true)
#define ZELLIGE_GMMA_CLASS_SCALES(name, n, d, a, b)                   \
  ZELLIGE_GMMA_CLASS_SCALES_OF(MMA_##name##_SS_TN, n, d, a, b, false) \
  ZELLIGE_GMMA_CLASS_SCALES_OF(MMA_##name##_RS_TN, n, d, a, b, true)
#define ZELLIGE_GMMA_CLASS_INTEGERS(name, n, a, b)                                 \
  ZELLIGE_GMMA_CLASS_INTEGERS_OF(MMA_##name##_SS_TN, n, a, b, false, false)        \
  ZELLIGE_GMMA_CLASS_INTEGERS_OF(MMA_##name##_SS_TN_SATURATE, n, a, b, false, true) \
  ZELLIGE_GMMA_CLASS_INTEGERS_OF(MMA_##name##_RS_TN, n, a, b, true, false)         \
  ZELLIGE_GMMA_CLASS_INTEGERS_OF(MMA_##name##_RS_TN_SATURATE, n, a, b, true, true)

// Declares the aliases SM90_.... An alias of a class without default arguments has a parameter pack, so that
// users may pass a pack. Other aliases repeat the defaults of the class, so that g++ can deduce the
// arguments.
#define ZELLIGE_GMMA_ALIAS_MAJORS(name, n, d, a, b)       \
  template <auto... args>                                 \
  using SM90_##name##_SS = GMMA::MMA_##name##_SS<args...>; \
  template <auto... args>                                 \
  using SM90_##name##_RS = GMMA::MMA_##name##_RS<args...>;
#define ZELLIGE_GMMA_ALIAS_SCALES(name, n, d, a, b)                                                   \
  template <GMMA::ScaleIn sa = GMMA::ScaleIn::One, GMMA::ScaleIn sb = GMMA::ScaleIn::One>            \
  using SM90_##name##_SS_TN = GMMA::MMA_##name##_SS_TN<sa, sb>;                                      \
  template <GMMA::ScaleIn sa = GMMA::ScaleIn::One, GMMA::ScaleIn sb = GMMA::ScaleIn::One>            \
  using SM90_##name##_RS_TN = GMMA::MMA_##name##_RS_TN<sa, sb>;
#define ZELLIGE_GMMA_ALIAS_INTEGERS(name, n, a, b)                          \
  using SM90_##name##_SS_TN = GMMA::MMA_##name##_SS_TN;                     \
  using SM90_##name##_SS_TN_SATURATE = GMMA::MMA_##name##_SS_TN_SATURATE;   \
  using SM90_##name##_RS_TN = GMMA::MMA_##name##_RS_TN;                     \
  using SM90_##name##_RS_TN_SATURATE = GMMA::MMA_##name##_RS_TN_SATURATE;

// Declares the instructions with floating-point operands for one N.
#define ZELLIGE_GMMA_FLOATS(what, n) \
  ZELLIGE_GMMA_##what##_MAJORS(64x##n##x16_F16F16F16, n, f16, f16, f16) \
  ZELLIGE_GMMA_##what##_MAJORS(64x##n##x16_F32F16F16, n, f32, f16, f16) \
  ZELLIGE_GMMA_##what##_MAJORS(64x##n##x16_F32BF16BF16, n, f32, bf16, bf16) \
  ZELLIGE_GMMA_##what##_SCALES(64x##n##x8_F32TF32TF32, n, f32, tf32, tf32) \
  ZELLIGE_GMMA_##what##_SCALES(64x##n##x32_F16E4M3E4M3, n, f16, e4m3, e4m3) \
  ZELLIGE_GMMA_##what##_SCALES(64x##n##x32_F16E4M3E5M2, n, f16, e4m3, e5m2) \
  ZELLIGE_GMMA_##what##_SCALES(64x##n##x32_F16E5M2E4M3, n, f16, e5m2, e4m3) \
  ZELLIGE_GMMA_##what##_SCALES(64x##n##x32_F16E5M2E5M2, n, f16, e5m2, e5m2) \
  ZELLIGE_GMMA_##what##_SCALES(64x##n##x32_F32E4M3E4M3, n, f32, e4m3, e4m3) \
  ZELLIGE_GMMA_##what##_SCALES(64x##n##x32_F32E4M3E5M2, n, f32, e4m3, e5m2) \
  ZELLIGE_GMMA_##what##_SCALES(64x##n##x32_F32E5M2E4M3, n, f32, e5m2, e4m3) \
  ZELLIGE_GMMA_##what##_SCALES(64x##n##x32_F32E5M2E5M2, n, f32, e5m2, e5m2)
// Declares all instructions for one N. Instructions with integer operands exist only for N = 8, 24 and the multiples
// of 16; for the other N, use ZELLIGE_GMMA_FLOATS.
#define ZELLIGE_GMMA_NAMES(what, n) \
  ZELLIGE_GMMA_FLOATS(what, n) \
  ZELLIGE_GMMA_##what##_INTEGERS(64x##n##x32_S32S8S8, n, s8, s8) \
  ZELLIGE_GMMA_##what##_INTEGERS(64x##n##x32_S32S8U8, n, s8, u8) \
  ZELLIGE_GMMA_##what##_INTEGERS(64x##n##x32_S32U8S8, n, u8, s8) \
  ZELLIGE_GMMA_##what##_INTEGERS(64x##n##x32_S32U8U8, n, u8, u8)
// clang-format on
