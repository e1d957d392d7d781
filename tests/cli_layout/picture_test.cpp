// Pictures of layouts: every cell shows the layout's index, and files are written completely or not at all.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <zellige/layout/evaluate.hpp>

#include "cli/command.hpp"
#include "graph/error.hpp"
#include "view/layout_picture.hpp"

namespace zellige::view {
namespace {

std::string message(const std::string& layout, const PictureOptions& o) {
  try {
    layout_picture(parse_value(layout), layout, o);
  } catch (const Error& e) {
    return e.what();
  }
  return "drawn";
}
std::string without_trailing_blanks(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

TEST(Picture, ATableIsThatOfPrintLayout) {
  for (const char* l :
       {"(4,8):(1,4)", "((2,2),(2,4)):((8,16),(1,2))", "Sw<2,0,2> o _0 o (4,4):(4,1)", "(2,3):(100,7)"}) {
    const Picture p = layout_picture(parse_value(l), l, {});
    const std::string printed = evaluate("print_layout", {l});
    const std::string head = std::string(l) + "\n";
    ASSERT_EQ(printed.substr(0, head.size()), head);
    // print_layout makes its columns as wide as the codomain's size, ours as wide as the widest cell: compare
    // numbers.
    auto numbers = [](std::string s) {
      for (char& c : s) {
        if (c < '0' || c > '9') c = ' ';
      }
      std::istringstream in(s);
      return std::vector<std::string>{std::istream_iterator<std::string>(in), {}};
    };
    EXPECT_EQ(numbers(text(p.grids[0])), numbers(printed.substr(head.size()))) << l;
  }
  EXPECT_EQ(text(layout_picture(parse_value("(2,2):(2,1)"), "", {}).grids[0]),
            without_trailing_blanks(evaluate("print_layout", {"(2,2):(2,1)"}).substr(12)));
}

TEST(Picture, CellsAreColouredByTheBankOfTheirFirstByte) {
  for (const int bits : {4, 8, 16, 32, 64}) {
    PictureOptions o;
    o.element_bits = bits;
    const Picture p = layout_picture(parse_value("(8,16):(16,1)"), "", o);
    for (int i = 0; i < 128; ++i) {
      const int bank = i * bits / 8 / 4 % 32;
      EXPECT_EQ(p.grids[0].cells[std::size_t(i)].colour.hex(), wheel(bank, 32).hex());
      EXPECT_NE(p.grids[0].cells[std::size_t(i)].hover.find("bank " + std::to_string(bank)), std::string::npos);
    }
    ASSERT_EQ(p.legend.size(), 32u);
  }
  // A swizzle that counts the bytes of a pointer yet unknown is drawn in elements.
  const Value bytes = parse_value("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)");
  EXPECT_EQ(to_text(in_elements(bytes)), "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)");
}

TEST(Picture, ModesBeyondTheSecondAreGrids) {
  const Picture p = layout_picture(parse_value("(2,3,2,2):(1,2,6,12)"), "", {});
  ASSERT_EQ(p.grids.size(), 4u);
  EXPECT_EQ(p.grids[3].title, "(_,_,1,1)");
  EXPECT_EQ(p.grids[3].cells[5].label, "23");
  EXPECT_EQ(layout_picture(parse_value("8:1"), "", {}).grids[0].columns, 8);
}

TEST(Picture, TilesShowAsHeavyLines) {
  const Picture p = layout_picture(parse_value("((2,4),(4,2)):((8,16),(1,4))"), "", {});
  EXPECT_EQ(p.grids[0].row_step, 2);
  EXPECT_EQ(p.grids[0].column_step, 4);
}

TEST(Picture, ByThreadShowsWhoHoldsEachPlace) {
  PictureOptions o;
  o.colouring = Colouring::thread;
  o.shape = parse_value("(16,8)");
  const Value tv = parse_value("((4,8),(2,2)):((32,1),(16,8))");
  const Picture p = layout_picture(tv, "", o);
  for (int t = 0; t < 32; ++t) {
    for (int v = 0; v < 4; ++v) {
      const int i = t % 4 * 32 + t / 4 + v % 2 * 16 + v / 2 * 8, m = i % 16, n = i / 16;
      EXPECT_EQ(p.grids[0].cells[std::size_t(m * 8 + n)].label, "T" + std::to_string(t) + "\nV" + std::to_string(v));
    }
  }
  // The same with a codomain of coordinates, which define the shape.
  o.shape.reset();
  const Picture q = layout_picture(parse_value("((4,8),(2,2)):((2@1,1@0),(1@1,8@0))"), "", o);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(q.grids[0].cells[i].label, p.grids[0].cells[i].label);
  // Two threads at one place.
  const Picture both = layout_picture(parse_value("(4,2):(0,1)"), "", o);
  EXPECT_EQ(both.grids[0].cells[0].label, "T0\nV0+");
  EXPECT_EQ(both.grids[0].cells[0].hover, "(0,0): T0 V0, T1 V0, T2 V0, T3 V0");
}

TEST(Picture, WhatCannotBeDrawnIsRefused) {
  EXPECT_EQ(message("(256,512):(1,256)", {}), "(256,512):(1,256) has 131072 elements; up to 65536 are drawn");
  EXPECT_EQ(message("Sw<3,3,3>", {}), "Sw<3,3,3> is no layout; only layouts are drawn");
  PictureOptions o;
  o.colouring = Colouring::thread;
  EXPECT_EQ(message("8:1", o), "8:1 has rank 1; by thread, a layout (thread, value) of rank 2 is drawn");
  o.shape = parse_value("(2,2)");
  EXPECT_EQ(message("(4,2):(2,1)", o),
            "(4,2):(2,1): thread 2, value 0 is at (0,2), outside the tile of 2 x 2; --shape (M,N) gives its shape");
}

TEST_F(Command, FilesAreWholeOrAbsent) {
  expect({"layout", "(4,4):(4,1)", "--svg", path("a.svg"), "--html", path("a.html")}, 0, "(4,4):(4,1)\n");
  auto content = [&](const char* name) {
    std::ifstream in(path(name));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string svg = content("a.svg"), html = content("a.html");
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("<title>(3,2) -&gt; 14, byte 56, bank 14</title>"), std::string::npos);
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
  EXPECT_NE(html.find(svg), std::string::npos);
  expect({"layout", "(4,4):(4,1)", "--svg", path("none/a.svg")}, 2,
         "zellige: " + path("none/a.svg") + ": cannot be written: No such file or directory\n");
  expect({"layout", "(4,4):(4,1)", "--svg", path("b.svg"), "--type", "f17"}, 2,
         "zellige: type f17: unknown; f16, bf16, f32, f64, e4m3, i8, ... or 4, 8, 16, 32, 64 or 128 bits are "
         "known; did you mean f16?\n");
  EXPECT_FALSE(std::filesystem::exists(path("b.svg")));
  int files = 0;
  for (const auto& f : std::filesystem::directory_iterator(path("."))) files += f.is_regular_file();
  EXPECT_EQ(files, 2) << "next to the cache's folder";
}

}  // namespace
}  // namespace zellige::view
