// Functions that ask for a shape take anything that has one: a shape, a layout or a tensor, and a TiledMMA or a slice of
// one. Slices of TiledMMAs and TiledCopies are aggregates. The layouts are those that CuTe 4.2 prints.
#include <gtest/gtest.h>

#include <cute/tensor.hpp>

#include "printed.hpp"

using namespace cute;

namespace {

auto const mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2, _1>>{});
float elements[64 * 64];
auto const tensor_c = make_tensor(&elements[0], Layout<Shape<_64, _64>>{});

TEST(CompatShapeArguments, PartitionFragmentOfShapeLayoutAndTensor) {
  std::string const expected = "((_2,_2),_2,_4):((_1,_2),_4,_8)";
  auto const expect_all = [&](auto const& m) {
    EXPECT_EQ(printed(partition_fragment_C(m, Shape<_64, _64>{}).layout()), expected);
    EXPECT_EQ(printed(partition_fragment_C(m, tensor_c.layout()).layout()), expected);
    EXPECT_EQ(printed(partition_fragment_C(m, Layout<Shape<_64, _64>, Stride<_64, _1>>{}).layout()), expected);
    EXPECT_EQ(printed(partition_fragment_C(m, composition(Swizzle<3, 3, 3>{}, tensor_c.layout())).layout()), expected);
    EXPECT_EQ(printed(partition_fragment_C(m, tensor_c).layout()), expected);
    EXPECT_EQ(printed(partition_fragment_C(m, make_identity_tensor(Shape<_64, _64>{})).layout()), expected);
  };
  expect_all(mma);
  expect_all(mma.get_slice(0));
}

TEST(CompatShapeArguments, PartitionShapeOfShapeLayoutAndTensor) {
  auto const expect_same = [&](auto const& m, auto const& tensor) {
    EXPECT_EQ(partition_shape_A(m, tensor), partition_shape_A(mma, shape(tensor)));
    EXPECT_EQ(partition_shape_B(m, tensor.layout()), partition_shape_B(mma, shape(tensor)));
    EXPECT_EQ(partition_shape_C(m, tensor), partition_shape_C(mma, shape(tensor)));
  };
  expect_same(mma, tensor_c);
  expect_same(mma.get_slice(3), tensor_c);
  expect_same(mma, make_tensor(&elements[0], make_shape(32, _32{})));
  EXPECT_EQ(partition_shape_C(mma, make_tensor(&elements[0], make_shape(_64{}, _32{}, 3))),
            make_shape(make_shape(_2{}, _2{}), _2{}, _2{}, 3));
}

TEST(CompatShapeArguments, MakeFragmentOfShapeLayoutAndTensor) {
  auto const thread = mma.get_slice(7);
  auto const part = thread.partition_C(tensor_c);
  std::string const expected = "((_2,_2),_2,_4):((_1,_2),_4,_8)";
  EXPECT_EQ(printed(thread.make_fragment_C(part).layout()), expected);
  EXPECT_EQ(printed(mma.make_fragment_C(part.layout()).layout()), expected);
  EXPECT_EQ(printed(mma.make_fragment_C(shape(part)).layout()), expected);
  EXPECT_EQ(printed(mma.make_fragment_C(partition_shape_C(mma, Shape<_64, _64>{})).layout()), expected);
  auto const part_a = thread.partition_A(make_tensor((half_t*)nullptr, Layout<Shape<_64, _32>>{}));
  auto const part_b = thread.partition_B(make_tensor((half_t*)nullptr, Layout<Shape<_64, _32>, Stride<_32, _1>>{}));
  std::string const expected_a = printed(thread.make_fragment_A(part_a).layout());
  EXPECT_EQ(expected_a, "((_2,_2,_2),_2,_2):((_1,_2,_4),_8,_16)");
  EXPECT_EQ(printed(mma.make_fragment_A(part_a.layout()).layout()), expected_a);
  EXPECT_EQ(printed(mma.make_fragment_A(shape(part_a)).layout()), expected_a);
  EXPECT_EQ(printed(mma.make_fragment_B(shape(part_b)).layout()), "((_2,_2),_4,_2):((_1,_2),_4,_16)");
}

