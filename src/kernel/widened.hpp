// Operands of matmuls that are widened from 4 or 8 bits in registers, from their bytes, scales and zero points: the operand itself has
// no tensor in shared memory.
//
//   round((unpack(bytes) - zero) * scale)     zero and scale: one number for each run of K of a column, or none
//   round(unpack(bytes) * scale + zero)
//
// It is B of a product by mma.sync, whose step widens it, or A of one by wgmma: a step of its own, `to_operand`, reads the bytes in a
// stage of the producer's ring, and scales and zero points in global memory, and leaves the operand in registers. The loop's schedule
// decides when that step begins.
#pragma once
#include <optional>

#include "kernel/kernel.hpp"

namespace zellige::kernel {

/// An operand of a matmul, (K, N) or, if it is A, (N, K), as it is computed from weights of 4 or 8 bits.
struct WidenedOperand {
  int round = -1, bytes = -1;  // the operand; the load of its bytes, which lie along K
  int scale = -1, zero = -1;   // loads of (K / run, N), or of (N, K / run); -1: none
  std::int64_t scale_run = 0, zero_run = 0;
  bool added = false;  // zero is added to the scaled numbers, rather than subtracted before
  graph::DType packed{};
  int side = 1;  // 0: A

  /// Returns the loads of which the operand is made.
  std::vector<int> loads() const {
    std::vector<int> all{bytes};
    for (const int i : {scale, zero})
      if (i >= 0) all.push_back(i);
    return all;
  }
};

/// The least K that the four lanes of a column take at a time, eight elements each.
inline constexpr std::int64_t widened_chunk = 32;

/// Returns how many runs of eight elements a lane takes at a time, 1, 2 or 4: as many as the warps' part of K and the runs
/// with one scale and one zero point have (block/multiply_widened.hpp).
int widened_words(const WidenedOperand&, const MatmulChoice&);

/// Returns operand A of the matmul `node` if a product by wgmma may widen it in registers (block/widened_rows.hpp): the matmul
/// alone reads it, its K is 64 or 128, and runs of K with one scale have 16 elements at least.
std::optional<WidenedOperand> widened_rows(const tile::TileProgram&, int node);

/// Returns the operand of the matmul `node` that its step widens in registers, if there is one. By wgmma it is that of
/// widened_rows(), by m16n8k16 operand B: its warps divide K into whole chunks of 32, and it alone reads the operand.
std::optional<WidenedOperand> widened_operand(const tile::TileProgram&, int node, const MatmulChoice&);

/// Returns the operand that a work leaves in registers for a product by wgmma, if it widens it.
std::optional<WidenedOperand> widened_by(const Kernel&, const Work&);

}  // namespace zellige::kernel
