// Lists the elements of A and B that the threads of a warp read in a matmul by ordinary loads (ldmatrix is not one), load
// by load: on FMA units as block/multiply_outer.hpp executes them, for a matrix instruction as block/multiply.hpp does.
// The swizzle search and the prediction of bank conflicts use these lists.
//
//   // m: a matmul on FMA units whose descriptor has m = 16 and k = 4. The loads of A[16..31][8..11]; A has 128 rows:
//   for (const OperandLoad& l : operand_loads(m, /*side: A*/ 0, /*along_k=*/true, /*x=*/16, /*extent=*/128, /*k=*/8))
//     l.bytes, l.lanes[5].x, l.lanes[5].k   // 16 bytes; the row of A that lane 5 reads; 8, the first k
#pragma once
#include <vector>

#include "kernel/step.hpp"

namespace zellige::kernel {

/// One load instruction of a warp: the bytes that each lane reads, and the first element that each of the
/// 32 lanes reads. `x` is its coordinate along M (operand A) or N (operand B), and `k` is that along K.
struct OperandLoad {
  struct At {
    std::int64_t x, k;
    bool operator==(const At&) const = default;
  };
  int bytes = 16;
  std::vector<At> lanes;
};

/// Returns whether lanes l and l ^ 1 agree for every l, first <= l < last, or lanes l and l ^ 2. If these have equal
/// addresses, the hardware serves two phases of a load (lanes that together read 128 bytes) as one (docs/reference/banks.md).
template <class Agree>
bool in_pairs(int first, int last, const Agree& agree) {
  const auto each = [&](int mask) {
    for (int lane = first; lane < last; ++lane)
      if (!agree(lane, lane ^ mask)) return false;
    return true;
  };
  return each(1) || each(2);
}

/// Returns the loads of operand A (side 0) or B (side 1) by one warp in the step over K that starts at `k`. `x` is the
/// first row of A (column of B) of the warp's tile, and `extent` the number of rows of A (columns of B). If `along_k`,
/// the operand is contiguous along K. A lane whose row or column would be `extent` or more reads an element within the
/// operand instead. Requires that ordinary loads read the operand: !by_matrices(along_k).
std::vector<OperandLoad> operand_loads(const MatmulChoice&, int side, bool along_k, std::int64_t x, std::int64_t extent,
                                       std::int64_t k);
/// Returns the length of the step over K that starts at `k`: a matrix instruction of half the K, if there is one, multiplies
/// the rest if it is so short.
std::int64_t depth_of_step(const MatmulChoice&, std::int64_t k);

/// Returns the wavefronts of the loads of operand A (side 0) or B (side 1) per warp and step over K, if the operand is
/// contiguous along K and has no bank conflicts. `row` must be a descriptor in the table target::outer_products().
int outer_wavefronts(const Instruction& row, int side);

/// Returns the registers that a thread needs for the elements of A and B that it reads in one step over K.
std::int64_t operand_registers(const MatmulChoice&, const WarpLayout&);

/// Returns, per phase of the load (lanes that the hardware serves together), the distinct elements that its
/// lanes read. The swizzle search counts bank conflicts within each phase.
std::vector<std::vector<OperandLoad::At>> together(const OperandLoad&);

/// Returns the padding unit of a matmul operand's tile, in elements. The tile's extent along K, and its
/// extent along the operand's contiguous dimension, are padded with zeros to multiples of this number.
int operand_unit(const MatmulChoice&);

}  // namespace zellige::kernel
