// What print, print_layout and print_latex write is byte for byte what CuTe 4.2 writes.
#include <gtest/gtest.h>

#include <cute/tensor.hpp>

using namespace cute;

namespace {

/// Returns what `action` prints to the standard output.
template <class Action>
std::string printed(Action const& action) {
  testing::internal::CaptureStdout();
  action();
  return testing::internal::GetCapturedStdout();
}
template <class T>
std::string print_of(T const& x) {
  return printed([&] { print(x); });
}
template <class T>
std::string pretty_print_of(T const& x) {
  return printed([&] { pretty_print(x); });
}

TEST(CompatPrint, FractionsOfEveryType) {
  EXPECT_EQ(print_of(half_t(1.5f)), "1.500000");
  EXPECT_EQ(print_of(bfloat16_t(-2.f)), "-2.000000");
  EXPECT_EQ(print_of(tfloat32_t(3.f)), "3.000000");
  EXPECT_EQ(print_of(float_e4m3_t(4.f)), "4.000000");
  EXPECT_EQ(print_of(float_e5m2_t(5.f)), "5.000000");
  EXPECT_EQ(print_of(1.25f) + print_of(1.25), "1.2500001.250000");
  half_t const h(1.5f);
  EXPECT_EQ(print_of(h * h), "2.250000") << "a product that is not yet rounded";
  EXPECT_EQ(print_of(make_tuple(h, _2{})), "(1.500000,_2)");
}

TEST(CompatPrint, IntegersOfEveryWidth) {
  EXPECT_EQ(print_of(int4_t(-3)) + print_of(uint4_t(3)) + print_of(int2_t(-1)), "-33-1");
  EXPECT_EQ(print_of(uint2_t(2)) + print_of(uint1_t(1)) + print_of(bin1_t(1)), "211");
  EXPECT_EQ(print_of(int8_t(-65)) + print_of(uint8_t(65)) + print_of(char(65)), "-6565A");
  EXPECT_EQ(print_of(short(-3)) + print_of(7u) + print_of(-3L) + print_of(3ull), "-37-33");
  EXPECT_EQ(print_of(make_tuple(int4_t(-3), 2)), "(-3,2)");
  array_subbyte<int4_t, 4> packed;
  packed.clear();
  packed[1] = int4_t(-5);
  EXPECT_EQ(print_of(packed[1]), "-5") << "an element of a packed array";
  EXPECT_EQ(pretty_print_of(int4_t(-3)) + pretty_print_of(uint1_t(1)), "   -3  1");
}

constexpr char const* four_bits = R"(Sw<1,5,3> o _0 o (_2,_4):(_256,_32)
        0     1     2     3 
    +-----+-----+-----+-----+
 0  |   0 |  32 |  64 |  96 |
    +-----+-----+-----+-----+
 1  | 288 | 256 | 352 | 320 |
    +-----+-----+-----+-----+
)";
constexpr char const* sixteen_bits = R"(Sw<1,3,3> o _0 o (_2,_4):(_64,_8)
       0    1    2    3 
    +----+----+----+----+
 0  |  0 |  8 | 16 | 24 |
    +----+----+----+----+
 1  | 72 | 64 | 88 | 80 |
    +----+----+----+----+
)";
constexpr char const* without_swizzle = R"((_2,_2):(_1,_2)
      0   1 
    +---+---+
 0  | 0 | 2 |
    +---+---+
 1  | 1 | 3 |
    +---+---+
)";
/// The layout of a tile of shared memory for elements of `bits` bits, with the swizzle of 32 bytes.
template <int bits, class L>
constexpr auto tile_of(L const& layout) {
  return composition(Swizzle<1, 4, 3>{}, smem_ptr_flag_bits<bits>{}, layout);
}

