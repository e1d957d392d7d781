// Describes the copy instructions of SM75 and SM80, ldmatrix and cp.async, as Instruction descriptors under CuTe's
// names. Operand layouts follow the fragment figures of the PTX ISA, in CuTe's convention. Host code only.
//
//   for (const Instruction& row : sm80_instructions) fmt::print("{}: {}\n", row.name, row.ptx);
//
// mma_traits/table.hpp has the matrix instructions, sm90.hpp the copies of SM90.
#pragma once

#include <zellige/atom/matrix_layouts.hpp>
#include <zellige/atom/matrix_move_reference.hpp>

namespace zellige {

namespace sm80 {

using Space = Instruction::Space;

using namespace matrix_layouts;

/// Returns the descriptor of an ldmatrix that loads `matrices` 8x8 matrices. `rows` is the layout of the addressed
/// shared-memory rows, `registers` that of the destination. Both layouts map (thread, bit) to an offset in bits.
constexpr Instruction ldmatrix(const char* name, const char* call, const char* ptx, int matrices,
                               const ThreadValue& rows, const ThreadValue& registers) {
  Instruction i{};
  i.name = name, i.ptx = ptx, i.call = call;
  i.compute_capability = 75;
  i.kind = Instruction::Kind::matrix_load;
  i.issuers = 32;
  i.a = {.type = "b16", .bits = 16, .space = Space::smem, .layout = rows, .alignment = 16};
  i.c = {.type = "b16", .bits = 16, .space = Space::rmem, .layout = registers, .registers = matrices};
  i.cycles = matrices;
  i.body = reference::move_bits;
  return i;
}

/// Returns the descriptor of a cp.async of `bytes` bytes per thread. `zero_fill` says that the instruction can read
/// fewer bytes and write zeros to the rest of the destination.
constexpr Instruction cp_async(const char* name, const char* call, const char* ptx, const char* type, int bytes,
                               bool zero_fill) {
  const ThreadValue bits{{{1, 0}}, {{8 * bytes, 1}}};
  Instruction i{};
  i.name = name, i.ptx = ptx, i.call = call;
  i.compute_capability = 80;
  i.kind = Instruction::Kind::async_copy;
  i.issuers = 1;
  i.a = {.type = type, .bits = 8 * bytes, .space = Space::gmem, .layout = bits, .alignment = bytes};
  i.c = {.type = type, .bits = 8 * bytes, .space = Space::smem, .layout = bits, .alignment = bytes};
  i.completion = Instruction::Completion::copy_group;
  i.zero_fill = zero_fill;
  i.cycles = bytes / 4;
  return i;
}

}  // namespace sm80

inline constexpr Instruction sm80_instructions[] = {
    sm80::ldmatrix("SM75_U32x1_LDSM_N", "ldmatrix_x1(r, row)", "ldmatrix.sync.aligned.m8n8.x1.shared.b16", 1,
                   sm80::rows_x1, sm80::matrix_x1),
    sm80::ldmatrix("SM75_U32x2_LDSM_N", "ldmatrix_x2(r, row)", "ldmatrix.sync.aligned.m8n8.x2.shared.b16", 2,
                   sm80::rows_x2, sm80::matrix_x2),
    sm80::ldmatrix("SM75_U32x4_LDSM_N", "ldmatrix_x4(r, row)", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", 4,
                   sm80::rows_x4, sm80::matrix_x4),
    sm80::ldmatrix("SM75_U16x2_LDSM_T", "ldmatrix_x1_trans(r, row)", "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16",
                   1, sm80::rows_x1, sm80::matrix_x1_trans),
    sm80::ldmatrix("SM75_U16x4_LDSM_T", "ldmatrix_x2_trans(r, row)", "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16",
                   2, sm80::rows_x2, sm80::matrix_x2_trans),
    sm80::ldmatrix("SM75_U16x8_LDSM_T", "ldmatrix_x4_trans(r, row)", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
                   4, sm80::rows_x4, sm80::matrix_x4_trans),

    sm80::cp_async("SM80_CP_ASYNC_CACHEALWAYS<uint32_t>", "cp_async<4>(to, from)", "cp.async.ca.shared.global.L2::128B",
                   "b32", 4, false),
    sm80::cp_async("SM80_CP_ASYNC_CACHEALWAYS<uint64_t>", "cp_async<8>(to, from)", "cp.async.ca.shared.global.L2::128B",
                   "b64", 8, false),
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
