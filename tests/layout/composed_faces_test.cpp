// Composed layouts as types: evaluated by the compiler, and printed the same as at run time.
#include <gtest/gtest.h>

#include <zellige/layout.hpp>
#include <zellige/layout/print.hpp>
#include <zellige/tensor.hpp>

#include "random_composed.hpp"

namespace zellige::test {
namespace {

constexpr auto rows = Layout<Shape<_4, _8>, Stride<_8, _1>>{};
constexpr auto after_a_layout = make_composed_layout(rows, _0{}, Layout<Shape<_10, _3>, Stride<_1, _10>>{});
constexpr auto spread = make_composed_layout(Layout<_32, _4>{}, _0{}, Layout<_8>{});
constexpr auto from_four = make_composed_layout(rows, _4{}, Layout<Shape<_4, _2>, Stride<_1, _8>>{});
constexpr auto swizzled = make_composed_layout(Swizzle<2, 1, 3>{}, _0{}, Layout<Shape<_8, _8>, Stride<_8, _1>>{});
constexpr auto from_sixteen =
    make_composed_layout(Swizzle<2, 0, 3>{}, Int<16>{}, Layout<Shape<_4, _4>, Stride<_4, _1>>{});
constexpr auto twice = make_composed_layout(Swizzle<2, 0, 3>{}, _0{},
                                            make_composed_layout(rows, _2{}, Layout<Shape<_2, _3>, Stride<_8, _4>>{}));
constexpr auto left_twice =
    make_composed_layout(make_composed_layout(Swizzle<1, 0, 2>{}, _1{}, rows), _3{}, Layout<Shape<_5, _4>>{});

// At compile time.
static_assert(after_a_layout(25) == 14 && after_a_layout(5, 2) == 14);
static_assert(from_four(1, 1) == rows(4 + 1 + 8) && left_twice(3, 2) == Swizzle<1, 0, 2>{}(1 + rows(3 + 13)));
static_assert(cosize_v<decltype(spread)> == 29 && cosize_v<decltype(after_a_layout)> == 31);
static_assert(cosize_v<decltype(swizzled)> == 64);
static_assert(decltype(max_common_vector(Layout<_8>{}, spread))::value == 1);
static_assert(decltype(max_common_vector(swizzled, Layout<Shape<_8, _8>, Stride<_8, _1>>{}))::value == 2);
static_assert(decltype(max_alignment(make_composed_layout(Swizzle<1, 2, 2>{}, _1{}, Layout<_8>{})))::value == 1);
static_assert(
    is_same_v<decltype(right_inverse(make_composed_layout(rows, _0{}, Layout<Shape<_8, _4>, Stride<_4, _1>>{}))),
              Layout<_32, _1>>);

template <class L>
constexpr bool composes_after(L const& l) {
  auto const after = composition(Layout<Shape<_16, _16>, Stride<_16, _1>>{}, l);
  auto const as_tile = composition(l, Layout<_4, _1>{});
  for (int i = 0; i < int(size(l)); ++i) {
    if (after(i) != Layout<Shape<_16, _16>, Stride<_16, _1>>{}(l(i))) return false;
  }
  for (int i = 0; i < 4; ++i) {
    if (as_tile(i) != l(i)) return false;
  }
  return true;
}
static_assert(composes_after(after_a_layout) && composes_after(spread) && composes_after(from_four));
static_assert(composes_after(swizzled) && composes_after(from_sixteen) && composes_after(twice));
static_assert(composes_after(left_twice) && composition(swizzled, from_four)(5) == swizzled(from_four(5)));

/// The type's printed form, the run-time API's value of it, and the elements of both.
template <class L>
void is_as_at_run_time(L const& l) {
  Value const v = parse_value(to_text(l));
  ASSERT_EQ(count(v), static_cast<long long>(size(l)));
  for (int i = 0; i < int(size(l)); ++i) {
    EXPECT_EQ(static_cast<long long>(l(i)), element(v, i)) << to_text(l) << " at " << i;
    EXPECT_EQ(index(v, i), element(v, i)) << to_text(l) << " at " << i;
  }
}
template <Op op, class... A>
void same(A const&... args) {
  std::vector<Value> values = {parse_value(to_text(args))...};
  Tape t;
  Values v;
  for (Value const& a : values) v.push_back(a);
  Value const r = apply(op, t, v);
  std::string what;
  for (Value const& a : values) what += to_text(a) + "; ";
  ASSERT_FALSE(t.failed()) << what << to_text(t.refusal());
  EXPECT_EQ(to_text(invoke<op>(args...)), to_text(r)) << what;
}
/// The operations that no composed layout is refused.
template <class L>
void every_operation_is_the_same(L const& l) {
  is_as_at_run_time(l);
  same<Op::coalesce>(l);
  same<Op::flatten>(l);
  same<Op::filter>(l);
  same<Op::filter_zeros>(l);
  same<Op::composition>(l, Layout<_4, _1>{});
  same<Op::composition>(l, make_tile(_2{}));
  same<Op::composition>(Layout<Shape<_16, _16>, Stride<_16, _1>>{}, l);
  same<Op::logical_divide>(l, Layout<_2, _1>{});
  same<Op::zipped_divide>(l, make_tile(_2{}));
  same<Op::tiled_divide>(l, make_tile(_2{}));
  same<Op::flat_divide>(l, make_tile(_2{}));
  same<Op::make_layout_like>(l);
  same<Op::make_fragment_like>(l);
  same<Op::max_alignment>(l);
  same<Op::max_common_vector>(l, Layout<decltype(l.shape())>{});
  same<Op::max_common_layout>(l, l);
  same<Op::append_to>(l, _3{});
  same<Op::take>(l, _0{}, _1{});
  same<Op::get>(l, _0{});
  same<Op::size>(l);
  same<Op::rank>(l);
  same<Op::shape>(l);
  same<Op::cosize>(l);
  same<Op::layout_call>(l, _5{});
}
TEST(ComposedApis, StaticOnesAreAsAtRunTime) {
  every_operation_is_the_same(after_a_layout);
  every_operation_is_the_same(spread);
  every_operation_is_the_same(from_four);
  every_operation_is_the_same(swizzled);
  every_operation_is_the_same(from_sixteen);
  every_operation_is_the_same(twice);
  every_operation_is_the_same(left_twice);
}
TEST(ComposedApis, CastsInversesAndProducts) {
  same<Op::upcast>(spread, _2{});
  same<Op::upcast>(swizzled, _2{});
  same<Op::upcast>(from_sixteen, _4{});
  same<Op::downcast>(swizzled, _2{});
  same<Op::downcast>(from_sixteen, _2{});
  same<Op::downcast>(make_composed_layout(rows, _0{}, Layout<_8, _4>{}), _2{});
  same<Op::recast_layout>(swizzled, _16{}, _32{});
  same<Op::recast_layout>(spread, _8{}, _32{});
  same<Op::right_inverse>(swizzled);
  same<Op::left_inverse>(swizzled);
  same<Op::right_inverse>(make_composed_layout(rows, _0{}, Layout<Shape<_8, _4>, Stride<_4, _1>>{}));
  same<Op::left_inverse>(spread);
  same<Op::nullspace>(make_composed_layout(rows, _0{}, Layout<Shape<_2, _4>, Stride<_0, _1>>{}));
  same<Op::complement>(spread, Int<64>{});
  same<Op::logical_product>(swizzled, Layout<_2>{});
  same<Op::blocked_product>(spread, Layout<_2>{});
  same<Op::slice_and_offset>(make_coord(_, _1{}), after_a_layout);
  same<Op::slice_and_offset>(make_coord(_, _1{}), twice);
  same<Op::dice>(make_coord(_, _1{}), twice);
}
/// A copy and a cut of a tensor have the layout's elements, however they are moved.
template <class L>
void moves_its_elements(L const& l) {
  alignas(16) unsigned short memory[512], there[512] = {}, together[512] = {};
  for (int i = 0; i < 512; ++i) memory[i] = static_cast<unsigned short>(i);
  Tensor const x = make_tensor(&memory[0], l);
  Tensor y = make_tensor(&there[0], make_layout(x.shape())), z = make_tensor(&together[0], make_layout(x.shape()));
  copy(x, y);
  for (unsigned thread = 0; thread < 4; ++thread) cooperative_copy<4, 128>(thread, x, z);
  for (int i = 0; i < int(size(l)); ++i) {
    EXPECT_EQ(int(y(i)), int(l(i))) << to_text(l) << " at " << i;
    EXPECT_EQ(int(z(i)), int(l(i))) << to_text(l) << " at " << i;
  }
  Tensor const from = domain_offset(make_coord(1, 1), x);
  EXPECT_EQ(int(from(1, 1)), int(l(2, 2))) << to_text(l);
}
TEST(ComposedApis, TensorsMoveTheirElements) {
  auto const square = Layout<Shape<_16, _16>, Stride<_16, _1>>{};
  moves_its_elements(after_a_layout);
  moves_its_elements(swizzled);
  moves_its_elements(left_twice);
  moves_its_elements(
      make_composed_layout(Swizzle<2, 0, 3>{}, _0{}, make_composed_layout(rows, _1{}, Layout<Shape<_3, _3>>{})));
  moves_its_elements(make_composed_layout(square, _0{}, Layout<Shape<_16, _8>, Stride<_1, _16>>{}));
  moves_its_elements(make_composed_layout(square, _0{}, square));
  moves_its_elements(make_composed_layout(Layout<_128, _4>{}, _0{}, Layout<Shape<_8, _8>>{}));
  moves_its_elements(make_composed_layout(square, _3{}, Layout<Shape<_10, _8>>{}));
  moves_its_elements(composition(square, make_composed_layout(Swizzle<2, 0, 4>{}, _4{}, Layout<Shape<_16, _8>>{})));
  for (int offset : {0, 3, 4, 8}) {
    moves_its_elements(make_composed_layout(Swizzle<2, 3, 3>{}, offset, Layout<Shape<_16, _8>>{}));
    moves_its_elements(make_composed_layout(square, offset, Layout<Shape<_16, _8>>{}));
  }
}
// Refusals, by the compiler and at run time.
TEST(ComposedApis, RunTimeNumbers) {
  for (int n : {1, 4, 8}) {
    for (int offset : {0, 3, 16}) {
      auto const l =
          make_composed_layout(make_layout(make_shape(_4{}, n), make_stride(n, _1{})), offset, Layout<Shape<_2, _4>>{});
      is_as_at_run_time(l);
      auto const s = make_composed_layout(Swizzle<2, 0, 3>{}, offset, make_layout(make_shape(n, _4{})));
      is_as_at_run_time(s);
      is_as_at_run_time(composition(rows, l));
      is_as_at_run_time(composition(rows, s));
      is_as_at_run_time(composition(l, Layout<_2, _2>{}));
      auto const both = slice_and_offset(make_coord(_, 1), l);
      for (int i = 0; i < 2; ++i) EXPECT_EQ(get<0>(both)(i) + get<1>(both), l(i, 1)) << n << " " << offset;
      EXPECT_EQ(decltype(max_common_vector(l, l))::value, 1);
    }
  }
  // A vector begins where the swizzle lets it begin.
  for (int offset : {0, 2, 4, 8}) {
    auto const l = make_composed_layout(Swizzle<1, 2, 2>{}, offset, Layout<_8>{});
    if (offset % 4 == 0)
      EXPECT_EQ(int(max_common_vector(l, Layout<_8>{})), 4);
    else
      EXPECT_THROW(max_common_vector(l, Layout<_8>{}), LayoutError);
  }
}

}  // namespace
}  // namespace zellige::test
