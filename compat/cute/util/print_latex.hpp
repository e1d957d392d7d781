// Prints layouts and tilings as LaTeX (TikZ): print_latex(layout), or print_latex(layout, colour), where
// colour(index) returns the TikZ name of a cell's colour.
#pragma once
#include <cute/tensor_impl.hpp>
#include <cute/util/print.hpp>
#if !defined(__CUDACC_RTC__)
#include <zellige/atom/picture.hpp>
#endif

namespace zellige {

/// Colours every cell white.
struct TikzColor_White {
  CUTE_HOST_DEVICE char const* operator()(int) const { return "white"; }
};
/// Returns one of eight greys, by index modulo 8.
struct TikzColor_BWx8 {
  CUTE_HOST_DEVICE char const* operator()(int index) const {
    char const* const greys[] = {"black!00", "black!40", "black!20", "black!60",
                                 "black!10", "black!50", "black!30", "black!70"};
    return greys[index % 8];
  }
};
/// Returns one of eight pale colours, by thread modulo 8.
struct TikzColor_TV {
  CUTE_HOST_DEVICE char const* operator()(int thread, int) const {
    char const* const colours[] = {"{rgb,255:red,175;green,175;blue,255}", "{rgb,255:red,175;green,255;blue,175}",
                                   "{rgb,255:red,255;green,255;blue,175}", "{rgb,255:red,255;green,175;blue,175}",
                                   "{rgb,255:red,210;green,210;blue,255}", "{rgb,255:red,210;green,255;blue,210}",
                                   "{rgb,255:red,255;green,255;blue,210}", "{rgb,255:red,255;green,210;blue,210}"};
    return colours[thread % 8];
  }
};

namespace detail {
CUTE_HOST_DEVICE void print_latex_head() {
  printf(
      "\\documentclass[convert]{standalone}\n\\usepackage{tikz}\n\n\\begin{document}\n"
      "\\begin{tikzpicture}[x={(0cm,-1cm)},y={(1cm,0cm)},every node/.style={minimum size=1cm, outer "
      "sep=0pt}]\n\n");
}
/// Prints the lines around the cells, the row and column numbers, and the end of the document.
CUTE_HOST_DEVICE void print_latex_frame(int rows, int columns) {
  printf("\\draw[color=black,thick,shift={(-0.5,-0.5)}] (0,0) grid (%d,%d);\n\n", rows, columns);
  for (int m = 0; m < rows; ++m) printf("\\node at (%d,-1) {\\Large{\\texttt{%d}}};\n", m, m);
  for (int n = 0; n < columns; ++n) printf("\\node at (-1,%d) {\\Large{\\texttt{%d}}};\n", n, n);
  printf("\\end{tikzpicture}\n\\end{document}\n");
}
}  // namespace detail

/// Prints a layout of rank 1 or 2 as a TikZ document: each cell shows its index in the colour colour(index).
template <layout_like L, class Colour>
CUTE_HOST_DEVICE void print_latex(L const& layout, Colour colour) {
  static_assert(L::rank <= 2, "print_latex(layout): a layout of at most 2 modes");
  if constexpr (requires { as_position_independent_swizzle_layout(layout); })
    return print_latex(as_position_independent_swizzle_layout(layout), colour);
  auto const two = append<2>(layout, Layout<_1, _0>{});
  int const rows = int(size<0>(two)), columns = int(size<1>(two));
  printf("%% Layout: ");
  print(two);
  printf("\n");
  detail::print_latex_head();
  for (int m = 0; m < rows; ++m) {
    for (int n = 0; n < columns; ++n) {
      int const index = int(two(m, n));
      printf("\\node[fill=%s] at (%d,%d) {%d};\n", colour(index), m, n, index);
    }
  }
  detail::print_latex_frame(rows, columns);
}

/// Prints a thread-value layout over a tile: each cell shows the first thread and value that hold the
/// element.
template <class LayoutTV, class Tile, class Colour = TikzColor_TV>
CUTE_HOST_DEVICE void print_latex_tv(LayoutTV const& layout_tv, Tile const& tile, Colour colour = {}) {
  static_assert(LayoutTV::rank == 2, "print_latex_tv: a layout of threads and values");
  auto const sides = product_each(shape(tile));
  int const rows = int(get<0>(sides)), columns = int(get<1>(sides));
  printf("%% Layout TV: ");
  print(layout_tv);
  printf("\n");
  detail::print_latex_head();
  int const threads = int(size<0>(layout_tv)), values = int(size<1>(layout_tv));
  for (int t = 0; t < threads; ++t) {
    for (int v = 0; v < values; ++v) {
      auto const at = layout_tv(t, v);
      bool first = true;  // quadratic, but nothing is stored
      for (int i = 0; first && i < t * values + v; ++i) first = !(layout_tv(i / values, i % values) == at);
      if (first)
        printf("\\node[fill=%s] at (%d,%d) {\\shortstack{T%d \\\\ V%d}};\n", colour(t, v), int(get<0>(at)),
               int(get<1>(at)), t, v);
    }
  }
  detail::print_latex_frame(rows, columns);
}

}  // namespace zellige
