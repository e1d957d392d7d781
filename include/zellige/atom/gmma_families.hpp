// The families of dense warpgroup MMAs, for gmma_names.hpp and gmma_names_ext.hpp: macros that name all of an N.
#pragma once

#include <zellige/atom/gmma.hpp>

// Names cannot be computed: macros make them. Of a family (types, majors and scales) for an N, with a prefix. Their
// arguments are a pack, so that users may pass one on: `SM90_64x8x16_F16F16F16_SS<Args...>`.
// clang-format off
#define ZELLIGE_GMMA_MAJORS(alias, n, d, a, b)                                                \
  template <auto... args>                                                                     \
  using alias##_SS = GMMA::Mma<n, Number::d, Number::a, Number::b, false, args...>;           \
  template <auto... args>                                                                     \
  using alias##_RS = GMMA::Mma<n, Number::d, Number::a, Number::b, true, args...>;
#define ZELLIGE_GMMA_SCALES(alias, n, d, a, b)                                                \
  template <auto... args>                                                                     \
  using alias##_SS_TN =                                                                       \
      GMMA::Mma<n, Number::d, Number::a, Number::b, false, GMMA::Major::K, GMMA::Major::K, args...>; \
  template <auto... args>                                                                     \
  using alias##_RS_TN =                                                                       \
      GMMA::Mma<n, Number::d, Number::a, Number::b, true, GMMA::Major::K, GMMA::Major::K, args...>;
#define ZELLIGE_GMMA_INTEGERS(alias, n, a, b)                                         \
  using alias##_SS_TN = GMMA::IntegerMma<n, Number::a, Number::b, false, false>;          \
  using alias##_SS_TN_SATURATE = GMMA::IntegerMma<n, Number::a, Number::b, false, true>;  \
  using alias##_RS_TN = GMMA::IntegerMma<n, Number::a, Number::b, true, false>;           \
  using alias##_RS_TN_SATURATE = GMMA::IntegerMma<n, Number::a, Number::b, true, true>;
#define ZELLIGE_GMMA_FLOATS(prefix, n) \
  ZELLIGE_GMMA_MAJORS(prefix##64x##n##x16_F16F16F16, n, f16, f16, f16) \
  ZELLIGE_GMMA_MAJORS(prefix##64x##n##x16_F32F16F16, n, f32, f16, f16) \
  ZELLIGE_GMMA_MAJORS(prefix##64x##n##x16_F32BF16BF16, n, f32, bf16, bf16) \
  ZELLIGE_GMMA_SCALES(prefix##64x##n##x8_F32TF32TF32, n, f32, tf32, tf32) \
  ZELLIGE_GMMA_SCALES(prefix##64x##n##x32_F16E4M3E4M3, n, f16, e4m3, e4m3) \
  ZELLIGE_GMMA_SCALES(prefix##64x##n##x32_F16E4M3E5M2, n, f16, e4m3, e5m2) \
  ZELLIGE_GMMA_SCALES(prefix##64x##n##x32_F16E5M2E4M3, n, f16, e5m2, e4m3) \
  ZELLIGE_GMMA_SCALES(prefix##64x##n##x32_F16E5M2E5M2, n, f16, e5m2, e5m2) \
  ZELLIGE_GMMA_SCALES(prefix##64x##n##x32_F32E4M3E4M3, n, f32, e4m3, e4m3) \
  ZELLIGE_GMMA_SCALES(prefix##64x##n##x32_F32E4M3E5M2, n, f32, e4m3, e5m2) \
  ZELLIGE_GMMA_SCALES(prefix##64x##n##x32_F32E5M2E4M3, n, f32, e5m2, e4m3) \
  ZELLIGE_GMMA_SCALES(prefix##64x##n##x32_F32E5M2E5M2, n, f32, e5m2, e5m2)
// Integers have 8, 24 and the multiples of 16 only.
#define ZELLIGE_GMMA_NAMES(prefix, n) \
  ZELLIGE_GMMA_FLOATS(prefix, n) \
  ZELLIGE_GMMA_INTEGERS(prefix##64x##n##x32_S32S8S8, n, s8, s8) \
  ZELLIGE_GMMA_INTEGERS(prefix##64x##n##x32_S32S8U8, n, s8, u8) \
  ZELLIGE_GMMA_INTEGERS(prefix##64x##n##x32_S32U8S8, n, u8, s8) \
  ZELLIGE_GMMA_INTEGERS(prefix##64x##n##x32_S32U8U8, n, u8, u8)
// clang-format on
