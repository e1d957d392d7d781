// Finds the values in memory or registers (loads, accumulators, reductions) from which an elementwise expression is
// evaluated, and the coordinates at which the expression reads each of these values.
#pragma once
#include <set>
#include <vector>

#include "kernel/kernel.hpp"

namespace zellige::kernel {

/// Where an expression reads a value, relative to the coordinate that is being evaluated: at the same coordinate
/// (own); at the same row and column, but of the other of two matrices that a rotary embedding combines (pair); in
/// the only column of the same row (row); or elsewhere.
enum class At : std::uint8_t { own, pair, row, elsewhere };
/// Returns at which coordinate an elementwise operator of shape `map` reads an operand of shape `operand`, which may
/// be broadcast. The first argument is the coordinate at which the operator itself is evaluated.
At narrowed(At, const Shape& operand, const Shape& map);
/// Returns at which coordinate the rotary embedding `rotate`, evaluated at the first argument, reads its first operand:
/// at the same element of a pair (if `itself`) or at the other one. Returns At::elsewhere unless pairs are along the
/// last batch dimension.
At rotated(At, const tile::Node& rotate, bool itself);

/// A value in memory or registers that an elementwise expression reads.
struct Leaf {
  int node;
  At at;  // relative to the coordinate at which the expression is evaluated
  /// Returns whether the expression reads this leaf at the coordinate at which the expression is evaluated.
  bool identity() const { return at == At::own; }
};
/// Returns the leaves of the expression that node `node` computes: the values in memory or registers that it reads,
/// and where. The expression is evaluated at coordinates of a tile of shape `domain`. Elementwise nodes are replaced
/// by their operands, except those whose values `held`, the kernel of the tile program, has in registers.
std::vector<Leaf> leaves(const tile::TileProgram&, int node, const Shape& domain, const Kernel* kernel = nullptr);
/// Returns the loads whose tiles the work reads in global memory, where it uses them (Kernel::gmem).
std::set<int> read_in_place(const Kernel&, const Work&);

}  // namespace zellige::kernel
