// The shape and the strides of a layout that may be written are references to its run-time numbers, as in CuTe.
#include <gtest/gtest.h>

#include <cute/tensor.hpp>
#include <utility>

#include "printed.hpp"

using namespace cute;

namespace {

TEST(CompatMutableLayout, AStrideIsAssignedThroughEveryAccessor) {
  auto l = make_layout(make_shape(8, 4, 2), make_stride(4, _1{}, 32));
  get<2>(stride(l)) = 0;
  EXPECT_EQ(printed(l), "(8,4,2):(4,_1,0)");
  get<0>(l.stride()) = 7;
  l.stride<2>() = 5;
  stride<0>(l) += 1;
  EXPECT_EQ(printed(l), "(8,4,2):(8,_1,5)");
}

TEST(CompatMutableLayout, AnExtentIsAssignedThroughEveryAccessor) {
  auto l = make_layout(make_shape(make_shape(8, _4{}), 3), make_stride(make_stride(1, 8), 32));
  get<1>(shape(l)) = 2;
  get<0, 0>(l.shape()) = 6;
  EXPECT_EQ(printed(l), "((6,_4),2):((1,8),32)");
  l.shape<0, 0>() = 5;
  shape<1>(l) = 9;
  l.stride<0, 1>() = 10;
  EXPECT_EQ(printed(l), "((5,_4),9):((1,10),32)");
  EXPECT_EQ(l(make_coord(2, 3), 1), 2 + 30 + 32);
}

TEST(CompatMutableLayout, ALayoutOfOneNumberIsAssigned) {
  auto l = make_layout(12, 3);
  l.shape() = 4;
  stride(l) = 5;
  l.stride<0>() += 1;
  EXPECT_EQ(printed(l), "4:6");
}

TEST(CompatMutableLayout, WholeTuplesAreAssignedAndBoundByReference) {
  auto l = make_layout(make_shape(8, 4), make_stride(4, 1));
  l.stride() = make_stride(2, 9);
  auto& extents = l.shape();
  get<0>(extents) = 3;
  auto& [m, n] = l.stride();
  std::swap(m, n);
  EXPECT_EQ(printed(l), "(3,4):(9,2)");
}

TEST(CompatMutableLayout, AConstantLayoutGivesNoReferenceThatMayBeWritten) {
  auto const l = make_layout(make_shape(8, _4{}), make_stride(4, 1));
  static_assert(is_same_v<decltype(get<0>(l.stride())), int const&>);
  static_assert(is_same_v<decltype(l.stride<0>()), int const&>);
  static_assert(is_same_v<decltype(get<1>(l.shape())), _4>);
  auto copy = l;
  static_assert(is_same_v<decltype(copy.stride<0>()), int&>);
  static_assert(is_same_v<decltype(shape<0>(copy)), int&>);
  static_assert(is_same_v<decltype(copy.shape<1>()), _4>);
  // A copy of the shape is a value, whatever becomes of the layout.
  auto kept = shape(copy);
  get<0>(copy.shape()) = 1;
  EXPECT_EQ(kept, make_shape(8, _4{}));
}

TEST(CompatMutableLayout, AStaticLayoutHasNothingToWrite) {
  Layout<Shape<_8, _4>> l;
  static_assert(is_same_v<decltype(l.shape()), Shape<_8, _4>>);
  static_assert(is_same_v<decltype(stride<1>(l)), _8>);
  EXPECT_EQ(size(l), 32);
}

}  // namespace