TEST(CompatShapeArguments, Crd2idxOfACoordinateAndALayout) {
  EXPECT_EQ(crd2idx(make_coord(1, 2), make_layout(make_shape(3, 4))), 7);
  EXPECT_EQ(crd2idx(make_coord(1, 2), Layout<Shape<_3, _4>, Stride<_4, _1>>{}), 6);
  EXPECT_EQ(crd2idx(5, Layout<Shape<_3, _4>, Stride<_4, _1>>{}), 9) << "a number counts the layout's coordinates";
  EXPECT_EQ(crd2idx(make_coord(make_coord(1, 0), 2), make_layout(make_shape(make_shape(2, 2), 4))), 9);
  static_assert(is_same_v<decltype(crd2idx(make_coord(_1{}, _2{}), Layout<Shape<_3, _4>>{})), _7>);
  EXPECT_EQ(printed(crd2idx(make_coord(1, 2), make_identity_layout(make_shape(3, 4)))), "(1,2)");
  auto const swizzled = composition(Swizzle<2, 0, 3>{}, Layout<Shape<_8, _8>, Stride<_8, _1>>{});
  EXPECT_EQ(crd2idx(make_coord(2, 3), swizzled), swizzled(2, 3));
}

TEST(CompatShapeArguments, OtherFunctionsTakeWhatCuTeTakes) {
  auto const rows = make_layout(make_shape(8, _4{}), make_stride(_4{}, _1{}));
  EXPECT_EQ(ceil_div(tensor_c, Layout<_4>{}), ceil_div(make_shape(_64{}, _64{}), Layout<_4>{}));
  EXPECT_EQ(printed(ceil_div(Layout<Shape<_8, _4>>{}, Layout<_4>{})), "_8");
  EXPECT_EQ(coshape<1>(rows), 4);
  EXPECT_EQ(printed(coprofile<0>(rows)), "_0");
  EXPECT_EQ(filter_zeros(make_shape(2, _3{})), make_shape(2, _3{}));
  EXPECT_EQ(filter_zeros(rows, make_coord(_, 2)), rows) << "`_` is no stride of 0";
  EXPECT_EQ((take<0, 1>(12)), make_tuple(12));
  EXPECT_EQ(max(make_tuple(_2{}, make_tuple(3, _4{})), 7, _5{}), 7);
  EXPECT_EQ(min(Shape<_2, _3>{}, Shape<_4, _9>{}), _2{});
  EXPECT_EQ(gcd(Shape<_4, _6>{}, 10), 2);
  EXPECT_EQ(compact_row_major(make_shape(make_shape(2, 3), 4), make_stride(_5{}, 7)),
            make_stride(make_stride(15, _5{}), 7));
  EXPECT_EQ(tensor(rows), rows);
  EXPECT_EQ(reverse(rows), rows) << "one layout";
  EXPECT_EQ(reverse(rows.shape()), make_shape(_4{}, 8));
  EXPECT_EQ(printed(append(rows, make_coord(1, 2))), "((8,_4):(_4,_1),(1,2))");
  EXPECT_EQ(printed(prepend<3>(rows, 7)), "(7,7,(8,_4):(_4,_1))");
}

TEST(CompatThreadSlices, AreDeclaredBeforeTheyAreKnown) {
  decltype(mma.get_slice(0)) thread;
  thread = mma.get_slice(5);
  EXPECT_EQ(thread.thr_vmnk_, make_tuple(5, 0, 0, _0{}));
  EXPECT_EQ(thread.partition_C(tensor_c)(0, 0, 0), mma.get_slice(5).partition_C(tensor_c)(0, 0, 0));
  auto const copier = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<_32>{}, Layout<_4>{});
  decltype(copier.get_slice(0)) mine;
  mine = copier.get_slice(3);
  EXPECT_EQ(mine.thr_idx_, 3);
  decltype(copier.get_thread_slice(0u)) others[2] = {copier.get_slice(1), copier.get_slice(2)};
  EXPECT_EQ(others[1].thr_idx_, 2);
}
/// A class of a user's, as mainloops have: its members are slices.
struct Mainloop {
  decltype(mma.get_slice(0)) thread;
  int stage = 0;
};
TEST(CompatThreadSlices, AreMembersOfAggregates) {
  Mainloop loop;
  loop = Mainloop{mma.get_slice(33), 2};
  EXPECT_EQ(loop.thread.thr_vmnk_, mma.get_slice(33).thr_vmnk_);
  static_assert(std::is_aggregate_v<decltype(mma.get_slice(0))>);
  static_assert(std::is_trivially_copyable_v<Mainloop>);
}

}  // namespace
