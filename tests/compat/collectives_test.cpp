// What the collectives and examples of CUTLASS use beyond the documented names: walks over two tuples, shapes of tilers,
// strides of int64_t, partitions of several tensors, atoms that choose their own width. What stays refused, and how.
#include <gtest/gtest.h>

#include <cute/tensor.hpp>
#include <string>
#include <vector>

#include "command.hpp"

using namespace cute;

namespace {

TEST(CompatCollectives, ForEachWalksTwoTuplesTogether) {
  auto counts = cute::make_tuple(1, 2L, std::string("c"));
  std::vector<std::string> seen;
  for_each(counts, cute::make_tuple(_3{}, 4, std::string("d")), [&](auto& mine, auto const& other) {
    mine = mine + other;
    seen.push_back(std::to_string(seen.size()));
  });
  EXPECT_EQ(get<0>(counts), 4);
  EXPECT_EQ(get<1>(counts), 6);
  EXPECT_EQ(get<2>(counts), "cd");
  EXPECT_EQ(seen, (std::vector<std::string>{"0", "1", "2"})) << "in order, once each";
  int sum = 0;
  for_each(5, 7, [&](int a, int b) { sum = a * b; });
  EXPECT_EQ(sum, 35) << "what is no tuple is its only element";
  for_each(cute::make_tuple(), cute::make_tuple(), [&](auto, auto) { sum = 0; });
  EXPECT_EQ(sum, 35);
}

TEST(CompatCollectives, ATilerOfLayoutsHasTheTupleOfTheirShapes) {
  using Rows = Layout<Shape<_4, _2>, Stride<_8, _1>>;
  auto const tiler = make_tile(Rows{}, make_layout(make_shape(3, _5{})), _7{});
  EXPECT_EQ(shape(tiler), make_shape(make_shape(_4{}, _2{}), make_shape(3, _5{}), _7{}));
  EXPECT_EQ((shape<1>(tiler)), make_shape(3, _5{}));
  EXPECT_EQ((shape<0, 1>(make_tile(make_tile(_1{}, Rows{}), _7{}))), make_shape(_4{}, _2{}));
  auto const numbers = make_shape(2, make_shape(_3{}, 4));
  static_assert(is_same_v<decltype(shape(numbers)), remove_cvref_t<decltype(numbers)>>);
  // The use: the layout of a tiled copy's values by the modes of its tiler.
  auto const copy_c =
      make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_8, _4>>{}, Layout<Shape<_2, _1>>{});
  auto const by_tile = right_inverse(copy_c.get_layoutS_TV()).with_shape(shape(typename decltype(copy_c)::Tiler_MN{}));
  EXPECT_EQ(size<0>(by_tile), 16);
  EXPECT_EQ(size<1>(by_tile), 4);
}

// A run-time stride of 64 bits is of the type in which CUTLASS declares its strides.
TEST(CompatCollectives, StridesOf64BitsAreOfInt64) {
  int64_t const m = 6, k = 10;
  using Batched = Stride<int64_t, Int<1>, int64_t>;
  Batched const compact = compact_order(make_shape(m, k, int64_t(3)), Step<_1, _0, _2>{});
  EXPECT_EQ(compact, (Batched{10, {}, 60}));
  Stride<Stride<int64_t, int64_t>, Int<1>, Int<0>> const split =
      append(compact_order(make_shape(make_shape(int64_t(2), m), k), Step<Step<_1, _2>, _0>{}), Int<0>{});
  EXPECT_EQ(get<0>(split), make_stride(int64_t(10), int64_t(20)));
  auto const whole = make_layout(make_shape(m, k, int64_t(4)), LayoutRight{});
  auto const tiles = zipped_divide(whole, Shape<_2, _5, _1>{});
  static_assert(is_same_v<remove_cvref_t<decltype(get<1, 0>(tiles.stride()))>, int64_t>);
  static_assert(is_same_v<remove_cvref_t<decltype(get<1, 0>(tiles.shape()))>, int64_t>);
  auto const last =
      local_tile(make_tensor(static_cast<float*>(nullptr), whole), Shape<_2, _5, _4>{}, make_coord(_, 0, 0));
  static_assert(is_same_v<remove_cvref_t<decltype(get<3>(last.stride()))>, int64_t>);
  // Numbers of 32 bits stay int.
  static_assert(is_same_v<decltype(compact_order(make_shape(2, 3), Step<_1, _0>{})), tuple<int, _1>>);
}

TEST(CompatCollectives, DowncastOfAShapeAndAStride) {
  static_assert(is_same_v<decltype(downcast<4>(_8{}, _1{})), Layout<_32, _1>>);
  static_assert(is_same_v<decltype(downcast<4>(_8{}, _2{})), Layout<_8, _8>>);
  EXPECT_EQ((downcast<2>(make_shape(_4{}, 3), make_stride(_1{}, 5))),
            make_layout(make_shape(_8{}, 3), make_stride(_1{}, 10)));
}

