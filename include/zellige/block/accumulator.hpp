// Accumulator: the registers in which a matrix instruction leaves its sums, and which element each of them is.
//
//   Accumulator<WgmmaOf<half_t, 128>> d;                  // a warpgroup's 64 x 128: d.registers == 64
//   multiply_wgmma<half_t, 4>(d, a, b, false);            // multiply_wgmma.hpp
//   for (int i = 0; i < d.registers; ++i) {
//     const auto [row, column] = d.at(i, thread);         // thread: of the warpgroup, 0 to 127
//     d[i] *= scale[column];
//   }
//   d.half(i), d.row(1, thread)                           // which of the thread's two rows; where row 1 is
//
// Instruction is any that has MMA_Traits. Coordinates are the traits' (thread, value) layout evaluated: the thread's share
// is computed once, the register's is a constant.
#pragma once
#include <zellige/atom/mma_atom.hpp>
#include <zellige/atom/number_type.hpp>

namespace zellige {

/// The warpgroup instruction of 64 rows by N columns of float32 sums, by what its operands hold.
template <class T, int N>
using WgmmaOf = SM90::GMMA::Mma<N, Number::f32, number_of<T>, number_of<T>>;

struct AccumulatorAt {
  int row, column;
};

template <class Instruction>
struct Accumulator {
  using Traits = MMA_Traits<Instruction>;
  static constexpr int rows = decltype(size<0>(typename Traits::Shape_MNK{}))::value,
                       columns = decltype(size<1>(typename Traits::Shape_MNK{}))::value,
                       registers = decltype(size<1>(typename Traits::CLayout{}))::value;

  float d[registers];

  ZELLIGE_CALL float& operator[](int i) { return d[i]; }
  ZELLIGE_CALL float operator[](int i) const { return d[i]; }

  /// (thread, register) -> (row, column).
  ZELLIGE_CALL static constexpr auto coordinates() {
    return composition(make_identity_layout(Shape<Int<rows>, Int<columns>>{}), typename Traits::CLayout{});
  }
  ZELLIGE_CALL static constexpr AccumulatorAt at(int i, int thread) {
    const auto c = coordinates()(thread, i);
    return {static_cast<int>(get<0>(c)), static_cast<int>(get<1>(c))};
  }
  /// Which of the thread's two rows register i lies in, and where row h is.
  ZELLIGE_CALL static constexpr int half(int i) { return at(i, 0).row != at(0, 0).row; }
  ZELLIGE_CALL static constexpr int row(int h, int thread) {
    int i = 0;
    while (half(i) != h) ++i;
    return at(i, thread).row;
  }
  /// How many neighbouring lanes share the thread's rows.
  static constexpr int lanes_of_row = decltype(size<0, 0>(typename Traits::CLayout{}))::value;
#if defined(ZELLIGE_EMULATE)
  [[no_unique_address]] emulate::Registers<Accumulator> unwritten{d, registers};
#endif
};

}  // namespace zellige
