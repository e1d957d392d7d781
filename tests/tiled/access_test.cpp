// An instruction that moves several elements at one address is accepted exactly if the result equals moving
// them one by one: compared with brute force over random layouts, as types and with strides known only at run
// time.
#include <gtest/gtest.h>

#include <random>
#include <zellige/atom/copy_call.hpp>

namespace zellige {
namespace {

constexpr unsigned drawn(unsigned seed, unsigned which) {
  unsigned x = seed * 2654435761u + which * 40503u + 12345u;
  for (int i = 0; i < 4; ++i) x ^= x << 13, x ^= x >> 17, x ^= x << 5;
  return x >> 3;
}
constexpr int of(unsigned seed, unsigned which, std::initializer_list<int> values) {
  return values.begin()[drawn(seed, which) % values.size()];
}
/// A layout of eight elements in one to three modes, most of them nearly a run.
template <unsigned seed>
constexpr auto random_eight() {
  constexpr int s0 = of(seed, 0, {1, 2, 4, 8}), s1 = of(seed, 1, {1, 2, 4}) % (8 / s0 + 1);
  constexpr int b = s1 > 0 && 8 % (s0 * s1) == 0 ? s1 : 1, c = 8 / s0 / b;
  constexpr int steps[] = {1, s0, s0 * b, c, c * b, c * s0, b, 0, 3, 64, -1};
  // Now and then every stride at random; most often a permutation of a compact layout's.
  constexpr int order = drawn(seed, 7) % 8;
  constexpr int d0 = order == 0 ? steps[drawn(seed, 3) % 11] : order < 3 ? 1 : order < 5 ? b * c : c;
  constexpr int d1 = order == 0 ? steps[drawn(seed, 4) % 11] : order < 3 ? s0 : order < 5 ? c : c * s0;
  constexpr int d2 = order == 0 ? steps[drawn(seed, 5) % 11] : order < 3 ? s0 * b : 1;
  return Layout<Shape<Shape<Int<s0>, Int<b>, Int<c>>>, Stride<Stride<Int<d0>, Int<d1>, Int<d2>>>>{};
}
/// The same after a swizzle of chunks of 2 to 16 elements, starting at some multiple of eight.
template <unsigned seed>
constexpr auto random_swizzled() {
  constexpr int base = of(seed, 20, {1, 2, 3, 4});
  return make_composed_layout(Swizzle<2, base, 3>{}, Int<8 * int(drawn(seed, 21) % 32)>{}, random_eight<seed>());
}

template <class A, class B>
bool one_run_in_the_same_order(A const& a, B const& b) {
  bool seen[8] = {};
  for (int i = 0; i < 8; ++i) {
    long long const at = static_cast<long long>(a(i)) - static_cast<long long>(a(0));
    if (at < 0 || at > 7 || seen[at] || at != static_cast<long long>(b(i)) - static_cast<long long>(b(0))) return false;
    seen[at] = true;
  }
  return true;
}
template <class A>
bool in_order(A const& a) {
  return one_run_in_the_same_order(a, Layout<_8>{});
}

using Signed128 = Copy_Atom<UniversalCopy<uint128_t>, uint16_t>;
alignas(16) uint16_t memory[2][4096];
constexpr int middle = 2048;

template <class A, class B>
void moves_what_one_by_one_would(A const& a, B const& b) {
  for (int i = 0; i < 4096; ++i) memory[0][i] = static_cast<uint16_t>(i), memory[1][i] = 0;
  auto const src = make_tensor(&memory[0][middle], a);
  auto const dst = make_tensor(&memory[1][middle], b);
  copy(Signed128{}, src, dst);
  for (int i = 0; i < 8; ++i) ASSERT_EQ(dst(i), src(i)) << i;
}

struct Count {
  int accepted = 0, refused = 0;
};
template <unsigned seed>
void pair_of_types(Count& n) {
  constexpr auto a = random_eight<seed>();
  constexpr auto b = [] {
    if constexpr (seed % 3 == 0)
      return random_eight<seed + 7777>();
    else
      return random_eight<seed>();
  }();
  using S = decltype(make_tensor(&memory[0][0], a));
  using D = decltype(make_tensor(&memory[0][0], b));
  constexpr bool accepted = detail::has_access<Copy_Traits<UniversalCopy<uint128_t>>, S, D>;
  EXPECT_EQ(accepted, one_run_in_the_same_order(a, b)) << seed;
  if constexpr (accepted) moves_what_one_by_one_would(a, b);
  ++(accepted ? n.accepted : n.refused);
}
template <unsigned seed>
void swizzled_type(Count& n) {
  constexpr auto a = random_swizzled<seed>();
  using S = decltype(make_tensor(&memory[0][0], a));
  using D = decltype(make_tensor(&memory[0][0], Layout<_8>{}));
  constexpr bool accepted = detail::has_access<Copy_Traits<UniversalCopy<uint128_t>>, S, D>;
  EXPECT_EQ(accepted, in_order(a)) << seed;
  if constexpr (accepted) moves_what_one_by_one_would(a, Layout<_8>{});
  ++(accepted ? n.accepted : n.refused);
}
template <int... i>
void all_types(Count& pairs, Count& swizzled, seq<i...>) {
  (pair_of_types<unsigned(i)>(pairs), ...);
  (swizzled_type<unsigned(i)>(swizzled), ...);
}
TEST(Access, TypesAreAcceptedWhereTheyMoveTheRightElements) {
  Count pairs, swizzled;
  all_types(pairs, swizzled, make_seq<220>{});
  EXPECT_GE(pairs.accepted, 60);
  EXPECT_GE(pairs.refused, 40);
  EXPECT_GE(swizzled.accepted, 40);
  EXPECT_GE(swizzled.refused, 40);
}

// Run-time numbers: a LayoutError if the elements are not contiguous, the right elements otherwise.
TEST(Access, RunTimeStridesAreLookedAt) {
  std::mt19937 random(7);
  Count n;
  for (int trial = 0; trial < 4000; ++trial) {
    int const d0 = int(random() % 4), d1 = int(random() % 12), d2 = random() % 2 ? 2 * d1 : int(random() % 9);
    auto const a = make_layout(Shape<Shape<_2, _2, _2>>{}, make_stride(make_stride(d0, d1, d2)));
    bool const good = in_order(a);
    std::string message;
    try {
      moves_what_one_by_one_would(a, Layout<_8>{});
    } catch (LayoutError const& e) {
      message = e.what();
    }
    ASSERT_EQ(message.empty(), good) << d0 << " " << d1 << " " << d2 << " " << message;
    if (!good) {
      ASSERT_NE(message.find("an access of 128 bits, but its elements are not adjacent"), std::string::npos);
    }
    ++(good ? n.accepted : n.refused);
  }
  EXPECT_GE(n.accepted, 10);
  EXPECT_GE(n.refused, 1000);
}
TEST(Access, AddressesAreLookedAt) {
  for (int begin = 0; begin < 32; ++begin) {
    bool refused = false;
    try {
      copy(Signed128{}, make_tensor(&memory[0][begin], Layout<_8>{}), make_tensor(&memory[1][0], Layout<_8>{}));
    } catch (LayoutError const& e) {
      refused = true;
      EXPECT_STREQ(e.what(), "copy: an access of 128 bits begins at an address that is no multiple of 16 bytes");
    }
    EXPECT_EQ(refused, begin % 8 != 0) << begin;
  }
}
// A swizzled tile begun at a run-time offset: in step, or refused.
TEST(Access, RunTimeOffsetsAfterASwizzleAreChecked) {
  for (int offset = 0; offset < 256; ++offset) {
    auto const a = make_composed_layout(Swizzle<3, 3, 3>{}, offset, Layout<_8>{});
    bool refused = false;
    try {
      moves_what_one_by_one_would(a, Layout<_8>{});
    } catch (LayoutError const&) {
      refused = true;
    }
    EXPECT_EQ(refused, offset % 8 != 0) << offset;
  }
}
// Rows whose distance is no multiple of the width begin at no multiple of it either.
template <int row>
constexpr bool rows_accepted() {
  using X = decltype(make_tensor(&memory[0][0], Layout<Shape<_8, _4>, Stride<_1, Int<row>>>{}));
  using R = decltype(make_tensor<uint16_t>(Layout<Shape<_8, _4>>{}));
  return detail::in_line<Copy_Traits<UniversalCopy<uint128_t>>, X, R>;
}
template <int... row>
constexpr bool multiples_of_eight_only(seq<row...>) {
  return ((rows_accepted<row>() == (row % 8 == 0)) && ...);
}
TEST(Access, StepsAreMultiplesOfTheWidth) { EXPECT_TRUE(multiples_of_eight_only(make_seq<65>{})); }

// Elements of less than a byte: 32 of four bits are one access, from a whole byte on.
TEST(Access, PackedElements) {
  using Packed = Copy_Atom<UniversalCopy<uint32_t>, int4b_t>;
  alignas(16) unsigned char from[64], to[64] = {};
  for (int i = 0; i < 64; ++i) from[i] = static_cast<unsigned char>(37 * i + 11);
  auto const src = make_tensor(recast_ptr<int4b_t>(from), Layout<Shape<_8, _8>>{});
  auto const dst = make_tensor(recast_ptr<int4b_t>(to), Layout<Shape<_8, _8>>{});
  copy(Packed{}, src, dst);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(int(int4b_t(dst(i))), int(int4b_t(src(i))));
  using NonContiguous = decltype(make_tensor(recast_ptr<int4b_t>(from), Layout<_8, _2>{}));
  static_assert(!detail::has_access<Copy_Traits<UniversalCopy<uint32_t>>, NonContiguous, NonContiguous>);
  EXPECT_THROW(copy(Packed{}, make_tensor(recast_ptr<int4b_t>(from) + 1, Layout<_8>{}), dst(_, 0)), LayoutError);
}

}  // namespace
}  // namespace zellige
