// Matmuls on FMA units (target/outer_products.hpp): what the threads of a warp read of their operands, load
// by load, as block/multiply_outer.hpp does it.
//
//   for (const OuterLoad& l : outer_loads(row, 0, true, 16, 128, 8))   // A's rows 16 to 31 of 128, 8 to 11 of K, which is contiguous
//     l.bytes, l.lanes[5].x, l.lanes[5].k                              // 16; the row that lane 5 reads, starting at k = 8
#pragma once
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// One load of a warp: the first element of each lane, along M or N and along K.
struct OuterLoad {
  struct At {
    std::int64_t x, k;
    bool operator==(const At&) const = default;
  };
  int bytes = 16;
  std::vector<At> lanes;
};

/// The loads of one step over K at k, for the tile at x of an operand with `extent` rows (side 0) or columns
/// (side 1).
std::vector<OuterLoad> outer_loads(const Instruction& row, int side, bool along_k, std::int64_t x,
                                   std::int64_t extent, std::int64_t k);

/// Wavefronts of these loads without conflicts, for an operand that is contiguous along K.
int outer_wavefronts(const Instruction& row, int side);

/// Registers of the operands that a thread reads in one step over K.
std::int64_t operand_registers(const MatmulChoice&, const WarpLayout&);

/// For the swizzle search: by phase of the load, the distinct places that its lanes access.
std::vector<std::vector<OuterLoad::At>> together(const OuterLoad&);

/// The multiple to which an operand's tile is padded with zeros along K and along its contiguous dimension.
int operand_unit(const MatmulChoice&);

}  // namespace zellige::plan
