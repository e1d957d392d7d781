// Who holds what in registers: (thread, value) -> coordinate, evaluated from the rows of the instructions.
//
//   RegisterLayout c = accumulators({16, 64}, {.n = 4}, 1, row);  // values in the order of Fragment::d
//   c.at(37, 2)                                                   // (9, 18): of thread 37, value 2
//
// Values of `accumulators` and of `a_fragments` over the same warps are counted alike, since one is rounded,
// register for register, into the other (block/fragment.hpp, Operand).
#pragma once
#include <algorithm>
#include <functional>
#include <zellige/atom/instruction.hpp>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

struct RegisterLayout {
  int threads = 0;                                 // those that hold any; the first of the block
  int values = 0;                                  // of a thread
  std::function<Shape(int thread, int value)> at;  // may lie past the tile; empty: the value holds nothing
};

/// Calls use(thread, value, where it is) for every register.
template <class Use>
void for_each(const RegisterLayout& layout, const Use& use) {
  for (int thread = 0; thread < layout.threads; ++thread)
    for (int value = 0; value < layout.values; ++value) use(thread, value, layout.at(thread, value));
}

/// Tiles of N that a warp takes together: as many as one tile of K is wide. Their accumulators, rounded, are one A
/// operand, and the B of both comes in one load of matrices.
inline int tiles_in_unit(const Instruction& mma) { return std::max(1, mma.k / mma.n); }

/// Warps that issue it together; they lie one behind another along M.
inline int warps_of(const Instruction& mma) { return mma.issuers / 32; }

/// Of the square matrices that one instruction loads, whose rows threads address: elements of a row.
inline int matrix_side(const Instruction& load) { return load.a.layout.value_count() / load.a.bits; }

/// Whether two products leave C alike, whatever they multiply.
inline bool alike(const Instruction& a, const Instruction& b) {
  return a.m == b.m && a.n == b.n && a.k == b.k && a.c.layout == b.c.layout;
}

/// Which of each of its dimensions a warp is: M runs fastest, then batch, N and K.
WarpLayout warp_coordinate(const WarpLayout&, int warp);

/// C of a block's product in tiles of `mma`, the warps of K each a whole C; `slice` of `slices` along N.
RegisterLayout accumulators(const Shape& c, const WarpLayout&, int slices, const Instruction& mma,
                            int slice = 0);

/// A of a block's product, its fragments held like the accumulators of a product over `held` that has A's shape;
/// the product itself runs on `warps`, slices of K over warps.k of them.
RegisterLayout a_fragments(const Shape& a, const WarpLayout& held, const WarpLayout& warps,
                           const Instruction& mma);

/// Chunk after chunk, each to the next thread.
RegisterLayout swept(const Context& sweep, int threads);

/// A context of either kind.
RegisterLayout registers(const Context&, int threads, int slice = 0);

}  // namespace zellige::plan
