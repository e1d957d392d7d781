// Defines the warp matrix instructions of SM70 to SM90 as types under CuTe's names, in addition to those of mma.hpp.
// Each type has a static function `call`, which issues the instruction's PTX, and a string `name`, from which shape,
// types and layouts are derived.
//
//   MMA_Traits<SM80_16x8x32_S32S8S8S32_TN>::CLayout     Layout<Shape<Shape<_4,_8>,Shape<_2,_2>>, ...>
//
// To add an instruction, add a line here and, for a new combination of types and shape, to table.hpp. If kernels
// (block/multiply.hpp) use it, mma.hpp also needs a forward declaration of it, and a mma_row.
#pragma once

#include <zellige/atom/mma.hpp>
#include <zellige/atom/mma_traits/patterns.hpp>
#include <zellige/atom/mma_traits/table.hpp>
#include <zellige/atom/mma_traits/universal.hpp>

namespace zellige {

#if defined(ZELLIGE_EMULATE)
/// The sizes in bytes of the numbers in Op's operand and accumulator registers, which the emulator needs to report
/// unwritten values. For integers, f64 and 8-bit floats, the sizes are 0 and the emulator does not check.
template <class Op>
requires(!requires { typename Op::Element; }) struct MmaNumbers<Op> {
  static constexpr int bytes_of(Number n) {
    const bool narrow = n == Number::f16 || n == Number::bf16, wide = n == Number::f32 || n == Number::tf32;
    return narrow ? 2 : wide ? 4 : 0;
  }
  static constexpr int operand = bytes_of(find_mma(Op::name).a), sum = bytes_of(find_mma(Op::name).d);
};
#endif

// SM70: quad pairs
ZELLIGE_MMA_H422(SM70_8x8x4_F16F16F16F16_TN, "m8n8k4.row.col.f16.f16.f16.f16")
ZELLIGE_MMA_H422(SM70_8x8x4_F16F16F16F16_NT, "m8n8k4.col.row.f16.f16.f16.f16")
ZELLIGE_MMA_H422(SM70_8x8x4_F16F16F16F16_NN, "m8n8k4.col.col.f16.f16.f16.f16")
ZELLIGE_MMA_H422(SM70_8x8x4_F16F16F16F16_TT, "m8n8k4.row.row.f16.f16.f16.f16")
ZELLIGE_MMA_F822(SM70_8x8x4_F32F16F16F32_TN, "m8n8k4.row.col.f32.f16.f16.f32")
ZELLIGE_MMA_F822(SM70_8x8x4_F32F16F16F32_NT, "m8n8k4.col.row.f32.f16.f16.f32")
ZELLIGE_MMA_F822(SM70_8x8x4_F32F16F16F32_NN, "m8n8k4.col.col.f32.f16.f16.f32")
ZELLIGE_MMA_F822(SM70_8x8x4_F32F16F16F32_TT, "m8n8k4.row.row.f32.f16.f16.f32")

// SM75
ZELLIGE_MMA_H221(SM75_16x8x8_F16F16F16F16_TN, "m16n8k8.row.col.f16.f16.f16.f16")
ZELLIGE_MMA_F421(SM75_16x8x8_F32F16F16F32_TN, "m16n8k8.row.col.f32.f16.f16.f32")
ZELLIGE_MMA_I211(SM75_8x8x16_S32S8S8S32_TN, "m8n8k16.row.col.s32.s8.s8.s32")

// SM80, in addition to those of mma.hpp
ZELLIGE_MMA_D211(SM80_8x8x4_F64F64F64F64_TN, "m8n8k4.row.col.f64.f64.f64.f64")
ZELLIGE_MMA_I211(SM80_8x8x16_S32S8S8S32_TN, "m8n8k16.row.col.s32.s8.s8.s32")
ZELLIGE_MMA_I211(SM80_8x8x16_S32S8S8S32_TN_SATURATE, "m8n8k16.row.col.satfinite.s32.s8.s8.s32")
ZELLIGE_MMA_I421(SM80_16x8x16_S32S8S8S32_TN, "m16n8k16.row.col.s32.s8.s8.s32")
ZELLIGE_MMA_I421(SM80_16x8x16_S32S8S8S32_TN_SATURATE, "m16n8k16.row.col.satfinite.s32.s8.s8.s32")
ZELLIGE_MMA_I442(SM80_16x8x32_S32S8S8S32_TN, "m16n8k32.row.col.s32.s8.s8.s32")
ZELLIGE_MMA_I442(SM80_16x8x32_S32S8S8S32_TN_SATURATE, "m16n8k32.row.col.satfinite.s32.s8.s8.s32")
ZELLIGE_MMA_I211(SM80_8x8x16_S32S8U8S32_TN, "m8n8k16.row.col.s32.s8.u8.s32")
ZELLIGE_MMA_I211(SM80_8x8x16_S32S8U8S32_TN_SATURATE, "m8n8k16.row.col.satfinite.s32.s8.u8.s32")
ZELLIGE_MMA_I421(SM80_16x8x16_S32S8U8S32_TN, "m16n8k16.row.col.s32.s8.u8.s32")
ZELLIGE_MMA_I421(SM80_16x8x16_S32S8U8S32_TN_SATURATE, "m16n8k16.row.col.satfinite.s32.s8.u8.s32")
ZELLIGE_MMA_I442(SM80_16x8x32_S32S8U8S32_TN, "m16n8k32.row.col.s32.s8.u8.s32")
ZELLIGE_MMA_I442(SM80_16x8x32_S32S8U8S32_TN_SATURATE, "m16n8k32.row.col.satfinite.s32.s8.u8.s32")
ZELLIGE_MMA_I211(SM80_8x8x16_S32U8S8S32_TN, "m8n8k16.row.col.s32.u8.s8.s32")
ZELLIGE_MMA_I211(SM80_8x8x16_S32U8S8S32_TN_SATURATE, "m8n8k16.row.col.satfinite.s32.u8.s8.s32")
ZELLIGE_MMA_I421(SM80_16x8x16_S32U8S8S32_TN, "m16n8k16.row.col.s32.u8.s8.s32")
ZELLIGE_MMA_I421(SM80_16x8x16_S32U8S8S32_TN_SATURATE, "m16n8k16.row.col.satfinite.s32.u8.s8.s32")
ZELLIGE_MMA_I442(SM80_16x8x32_S32U8S8S32_TN, "m16n8k32.row.col.s32.u8.s8.s32")
ZELLIGE_MMA_I442(SM80_16x8x32_S32U8S8S32_TN_SATURATE, "m16n8k32.row.col.satfinite.s32.u8.s8.s32")
ZELLIGE_MMA_I211(SM80_8x8x16_S32U8U8S32_TN, "m8n8k16.row.col.s32.u8.u8.s32")
ZELLIGE_MMA_I211(SM80_8x8x16_S32U8U8S32_TN_SATURATE, "m8n8k16.row.col.satfinite.s32.u8.u8.s32")
ZELLIGE_MMA_I421(SM80_16x8x16_S32U8U8S32_TN, "m16n8k16.row.col.s32.u8.u8.s32")
ZELLIGE_MMA_I421(SM80_16x8x16_S32U8U8S32_TN_SATURATE, "m16n8k16.row.col.satfinite.s32.u8.u8.s32")
ZELLIGE_MMA_I442(SM80_16x8x32_S32U8U8S32_TN, "m16n8k32.row.col.s32.u8.u8.s32")
ZELLIGE_MMA_I442(SM80_16x8x32_S32U8U8S32_TN_SATURATE, "m16n8k32.row.col.satfinite.s32.u8.u8.s32")
ZELLIGE_MMA_I211(SM80_8x8x32_S32S4S4S32_TN, "m8n8k32.row.col.s32.s4.s4.s32")
ZELLIGE_MMA_I211(SM80_8x8x32_S32S4S4S32_TN_SATURATE, "m8n8k32.row.col.satfinite.s32.s4.s4.s32")
ZELLIGE_MMA_I421(SM80_16x8x32_S32S4S4S32_TN, "m16n8k32.row.col.s32.s4.s4.s32")
ZELLIGE_MMA_I421(SM80_16x8x32_S32S4S4S32_TN_SATURATE, "m16n8k32.row.col.satfinite.s32.s4.s4.s32")
ZELLIGE_MMA_I442(SM80_16x8x64_S32S4S4S32_TN, "m16n8k64.row.col.s32.s4.s4.s32")
ZELLIGE_MMA_I442(SM80_16x8x64_S32S4S4S32_TN_SATURATE, "m16n8k64.row.col.satfinite.s32.s4.s4.s32")
ZELLIGE_MMA_I211(SM80_8x8x32_S32S4U4S32_TN, "m8n8k32.row.col.s32.s4.u4.s32")
ZELLIGE_MMA_I211(SM80_8x8x32_S32S4U4S32_TN_SATURATE, "m8n8k32.row.col.satfinite.s32.s4.u4.s32")
ZELLIGE_MMA_I421(SM80_16x8x32_S32S4U4S32_TN, "m16n8k32.row.col.s32.s4.u4.s32")
ZELLIGE_MMA_I421(SM80_16x8x32_S32S4U4S32_TN_SATURATE, "m16n8k32.row.col.satfinite.s32.s4.u4.s32")
ZELLIGE_MMA_I442(SM80_16x8x64_S32S4U4S32_TN, "m16n8k64.row.col.s32.s4.u4.s32")
ZELLIGE_MMA_I442(SM80_16x8x64_S32S4U4S32_TN_SATURATE, "m16n8k64.row.col.satfinite.s32.s4.u4.s32")
ZELLIGE_MMA_I211(SM80_8x8x32_S32U4S4S32_TN, "m8n8k32.row.col.s32.u4.s4.s32")
ZELLIGE_MMA_I211(SM80_8x8x32_S32U4S4S32_TN_SATURATE, "m8n8k32.row.col.satfinite.s32.u4.s4.s32")
ZELLIGE_MMA_I421(SM80_16x8x32_S32U4S4S32_TN, "m16n8k32.row.col.s32.u4.s4.s32")
ZELLIGE_MMA_I421(SM80_16x8x32_S32U4S4S32_TN_SATURATE, "m16n8k32.row.col.satfinite.s32.u4.s4.s32")
ZELLIGE_MMA_I442(SM80_16x8x64_S32U4S4S32_TN, "m16n8k64.row.col.s32.u4.s4.s32")
ZELLIGE_MMA_I442(SM80_16x8x64_S32U4S4S32_TN_SATURATE, "m16n8k64.row.col.satfinite.s32.u4.s4.s32")
ZELLIGE_MMA_I211(SM80_8x8x32_S32U4U4S32_TN, "m8n8k32.row.col.s32.u4.u4.s32")
ZELLIGE_MMA_I211(SM80_8x8x32_S32U4U4S32_TN_SATURATE, "m8n8k32.row.col.satfinite.s32.u4.u4.s32")
ZELLIGE_MMA_I421(SM80_16x8x32_S32U4U4S32_TN, "m16n8k32.row.col.s32.u4.u4.s32")
ZELLIGE_MMA_I421(SM80_16x8x32_S32U4U4S32_TN_SATURATE, "m16n8k32.row.col.satfinite.s32.u4.u4.s32")
ZELLIGE_MMA_I442(SM80_16x8x64_S32U4U4S32_TN, "m16n8k64.row.col.s32.u4.u4.s32")
ZELLIGE_MMA_I442(SM80_16x8x64_S32U4U4S32_TN_SATURATE, "m16n8k64.row.col.satfinite.s32.u4.u4.s32")
ZELLIGE_MMA_I211(SM80_8x8x128_S32U1U1S32_TN_XORPOPC, "m8n8k128.row.col.s32.b1.b1.s32.xor.popc")
ZELLIGE_MMA_I211(SM80_8x8x128_S32U1U1S32_TN_ANDPOPC, "m8n8k128.row.col.s32.b1.b1.s32.and.popc")
ZELLIGE_MMA_I421(SM80_16x8x128_S32U1U1S32_TN_XORPOPC, "m16n8k128.row.col.s32.b1.b1.s32.xor.popc")
ZELLIGE_MMA_I421(SM80_16x8x128_S32U1U1S32_TN_ANDPOPC, "m16n8k128.row.col.s32.b1.b1.s32.and.popc")
ZELLIGE_MMA_I442(SM80_16x8x256_S32U1U1S32_TN_XORPOPC, "m16n8k256.row.col.s32.b1.b1.s32.xor.popc")
ZELLIGE_MMA_I442(SM80_16x8x256_S32U1U1S32_TN_ANDPOPC, "m16n8k256.row.col.s32.b1.b1.s32.and.popc")

// SM89
ZELLIGE_MMA_F442(SM89_16x8x32_F32E4M3E4M3F32_TN, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
ZELLIGE_MMA_F442(SM89_16x8x32_F32E4M3E5M2F32_TN, "m16n8k32.row.col.f32.e4m3.e5m2.f32")
ZELLIGE_MMA_F442(SM89_16x8x32_F32E5M2E4M3F32_TN, "m16n8k32.row.col.f32.e5m2.e4m3.f32")
ZELLIGE_MMA_F442(SM89_16x8x32_F32E5M2E5M2F32_TN, "m16n8k32.row.col.f32.e5m2.e5m2.f32")
ZELLIGE_MMA_H242(SM89_16x8x32_F16E4M3E4M3F16_TN, "m16n8k32.row.col.f16.e4m3.e4m3.f16")
ZELLIGE_MMA_H242(SM89_16x8x32_F16E4M3E5M2F16_TN, "m16n8k32.row.col.f16.e4m3.e5m2.f16")
ZELLIGE_MMA_H242(SM89_16x8x32_F16E5M2E4M3F16_TN, "m16n8k32.row.col.f16.e5m2.e4m3.f16")
ZELLIGE_MMA_H242(SM89_16x8x32_F16E5M2E5M2F16_TN, "m16n8k32.row.col.f16.e5m2.e5m2.f16")

// SM90
ZELLIGE_MMA_D421(SM90_16x8x4_F64F64F64F64_TN, "m16n8k4.row.col.f64.f64.f64.f64")
ZELLIGE_MMA_D442(SM90_16x8x8_F64F64F64F64_TN, "m16n8k8.row.col.f64.f64.f64.f64")
ZELLIGE_MMA_D484(SM90_16x8x16_F64F64F64F64_TN, "m16n8k16.row.col.f64.f64.f64.f64")

}  // namespace zellige

#undef ZELLIGE_MMA_H422
#undef ZELLIGE_MMA_F822
#undef ZELLIGE_MMA_H221
#undef ZELLIGE_MMA_F421
#undef ZELLIGE_MMA_I211
#undef ZELLIGE_MMA_D211
#undef ZELLIGE_MMA_I421
#undef ZELLIGE_MMA_I442
#undef ZELLIGE_MMA_F442
#undef ZELLIGE_MMA_H242
#undef ZELLIGE_MMA_D421
#undef ZELLIGE_MMA_D442
#undef ZELLIGE_MMA_D484
#undef ZELLIGE_MMA
#undef ZELLIGE_MMA_ASM
#undef ZELLIGE_PARTS
