// `cute` is Zellige's namespace, however code uses the name; and the macros.
#include <gtest/gtest.h>

#include <array>
#include <cute/tensor.hpp>
#include <sstream>
#include <tuple>

using namespace cute;

// Users open the namespace: to specialise a trait, to overload for a type of their own, to add a function.
struct ThreeBits {};
namespace user {
struct Matrix {
  int rows, columns;
};
}  // namespace user
namespace cute {
template <>
struct sizeof_bits<ThreeBits> {
  static constexpr int value = 3;
};
CUTE_HOST_DEVICE constexpr auto shape(user::Matrix const& m) { return make_shape(m.rows, m.columns); }
template <class L>
CUTE_HOST_DEVICE constexpr auto half_of(L const& l) {
  return size(l) / _2{};
}
}  // namespace cute

namespace {

TEST(CompatNames, CuteIsZellige) {
  static_assert(std::is_same_v<cute::Layout<cute::_4, cute::_1>, zellige::Layout<zellige::Int<4>, zellige::Int<1>>>);
  static_assert(std::is_same_v<::cute::tuple<int>, zellige::tuple<int>>);
}

TEST(CompatNames, TheNamespaceOpens) {
  static_assert(sizeof_bits<ThreeBits>::value == 3);
  static_assert(sizeof_bits_v<ThreeBits> == 3);
  EXPECT_EQ(cute::shape(user::Matrix{3, 4}), make_shape(3, 4));
  EXPECT_EQ(cute::shape(make_layout(make_shape(5, 6))), make_shape(5, 6)) << "the overload hides ours";
  EXPECT_EQ(cute::half_of(Layout<Shape<_4, _8>>{}), _16{});
}

TEST(CompatNames, TraitsOfTheStandardLibrary) {
  static_assert(cute::is_same_v<cute::conditional_t<true, int, float>, int>);
  static_assert(cute::is_same<cute::remove_cvref_t<int const&>, int>::value);
  static_assert(cute::is_empty_v<cute::tuple<_1, _2>> && cute::is_standard_layout_v<cute::tuple<int, double>>);
  static_assert(cute::is_any_of_v<int, float, int> && !cute::is_any_of_v<int, float, char>);
  static_assert(cute::is_convertible_v<Int<3>, int> && cute::is_integral<Int<3>>::value);
  static_assert(cute::is_std_integral<int>::value && !cute::is_std_integral<Int<3>>::value);
  static_assert(cute::is_same_v<cute::integral_constant<int, 3>::value_type, int>);
  static_assert(decltype(is_valid([](auto const& x) -> decltype(x.size()) { return x.size(); }, std::string{}))::value);
  static_assert(!decltype(is_valid([](auto const& x) -> decltype(x.size()) { return x.size(); }, 3))::value);
  int n = 3;
  static_assert(cute::is_same_v<decltype(cute::forward<int&>(n)), int&>);
  static_assert(cute::is_same_v<decltype(cute::move(n)), int&&>);
}

template <class T, __CUTE_REQUIRES(is_integral<T>::value)>
int kind_of(T const&) {
  return 1;
}
template <class T, __CUTE_REQUIRES(!is_integral<T>::value)>
int kind_of(T const&) {
  return 2;
}
CUTE_HOST_DEVICE constexpr int unreachable_after(bool b) {
  if (b) {
    return 1;
  } else {
    return 2;
  }
  CUTE_GCC_UNREACHABLE;
}

TEST(CompatNames, Macros) {
  CUTE_STATIC_ASSERT(true, "message");
  CUTE_STATIC_ASSERT_V(rank(make_shape(1, 2)) == Int<2>{});
  CUTE_STATIC_ASSERT_V(size(Layout<Shape<_4, _8>>{}) == _32{}, "with a message");
  static_assert(CUTE_STATIC_V(size(Shape<_4, _8>{})) == 32);
  CUTE_RUNTIME_ASSERT(1 + 1 == 2);
  EXPECT_EQ(kind_of(_3{}), 1);
  EXPECT_EQ(kind_of(make_shape(1)), 2);
  EXPECT_EQ(unreachable_after(true), 1);
  int sum = 0;
  CUTE_UNROLL
  for (int i = 0; i < 4; ++i) sum += i;
  CUTE_NO_UNROLL
  for (int i = 0; i < 4; ++i) sum += i;
  EXPECT_EQ(sum, 12);
  testing::internal::CaptureStdout();
  CUTE_LOG("%d and %d", 1, 2);
  CUTE_LOG("alone");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "1 and 2alone");
  EXPECT_TRUE(thread0() && block0() && thread(3) && thread(3, 4) && block(5));
}

