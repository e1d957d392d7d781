// The names of the dense warpgroup MMAs, CuTe's, for every N that is a multiple of 8:
//
//   SM90::GMMA::MMA_64x128x16_F32F16F16_SS<Major::K, Major::MN>      SM90_64x128x16_F32F16F16_SS<...>
//
// All stand for one template, GMMA::Mma of gmma.hpp, which kernels may use as it is.
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

#define ZELLIGE_GMMA_EVERY_N(prefix) \
  ZELLIGE_GMMA_NAMES(prefix, 8) \
  ZELLIGE_GMMA_NAMES(prefix, 16) \
  ZELLIGE_GMMA_NAMES(prefix, 24) \
  ZELLIGE_GMMA_NAMES(prefix, 32) \
  ZELLIGE_GMMA_FLOATS(prefix, 40) \
  ZELLIGE_GMMA_NAMES(prefix, 48) \
  ZELLIGE_GMMA_FLOATS(prefix, 56) \
  ZELLIGE_GMMA_NAMES(prefix, 64) \
  ZELLIGE_GMMA_FLOATS(prefix, 72) \
  ZELLIGE_GMMA_NAMES(prefix, 80) \
  ZELLIGE_GMMA_FLOATS(prefix, 88) \
  ZELLIGE_GMMA_NAMES(prefix, 96) \
  ZELLIGE_GMMA_FLOATS(prefix, 104) \
  ZELLIGE_GMMA_NAMES(prefix, 112) \
  ZELLIGE_GMMA_FLOATS(prefix, 120) \
  ZELLIGE_GMMA_NAMES(prefix, 128) \
  ZELLIGE_GMMA_FLOATS(prefix, 136) \
  ZELLIGE_GMMA_NAMES(prefix, 144) \
  ZELLIGE_GMMA_FLOATS(prefix, 152) \
  ZELLIGE_GMMA_NAMES(prefix, 160) \
  ZELLIGE_GMMA_FLOATS(prefix, 168) \
  ZELLIGE_GMMA_NAMES(prefix, 176) \
  ZELLIGE_GMMA_FLOATS(prefix, 184) \
  ZELLIGE_GMMA_NAMES(prefix, 192) \
  ZELLIGE_GMMA_FLOATS(prefix, 200) \
  ZELLIGE_GMMA_NAMES(prefix, 208) \
  ZELLIGE_GMMA_FLOATS(prefix, 216) \
  ZELLIGE_GMMA_NAMES(prefix, 224) \
  ZELLIGE_GMMA_FLOATS(prefix, 232) \
  ZELLIGE_GMMA_NAMES(prefix, 240) \
  ZELLIGE_GMMA_FLOATS(prefix, 248) \
  ZELLIGE_GMMA_NAMES(prefix, 256)
// clang-format on

namespace zellige {
namespace SM90::GMMA {
ZELLIGE_GMMA_EVERY_N(MMA_)
}
ZELLIGE_GMMA_EVERY_N(SM90_)
}  // namespace zellige

#undef ZELLIGE_GMMA_EVERY_N
#undef ZELLIGE_GMMA_NAMES
#undef ZELLIGE_GMMA_FLOATS
#undef ZELLIGE_GMMA_INTEGERS
#undef ZELLIGE_GMMA_SCALES
#undef ZELLIGE_GMMA_MAJORS