TEST(CompatPrint, LayoutsOfSharedMemoryShowIndicesOfElements) {
  EXPECT_EQ(printed([] { print_layout(tile_of<16>(Layout<Shape<_2, _4>, Stride<_64, _8>>{})); }), sixteen_bits);
  EXPECT_EQ(printed([] { print_layout(tile_of<4>(Layout<Shape<_2, _4>, Stride<_256, _32>>{})); }), four_bits);
  EXPECT_EQ(
      printed([] { print_layout(composition(Swizzle<0, 4, 3>{}, smem_ptr_flag_bits<16>{}, Layout<Shape<_2, _2>>{})); }),
      without_swizzle);
  EXPECT_EQ(print_of(as_position_independent_swizzle_layout(tile_of<1>(Layout<Shape<_2, _4>>{}))),
            "Sw<1,7,3> o _0 o (_2,_4):(_1,_2)");
  std::string const latex = printed([] { print_latex(tile_of<4>(Layout<Shape<_2, _2>, Stride<_256, _32>>{})); });
  EXPECT_EQ(latex.substr(0, latex.find('\n')), "% Layout: Sw<1,5,3> o _0 o (_2,_2):(_256,_32)");
  EXPECT_NE(latex.find("at (1,1) {256};"), std::string::npos);
}
// The table of a tile is the same as the elements that a pointer to shared memory reaches.
TEST(CompatPrint, TheTableHoldsThePlacesInSharedMemory) {
  alignas(1024) static uint4_t memory[1024];
  auto const layout = GMMA::Layout_K_SW32_Atom<uint4_t>{};
  auto const table = as_position_independent_swizzle_layout(layout);
  auto const tile = make_tensor(make_smem_ptr<uint4_t>(&memory[0]), layout);
  for (int m = 0; m < size<0>(layout); ++m) {
    for (int k = 0; k < size<1>(layout); ++k) {
      auto const place = &tile(m, k);
      auto const begin = reinterpret_cast<unsigned char*>(&memory[0]);
      ASSERT_EQ((place.ptr_ - begin) * 2 + place.idx_ / 4, table(m, k)) << m << ", " << k;
    }
  }
}
TEST(CompatPrint, ASwizzleOfBytesThatIsNoneOfElementsIsRefused) {
  try {
    print_layout(tile_of<6>(Layout<Shape<_2, _2>>{}));
    ADD_FAILURE() << "an element of 6 bits has no place in a swizzle of 16 bytes";
  } catch (LayoutError const& e) {
    EXPECT_STREQ(e.what(), "print: a swizzle of bytes is no swizzle of elements of 6 bits");
  }
}

constexpr char const* head = R"(\documentclass[convert]{standalone}
\usepackage{tikz}

\begin{document}
\begin{tikzpicture}[x={(0cm,-1cm)},y={(1cm,0cm)},every node/.style={minimum size=1cm, outer sep=0pt}]

)";
constexpr char const* column = R"(\node[fill=black!00] at (0,0) {0};
\node[fill=black!20] at (1,0) {2};
\node[fill=black!10] at (2,0) {4};
\draw[color=black,thick,shift={(-0.5,-0.5)}] (0,0) grid (3,1);

\node at (0,-1) {\Large{\texttt{0}}};
\node at (1,-1) {\Large{\texttt{1}}};
\node at (2,-1) {\Large{\texttt{2}}};
\node at (-1,0) {\Large{\texttt{0}}};
\end{tikzpicture}
\end{document}
)";
constexpr char const* copy_pictures =
    R"(\node[fill={rgb,255:red,175;green,175;blue,255}] at (0,0) {\shortstack{T0 \\ V0}};
\node[fill={rgb,255:red,175;green,175;blue,255}] at (1,0) {\shortstack{T0 \\ V1}};
\node[fill={rgb,255:red,175;green,255;blue,175}] at (0,1) {\shortstack{T1 \\ V0}};
\node[fill={rgb,255:red,175;green,255;blue,175}] at (1,1) {\shortstack{T1 \\ V1}};
\draw[color=black,thick,shift={(-0.5,-0.5)}] (0,0) grid (2,2);

\node at (0,-1) {\Large{\texttt{0}}};
\node at (1,-1) {\Large{\texttt{1}}};
\node at (-1,0) {\Large{\texttt{0}}};
\node at (-1,1) {\Large{\texttt{1}}};
\node[fill={rgb,255:red,175;green,175;blue,255}] at (0,5) {\shortstack{T0 \\ V0}};
\node[fill={rgb,255:red,175;green,175;blue,255}] at (1,5) {\shortstack{T0 \\ V1}};
\node[fill={rgb,255:red,175;green,255;blue,175}] at (0,6) {\shortstack{T1 \\ V0}};
\node[fill={rgb,255:red,175;green,255;blue,175}] at (1,6) {\shortstack{T1 \\ V1}};
\draw[color=black,thick,shift={(-0.5,-0.5)}] (0,5) grid (2,7);

\node at (0,7) {\Large{\texttt{0}}};
\node at (1,7) {\Large{\texttt{1}}};
\node at (-1,5) {\Large{\texttt{0}}};
\node at (-1,6) {\Large{\texttt{1}}};
\end{tikzpicture}
\end{document}
)";
constexpr char const* mma_pictures = R"(\node[fill=red] at (0,0) {\shortstack{T0 \\ V0}};
\node[fill=blue] at (1,0) {\shortstack{T1 \\ V0}};
\draw[color=black,thick,shift={(-0.5,-0.5)}] (0,0) grid (2,1);

\node[fill=red] at (0,-2) {\shortstack{T0 \\ V0}};
\node[fill=blue] at (1,-2) {\shortstack{T1 \\ V0}};
\draw[color=black,thick,shift={(-0.5,-0.5)}] (0,-2) grid (2,-1);

