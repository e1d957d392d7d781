// MmaCoordinates: the element of a matrix instruction's operand that a thread holds as its v-th value.
// Evaluates the row's layout mode by mode, from lane and value directly to coordinates, without an index. For
// kernels that do not use the layout algebra.
//
//   using C = MmaCoordinates<SM80_16x8x16_F32F16F16F32_TN, MmaPart::c>;
//   C::at(5, 2)                                           // {9, 2}
#pragma once

#include <zellige/atom/config.hpp>
#include <zellige/atom/mma_traits/table.hpp>

namespace zellige {

struct ElementAt {
  int row, column;
};

template <class Op>
struct MmaRowOf {
  static constexpr MmaRow row = find_mma(Op::name);
  static constexpr int m = row.m, n = row.n, k = row.k;
};

template <class Op, MmaPart part>
struct MmaCoordinates {
  static constexpr ThreadValue layout = operand_layout(MmaRowOf<Op>::row, part);
  static constexpr int rows = part == MmaPart::b ? MmaRowOf<Op>::n : MmaRowOf<Op>::m;
  static constexpr int values = layout.value_count();
  static constexpr int neighbours = layout.values[0].shape;  // accumulators that are contiguous in a row

  ZELLIGE_ANYWHERE static constexpr ElementAt at(int thread, int value) {
    ElementAt e{0, 0};
    add<layout.threads[0].shape, layout.threads[0].stride, layout.threads[1].shape == 0>(e, thread);
    add<layout.threads[1].shape, layout.threads[1].stride, layout.threads[2].shape == 0>(e, thread);
    add<layout.threads[2].shape, layout.threads[2].stride, true>(e, thread);
    add<layout.values[0].shape, layout.values[0].stride, layout.values[1].shape == 0>(e, value);
    add<layout.values[1].shape, layout.values[1].stride, layout.values[2].shape == 0>(e, value);
    add<layout.values[2].shape, layout.values[2].stride, true>(e, value);
    return e;
  }

 private:
  // Modes of an operand cross columns only by whole columns.
  template <int Shape, int Stride, bool Last>
  ZELLIGE_ANYWHERE static constexpr void add(ElementAt& e, int& index) {
    if constexpr (Shape > 0) {
      const int digit = Last ? index : index % Shape;
      index /= Shape;
      e.row += digit * (Stride % rows);
      e.column += digit * (Stride / rows);
    }
  }
};

}  // namespace zellige
