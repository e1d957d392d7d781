// Algorithms on tuples with elements of any type: strings, pointers, types without a default constructor.
#include <gtest/gtest.h>

#include <cute/algorithm/tuple_algorithms.hpp>
#include <cute/layout.hpp>
#include <memory>
#include <string>

using namespace cute;

namespace {

// No default constructor, and not a number.
struct Named {
  explicit Named(std::string n) : name(std::move(n)) {}
  std::string name;
  bool operator==(Named const& o) const { return name == o.name; }
};

auto const things = cute::make_tuple(Named("a"), std::string("b"), cute::make_tuple(3.5, _7{}));

TEST(CompatTuple, GetRefersToTheElement) {
  auto t = cute::make_tuple(std::string("one"), _2{}, 3);
  get<0>(t) += "!";
  get<2>(t) = 4;
  EXPECT_EQ(get<0>(t), "one!");
  EXPECT_EQ(get<2>(t), 4);
  static_assert(std::is_same_v<decltype(get<0>(t)), std::string&>);
  static_assert(std::is_same_v<decltype(get<1>(t)), _2>);
  static_assert(std::is_same_v<decltype(get<2>(std::as_const(t))), int const&>);
  static_assert(std::is_same_v<decltype(get<0>(std::move(t))), std::string&&>);
  auto nested = cute::make_tuple(1, cute::make_tuple(2, 3));
  get<1, 0>(nested) = 9;
  EXPECT_EQ((get<1, 0>(nested)), 9);
}

TEST(CompatTuple, EmptyElementsTakeNoSpace) {
  struct Nothing {};
  static_assert(sizeof(tuple<_1, Nothing, int, tuple<_2, Nothing>>) == sizeof(int));
  static_assert(std::is_empty_v<tuple<_1, tuple<_2, tuple<>>>>);
  static_assert(sizeof(tuple<char, double>) == 2 * sizeof(double));
  static_assert(std::is_standard_layout_v<tuple<int, Nothing, tuple<int, double>>>);
  static_assert(std::is_trivially_copyable_v<tuple<int, _1, float>>);
}

TEST(CompatTuple, ApplyTransformFold) {
  EXPECT_EQ(
      cute::apply(cute::make_tuple(std::string("x"), 2), [](std::string s, int n) { return s + std::to_string(n); }),
      "x2");
  EXPECT_EQ(transform_apply(
                cute::make_tuple(1, 2, 3), [](int i) { return i * i; }, [](auto... i) { return (0 + ... + i); }),
            14);
  EXPECT_EQ(transform(cute::make_tuple(1, 2), cute::make_tuple(10, 20), cute::make_tuple(100, 200),
                      [](int a, int b, int c) { return a + b + c; }),
            cute::make_tuple(111, 222));
  EXPECT_EQ(transform_leaf(cute::make_tuple(1, cute::make_tuple(2, 3)), [](int i) { return -i; }),
            cute::make_tuple(-1, cute::make_tuple(-2, -3)));
  EXPECT_EQ(
      fold(cute::make_tuple(1, 2, 3), std::string("0"), [](std::string s, int i) { return s + std::to_string(i); }),
      "0123");
  EXPECT_EQ(fold_first(cute::make_tuple(8, 2, 2), divides{}), 2);
  EXPECT_EQ(fold(5, 2, minus{}), -3) << "what is no tuple is its only element";
}

TEST(CompatTuple, ForEachMayChangeElements) {
  auto t = cute::make_tuple(1, cute::make_tuple(2, std::string("s")));
  int count = 0;
  for_each(t, [&](auto&) { ++count; });
  EXPECT_EQ(count, 2);
  for_each_leaf(t, [](auto& x) { x = x + x; });
  EXPECT_EQ(get<0>(t), 2);
  EXPECT_EQ((get<1, 1>(t)), "ss");
}

TEST(CompatTuple, Searches) {
  auto const is_static_number = [](auto const& x) { return is_constant<7, decltype(x)>{}; };
  static_assert(decltype(find_if(cute::make_tuple(1, _7{}, _7{}), is_static_number))::value == 1);
  static_assert(decltype(find_if(cute::make_tuple(1, 2), is_static_number))::value == 2);
  static_assert(decltype(find(cute::make_tuple(_1{}, _2{}, _3{}), _3{}))::value == 2);
  static_assert(decltype(find<float>(cute::make_tuple(1, 2.f)))::value == 1);
  static_assert(decltype(find<char>(cute::make_tuple(1, 2.f)))::value == 2);
  static_assert(decltype(any_of(cute::make_tuple(_1{}, _7{}), is_static_number))::value);
  static_assert(!decltype(all_of(cute::make_tuple(_1{}, _7{}), is_static_number))::value);
  static_assert(decltype(none_of(cute::make_tuple(_1{}, _2{}), is_static_number))::value);
  EXPECT_TRUE(any_of(cute::make_tuple(1, 2, 3), [](int i) { return i == 2; }));
  EXPECT_FALSE(all_of(cute::make_tuple(1, 2, 3), [](int i) { return i == 2; }));
}

TEST(CompatTuple, Edits) {
  EXPECT_TRUE((get<0>(take<0, 1>(things)) == Named("a")));
  static_assert(decltype(rank(take<1, -1>(things)))::value == 2);
  EXPECT_EQ(get<0>(select<1, 1>(things)), "b");
  auto const grouped = group<0, 2>(things);
  static_assert(tuple_size<decltype(grouped)>::value == 2);
  EXPECT_TRUE((get<0, 0>(grouped) == Named("a")));
  EXPECT_EQ(insert<1>(cute::make_tuple(1, 3), 2), cute::make_tuple(1, 2, 3));
  EXPECT_EQ(remove<1>(cute::make_tuple(1, 9, 2)), cute::make_tuple(1, 2));
  EXPECT_EQ(get<1>(replace<1>(things, std::string("c"))), "c");
  EXPECT_EQ(replace_front(cute::make_tuple(1, 2), 5), cute::make_tuple(5, 2));
  EXPECT_EQ(replace_back(cute::make_tuple(1, 2), 5), cute::make_tuple(1, 5));
  EXPECT_EQ(replace_back(1, 5), 5);
  EXPECT_EQ(append(cute::make_tuple(1), 2), cute::make_tuple(1, 2));
  EXPECT_EQ(append<3>(1, 2), cute::make_tuple(1, 2, 2));
  EXPECT_EQ(append<1>(1, 2), 1);
  EXPECT_EQ(prepend<3>(cute::make_tuple(1), 2), cute::make_tuple(2, 2, 1));
  EXPECT_EQ(repeat<3>(std::string("r")), repeat<3>(std::string("r")));
  static_assert(std::is_same_v<decltype(repeat<1>(5)), int> &&
                std::is_same_v<decltype(tuple_repeat<1>(5)), tuple<int>>);
  EXPECT_EQ(repeat_like(make_shape(1, make_shape(2, 3)), _0{}), make_shape(_0{}, make_shape(_0{}, _0{})));
  EXPECT_EQ(reverse(cute::make_tuple(1, _2{}, 3)), cute::make_tuple(3, _2{}, 1));
  EXPECT_EQ(wrap(1), cute::make_tuple(1));
  EXPECT_EQ(unwrap(cute::make_tuple(cute::make_tuple(1))), 1);
  EXPECT_EQ(front(cute::make_tuple(cute::make_tuple(1, 2), 3)), 1);
  EXPECT_EQ(back(cute::make_tuple(1, cute::make_tuple(2, 3))), 3);
}

// unflatten(flatten(t), t) = t.
TEST(CompatTuple, FlattenThenUnflatten) {
  auto const t =
      cute::make_tuple(std::string("a"), cute::make_tuple(1, cute::make_tuple(_2{}, 'c')), cute::make_tuple(2.5));
  auto const flat = flatten(t);
  static_assert(tuple_size<decltype(flat)>::value == 5);
  EXPECT_EQ(get<3>(flat), 'c');
  auto const again = unflatten(flat, t);
  static_assert(std::is_same_v<std::remove_const_t<decltype(again)>, std::remove_const_t<decltype(t)>>);
  EXPECT_EQ((get<1, 1, 1>(again)), 'c');
  EXPECT_EQ(flatten(5), 5);
  EXPECT_EQ(flatten_to_tuple(5), cute::make_tuple(5));
}

// Applied twice, zip gives back the rows: rows and columns change places.
TEST(CompatTuple, Zip) {
  auto const rows = cute::make_tuple(cute::make_tuple(1, 2, 3), cute::make_tuple('a', 'b', 'c'));
  auto const columns = zip(rows);
  EXPECT_EQ((get<2, 1>(columns)), 'c');
  static_assert(std::is_same_v<decltype(zip(columns)), std::remove_const_t<decltype(rows)>>);
  EXPECT_EQ(zip(cute::make_tuple(1, 2), cute::make_tuple(3, 4), cute::make_tuple(5, 6)),
            cute::make_tuple(cute::make_tuple(1, 3, 5), cute::make_tuple(2, 4, 6)));
  auto const pairs = cute::make_tuple(cute::make_tuple('a', 1),
                                      cute::make_tuple(cute::make_tuple('b', 2), cute::make_tuple('c', 3)), 'd');
  auto const split = zip2_by(pairs, cute::make_tuple(0, cute::make_tuple(0, 0)));
  EXPECT_EQ((get<0, 1, 1>(split)), 'c');
  EXPECT_EQ((get<1, 1, 1>(split)), 3);
  EXPECT_EQ((get<1, 2>(split)), 'd');
}

TEST(CompatTuple, Scans) {
  EXPECT_EQ(iscan(cute::make_tuple(1, 2, 3), 10, plus{}), cute::make_tuple(11, 13, 16));
  EXPECT_EQ(escan(cute::make_tuple(1, 2, 3), 10, plus{}), cute::make_tuple(10, 11, 13));
  static_assert(std::is_same_v<decltype(escan(cute::make_tuple(_2{}, _3{}), _1{}, multiplies{})), tuple<_1, _2>>);
}

TEST(CompatTuple, FilterConcatenatesTuples) {
  auto const keep_ints = [](auto const& x) {
    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, int>)
      return cute::make_tuple(x);
    else
      return tuple<>{};
  };
  EXPECT_EQ(filter_tuple(cute::make_tuple(1, 'c', 2, 3.f), keep_ints), cute::make_tuple(1, 2));
}

TEST(CompatTuple, EqualityIsStaticWhereItCanBe) {
  static_assert(!decltype(cute::make_tuple(_1{}, 5) == cute::make_tuple(_2{}, 5))::value);
  static_assert(decltype(cute::make_tuple(_1{}, _2{}) == cute::make_tuple(_1{}, _2{}))::value);
  static_assert(!decltype(cute::make_tuple(1, 2) == cute::make_tuple(1))::value);
  static_assert(!decltype(cute::make_tuple(1, 2) == cute::make_tuple(1, cute::make_tuple(2)))::value);
  EXPECT_TRUE(cute::make_tuple(_1{}, 5) == cute::make_tuple(1, _5{}));
  EXPECT_TRUE(cute::make_tuple(1, 5) != cute::make_tuple(1, 6));
  static_assert(decltype(Layout<_4, _1>{} == Layout<_4, _1>{})::value);
  static_assert(decltype(Layout<_4, _1>{} != Layout<_4, _2>{})::value);
}

}  // namespace