\node at (0,-3) {\Large{\texttt{0}}};
\node at (1,-3) {\Large{\texttt{1}}};
\node at (-1,-2) {\Large{\texttt{0}}};
\node[fill=red] at (-2,0) {\shortstack{T0 \\ V0}};
\draw[color=black,thick,shift={(-0.5,-0.5)}] (-2,0) grid (-1,1);

\node at (-3,0) {\Large{\texttt{0}}};
\node at (-2,-1) {\Large{\texttt{0}}};
\end{tikzpicture}
\end{document}
)";

TEST(CompatPrint, LatexOfALayoutOfOneMode) {
  EXPECT_EQ(printed([] { print_latex(Layout<_3, _2>{}); }), std::string("% Layout: (_3,_1):(_2,_0)\n") + head + column);
}
TEST(CompatPrint, LatexOfATiledCopy) {
  auto const copier =
      make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_1, _2>>{}, Layout<Shape<_2, _1>>{});
  std::string const comments =
      "% Layout S TV: ArithTuple(_0,_0) o (_2,(_1,_2)):(_1@1,(_0,_1@0))\n"
      "% Layout D TV: ArithTuple(_0,_0) o (_2,(_1,_2)):(_1@1,(_0,_1@0))\n";
  EXPECT_EQ(printed([&] { print_latex(copier); }), comments + head + copy_pictures);
}
TEST(CompatPrint, LatexOfATiledMmaInColoursOfTheUsers) {
  auto const mma = make_tiled_mma(UniversalFMA<float>{}, Layout<Shape<_2, _1, _1>>{});
  std::string const comments =
      "% LayoutC: ArithTuple(_0,_0) o (_2,(_1,(_1,_1))):(_1@0,(_0,(_0,_0)))\n"
      "% LayoutA: ArithTuple(_0,_0) o (_2,(_1,(_1,_1))):(_1@0,(_0,(_0,_0)))\n"
      "% LayoutB: ArithTuple(_0,_0) o (_2,(_1,(_1,_1))):(_0,(_0,(_0,_0)))\n";
  EXPECT_EQ(printed([&] { print_latex(mma, [](int thread, int) { return thread == 0 ? "red" : "blue"; }); }),
            comments + head + mma_pictures);
}
// Thread 5 holds row 1 and columns 2 and 3 of C, rows 2 and 3 of column 1 of B, which is above C.
TEST(CompatPrint, LatexOfAnInstruction) {
  std::string const text = printed([] { print_latex(MMA_Atom<SM80_16x8x8_F32F16F16F32_TN>{}); });
  std::string const colour = R"(\node[fill={rgb,255:red,210;green,255;blue,210}] at )";
  EXPECT_NE(text.find(colour + R"((1,3) {\shortstack{T5 \\ V1}};)"), std::string::npos) << "C";
  EXPECT_NE(text.find(colour + R"((1,-6) {\shortstack{T5 \\ V1}};)"), std::string::npos) << "A";
  EXPECT_NE(text.find(colour + R"((-6,1) {\shortstack{T5 \\ V1}};)"), std::string::npos) << "B";
}

// To CuTe's functions on tuples a composed layout is one element.
TEST(CompatPrint, EditsOfComposedLayoutsAreTuplesOfLayouts) {
  auto const swizzled = composition(Swizzle<2, 0, 3>{}, Layout<Shape<_8, _8>, Stride<_8, _1>>{});
  Layout<_3, _64> const stages;
  EXPECT_EQ(print_of(select<0>(swizzled)), "(Sw<2,0,3> o _0 o _8:_8)");
  EXPECT_EQ(print_of(select<1, 0>(swizzled)), "(Sw<2,0,3> o _0 o _8:_1,Sw<2,0,3> o _0 o _8:_8)");
  EXPECT_EQ(print_of(select<1>(GMMA::Layout_K_SW32_Atom<half_t>{})), "(Sw<1,4,3> o smem_ptr[16b](unset) o _16:_1)");
  EXPECT_EQ(print_of(append(swizzled, stages)), "(Sw<2,0,3> o _0 o (_8,_8):(_8,_1),_3:_64)");
  EXPECT_EQ(print_of(append(stages, swizzled)), "(_3:_64,Sw<2,0,3> o _0 o (_8,_8):(_8,_1))");
  EXPECT_EQ(print_of(prepend(swizzled, stages)), "(_3:_64,Sw<2,0,3> o _0 o (_8,_8):(_8,_1))");
  EXPECT_EQ(print_of(prepend<3>(swizzled, stages)), "(_3:_64,_3:_64,Sw<2,0,3> o _0 o (_8,_8):(_8,_1))");
  EXPECT_EQ(print_of(append<3>(swizzled, stages)), "Sw<2,0,3> o _0 o (_8,_8,_3):(_8,_1,_64)") << "this one adds a mode";
  EXPECT_EQ(print_of(domain_offset(make_coord(2, 3), swizzled)), "(Sw<2,0,3> o 19 o (_8,_8):(_8,_1),_0)");
}

}  // namespace
