// The copies of SM80 (and of SM75 where SM80 took them over): ldmatrix and cp.async. Layouts are PTX ISA's fragment
// figures, written in CuTe's convention; names are CuTe's. Matrix instructions are rows of mma_traits/table.hpp.
#pragma once

#include <zellige/atom/instruction.hpp>

namespace zellige {

namespace sm80 {

using Space = Instruction::Space;

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
