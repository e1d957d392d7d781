// Behaviour on which CuTe code relies beyond the documented names: casts in copies, static layouts by value,
// deduced template arguments, names of instructions without their arguments.
#define CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED
#include <gtest/gtest.h>

#include <cute/tensor.hpp>
#include <random>
#include <vector>

using namespace cute;

namespace {

/// Converts to and from float only where a cast says so.
struct Fixed {
  int hundredths = 0;
  Fixed() = default;
  explicit Fixed(float f) : hundredths(int(f * 100)) {}
  explicit operator float() const { return float(hundredths) / 100; }
};

template <class To, class From, class Copy>
void expect_cast(Copy const& copy_them) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> any(-1000, 1000);
  From from[24];
  To to[24];
  for (From& f : from) f = From(any(random));
  copy_them(make_tensor(&from[0], make_shape(_4{}, _6{})), make_tensor(&to[0], make_shape(_4{}, _6{})));
  for (int i = 0; i < 24; ++i)
    EXPECT_EQ(float(to[i]), float(static_cast<To>(from[i]))) << "element " << i << " of " << float(from[i]);
}
template <class To, class From>
void expect_casts() {
  expect_cast<To, From>([](auto a, auto b) { copy(a, b); });
  expect_cast<To, From>([](auto a, auto b) { copy_aligned(a, b); });
  expect_cast<To, From>([](auto a, auto b) { copy(AutoVectorizingCopy{}, a, b); });
  expect_cast<To, From>([](auto a, auto b) { copy(AutoFilter{AutoVectorizingCopy{}}, a, b); });
  expect_cast<To, From>([](auto a, auto b) { copy(AutoCopyAsync{}, a, b); });
  expect_cast<To, From>([](auto a, auto b) { copy(Copy_Atom<DefaultCopy, From>{}, a, b); });
  expect_cast<To, From>([](auto a, auto b) { copy_if([](int) { return true; }, a, b); });
  expect_cast<To, From>([](auto a, auto b) {
    copy(make_tensor(a.data(), make_shape(int(size(a)))), make_tensor(b.data(), make_shape(int(size(b)))));
  });
}
TEST(CompatClients, CopiesCastElementByElement) {
  expect_casts<bfloat16_t, float>();
  expect_casts<half_t, float>();
  expect_casts<half_t, bfloat16_t>();
  expect_casts<float, half_t>();
  expect_casts<int, float>();
  expect_casts<float, int8_t>();
  expect_casts<Fixed, float>();
  expect_casts<float, Fixed>();
}
// The low half holds the address and the low offset; a step changes nothing else, as CuTe's sum of 32 bits.
TEST(CompatClients, DescriptorsMoveInTheirLowHalf) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    uint64_t const word = random();
    int const step = int(random() % 0x8000) - 0x4000;
    uint64_t const moved = *(GMMA::DescriptorIterator{word} + step);
    ASSERT_EQ(moved >> 32, word >> 32) << word << " + " << step;
    ASSERT_EQ(uint32_t(moved), uint32_t(word) + uint32_t(step)) << word << " + " << step;
    ASSERT_EQ(uint64_t((GMMA::DescriptorIterator{word})[step]), moved);
  }
  constexpr uint64_t under = *(GMMA::DescriptorIterator{0x4000004000000000} + _1{} + (-2));
  EXPECT_EQ(under, 0x40000040ffffffffu);
}
TEST(CompatClients, CopiesWriteOnlyWhereThePredicateHolds) {
  float from[9];
  bfloat16_t to[9];
  for (int i = 0; i < 9; ++i) from[i] = 0.1f * float(i), to[i] = bfloat16_t(-1.f);
  copy_if([](int i) { return i % 3 == 1; }, make_tensor(&from[0], 9), make_tensor(&to[0], 9));
  for (int i = 0; i < 9; ++i) EXPECT_EQ(float(to[i]), i % 3 == 1 ? float(bfloat16_t(from[i])) : -1.f) << i;
}

