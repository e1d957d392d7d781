// Lists what the threads of a warp read of the operands of a matmul on FMA units, load by load, as
// block/multiply_outer.hpp executes it. The swizzle search and the prediction of bank conflicts use these
// addresses. The descriptors of such matmuls are in target/outer_products.hpp.
//
//   for (const OuterLoad& l : outer_loads(row, 0, true, 16, 128, 8))   // A's rows 16 to 31 of 128, 8 to 11 of K, which is contiguous
//     l.bytes, l.lanes[5].x, l.lanes[5].k                              // 16; the row that lane 5 reads, starting at k = 8
#pragma once
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// One load instruction of a warp: the bytes that each lane reads, and the first element that each of the
/// 32 lanes reads. `x` is its coordinate along M (operand A) or N (operand B), and `k` is that along K.
struct OuterLoad {
  struct At {
    std::int64_t x, k;
    bool operator==(const At&) const = default;
  };
  int bytes = 16;
  std::vector<At> lanes;
};

/// Returns the loads of operand A (side 0) or B (side 1) by one warp in one step over K, which starts at
/// `k`. `x` is the first row or column of the warp's tile, and `extent` the number of rows or columns that
/// the operand has. With `along_k` the operand is contiguous along K. Lanes beyond the extent repeat valid
/// addresses.
std::vector<OuterLoad> outer_loads(const Instruction& row, int side, bool along_k, std::int64_t x,
                                   std::int64_t extent, std::int64_t k);

/// Returns the wavefronts of the loads of operand A (side 0) or B (side 1) per warp and step over K, if the
/// operand is contiguous along K and has no bank conflicts. Requires a descriptor of
/// target::outer_products().
int outer_wavefronts(const Instruction& row, int side);

/// Returns the registers that a thread needs for the elements of A and B that it reads in one step over K.
std::int64_t operand_registers(const MatmulChoice&, const WarpLayout&);

/// Returns, per phase of the load (lanes that the hardware serves together), the distinct elements that its
/// lanes read. The swizzle search counts bank conflicts within each phase.
std::vector<std::vector<OuterLoad::At>> together(const OuterLoad&);

/// Returns the number of elements to a multiple of which a matmul operand's tile is padded with zeros,
/// along K and along its contiguous dimension.
int operand_unit(const MatmulChoice&);

}  // namespace zellige::plan