TEST(CompatNames, StructuredBindings) {
  auto [a, b, c] = make_tuple(1, _2{}, 3.5f);
  static_assert(std::is_same_v<decltype(b), _2>);
  EXPECT_EQ(a, 1);
  EXPECT_EQ(c, 3.5f);
  auto [m, n] = make_arithmetic_tuple(4, _5{});
  EXPECT_EQ(m + n, 9);
  array<int, 2> pair{6, 7};
  auto& [x, y] = pair;
  x = 8;
  EXPECT_EQ(pair[0] + y, 15);
  static_assert(std::tuple_size_v<tuple<int, _1, float>> == 3);
  static_assert(std::is_same_v<std::tuple_element_t<1, tuple<int, _1, float>>, _1>);
}

TEST(CompatNames, TuplesOfOthers) {
  static_assert(is_tuple<std::tuple<int, float>>::value);
  static_assert(is_tuple<std::array<int, 3>>::value);
  static_assert(is_tuple<std::pair<int, int>>::value);
  static_assert(!is_tuple<int>::value);
  static_assert(!is_tuple<std::string>::value);
  static_assert(tuple_size<std::tuple<int, float>>::value == 2);
  EXPECT_EQ(transform(std::make_tuple(1, 2), [](int i) { return 2 * i; }), make_tuple(2, 4));
  EXPECT_EQ(fold(std::array<int, 3>{1, 2, 3}, 10, plus{}), 16);
  int sum = 0;
  for_each(std::make_index_sequence<4>{}, [&](auto i) { sum += decltype(i)::value; });
  for_each(make_int_range<4, 7>{}, [&](auto i) { sum += decltype(i)::value; });
  for_each(make_seq<3>{}, [&](auto i) { sum += decltype(i)::value; });
  EXPECT_EQ(sum, 6 + 15 + 3);
}

TEST(CompatNames, ComposedLayoutsHaveLayoutsMembers) {
  auto const l = composition(Swizzle<2, 0, 3>{}, Layout<Shape<_8, _8>>{});
  auto const rows = l.compose(_4{}, _8{});
  auto const line = l.with_shape(_64{});
  auto const tiles = l.tile(_4{}, _2{});
  for (int i = 0; i < 32; ++i) EXPECT_EQ(rows(i % 4, i / 4), l(i % 4, i / 4));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(line(i), l(i % 8, i / 8));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(tiles(make_coord(i % 4, i / 4 % 2), i / 8 % 2, i / 16), l(i % 4 + i / 8 % 2 * 4, i / 4 % 2 + i / 16 * 2));
  static_assert(decltype(E<2, 1>::mode())::value == 2);
}