TEST(CompatClients, AStaticLayoutIsAConstantOfAnyTensor) {
  std::vector<float> memory(64);  // no constant itself
  auto const t = make_tensor(memory.data(), Layout<Shape<_4, _8>, Stride<_8, _1>>{});
  constexpr auto layout = t.layout();
  constexpr auto rows = size<0>(t.layout());
  static_assert(is_same_v<decltype(t.layout()), Layout<Shape<_4, _8>, Stride<_8, _1>>>);
  static_assert(layout(1, 2) == 10 && rows == 4);
  auto const dynamic = make_tensor(memory.data(), make_layout(make_shape(4, _8{})));
  static_assert(is_same_v<decltype(dynamic.layout()), Layout<Shape<int, _8>, Stride<_1, int>> const&>);
  auto const owning = make_tensor<float>(Layout<_3>{});
  static_assert(is_same_v<decltype(owning.layout()), Layout<_3, _1>>);
}

TEST(CompatClients, AppendAndPrependAddAModeOfOneElement) {
  auto const l = make_layout(make_shape(_4{}, 3), make_stride(3, _1{}));
  auto const after = append(l);
  auto const before = prepend(l);
  static_assert(rank_v<decltype(after)> == 3 && rank_v<decltype(before)> == 3);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(after(i, j, 0), l(i, j));
      EXPECT_EQ(before(0, i, j), l(i, j));
    }
  }
  EXPECT_EQ(size(after), 12);
  static_assert(is_same_v<decltype(append(Layout<_4>{})), Layout<Shape<_4, _1>, Stride<_1, _0>>>);
  static_assert(is_same_v<decltype(prepend(Layout<_4>{})), Layout<Shape<_1, _4>, Stride<_0, _1>>>);
}

// Class templates where CuTe has class templates.
template <class T>
inline constexpr int kind_of = 0;
template <class It>
inline constexpr int kind_of<gmem_ptr<It>> = 1;
template <class It>
inline constexpr int kind_of<smem_ptr<It>> = 2;
template <class It>
inline constexpr int kind_of<rmem_ptr<It>> = 3;
template <template <class> class Pointer, class It>
constexpr bool is_made_of(Pointer<It> const&) {
  return is_same_v<It, float*>;
}
template <class It, class L>
constexpr int elements_of(Tensor<ViewEngine<It>, L> const&) {
  return int(sizeof(iter_value_t<It>));
}

TEST(CompatClients, ArgumentsOfClassTemplatesAreDeduced) {
  float x[8] = {};
  gmem_ptr g{&x[0]};
  smem_ptr s(&x[0]);
  rmem_ptr r = make_rmem_ptr(&x[0]);
  gmem_ptr<float*> converted = &x[0];
  EXPECT_TRUE(g == converted);
  static_assert(is_gmem_v<decltype(g)> && is_smem_v<decltype(s)> && is_rmem_v<decltype(r)>);
  static_assert(kind_of<decltype(g)> == 1 && kind_of<decltype(s)> == 2 && kind_of<decltype(r)> == 3);
  static_assert(is_same_v<decltype(g + 1), gmem_ptr<float*>>);
  static_assert(is_same_v<decltype(recast_ptr<int>(s)), smem_ptr<int*>>);
  EXPECT_TRUE(is_made_of(g) && is_made_of(s) && is_made_of(ViewEngine{&x[0]}));
  ArithmeticTuple sum{1, _2{}};
  static_assert(is_same_v<decltype(sum), ArithmeticTuple<int, _2>>);
  ComposedLayout composed{Swizzle<2, 0, 3>{}, _0{}, Layout<Shape<_8, _8>>{}};
  EXPECT_EQ(composed(1, 1), (Swizzle<2, 0, 3>::apply(9)));
  ConstViewEngine view{&x[0]};
  EXPECT_EQ(elements_of(make_tensor(&x[0], 8)) + int(view.begin() - x), 4);
}

