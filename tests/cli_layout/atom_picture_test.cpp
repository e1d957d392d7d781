// Pictures of instructions: every cell of every matrix instruction names the thread and the value that the table gives the
// element to, and every copy of the tables is drawn.
#include "view/atom_picture.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <zellige/atom/instruction_table.hpp>

#include "all_cases.hpp"
#include "cli/command.hpp"
#include "graph/error.hpp"
#include "system/files.hpp"

namespace zellige::view {
namespace {

std::string refusal(const std::string& text) {
  try {
    atom_picture(text, 0);
  } catch (const Error& e) {
    return e.what();
  }
  return "drawn";
}

// Returns the place to which a (thread, value) layout of the tables maps a thread and a value.
long long place_of(const ThreadValue& l, long long thread, long long value) {
  long long at = 0;
  const auto add = [&](const ThreadValue::Mode(&modes)[ThreadValue::max_modes], long long i) {
    for (const auto& m : modes) {
      if (m.shape == 0) break;
      at += i % m.shape * m.stride, i /= m.shape;
    }
  };
  add(l.threads, thread), add(l.values, value);
  return at;
}

// Compares the cells of an operand in registers, which is drawn as a grid with a cell per element.
void compare(const Grid& g, const ThreadValue& l, long long rows, bool transposed, const std::string& name) {
  if (g.row_unit * g.column_unit > 1) return;  // merged
  long long threads = 1, values = 1;
  for (const auto& m : l.threads) threads *= m.shape ? m.shape : 1;
  for (const auto& m : l.values) values *= m.shape ? m.shape : 1;
  for (long long t = 0; t < threads; ++t)
    for (long long v = 0; v < values; ++v) {
      const long long i = place_of(l, t, v), r = i % rows, c = i / rows;
      const GridCell& cell = g.cells[std::size_t(transposed ? c * rows + r : r * g.columns + c)];
      const long long number = threads == 8 ? t % 4 + t / 4 * 16 : t;  // a quad pair's threads
      const std::string who = "T" + std::to_string(number) + " V" + std::to_string(v);
      ASSERT_NE((cell.hover + ",").find(who + ","), std::string::npos)
          << name << " " << who << " is not in " << cell.hover;
    }
}

TEST(AtomPicture, EveryMatrixInstructionIsDrawnAsTheTablesSay) {
  std::size_t at = 0, drawn = 0;
  const auto draw = [&](const Instruction& i) {
    if (i.kind != Instruction::Kind::mma || at++ % test::every(23) != 0) return;
    SCOPED_TRACE(i.name);
    const Picture p = atom_picture(i.name, 0);
    ASSERT_EQ(p.grids.size(), 3u);
    for (const Grid& g : p.grids) {
      EXPECT_LE(g.cells.size(), 4096u);
      for (const GridCell& c : g.cells) ASSERT_FALSE(c.label.empty()) << g.title;
    }
    if (i.sparse) return;
    if (i.a.space == Instruction::Space::rmem) compare(p.grids[0], i.a.layout, i.m, false, i.name);
    if (i.b.space == Instruction::Space::rmem) compare(p.grids[1], i.b.layout, i.n, true, i.name);
    compare(p.grids[2], i.c.layout, i.m, false, i.name);
    ++drawn;
  };
  for (const Instruction& i : instructions()) draw(i);
  for (const Instruction& i : narrow_instructions()) draw(i);
  EXPECT_GT(drawn, 40u);
}

TEST(AtomPicture, EveryCopyOfTheTablesIsDrawn) {
  std::vector<std::string> names = {"UniversalCopy<uint128_t>", "UniversalCopy<half_t>",
                                    "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>"};
  for (const CopyName& c : copy_rows) names.emplace_back(c.name);
  for (const TmemShape& s : tmem_shapes)
    for (const char* way : {"LOAD", "STORE"})
      names.push_back(fmt::format("SM100_TMEM_{}_{}dp{}b1x", way, s.lanes, s.bits));
  for (const std::string& name : names) {
    const Picture p = atom_picture(name, 0);
    ASSERT_EQ(p.grids.size(), 2u) << name;
    for (const Grid& g : p.grids) EXPECT_FALSE(g.cells[0].label.empty()) << name << " " << g.title;
  }
  // A row of 16 bytes is one lane's at the source of ldmatrix, and four lanes' at its destination.
  const Picture p = atom_picture("SM75_U32x4_LDSM_N", 0);
  EXPECT_EQ(p.grids[0].cells[7].label, "T0\nV7");
  EXPECT_EQ(p.grids[1].cells[7].label, "T3\nV1");
}

TEST(AtomPicture, TilingsAndBlackwellAreDrawn) {
  const Picture mma = atom_picture("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2,1))", 0);
  EXPECT_EQ(mma.grids[2].rows, 32);
  EXPECT_EQ(mma.grids[2].columns, 16);
  EXPECT_EQ(mma.grids[2].cells[std::size_t(16 * 16)].label, "T32\nV0");
  EXPECT_EQ(mma.grids[0].cells[0].label, "T0\nV0+");  // the warps along N have the same rows of A
  const Picture copy =
      atom_picture("make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>>{}, half_t, (4,2):(2,1), (1,8))", 0);
  EXPECT_EQ(copy.grids[0].rows, 4);
  EXPECT_EQ(copy.grids[0].columns, 16);
  EXPECT_EQ(copy.grids[0].cells[8].label, "T1\nV0");
  const Picture of_mma =
      atom_picture("make_tiled_copy_A(SM75_U32x4_LDSM_N, half_t, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN))", 0);
  EXPECT_EQ(of_mma.grids[1].cells[0].label, "T0\nV0");
  const Picture pair = atom_picture("SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,256,128,K,K>", 0);
  EXPECT_EQ(pair.grids[0].cells[0].label, "CTA0\ncore 0");
  EXPECT_LE(pair.grids[2].cells.size(), 4096u);
  EXPECT_NE(pair.grids[2].title.find("each cell is"), std::string::npos);
  EXPECT_EQ(atom_picture("SM90::GMMA::MMA_64x8x16_F32F16F16_SS<Major::K, Major::K>", 0).grids[2].cells[0].label,
            "T0\nV0");
}

TEST(AtomPicture, UnknownNamesGetTheNearest) {
  EXPECT_EQ(refusal("SM80_16x8x16_F32F16F16F32_TT"),
            "there is no instruction SM80_16x8x16_F32F16F16F32_TT; did you mean SM80_16x8x16_F32F16F16F32_TN?");
  EXPECT_EQ(refusal("SM90_64x128x16_F32F16F16_S"),
            "there is no instruction SM90_64x128x16_F32F16F16_S; did you mean SM90_64x128x16_F32F16F16_SS?");
  EXPECT_EQ(refusal("SM75_U32x4_LDSM"), "there is no instruction SM75_U32x4_LDSM; did you mean SM75_U32x4_LDSM_N?");
  EXPECT_EQ(refusal("SM90_TMA_LOAD_2D"),
            "SM90_TMA_LOAD_2D has no layouts of threads and values to draw: what it moves or orders is given by its "
            "operands");
  EXPECT_EQ(refusal("make_tiled_copy(SM75_U32x4_LDSM_N, half_t)"),
            "make_tiled_copy(SM75_U32x4_LDSM_N, half_t): expected an instruction, a type, the layout of threads and "
            "that of values");
}

TEST(AtomPicture, CellsAreMergedUntilTheyCanBeRead) {
  Grid g{.rows = 128, .columns = 64};
  for (int i = 0; i < 128 * 64; ++i)
    g.cells.push_back(
        {.label = "T" + std::to_string(i / 2) + "\nV" + std::to_string(i % 2), .colour = wheel(i / 2, 32)});
  const Grid m = merged(g);
  EXPECT_EQ(m.rows, 128);
  EXPECT_EQ(m.columns, 32);
  EXPECT_EQ(m.column_unit, 2);
  EXPECT_EQ(m.cells[1].label, "T1\nV0..1");
  EXPECT_EQ(m.title, "each cell is 1 x 2 elements");
  EXPECT_EQ(merged(g, 128 * 64).cells.size(), g.cells.size());
}

TEST_F(Command, LayoutDrawsAnInstruction) {
  expect({"layout", "SM80_16x8x8_F32F16F16F32_TN", "--svg", path("a.svg")}, 0,
         "SM80_16x8x8_F32F16F16F32_TN\nmma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32\nA: "
         "((_4,_8),(_2,_2)):((_32,_1),(_16,_8))\n"
         "B: ((_4,_8),_2):((_16,_1),_8)\nC: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))\n"
         "T is a thread, V the index among its values; + more threads have it\n");
  expect({"layout", "SM80_16x8x8_F32F16F16F32_TN", "--steps"}, 2,
         "zellige: --steps: SM80_16x8x8_F32F16F16F32_TN is an instruction; steps are of operations on layouts\n");
}

TEST_F(Command, APngIsMadeByAConverterOfTheMachine) {
  const std::string before = std::getenv("PATH");
  setenv("PATH", path("bin").c_str(), 1);
  expect({"layout", "4:1", "--png", path("a.png")}, 2,
         "zellige: --png: expected rsvg-convert, inkscape or cairosvg, which make a PNG of an SVG, found none; --svg "
         "needs none of them\n");
  // A converter that copies: it is called with -o, the PNG and the SVG.
  std::filesystem::create_directories(path("bin"));
  std::ofstream(path("bin/rsvg-convert")) << "#!/bin/sh\n/bin/cp \"$3\" \"$2\"\n";
  std::filesystem::permissions(path("bin/rsvg-convert"), std::filesystem::perms::owner_all);
  expect({"layout", "4:1", "--png", path("a.png"), "--svg", path("a.svg")}, 0, "4:1\n");
  setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(zellige::system::read_whole(path("a.png")), zellige::system::read_whole(path("a.svg")));
}

}  // namespace
}  // namespace zellige::view