TEST(CompatCollectives, ArraysKeepTheAlignmentOfTheirElements) {
  struct alignas(64) Line {
    char bytes[64];
  };
  static_assert(alignof(array<Line, 2>) == 64 && sizeof(array<Line, 2>) == 128);
  static_assert(alignof(array<float, 4>) == 16 && alignof(array<float, 3>) == 4 && alignof(array<char, 2>) == 2);
}

// Several tensors in global memory for one in shared memory, which is last in the result.
TEST(CompatCollectives, TmaPartitionTakesSeveralTensors) {
  alignas(128) static float memory[64 * 64];
  auto const global = make_tensor(make_gmem_ptr(&memory[0]), make_layout(make_shape(64, 64), LayoutRight{}));
  auto const smem = tile_to_shape(GMMA::Layout_K_SW128_Atom<float>{}, Shape<_32, _32>{});
  auto const tma = make_tma_atom(SM90_TMA_LOAD_MULTICAST{}, global, smem, Shape<_32, _32>{}, _2{});
  auto const shared = group_modes<0, 2>(make_tensor(make_smem_ptr(&memory[0]), smem));
  auto const tiles =
      group_modes<0, 2>(local_tile(tma.get_tma_tensor(make_shape(64, 64)), Shape<_32, _32>{}, make_coord(_, _)));
  auto const row =
      group_modes<0, 2>(local_tile(tma.get_tma_tensor(make_shape(64, 64)), Shape<_32, _32>{}, make_coord(1, _)));
  auto const [first, second, kept] = tma_partition(tma, 1, Layout<_2>{}, shared, tiles, row);
  auto const [tiles_alone, kept_alone] = tma_partition(tma, 1, Layout<_2>{}, shared, tiles);
  auto const [row_alone, kept_again] = tma_partition(tma, 1, Layout<_2>{}, shared, row);
  EXPECT_EQ(first.layout(), tiles_alone.layout());
  EXPECT_EQ(second.layout(), row_alone.layout());
  EXPECT_EQ(kept.layout(), kept_alone.layout());
  EXPECT_EQ(kept.layout(), kept_again.layout());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(first(_0{}, i % 2, i / 2), tiles_alone(_0{}, i % 2, i / 2));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(second(_0{}, i), row_alone(_0{}, i));
}

// The layouts that traits of a client's own instruction name are those of the instructions here.
TEST(CompatCollectives, LayoutsOfInstructionsHaveNames) {
  using Half = MMA_Traits<SM80_16x8x8_F32F16F16F32_TN>;
  static_assert(is_same_v<Half::ALayout, SM80_16x8_Row> && is_same_v<Half::BLayout, SM80_8x8_Row>);
  static_assert(is_same_v<Half::CLayout, SM80_16x8_Row>);
  static_assert(is_same_v<MMA_Traits<SM80_8x8x4_F64F64F64F64_TN>::ALayout, SM80_8x4>);
  static_assert(is_same_v<MMA_Traits<SM80_8x8x16_S32S8S8S32_TN>::BLayout, SM80_8x16_Row>);
  using Volta = MMA_Traits<SM70_8x8x4_F32F16F16F32_NT>;
  static_assert(is_same_v<Volta::ThrID, SM70_QuadPair> && is_same_v<Volta::ALayout, SM70_8x4_Col>);
  static_assert(is_same_v<Volta::CLayout, SM70_8x8_32b>);
  using Volta16 = MMA_Traits<SM70_8x8x4_F16F16F16F16_TN>;
  static_assert(is_same_v<Volta16::BLayout, SM70_8x4_Row> && is_same_v<Volta16::CLayout, SM70_8x8_16b>);
}

/// Expects one error of the compiler for these statements, with these words.
void expect_refused(std::string const& statements, std::string const& words) {
  CommandResult const result = run(
      ZELLIGE_CXX + flags + "-fsyntax-only " +
      file_of("refused.cpp", "#include <cute/tensor.hpp>\nusing namespace cute;\nvoid f() {\n" + statements + "\n}\n"));
  EXPECT_NE(result.status, 0) << statements;
  EXPECT_NE(result.text.find(words), std::string::npos) << statements << "\n" << result.text;
  size_t const first = result.text.find("error:");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(result.text.find("error:", first + 1), std::string::npos) << result.text;
}
TEST(CompatCollectives, TuplesOfDifferentRanksAreRefused) {
  expect_refused(
      "for_each(make_shape(1, 2), make_shape(3, 4), [](auto, auto) {});\n"
      "for_each(make_shape(1, 2, 3), make_shape(3, 4, 5, 6), [](auto, auto) {});",
      "the tuples differ in rank");
}
TEST(CompatCollectives, APredicateOnABulkCopyOfAnyWidthIsRefused) {
  expect_refused(
      "auto t = make_tensor(make_gmem_ptr((float*)nullptr), Layout<_64>{});\n"
      "copy_if(Copy_Atom<SM90_BULK_COPY_AUTO, float>{}, [](int) { return true; }, t, t);",
      "SM90_BULK_COPY_AUTO copies whole tensors");
}
TEST(CompatCollectives, DowncastWithoutAdjacentElementsIsRefused) {
  expect_refused("downcast<2>(make_shape(_4{}, _3{}), make_stride(_2{}, _8{}));", "recast");
}

}  // namespace
