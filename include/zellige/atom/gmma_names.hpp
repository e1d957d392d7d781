// The names of the dense warpgroup MMAs, CuTe's: SM90::GMMA::MMA_64xNxK_DAB_SS<MajorA, MajorB> and SM90_64xNxK_..., for every
// N that is a multiple of 8. All stand for one template, GMMA::Mma of gmma.hpp, which kernels may use as it is.
#pragma once

#include <zellige/atom/gmma.hpp>

// Names cannot be computed: three macros make one alias each, and one makes the aliases of an N.
#define ZELLIGE_GMMA_MAJORS(alias, n, d, a, b, registers)                                                  \
  template <Major major_a, Major major_b, ScaleIn scale_a = ScaleIn::One, ScaleIn scale_b = ScaleIn::One> \
  using alias = Mma<n, Number::d, Number::a, Number::b, registers, major_a, major_b, scale_a, scale_b>;
#define ZELLIGE_GMMA_SCALES(alias, n, d, a, b, registers)                    \
  template <ScaleIn scale_a = ScaleIn::One, ScaleIn scale_b = ScaleIn::One> \
  using alias = Mma<n, Number::d, Number::a, Number::b, registers, Major::K, Major::K, scale_a, scale_b>;
#define ZELLIGE_GMMA_INTEGER(alias, n, a, b, registers, saturate)                                         \
  using alias = Mma<n, Number::s32, Number::a, Number::b, registers, Major::K, Major::K, ScaleIn::One, \
                    ScaleIn::One, saturate>;
#define ZELLIGE_GMMA_NAMES(n) \
  ZELLIGE_GMMA_MAJORS(MMA_64x##n##x16_F16F16F16_SS, n, f16, f16, f16, false) \
  ZELLIGE_GMMA_MAJORS(MMA_64x##n##x16_F16F16F16_RS, n, f16, f16, f16, true) \
  ZELLIGE_GMMA_MAJORS(MMA_64x##n##x16_F32F16F16_SS, n, f32, f16, f16, false) \
  ZELLIGE_GMMA_MAJORS(MMA_64x##n##x16_F32F16F16_RS, n, f32, f16, f16, true) \
  ZELLIGE_GMMA_MAJORS(MMA_64x##n##x16_F32BF16BF16_SS, n, f32, bf16, bf16, false) \
  ZELLIGE_GMMA_MAJORS(MMA_64x##n##x16_F32BF16BF16_RS, n, f32, bf16, bf16, true) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x8_F32TF32TF32_SS_TN, n, f32, tf32, tf32, false) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x8_F32TF32TF32_RS_TN, n, f32, tf32, tf32, true) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F16E4M3E4M3_SS_TN, n, f16, e4m3, e4m3, false) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F16E4M3E4M3_RS_TN, n, f16, e4m3, e4m3, true) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F16E4M3E5M2_SS_TN, n, f16, e4m3, e5m2, false) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F16E4M3E5M2_RS_TN, n, f16, e4m3, e5m2, true) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F16E5M2E4M3_SS_TN, n, f16, e5m2, e4m3, false) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F16E5M2E4M3_RS_TN, n, f16, e5m2, e4m3, true) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F16E5M2E5M2_SS_TN, n, f16, e5m2, e5m2, false) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F16E5M2E5M2_RS_TN, n, f16, e5m2, e5m2, true) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F32E4M3E4M3_SS_TN, n, f32, e4m3, e4m3, false) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F32E4M3E4M3_RS_TN, n, f32, e4m3, e4m3, true) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F32E4M3E5M2_SS_TN, n, f32, e4m3, e5m2, false) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F32E4M3E5M2_RS_TN, n, f32, e4m3, e5m2, true) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F32E5M2E4M3_SS_TN, n, f32, e5m2, e4m3, false) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F32E5M2E4M3_RS_TN, n, f32, e5m2, e4m3, true) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F32E5M2E5M2_SS_TN, n, f32, e5m2, e5m2, false) \
  ZELLIGE_GMMA_SCALES(MMA_64x##n##x32_F32E5M2E5M2_RS_TN, n, f32, e5m2, e5m2, true) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32S8S8_SS_TN, n, s8, s8, false, false) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32S8S8_SS_TN_SATURATE, n, s8, s8, false, true) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32S8S8_RS_TN, n, s8, s8, true, false) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32S8S8_RS_TN_SATURATE, n, s8, s8, true, true) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32S8U8_SS_TN, n, s8, u8, false, false) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32S8U8_SS_TN_SATURATE, n, s8, u8, false, true) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32S8U8_RS_TN, n, s8, u8, true, false) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32S8U8_RS_TN_SATURATE, n, s8, u8, true, true) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32U8S8_SS_TN, n, u8, s8, false, false) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32U8S8_SS_TN_SATURATE, n, u8, s8, false, true) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32U8S8_RS_TN, n, u8, s8, true, false) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32U8S8_RS_TN_SATURATE, n, u8, s8, true, true) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32U8U8_SS_TN, n, u8, u8, false, false) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32U8U8_SS_TN_SATURATE, n, u8, u8, false, true) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32U8U8_RS_TN, n, u8, u8, true, false) \
  ZELLIGE_GMMA_INTEGER(MMA_64x##n##x32_S32U8U8_RS_TN_SATURATE, n, u8, u8, true, true)

namespace zellige::SM90::GMMA {
ZELLIGE_GMMA_NAMES(8)
ZELLIGE_GMMA_NAMES(16)
ZELLIGE_GMMA_NAMES(24)
ZELLIGE_GMMA_NAMES(32)
ZELLIGE_GMMA_NAMES(40)
ZELLIGE_GMMA_NAMES(48)
ZELLIGE_GMMA_NAMES(56)
ZELLIGE_GMMA_NAMES(64)
ZELLIGE_GMMA_NAMES(72)
ZELLIGE_GMMA_NAMES(80)
ZELLIGE_GMMA_NAMES(88)
ZELLIGE_GMMA_NAMES(96)
ZELLIGE_GMMA_NAMES(104)
ZELLIGE_GMMA_NAMES(112)
ZELLIGE_GMMA_NAMES(120)
ZELLIGE_GMMA_NAMES(128)
ZELLIGE_GMMA_NAMES(136)
ZELLIGE_GMMA_NAMES(144)
ZELLIGE_GMMA_NAMES(152)
ZELLIGE_GMMA_NAMES(160)
ZELLIGE_GMMA_NAMES(168)
ZELLIGE_GMMA_NAMES(176)
ZELLIGE_GMMA_NAMES(184)
ZELLIGE_GMMA_NAMES(192)
ZELLIGE_GMMA_NAMES(200)
ZELLIGE_GMMA_NAMES(208)
ZELLIGE_GMMA_NAMES(216)
ZELLIGE_GMMA_NAMES(224)
ZELLIGE_GMMA_NAMES(232)
ZELLIGE_GMMA_NAMES(240)
ZELLIGE_GMMA_NAMES(248)
ZELLIGE_GMMA_NAMES(256)
}  // namespace zellige::SM90::GMMA
#undef ZELLIGE_GMMA_NAMES
#undef ZELLIGE_GMMA_INTEGER
#undef ZELLIGE_GMMA_SCALES
#undef ZELLIGE_GMMA_MAJORS
