// Defines MmaCoordinates, which maps (thread, value) to the row and column of a matrix instruction's operand, for
// kernels that do not use the layout algebra. Every mode of the thread-value layout adds to row and column directly;
// no linear index is computed.
//
//   using C = MmaCoordinates<SM80_16x8x16_F32F16F16F32_TN, MmaPart::c>;
//   C::at(5, 2)                                           // {9, 2}
#pragma once

#include <zellige/atom/config.hpp>
#include <zellige/atom/mma_traits/table.hpp>

namespace zellige {

/// Coordinates of an element of an operand: (m, k) in A, (n, k) in B, (m, n) in C.
struct ElementAt {
  int row, column;
};

/// The descriptor of instruction type Op, found by its name, and its shape.
template <class Op>
struct MmaRowOf {
  static constexpr MmaRow row = find_mma(Op::name);
  static constexpr int m = row.m, n = row.n, k = row.k;
};

/// Thread-value layout of one operand (A, B or C) of instruction Op: at(thread, value) returns the element's
/// coordinates.
template <class Op, MmaPart part>
struct MmaCoordinates {
  static constexpr ThreadValue layout = operand_layout(MmaRowOf<Op>::row, part);
  static constexpr int rows = part == MmaPart::b ? MmaRowOf<Op>::n : MmaRowOf<Op>::m;
  static constexpr int values = layout.value_count();
  // Adjacent elements of a row among a thread's values: the extent of the first value mode.
  static constexpr int neighbours = layout.values[0].shape;

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
  // Adds the contribution of one mode, Shape:Stride, to the row and column of e. `index` is the thread or value index
  // divided by the extents of the preceding modes; the function divides it by Shape. Last says that no mode follows,
  // so that index < Shape. The stride is split into rows and columns. This is correct because the contributions of
  // all modes to the row add up to less than the number of rows.
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