template <GMMA::Major a, GMMA::Major b, GMMA::ScaleIn sa, GMMA::ScaleIn sb>
constexpr bool is_negated(GMMA::MMA_64x64x16_F32F16F16_SS<a, b, sa, sb>) {
  return sa == GMMA::ScaleIn::Neg;
}
template <template <GMMA::Major, GMMA::Major, GMMA::ScaleIn, GMMA::ScaleIn> class Operation>
using OfMajors = Operation<GMMA::Major::K, GMMA::Major::MN, GMMA::ScaleIn::One, GMMA::ScaleIn::Neg>;
template <auto... args>
using Passed = GMMA::MMA_64x64x8_F32TF32TF32_SS_TN<args...>;

TEST(CompatClients, WarpgroupInstructionsAreClassesWithDeducedArguments) {
  auto const op = SM90::GMMA::MMA_64x64x8_F32TF32TF32_SS_TN();
  static_assert(is_same_v<decltype(op), SM90_64x64x8_F32TF32TF32_SS_TN<GMMA::ScaleIn::One> const>);
  static_assert(is_same_v<Passed<GMMA::ScaleIn::One>, decltype(SM90::GMMA::MMA_64x64x8_F32TF32TF32_SS_TN{})>);
#if !defined(__clang__)  // clang 14 deduces no arguments of an alias, of CuTe's neither
  static_assert(is_same_v<decltype(SM90_64x64x8_F32TF32TF32_SS_TN()), SM90_64x64x8_F32TF32TF32_SS_TN<>>);
  static_assert(is_same_v<decltype(SM90_64x24x32_F32E4M3E5M2_RS_TN()), SM90_64x24x32_F32E4M3E5M2_RS_TN<>>);
#endif
  static_assert(is_same_v<decltype(SM90_64x64x32_S32S8S8_SS_TN()), GMMA::MMA_64x64x32_S32S8S8_SS_TN>);
  static_assert(
      is_same_v<OfMajors<GMMA::MMA_64x64x16_F32F16F16_SS>,
                SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::MN, GMMA::ScaleIn::One, GMMA::ScaleIn::Neg>>);
  EXPECT_TRUE(is_negated(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K, GMMA::ScaleIn::Neg>{}));
  auto const mma = make_tiled_mma(op, Layout<Shape<_2, _1, _1>>{});
  static_assert(size_v<decltype(mma)> == 256 && decltype(tile_size<1>(mma))::value == 64);
}
TEST(CompatClients, TheSelectorsReturnTheNamedInstructions) {
  using Tile = Shape<_128, Int<24>, _64>;
  static_assert(is_same_v<decltype(GMMA::ss_op_selector<half_t, half_t, float, Tile>()),
                          SM90_64x24x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>>);
  static_assert(is_same_v<decltype(GMMA::rs_op_selector<float_e4m3_t, float_e5m2_t, float, Tile>()),
                          SM90_64x24x32_F32E4M3E5M2_RS_TN<>>);
  static_assert(
      is_same_v<decltype(GMMA::ss_op_selector<uint8_t, int8_t, int32_t, Tile>()), SM90_64x24x32_S32U8S8_SS_TN>);
}

// CLayout_64xN is the accumulator of the instructions of that N: row and column of each value of each thread.
template <class L, int N>
void expect_accumulator() {
  static_assert(
      is_same_v<L, typename MMA_Traits<SM90_64x24x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>>::CLayout> ==
      (N == 24));
  EXPECT_EQ(size(L{}), 64 * N);
  for (int t = 0; t < 128; ++t) {
    for (int v = 0; v < N / 2; ++v) {
      int const row = t / 32 * 16 + t % 32 / 4 + v / 2 % 2 * 8, column = v / 4 * 8 + t % 4 * 2 + v % 2;
      ASSERT_EQ(L{}(t, v), row + 64 * column) << "N " << N << ", thread " << t << ", value " << v;
    }
  }
}
TEST(CompatClients, TheAccumulatorsOfTheRarerNHaveNames) {
  expect_accumulator<GMMA::CLayout_64x24, 24>();
  expect_accumulator<GMMA::CLayout_64x40, 40>();
  expect_accumulator<GMMA::CLayout_64x120, 120>();
  expect_accumulator<GMMA::CLayout_64x208, 208>();
  expect_accumulator<GMMA::CLayout_64x248, 248>();
}

