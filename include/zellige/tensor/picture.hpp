// Draws layouts, tiled copies and tiled MMAs as SVG. Host only.
//
//   print_svg(layout)          a rank-2 layout: each cell shows its index, shaded by the index modulo 8
//   print_svg(tiled_copy)      source and destination: each cell shows the thread and value of an element, as T3 and V1
//   print_svg(tiled_mma)       A to the left of C, and B above C, with the thread and value of each element
//
// A tiled copy is anything with get_layoutS_TV() and get_layoutD_TV(); a tiled MMA has get_layoutA_TV(),
// get_layoutB_TV() and get_layoutC_TV().
#pragma once
#include <algorithm>
#include <string>
#include <vector>
#include <zellige/layout/print.hpp>
#include <zellige/tensor/latex.hpp>
#include <zellige/tensor/tensor.hpp>

namespace zellige {

namespace detail {
/// One cell of a drawing: a line or two of text and a colour number; -1 is white.
struct Cell {
  std::string upper, lower;
  int colour = -1;
};
/// A titled grid of cells and its position on the page, counted in cells.
struct CellGrid {
  std::string title;
  int rows = 0, columns = 0;
  int at_row = 0, at_column = 0;  // its position on the sheet, in cells
  std::vector<Cell> cells = {};
  Cell& cell(int m, int n) { return cells[std::size_t(m) + std::size_t(rows) * std::size_t(n)]; }
  Cell const& cell(int m, int n) const { return cells[std::size_t(m) + std::size_t(rows) * std::size_t(n)]; }
};
inline CellGrid empty_grid(std::string const& title, int rows, int columns) {
  CellGrid g{title, rows, columns};
  g.cells.resize(std::size_t(rows) * std::size_t(columns));
  return g;
}
/// Returns the drawing of a layout of rank 2 as a grid: each cell shows its index, coloured by the index modulo 8.
template <class L>
CellGrid grid_of_layout(L const& l) {
  static_assert(L::rank == 2, "print_svg(layout): only layouts of 2 modes are drawn as a grid");
  if constexpr (requires { as_position_independent_swizzle_layout(l); })
    return grid_of_layout(as_position_independent_swizzle_layout(l));
  CellGrid g = empty_grid(to_text(l), int(size<0>(l)), int(size<1>(l)));
  for (int m = 0; m < g.rows; ++m) {
    for (int n = 0; n < g.columns; ++n) {
      int const i = int(l(m, n));
      g.cell(m, n) = {std::to_string(i), "", (i % 8 + 8) % 8};
    }
  }
  return g;
}
/// Returns the drawing of a thread-value layout, which maps (thread, value) to an index of a rows x columns
/// tile, as a grid. Each cell shows the first thread and value that hold the element.
template <class L>
CellGrid grid_of_holders(std::string const& title, L const& tv, int rows, int columns) {
  CellGrid g = empty_grid(title, rows, columns);
  for (int t = 0; t < int(size<0>(tv)); ++t) {
    for (int v = 0; v < int(size<1>(tv)); ++v) {
      std::size_t const i = std::size_t(int(tv(t, v)));
      if (i < g.cells.size() && g.cells[i].colour < 0)
        g.cells[i] = {"T" + std::to_string(t), "V" + std::to_string(v), t % 8};
    }
  }
  return g;
}
inline CellGrid transposed(CellGrid const& g) {
  CellGrid r = empty_grid(g.title, g.columns, g.rows);
  for (int m = 0; m < g.rows; ++m) {
    for (int n = 0; n < g.columns; ++n) r.cell(n, m) = g.cell(m, n);
  }
  return r;
}

/// Returns a drawing, which consists of the given grids, as an SVG document.
inline std::string grids_svg(std::vector<CellGrid> const& grids) {
  static constexpr char const* colours[] = {"#afafff", "#afffaf", "#ffffaf", "#ffafaf",
                                            "#d2d2ff", "#d2ffd2", "#ffffd2", "#ffd2d2"};
  int const side = 32, margin = 40;
  int height = 0, width = 0;
  std::string body;
  auto number = [](int n) { return std::to_string(n); };
  auto text = [&](int x, int y, std::string const& s, int font) {
    body +=
        "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" font-size=\"" + number(font) + "\">" + s + "</text>\n";
  };
  for (CellGrid const& g : grids) {
    int const left = margin + g.at_column * side, top = margin + g.at_row * side;
    text(left + g.columns * side / 2, top - 24, g.title, 12);
    for (int n = 0; n < g.columns; ++n) text(left + n * side + side / 2, top - 8, number(n), 10);
    for (int m = 0; m < g.rows; ++m) {
      text(left - 12, top + m * side + side / 2, number(m), 10);
      for (int n = 0; n < g.columns; ++n) {
        Cell const& c = g.cell(m, n);
        int const x = left + n * side, y = top + m * side;
        body += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(side) + "\" height=\"" +
                number(side) + "\" fill=\"" + (c.colour < 0 ? "white" : colours[c.colour]) + "\" stroke=\"black\"/>\n";
        text(x + side / 2, y + (c.lower.empty() ? side / 2 + 4 : side / 2 - 3), c.upper, 10);
        if (!c.lower.empty()) text(x + side / 2, y + side - 6, c.lower, 10);
      }
    }
    height = std::max(height, top + g.rows * side + margin);
    width = std::max(width, left + g.columns * side + margin);
  }
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(height) +
         "\" font-family=\"monospace\" text-anchor=\"middle\">\n" + body + "</svg>\n";
}

/// Returns the grids that draw a tiled copy: source and destination next to each other.
template <copies_tiles T>
std::vector<CellGrid> grids_of(T const& t) {
  auto const tiler = typename T::Tiler_MN{};
  int const rows = int(size(get<0>(tiler)));
  int columns = 1;
  if constexpr (tuple_size_v < typename T::Tiler_MN >> 1) columns = int(size(get<1>(tiler)));
  CellGrid s = grid_of_holders("S: (M,N) to (thread, value)", t.get_layoutS_TV(), rows, columns);
  CellGrid d = grid_of_holders("D: (M,N) to (thread, value)", t.get_layoutD_TV(), rows, columns);
  d.at_column = columns + 3;
  return {s, d};
}
/// Returns the grids that draw a tiled MMA: A to the left of C, and B, transposed, above C.
template <multiplies_tiles T>
std::vector<CellGrid> grids_of(T const& t) {
  int const m = int(t.template tile_size_mnk<0>()), n = int(t.template tile_size_mnk<1>());
  int const k = int(t.template tile_size_mnk<2>());
  CellGrid a = grid_of_holders("A: (M,K)", t.get_layoutA_TV(), m, k);
  CellGrid b = transposed(grid_of_holders("B: (N,K), on its side", t.get_layoutB_TV(), n, k));
  CellGrid c = grid_of_holders("C: (M,N)", t.get_layoutC_TV(), m, n);
  a.at_row = c.at_row = k + 3;
  b.at_column = c.at_column = k + 3;
  return {a, b, c};
}
}  // namespace detail

/// Returns an SVG document that draws a rank-2 layout.
template <layout_like L>
std::string svg_text(L const& l) {
  return detail::grids_svg({detail::grid_of_layout(l)});
}
/// Returns an SVG document that draws a tiled copy or tiled MMA.
template <detail::tiling T>
std::string svg_text(T const& t) {
  return detail::grids_svg(detail::grids_of(t));
}
/// Prints an SVG document that draws a layout, tiled copy or tiled MMA to standard output.
template <class T>
requires(layout_like<T> || detail::tiling<T>) void print_svg(T const& t) { std::fputs(svg_text(t).c_str(), stdout); }

}  // namespace zellige
