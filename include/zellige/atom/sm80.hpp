// The instructions of SM80 (and of SM75 where SM80 took them over): warp MMAs, ldmatrix and cp.async.
// Layouts are PTX ISA's fragment figures, written in CuTe's convention; names are CuTe's.
#pragma once

#include <zellige/atom/instruction.hpp>

namespace zellige {

namespace sm80 {

using Operand = Instruction::Operand;
using Space = Instruction::Space;

// MMA fragments: thread (4,8) is (column group, row); a value's first mode runs inside one register.
inline constexpr ThreadValue a_16x4_32b{{{4, 16}, {8, 1}}, {{2, 8}}};
inline constexpr ThreadValue a_16x8_32b{{{4, 16}, {8, 1}}, {{2, 8}, {2, 64}}};
inline constexpr ThreadValue a_16x8_16b{{{4, 32}, {8, 1}}, {{2, 16}, {2, 8}}};
inline constexpr ThreadValue a_16x16_16b{{{4, 32}, {8, 1}}, {{2, 16}, {2, 8}, {2, 128}}};
inline constexpr ThreadValue b_8x4_32b{{{4, 8}, {8, 1}}, {{1, 0}}};
inline constexpr ThreadValue b_8x8_32b{{{4, 8}, {8, 1}}, {{2, 32}}};
inline constexpr ThreadValue b_8x8_16b{{{4, 16}, {8, 1}}, {{2, 8}}};
inline constexpr ThreadValue b_8x16_16b{{{4, 16}, {8, 1}}, {{2, 8}, {2, 64}}};
inline constexpr ThreadValue c_16x8{{{4, 32}, {8, 1}}, {{2, 16}, {2, 8}}};

constexpr Operand fragment(const char* type, int bits, const ThreadValue& layout) {
  return {type, bits, Space::rmem, layout, layout.value_count() * bits / 32, 0};
}

constexpr Instruction mma(const char* name, const char* call, const char* ptx, int k, Operand a, Operand b,
                          Operand c, int cycles, int compute_capability = 80) {
  return {name,
          ptx,
          compute_capability,
          Instruction::Kind::mma,
          32,
          16,
          8,
          k,
          a,
          b,
          c,
          Instruction::Completion::at_once,
          false,
          cycles,
          false,
          call};
}

// ldmatrix: bit coordinates. Source: each addressed thread's 16-byte row; destination: 8x8 matrices of 16-bit
// elements, one register of each a thread. A 0 stride marks threads whose address is not read.
inline constexpr ThreadValue rows_x1{{{8, 128}, {4, 0}}, {{128, 1}}};
inline constexpr ThreadValue rows_x2{{{16, 128}, {2, 0}}, {{128, 1}}};
inline constexpr ThreadValue rows_x4{{{32, 128}}, {{128, 1}}};
inline constexpr ThreadValue matrix_x1{{{32, 32}}, {{32, 1}}};
inline constexpr ThreadValue matrix_x2{{{32, 32}}, {{32, 1}, {2, 1024}}};
inline constexpr ThreadValue matrix_x4{{{32, 32}}, {{32, 1}, {4, 1024}}};
inline constexpr ThreadValue matrix_x1_trans{{{4, 256}, {8, 16}}, {{16, 1}, {2, 128}}};
inline constexpr ThreadValue matrix_x2_trans{{{4, 256}, {8, 16}}, {{16, 1}, {2, 128}, {2, 1024}}};
inline constexpr ThreadValue matrix_x4_trans{{{4, 256}, {8, 16}}, {{16, 1}, {2, 128}, {4, 1024}}};

constexpr Instruction ldmatrix(const char* name, const char* call, const char* ptx, int matrices,
                               const ThreadValue& rows, const ThreadValue& registers) {
  return {name,
          ptx,
          75,
          Instruction::Kind::matrix_load,
          32,
          0,
          0,
          0,
          {"b16", 16, Space::smem, rows, 0, 16},
          {},
          {"b16", 16, Space::rmem, registers, matrices, 0},
          Instruction::Completion::at_once,
          false,
          matrices,
          false,
          call};
}

constexpr Instruction cp_async(const char* name, const char* call, const char* ptx, const char* type,
                               int bytes, bool zero_fill) {
  const ThreadValue bits{{{1, 0}}, {{8 * bytes, 1}}};
  return {name,
          ptx,
          80,
          Instruction::Kind::async_copy,
          1,
          0,
          0,
          0,
          {type, 8 * bytes, Space::gmem, bits, 0, bytes},
          {},
          {type, 8 * bytes, Space::smem, bits, 0, bytes},
          Instruction::Completion::copy_group,
          zero_fill,
          bytes / 4,
          false,
          call};
}

}  // namespace sm80

inline constexpr Instruction sm80_instructions[] = {
    sm80::mma("SM80_16x8x16_F32F16F16F32_TN", "mma_m16n8k16<half_t>(float (&d)[4], a, b)",
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16,
              sm80::fragment("f16", 16, sm80::a_16x16_16b), sm80::fragment("f16", 16, sm80::b_8x16_16b),
              sm80::fragment("f32", 32, sm80::c_16x8), 8),
    sm80::mma("SM80_16x8x16_F16F16F16F16_TN", "mma_m16n8k16<half_t>(uint32_t (&d)[2], a, b)",
              "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16,
              sm80::fragment("f16", 16, sm80::a_16x16_16b), sm80::fragment("f16", 16, sm80::b_8x16_16b),
              sm80::fragment("f16", 16, sm80::c_16x8), 8),
    sm80::mma("SM80_16x8x16_F32BF16BF16F32_TN", "mma_m16n8k16<bfloat16_t>(d, a, b)",
              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16,
              sm80::fragment("bf16", 16, sm80::a_16x16_16b), sm80::fragment("bf16", 16, sm80::b_8x16_16b),
              sm80::fragment("f32", 32, sm80::c_16x8), 8),
    sm80::mma("SM80_16x8x8_F32F16F16F32_TN", "mma_m16n8k8<half_t>(float (&d)[4], a, b)",
              "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 8,
              sm80::fragment("f16", 16, sm80::a_16x8_16b), sm80::fragment("f16", 16, sm80::b_8x8_16b),
              sm80::fragment("f32", 32, sm80::c_16x8), 4, 75),
    sm80::mma("SM80_16x8x8_F16F16F16F16_TN", "mma_m16n8k8<half_t>(uint32_t (&d)[2], a, b)",
              "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 8,
              sm80::fragment("f16", 16, sm80::a_16x8_16b), sm80::fragment("f16", 16, sm80::b_8x8_16b),
              sm80::fragment("f16", 16, sm80::c_16x8), 4, 75),
    sm80::mma("SM80_16x8x8_F32BF16BF16F32_TN", "mma_m16n8k8<bfloat16_t>(d, a, b)",
              "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 8,
              sm80::fragment("bf16", 16, sm80::a_16x8_16b), sm80::fragment("bf16", 16, sm80::b_8x8_16b),
              sm80::fragment("f32", 32, sm80::c_16x8), 4),
    sm80::mma("SM80_16x8x8_F32TF32TF32F32_TN", "mma_m16n8k8<tfloat32_t>(d, a, b)",
              "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8,
              sm80::fragment("tf32", 32, sm80::a_16x8_32b), sm80::fragment("tf32", 32, sm80::b_8x8_32b),
              sm80::fragment("f32", 32, sm80::c_16x8), 8),
    sm80::mma("SM80_16x8x4_F32TF32TF32F32_TN", "mma_m16n8k4<tfloat32_t>(d, a, b)",
              "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4,
              sm80::fragment("tf32", 32, sm80::a_16x4_32b), sm80::fragment("tf32", 32, sm80::b_8x4_32b),
              sm80::fragment("f32", 32, sm80::c_16x8), 4),

    sm80::ldmatrix("SM75_U32x1_LDSM_N", "ldmatrix_x1(r, row)", "ldmatrix.sync.aligned.m8n8.x1.shared.b16", 1,
                   sm80::rows_x1, sm80::matrix_x1),
    sm80::ldmatrix("SM75_U32x2_LDSM_N", "ldmatrix_x2(r, row)", "ldmatrix.sync.aligned.m8n8.x2.shared.b16", 2,
                   sm80::rows_x2, sm80::matrix_x2),
    sm80::ldmatrix("SM75_U32x4_LDSM_N", "ldmatrix_x4(r, row)", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", 4,
                   sm80::rows_x4, sm80::matrix_x4),
    sm80::ldmatrix("SM75_U16x2_LDSM_T", "ldmatrix_x1_trans(r, row)",
                   "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16", 1, sm80::rows_x1, sm80::matrix_x1_trans),
    sm80::ldmatrix("SM75_U16x4_LDSM_T", "ldmatrix_x2_trans(r, row)",
                   "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", 2, sm80::rows_x2, sm80::matrix_x2_trans),
    sm80::ldmatrix("SM75_U16x8_LDSM_T", "ldmatrix_x4_trans(r, row)",
                   "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4, sm80::rows_x4, sm80::matrix_x4_trans),

    sm80::cp_async("SM80_CP_ASYNC_CACHEALWAYS<uint32_t>", "cp_async<4>(to, from)",
                   "cp.async.ca.shared.global.L2::128B", "b32", 4, false),
    sm80::cp_async("SM80_CP_ASYNC_CACHEALWAYS<uint64_t>", "cp_async<8>(to, from)",
                   "cp.async.ca.shared.global.L2::128B", "b64", 8, false),
    sm80::cp_async("SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", "cp_async<16>(to, from)",
                   "cp.async.cg.shared.global.L2::128B", "b128", 16, false),
    sm80::cp_async("SM80_CP_ASYNC_CACHEALWAYS_ZFILL<uint32_t>", "cp_async<4>(to, from, valid)",
                   "cp.async.ca.shared.global.L2::128B", "b32", 4, true),
    sm80::cp_async("SM80_CP_ASYNC_CACHEALWAYS_ZFILL<uint64_t>", "cp_async<8>(to, from, valid)",
                   "cp.async.ca.shared.global.L2::128B", "b64", 8, true),
    sm80::cp_async("SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>", "cp_async<16>(to, from, valid)",
                   "cp.async.cg.shared.global.L2::128B", "b128", 16, true),
};

}  // namespace zellige
