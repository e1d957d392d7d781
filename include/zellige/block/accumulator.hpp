// Defines Accumulator: a thread's accumulator registers of one matrix instruction, with the row and column of each.
//
//   Accumulator<WgmmaOf<half_t, 128>> d;                  // a warpgroup's 64 x 128: d.registers == 64
//   multiply_wgmma<half_t, 4>(d, a, b, false);            // multiply_wgmma.hpp
//   for (int i = 0; i < d.registers; ++i) {
//     const auto [row, column] = d.at(i, thread);         // thread: the index in the warpgroup, 0 to 127
//     d[i] *= scale[column];
//   }
//   d.half(i),                                            // 0 or 1: d[i] is in the thread's first or second row
//   d.row(1, thread)                                      // the row index, 0 to 63, of the thread's second row
//
// Instruction is any type with MMA_Traits. Coordinates come from the traits' thread-value layout. A coordinate is the
// sum of a term that depends on the thread, which the compiler computes once, and a constant per register.
#pragma once
#include <zellige/atom/mma_atom.hpp>
#include <zellige/atom/number_type.hpp>

namespace zellige {

/// The wgmma instruction with 64 x N float32 accumulators and operands of type T.
template <class T, int N>
using WgmmaOf = SM90::GMMA::Mma<N, Number::f32, number_of<T>, number_of<T>>;

/// Row and column of an accumulator in the instruction's tile.
struct AccumulatorAt {
  int row, column;
};

/// A thread's float32 accumulators of one Instruction, uninitialised. Assumes that the accumulators lie in at most two
/// rows, as in wgmma and m16n8 instructions.
template <class Instruction>
struct Accumulator {
  using Traits = MMA_Traits<Instruction>;
  static constexpr int rows = decltype(size<0>(typename Traits::Shape_MNK{}))::value,
                       columns = decltype(size<1>(typename Traits::Shape_MNK{}))::value,
                       registers = decltype(size<1>(typename Traits::CLayout{}))::value;

  float d[registers];

  ZELLIGE_CALL float& operator[](int i) { return d[i]; }
  ZELLIGE_CALL float operator[](int i) const { return d[i]; }

  /// Returns the layout that maps (thread, register) to (row, column) of the instruction's tile.
  ZELLIGE_CALL static constexpr auto coordinates() {
    return composition(make_identity_layout(Shape<Int<rows>, Int<columns>>{}), typename Traits::CLayout{});
  }
  /// Returns the row and column of register i of a thread; `thread` is the thread's index among the instruction's
  /// threads.
  ZELLIGE_CALL static constexpr AccumulatorAt at(int i, int thread) {
    const auto c = coordinates()(thread, i);
    return {static_cast<int>(get<0>(c)), static_cast<int>(get<1>(c))};
  }
  /// Returns 0 if register i is in the first of the thread's two rows, 1 if it is in the second.
  ZELLIGE_CALL static constexpr int half(int i) { return at(i, 0).row != at(0, 0).row; }
  /// Returns the index, in the instruction's tile, of the first (h = 0) or second (h = 1) of the two rows of `thread`.
  ZELLIGE_CALL static constexpr int row(int h, int thread) {
    int i = 0;
    while (half(i) != h) ++i;
    return at(i, thread).row;
  }
  /// Number of adjacent lanes that share a row of accumulators.
  static constexpr int lanes_of_row = decltype(size<0, 0>(typename Traits::CLayout{}))::value;
#if defined(ZELLIGE_EMULATE)
  [[no_unique_address]] emulate::Registers<Accumulator> unwritten{d, registers};
#endif
};

}  // namespace zellige
