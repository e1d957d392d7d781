// Products that a warp's threads make by themselves (target/outer_products.hpp): what they read of their operands, load by load, as
// block/multiply_outer.hpp does it.
//
//   for (const OuterLoad& l : outer_loads(row, 0, true, 16, 128, 8))   // A's rows 16 to 31 of 128, 8 to 11 of K, which is contiguous
//     l.bytes, l.lanes[5].x, l.lanes[5].k                              // 16; the row that lane 5 reads from 8 of K on
#pragma once
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// One load of a warp: where along M or N and K each lane's begins.
struct OuterLoad {
  struct At {
    std::int64_t x, k;
    bool operator==(const At&) const = default;
  };
  int bytes = 16;
  std::vector<At> lanes;
};

/// Those of one step over K, from k on, of the tile from x on of an operand with so many rows (side 0) or columns (side 1).
std::vector<OuterLoad> outer_loads(const Instruction& row, int side, bool along_k, std::int64_t x,
                                   std::int64_t extent, std::int64_t k);

/// Wavefronts of these where no two lanes conflict, for a side that runs along K.
int outer_wavefronts(const Instruction& row, int side);

/// Registers of what a thread reads in one step over K.
std::int64_t operand_registers(const MatmulChoice&, const WarpLayout&);

/// What the swizzle is asked for: of each load what goes through the banks together, each place once.
std::vector<std::vector<OuterLoad::At>> together(const OuterLoad&);

/// Along K and along its contiguous dimension an operand's tile holds zeros up to a multiple of so many elements.
int operand_unit(const MatmulChoice&);

}  // namespace zellige::plan
