// The compile-time and run-time APIs agree for omitted, swizzled and run-time arguments.
#include <gtest/gtest.h>

#include <zellige/atom/evaluate.hpp>
#include <zellige/atom/print.hpp>
#include <zellige/atom/tma_copy.hpp>

namespace zellige {
namespace {

std::string answer(std::string_view op, std::vector<std::string> const& args) {
  try {
    std::optional<std::string> const of_atoms = evaluate_atom(op, args);
    return of_atoms ? *of_atoms : evaluate(op, args);
  } catch (LayoutError const& e) {
    return e.what();
  }
}

TEST(TiledApis, ModesOfATiledMmaThatAreNotGiven) {
  auto const mma =
      make_tiled_mma(SM70_8x8x4_F16F16F16F16_NN{}, Layout<Shape<_2, _2>, Stride<_2, _1>>{}, Tile<Underscore, _32>{});
  EXPECT_EQ(to_text(mma), answer("tiled_mma_print", {"SM70_8x8x4_F16F16F16F16_NN", "(_2,_2):(_2,_1)", "(_,_32)"}));
  EXPECT_EQ(to_text(partition_shape_C(mma, Shape<_32, _64>{})), "(_8,_2,_4)");
  EXPECT_EQ(answer("tiled_mma_partition_shape",
                   {"SM70_8x8x4_F16F16F16F16_NN", "(_2,_2):(_2,_1)", "(_,_32)", "C", "(_32,_64)"}),
            "(_8,_2,_4)");
  EXPECT_EQ(answer("tiled_mma_tile_shape", {"SM80_16x8x8_F16F16F16F16_TN", "_2:_1", "_64"}), "(_64,_8,_8)");
  EXPECT_EQ(answer("tiled_mma_tile_shape", {"SM80_16x8x8_F16F16F16F16_TN", "(_1,_1,_1,_2):(_0,_0,_0,_1)", "_64"}),
            "tiled_mma_tile_shape: the ranks 3 and 4 differ");
}
TEST(TiledApis, ALayoutThatCutePrintsDeeper) {
  char const* const name = "SM80_16x8x128_S32U1U1S32_TN_ANDPOPC";
  std::string const text = to_text(make_tiled_mma(SM80_16x8x128_S32U1U1S32_TN_ANDPOPC{}));
  EXPECT_NE(text.find("LayoutA_TV: ((_4,_8),(_32,_2)):((_512,_1),((_16,_8)))\n"), text.npos) << text;
  EXPECT_EQ(answer("tiled_mma_print", {name, "(_1,_1,_1):(_0,_0,_0)", "(_,_,_)"}), text);
}

/// The start of CTA 2 of 4 on a tile with a swizzled layout: not the swizzled address plus an offset.
TEST(TiledApis, PartsOfSwizzledTilesStartInsideTheSwizzle) {
  alignas(128) static double memory[1024];
  auto const global = make_tensor(make_gmem_ptr(memory), make_layout(make_shape(64, 16), Stride<_1, _64>{}));
  auto const shared = make_composed_layout(Swizzle<3, 1, 3>{}, _0{}, Layout<Shape<_16, _16>>{});
  auto const tma = make_tma_atom(SM90_TMA_LOAD_MULTICAST{}, global, shared, Shape<_16, _16>{}, _4{});
  auto const tile = local_tile(tma.get_tma_tensor(shape(global)), Shape<_16, _16>{}, make_coord(1, _));
  auto const memory_tile = make_tensor(make_smem_ptr(memory), shared);
  auto const both = tma_partition(tma, 2, Layout<_4>{}, group_modes<0, 2>(memory_tile), group_modes<0, 2>(tile));
  EXPECT_EQ(to_text(get<1>(both).layout()), "Sw<3,1,3> o 128 o ((_256,_1)):((_1,_0))");
  std::string const text =
      answer("tma_atom_partition", {"SM90_TMA_LOAD_MULTICAST", "double", "(64,16):(_1,64)",
                                    "Sw<3,1,3> o _0 o (_16,_16):(_1,_16)", "(_16,_16)", "_4", "(1,_)", "2"});
  EXPECT_EQ(text, "tAgA: " + to_text(get<0>(both)) + "\ntAsA: " + to_text(get<1>(both).layout()));
  auto const& part = get<1>(both);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(&part(i), &memory_tile(128 + i));
}
TEST(TiledApis, BoxesOfRunTimeExtents) {
  EXPECT_EQ(answer("tma_copy", {"SM90_TMA_LOAD", "uint8_t", "(512,(512,2)):(_1,(512,262144))", "(_128,_128):(_1,_128)",
                                "(_128,_128)", "_1"}),
            "tma_copy: a static number is needed where 128 is known at run time only");
}
TEST(TiledApis, ElementTypesByEveryName) {
  for (char const* t : {"half", "half_t", "bfloat16_t", "int16_t", "uint16_t"})
    EXPECT_EQ(answer("gmma_smem_atom", {"K", "SW64", t}), "Sw<2,4,3> o smem_ptr[16b](unset) o (_8,_32):(_32,_1)") << t;
  for (char const* t : {"int8_t", "uint8_t", "float_e4m3_t", "float_e5m2_t", "e4m3"})
    EXPECT_EQ(answer("gmma_smem_atom", {"K", "SW32", t}), "Sw<1,4,3> o smem_ptr[8b](unset) o (_8,_32):(_32,_1)") << t;
  EXPECT_EQ(answer("upcast", {"_4:_1", "2"}), "_2:_1");
  EXPECT_EQ(answer("recast_layout", {"_4:_1", "half", "float7"}), "element type float7 is unknown");
}
/// Threads along K copy the elements that the same threads copy without them: stride 0 in the layout.
TEST(TiledApis, ThreadsAlongKCopyTheSameElements) {
  Copy_Atom<UniversalCopy<uint32_t>, half_t> const atom;
  auto const mma = make_tiled_mma(SM80_16x8x16_F16F16F16F16_TN{}, Layout<Shape<_2, _2, _2>>{});
  auto const expect = [&](auto const& tiled, std::string const& part, std::string const& tiler, std::string const& tv) {
    std::string const text = to_text(tiled);
    EXPECT_EQ(text.find("TiledCopy\n  Tiler_MN:       " + tiler + "\n  TiledLayout_TV: " + tv + "\n"), 0u) << text;
    EXPECT_EQ(answer("tiled_copy_mma_print", {"UniversalCopy<uint32_t>", "half_t", "SM80_16x8x16_F16F16F16F16_TN",
                                              "(_2,_2,_2):(_1,_2,_4)", "(_,_,_)", part}),
              text);
  };
  expect(make_tiled_copy_C(atom, mma), "C", "(_32,_16)",
         "((_4,_8,_2,_2,_2),((_2,_2),(_1,_1))):((_64,_1,_16,_256,_0),((_32,_8),(_0,_0)))");
  expect(make_tiled_copy_C_atom(atom, mma), "C_atom", "((_8,_2):(_1,_16),(_8,_2):(_2,_1))",
         "((_4,_8,_2,_2,_2),_2):((_16,_1,_8,_64,_0),_128)");
}
TEST(TiledApis, ComposedOperandsWhereTheyCannotBe) {
  EXPECT_EQ(answer("logical_product", {"(_2,_3):(_1,_2)", "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)"}),
            "logical_product: operand 2 of 2 is a composed layout, and the operation takes only "
            "uncomposed layouts there");
}
TEST(TiledApis, OperandsThatDoNotFit) {
  EXPECT_EQ(answer("composition", {"_4:_1"}),
            "composition takes (layout, tiler), (layout, layout), (layout, swizzle), (swizzle, swizzle) or "
            "(swizzle, layout); 1 operand is given");
  EXPECT_EQ(answer("coalesce", {}), "coalesce takes (layout), (numbers) or (layout, numbers); 0 operands are given");
  EXPECT_EQ(answer("take", {"_4:_1", "0"}),
            "take takes (layout, mode or count, mode or count) or (numbers, mode or count, mode or count); 2 "
            "operands "
            "are given");
  EXPECT_EQ(answer("local_tile", {"256"}),
            "local_tile takes (tensor or shape, tiler, coordinate) or (tensor or shape, tiler, coordinate, "
            "coordinate); "
            "1 operand is given");
  EXPECT_EQ(answer("size", {"Sw<3,3,3>"}),
            "size takes (layout, mode or count, ...) or (numbers); its operand 1 is a swizzle");
  EXPECT_EQ(answer("tma_copy", {"SM90_TMA_LOAD"}), "tma_copy: 1 operands are too few");
  EXPECT_EQ(answer("cotile", {"_4:_1"}), "operation cotile is unknown");
}
// An operation is a row: every one that the table has is called by its id and by each of its names, and takes the
// first kind of operands that it says it takes.
TEST(TiledApis, EveryRowIsCalledByItsNames) {
  int rows = 0;
  for (Operation const& o : layout_operations) {
    EXPECT_FALSE(named(layout_operations, o.id).empty()) << o.id;
    std::string const names = o.names, first = names.substr(0, names.find(' '));
    Rows const found = named(layout_operations, first);
    EXPECT_TRUE(std::find(found.begin(), found.end(), &o) != found.end()) << o.id;
    ++rows;
  }
  EXPECT_EQ(rows, int(Op::count));
  // Two rows of one name that both take the same operands: the first would hide the other.
  std::vector<std::string> const operands = {
      "(4,8)", "(_4,_8):(_8,_1)", "Sw<2,3,3> o _0 o (_8,_8):(_8,_1)", "Sw<2,3,3>", "7", "(_,3)", "_"};
  for (Operation const& o : layout_operations) {
    std::string const names = o.names;
    Rows const found = named(layout_operations, names.substr(0, names.find(' ')));
    for (std::string const& a : operands) {
      for (std::string const& b : operands) {
        Operands const two = {operand(a), operand(b)};
        int taken = 0;
        for (Operation const* row : found) taken += fits(*row, two);
        EXPECT_LE(taken, 1) << names << " " << a << " " << b;
      }
    }
  }
}

}  // namespace
}  // namespace zellige