TEST(CompatClients, TmaCopyOfCTakesATileOfTwoModes) {
  alignas(16) static half_t memory[64 * 128];
  auto const global = make_tensor(make_gmem_ptr(&memory[0]), make_layout(make_shape(64, _128{}), LayoutRight{}));
  auto const shared = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _64>{});
  auto const two = make_tma_copy_C_sm90(SM90_TMA_STORE{}, global, shared, Shape<_64, _64>{});
  auto const three = make_tma_copy_C_sm90(SM90_TMA_STORE{}, global, shared, Shape<_64, _64, _32>{});
  static_assert(is_same_v<decltype(two), decltype(three)>);

  // The numbers that a kernel writes into its own descriptor, from the copy, its atom or its traits.
  auto const expect_numbers = [&](auto const& copy) {
    array<uint32_t, 5> extent{{1, 1, 1, 1, 1}};
    array<uint64_t, 5> stride{};
    detail::fill_tma_gmem_shape_stride(copy, global, extent, stride);
    EXPECT_EQ(extent[0], 128u);
    EXPECT_EQ(extent[1], 64u);
    EXPECT_EQ(extent[2], 1u);
    EXPECT_EQ(stride[0], 1u);
    EXPECT_EQ(stride[1], 128u);
  };
  expect_numbers(two);
  expect_numbers(make_tma_atom(SM90_TMA_STORE{}, global, shared, Shape<_64, _64>{}));
  expect_numbers(make_tma_atom(SM90_TMA_STORE{}, global, shared, Shape<_64, _64>{}).traits());
}

// Strides of a type of the user's, as CUTLASS's examples gather rows: a coordinate that is looked up, then multiplied.
struct LookedUp {
  int const* at;
  int stride;
  friend constexpr int operator*(int i, LookedUp const& s) { return s.at[i] * s.stride; }
  template <class N>
  friend constexpr LookedUp safe_div(LookedUp const& s, N const&) {
    return {s.at, s.stride / N::value};
  }
};
struct GatheredRows : testing::Test {
  int const rows[8] = {3, 1, 0, 2, 5, 4, 7, 6};
  alignas(16) float memory[8 * 32];
  GatheredRows() {
    for (int i = 0; i < 8 * 32; ++i) memory[i] = float(i);
  }
  auto tensor() {
    auto const outer = make_layout(Shape<_1, _1>{}, make_stride(LookedUp{rows, 32}, _1{}));
    auto const inner = make_identity_layout(make_shape(8, 32));
    return make_tensor(make_gmem_ptr(&memory[0]), ComposedLayout{outer, make_arithmetic_tuple(0, 0), inner});
  }
  float at(int i, int j) const { return float(rows[i] * 32 + j); }
};
TEST_F(GatheredRows, AreTiledSlicedAndPartitionedByTheirCoordinates) {
  auto const t = tensor();
  auto const tile = local_tile(t, Shape<_4, _8>{}, make_coord(1, 2));
  auto const all = local_tile(t, Shape<_4, _8>{}, make_coord(_, _));
  auto const part = local_partition(tile, Layout<Shape<_2, _4>>{}, 3);
  auto const moved = domain_offset(make_coord(2, 4), t);
  auto const row = t(5, _);
  EXPECT_EQ(size(all), 256);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 8; ++j) {
      EXPECT_EQ(tile(i, j), at(4 + i, 16 + j));
      for (int k = 0; k < 8; ++k) EXPECT_EQ(all(i, j, k % 2, k / 2), at(k % 2 * 4 + i, k / 2 * 8 + j));
      EXPECT_EQ(moved(i, j), at(2 + i, 4 + j));
      EXPECT_EQ(row(j), at(5, j));
      EXPECT_EQ((group_modes<0, 2>(tile)(i + 4 * j)), at(4 + i, 16 + j));
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) EXPECT_EQ(part(i, j), at(4 + 2 * i + 1, 16 + 4 * j + 1));
  }
}
TEST_F(GatheredRows, AreCopiedByTiledCopies) {
  auto const tile = local_tile(tensor(), Shape<_4, _8>{}, make_coord(0, 3));
  auto const copy_a = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_4, _2>, Stride<_2, _1>>{},
                                      Layout<Shape<_1, _4>>{});
  for (int thread = 0; thread < 8; ++thread) {
    auto const part = copy_a.get_slice(thread).partition_S(tile);
    auto mine = make_tensor<float>(shape(part));
    copy(copy_a, part, mine);
    for (int v = 0; v < 4; ++v) EXPECT_EQ(mine(v), at(thread / 2, 24 + thread % 2 * 4 + v));
  }
}
TEST_F(GatheredRows, CountLargerElementsByTheirOwnDivision) {
  auto const outer = make_layout(make_shape(8, _32{}), make_stride(LookedUp{rows, 32}, _1{}));
  auto const by_four = upcast<4>(outer);
  EXPECT_EQ(size<1>(by_four), 8);
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) EXPECT_EQ(by_four(i, j), rows[i] * 8 + j);
  }
  EXPECT_EQ(upcast<4>(12), 3);
}

