// Operands of matmuls that are widened from 4 bits in registers: the matmul's step reads the bytes from shared memory, and
// the scales and zero points, so that the operand itself has no tensor.
//
//   round((unpack(bytes) - zero) * scale)     zero and scale: one number for each run of K of a column, or none
#pragma once
#include <optional>

#include "kernel/kernel.hpp"

namespace zellige::kernel {

/// Operand B of a matmul, (K, N), as it is computed from weights of 4 bits.
struct WidenedOperand {
  int round = -1, bytes = -1;  // the operand; the load of its bytes, which lie along K
  int scale = -1, zero = -1;   // loads of (K / run, N); -1: none
  std::int64_t scale_run = 0, zero_run = 0;
  graph::DType packed{};
};

/// The least K that the four lanes of a column take at a time, eight elements each.
inline constexpr std::int64_t widened_chunk = 32;

/// Returns how many runs of eight elements a lane takes at a time, 1, 2 or 4: as many as the warps' part of K and the runs
/// with one scale and one zero point have (block/multiply_widened.hpp).
int widened_words(const WidenedOperand&, const MatmulChoice&);

/// Returns operand B of the matmul `node` if its step widens it in registers: the matmul is by m16n8k16, its warps divide
/// its K into whole chunks of 32, and it alone reads the operand.
std::optional<WidenedOperand> widened_operand(const tile::TileProgram&, int node, const MatmulChoice&);

}  // namespace zellige::kernel