TEST(CompatNames, WhatCutlassCollectivesAsk) {
  auto const shape = make_shape(2, make_shape(3, 4));
  auto it = make_coord_iterator(idx2crd(5, shape), shape);
  EXPECT_TRUE(*it == make_coord(1, make_coord(2, 0)));
  ++it;
  EXPECT_TRUE(*it == make_coord(0, make_coord(0, 1)));
  int visited = 0;
  for (auto i = make_coord_iterator(shape); i != ForwardCoordIteratorSentinel{}; ++i) {
    EXPECT_TRUE(*i == idx2crd(visited, shape));
    ++visited;
  }
  EXPECT_EQ(visited, 24);
  EXPECT_TRUE(make_coord_iterator(make_shape(4, 0)) == ForwardCoordIteratorSentinel{});
  auto const rest = make_shape(7, 9) - as_arithmetic_tuple(make_coord(2, 3));
  EXPECT_EQ(int(get<0>(rest)), 5);
  EXPECT_EQ(int(get<1>(rest)), 6);
  static_assert(decltype(max(_3{}, _7{}, _5{}))::value == 7 && decltype(gcd(_12{}, _18{}, _8{}))::value == 2);
  static_assert(max(3, 7, 5, 9) == 9 && min(3, _2{}, 5) == 2);
  static_assert(is_congruent<tuple<int, int> const&, tuple<_1, _2>&>::value);
  using Ordered = decltype(make_ordered_layout(Layout<Shape<_2, _4>, Stride<_64, _8>>{}));
  static_assert(std::is_same_v<Ordered, Layout<Shape<_2, _4>, Stride<_4, _1>>>);

  // A box whose second mode counts along two modes of the tensor: in steps of what divides both.
  float x = 0;
  auto const t =
      make_tensor(make_gmem_ptr(&x), make_shape(64, make_shape(8, 6)), make_stride(_1{}, make_stride(64, 1024)));
  array<uint32_t, 5> extent{{1, 1, 1, 1, 1}};
  array<uint64_t, 5> stride{{0, 0, 0, 0, 0}};
  cute::detail::fill_tma_gmem_shape_stride(t, make_tuple(E<0>{}, make_tuple(E<1, 0>{}, E<1, 1>{})), extent, stride);
  EXPECT_EQ(extent, (array<uint32_t, 5>{{64, 7 + 5 * 16 + 1, 1, 1, 1}}));
  EXPECT_EQ(stride, (array<uint64_t, 5>{{1, 64, 0, 0, 0}}));
}

template <auto... args>
struct PassesOn {
  using type = SM90_64x64x16_F32F16F16_SS<args...>;
};

TEST(CompatNames, WarpgroupProductsTakePacks) {
  using K = PassesOn<GMMA::Major::K, GMMA::Major::MN>::type;
  static_assert(std::is_same_v<K, SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::MN>>);
  static_assert(K::b_major == GMMA::Major::MN && K::n == 64);
}

TEST(CompatNames, ThreadsCopyOneByOne) {
  int from[7], to[7] = {};
  for (int i = 0; i < 7; ++i) from[i] = i + 1;
  auto const source = make_tensor(&from[0], Layout<_7>{});
  for (unsigned thread = 0; thread < 3; ++thread)
    naive_cooperative_copy<3>(thread, source, make_tensor(&to[0], Layout<_7>{}));
  for (int i = 0; i < 7; ++i) EXPECT_EQ(to[i], i + 1);
  std::ostringstream one, other;
  print_tensor_os(one, source);
  other << source;
  EXPECT_EQ(one.str(), other.str());
}

template <class T>
std::string printed(T const& t) {
  testing::internal::CaptureStdout();
  print(t);
  return testing::internal::GetCapturedStdout();
}
template <class T>
std::string streamed(T const& t) {
  std::ostringstream s;
  s << t;
  return s.str();
}
#define EXPECT_TEXT(x, text)   \
  EXPECT_EQ(printed(x), text); \
  EXPECT_EQ(streamed(x), text)

TEST(CompatNames, PrintsAsCuTeDoes) {
  EXPECT_TEXT(_4{}, "_4");
  EXPECT_TEXT(make_shape(_4{}, 8, make_shape(-1, _m2{})), "(_4,8,(-1,_-2))");
  EXPECT_TEXT(make_layout(make_shape(_4{}, 8)), "(_4,8):(_1,_4)");
  EXPECT_TEXT(make_coord(_, 3), "(_,3)");
  EXPECT_TEXT(E<0>{}, "_1@0");
  EXPECT_TEXT((ScaledBasis<int, 0, 1>(5)), "5@1@0");
  EXPECT_TEXT((composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, _64>>{})), "Sw<3,3,3> o _0 o (_8,_64):(_1,_8)");
  EXPECT_TEXT(nratio(_3{}, _6{}), "_3/_6");
  EXPECT_TEXT(make_mixed_bits(_3{}, 8u, Int<24>{}), "M_3|(8&24)=11");
  EXPECT_EQ(printed(2.5f), "2.500000");
  EXPECT_EQ(printed('x'), "x");
}

}  // namespace