// A client's own reduce without a start, by halves: a name that CuTe's tensor.hpp does not have.
namespace by_halves {
template <class T, class F>
constexpr typename T::value_type reduce(T const& t, F f) {
  if constexpr (size(decltype(t.layout()){}) % 2 == 0) {
    auto halves = make_tensor<typename T::value_type>(size(t) / _2{});
    for (int i = 0; i < size(halves); ++i) halves(i) = f(t(i), t(i + size(halves)));
    return reduce(halves, f);
  } else {
    auto result = t(_0{});
    for (int i = 1; i < size(t); ++i) result = f(result, t(i));
    return result;
  }
}
template <class T, class F>
auto unqualified(T const& t, F f) {
  return reduce(t, f);
}
}  // namespace by_halves
TEST(CompatClients, HaveAReduceOfTheirOwn) {
  auto x = make_tensor<float>(Shape<_3, _8>{});
  for (int i = 0; i < 24; ++i) x(i) = float(i + 1);
  EXPECT_EQ(by_halves::unqualified(x, plus{}), 300);
  EXPECT_EQ(by_halves::unqualified(x(_, 7), multiplies{}), 22 * 23 * 24);
  EXPECT_EQ(by_halves::unqualified(x, [](float a, float b) { return a < b ? b : a; }), 24);
  EXPECT_EQ(reduce(x, 1.f), 301);  // with a start it is ours
  EXPECT_EQ(reduce(x, 1, plus{}), 301);
}

TEST(CompatClients, GiveSequencesWhereTuplesOfNumbersAreMeant) {
  auto const ordered = make_ordered_layout(make_shape(2, 3, _5{}), seq<1, 0, 2>{});
  EXPECT_EQ(ordered, make_ordered_layout(make_shape(2, 3, _5{}), make_tuple(_1{}, _0{}, _2{})));
  EXPECT_EQ(ordered(1, 2, 4), 1 * 3 + 2 + 4 * 6);
  static_assert(is_same_v<decltype(make_ordered_layout(Shape<_2, _3, _5>{}, seq<1, 0, 2>{})),
                          Layout<Shape<_2, _3, _5>, Stride<_3, _1, _6>>>);
  EXPECT_EQ(tile_to_shape(Layout<Shape<_2, _2>>{}, make_shape(4, 6), seq<2, 1>{})(3, 5),
            tile_to_shape(Layout<Shape<_2, _2>>{}, make_shape(4, 6), Step<_2, _1>{})(3, 5));
}

}  // namespace
