// Instruction selection: chooses mma.sync, FMA or the scalar fallback for each matmul, and how the block's
// warps are distributed over batch, M, N and K. It also decides whether a matmul's A operand stays in
// registers as the accumulators of another matmul.
//
// WGMMA is selected later, by warpgroups.hpp.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::selection {

/// A tile program and the choice for each of its matmuls, by node. The works of a kernel hold these choices
/// (Work::matmul).
struct Selection {
  tile::TileProgram program;
  std::map<int, kernel::MatmulChoice> matmuls;
  // By matmul: the matmul whose accumulators, rounded, are its A operand, in registers.
  std::map<int, int> fragments_from;
  /// Returns whether a column is `value` in the choice for any matmul: any(&MatmulChoice::pipe, target::Pipe::fma).
  template <class T>
  bool any(T (kernel::MatmulChoice::*column)() const, T value) const {
    return std::ranges::any_of(matmuls, [&](const auto& m) { return (m.second.*column)() == value; });
  }
};

/// Chooses for every matmul of the tile program its instruction, its warp layout (how the block's warps divide it), and
/// whether its A operand stays in registers.
Selection select(tile::TileProgram, const target::Target&);

/// Returns the number of accumulator registers per thread if the block's warps divide the matmul as the
/// warp layout says: over batch, M, N and K. Requires that the matmul has an instruction.
std::int64_t accumulator_registers(const kernel::MatmulChoice&, const kernel::WarpLayout&);

}  // namespace zellige::selection
