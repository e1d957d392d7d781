// Pictures of layouts and tilings: every cell is present once, with the layout's label.
#include <gtest/gtest.h>

#include <string>
#include <zellige/atom/tiled_copy.hpp>
#include <zellige/atom/tiled_mma.hpp>
#include <zellige/tensor/picture.hpp>

namespace zellige {
namespace {

int count(std::string const& text, std::string const& what) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}
TEST(Pictures, OfALayout) {
  std::string const svg = svg_text(Layout<Shape<_3, _4>, Stride<_4, _1>>{});
  EXPECT_EQ(count(svg, "<rect"), 12);
  for (int i = 0; i < 12; ++i) EXPECT_GE(count(svg, ">" + std::to_string(i) + "<"), 1) << i;
  EXPECT_EQ(count(svg, ">(_3,_4):(_4,_1)<"), 1);
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}
TEST(Pictures, OfATiledCopy) {
  auto const tiled =
      make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_4, _2>>{}, Layout<Shape<_1, _3>>{});
  std::string const svg = svg_text(tiled), latex = latex_text(tiled);
  EXPECT_EQ(count(svg, "<rect"), 2 * 4 * 6);
  EXPECT_EQ(count(svg, "fill=\"white\""), 0);  // someone holds every element
  for (int t = 0; t < 8; ++t) EXPECT_EQ(count(svg, ">T" + std::to_string(t) + "<"), 2 * 3);
  EXPECT_EQ(count(latex, "\\shortstack{T5 \\\\ V2}"), 2);
  EXPECT_EQ(count(latex, "\\node[fill"), 2 * 4 * 6);
}
TEST(Pictures, OfATiledMma) {
  auto const mma = make_tiled_mma(UniversalFMA<float, float, float, float>{}, Layout<Shape<_2, _4, _1>>{});
  std::string const svg = svg_text(mma);
  EXPECT_EQ(count(svg, "<rect"), 2 * 1 + 4 * 1 + 2 * 4);
  for (int t = 0; t < 8; ++t) EXPECT_GE(count(svg, ">T" + std::to_string(t) + "<"), 1);
  EXPECT_EQ(count(svg, ">A: (M,K)<") + count(svg, ">C: (M,N)<"), 2);
}

}  // namespace
}  // namespace zellige
