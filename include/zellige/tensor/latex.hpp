// Draws tiled copies and tiled MMAs as LaTeX (TikZ), in CuTe's places and colours. Host only.
//
//   print_latex(tiled_copy)             the source, and to its right the destination
//   print_latex(tiled_mma)              C, A to its left, and B above it on its side
//   print_latex(tiled_mma, colour)      the same with the TikZ colour colour(thread, value) of each cell
//
// Each element shows the first thread and value that hold it, as T3 and V1.
#pragma once
#include <array>
#include <set>
#include <sstream>
#include <string>
#include <zellige/layout/picture.hpp>
#include <zellige/tensor/write.hpp>

namespace zellige {

namespace detail {
/// The TikZ colour of a thread: one of eight pale ones, by the thread's number modulo 8.
struct PaleThreadColour {
  char const* operator()(int thread, int) const {
    static constexpr char const* colours[] = {
        "{rgb,255:red,175;green,175;blue,255}", "{rgb,255:red,175;green,255;blue,175}",
        "{rgb,255:red,255;green,255;blue,175}", "{rgb,255:red,255;green,175;blue,175}",
        "{rgb,255:red,210;green,210;blue,255}", "{rgb,255:red,210;green,255;blue,210}",
        "{rgb,255:red,255;green,255;blue,210}", "{rgb,255:red,255;green,210;blue,210}"};
    return colours[thread % 8];
  }
};

/// Returns "(m,n)".
inline std::string latex_place(int m, int n) { return "(" + std::to_string(m) + "," + std::to_string(n) + ")"; }
/// Returns the line that writes the number i as a label at (m, n).
inline std::string latex_label(int m, int n, int i) {
  return "\\node at " + latex_place(m, n) + " {\\Large{\\texttt{" + std::to_string(i) + "}}};\n";
}
/// Returns the lines that draw the grid from (m, n) to (m_end, n_end).
inline std::string latex_grid(int m, int n, int m_end, int n_end) {
  return "\\draw[color=black,thick,shift={(-0.5,-0.5)}] " + latex_place(m, n) + " grid " + latex_place(m_end, n_end) +
         ";\n\n";
}
/// Returns a comment that names the tensor x: "% title: iterator o layout".
template <class X>
std::string latex_comment(char const* title, X const& x) {
  std::ostringstream text;
  write_tensor(stream_sink<std::ostringstream>{text}, x);
  return std::string("% ") + title + ": " + text.str() + "\n";
}
/// Returns the cells of a tensor of coordinates, (thread, value) -> (i, j). place(i, j) is where the element is drawn.
template <class X, class Place, class Colour>
std::string latex_cells(X const& tv, Place const& place, Colour const& colour) {
  std::string out;
  std::set<std::array<int, 2>> drawn;
  for (int t = 0; t < int(size<0>(tv)); ++t) {
    for (int v = 0; v < int(size<1>(tv)); ++v) {
      auto const at = tv(t, v);
      int const i = int(get<0>(at)), j = int(get<1>(at));
      if (!drawn.insert({i, j}).second) continue;
      out += std::string("\\node[fill=") + colour(t, v) + "] at " + place(i, j) + " {\\shortstack{T" +
             std::to_string(t) + " \\\\ V" + std::to_string(v) + "}};\n";
    }
  }
  return out;
}

/// True for a tiled copy: any type that gives each thread its part of a source and a destination.
template <class T>
concept copies_tiles = requires(T const& t) {
  t.get_layoutS_TV();
  t.get_layoutD_TV();
};
/// True for a tiled MMA: any type with layouts of A, B and C.
template <class T>
concept multiplies_tiles = requires(T const& t) {
  t.get_layoutA_TV();
  t.get_layoutB_TV();
  t.get_layoutC_TV();
};
template <class T>
concept tiling = copies_tiles<T> || multiplies_tiles<T>;

/// Returns the body of the drawing of a tiled copy.
template <copies_tiles T, class Colour>
std::string latex_of(T const& t, Colour const& colour) {
  auto const tile = product_each(shape(logical_divide(Layout<Shape<Int<1>, Int<1>>>{}, typename T::Tiler_MN{})));
  int const rows = int(get<0>(tile)), columns = int(get<1>(tile)), right = columns + 3;
  constexpr Underscore all{};
  auto const source = t.tidfrg_S(make_identity_tensor(tile))(all, all, Int<0>{});
  auto const destination = t.tidfrg_D(make_identity_tensor(tile))(all, all, Int<0>{});
  std::string out = latex_comment("Layout S TV", source) + latex_comment("Layout D TV", destination) + latex_head();
  out += latex_cells(source, latex_place, colour) + latex_grid(0, 0, rows, columns);
  for (int m = 0; m < rows; ++m) out += latex_label(m, -1, m);
  for (int n = 0; n < columns; ++n) out += latex_label(-1, n, n);
  out += latex_cells(
      destination, [&](int m, int n) { return latex_place(m, n + right); }, colour);
  out += latex_grid(0, right, rows, right + columns);
  for (int m = 0; m < rows; ++m) out += latex_label(m, columns + right, m);
  for (int n = 0; n < columns; ++n) out += latex_label(-1, n + right, n);
  return out;
}
/// Returns the body of the drawing of a tiled MMA.
template <multiplies_tiles T, class Colour>
std::string latex_of(T const& t, Colour const& colour) {
  auto const m = t.template tile_size_mnk<0>();
  auto const n = t.template tile_size_mnk<1>();
  auto const k = t.template tile_size_mnk<2>();
  int const rows = int(m), columns = int(n), depth = int(k), before = -depth - 1;
  auto const c = composition(make_identity_tensor(make_shape(m, n)), t.get_layoutC_TV());
  auto const a = composition(make_identity_tensor(make_shape(m, k)), t.get_layoutA_TV());
  auto const b = composition(make_identity_tensor(make_shape(n, k)), t.get_layoutB_TV());
  std::string out = latex_comment("LayoutC", c) + latex_comment("LayoutA", a) + latex_comment("LayoutB", b);
  out += latex_head() + latex_cells(c, latex_place, colour) + latex_grid(0, 0, rows, columns);
  out += latex_cells(
      a, [&](int i, int j) { return latex_place(i, j + before); }, colour);
  out += latex_grid(0, before, rows, -1);
  for (int i = 0; i < rows; ++i) out += latex_label(i, before - 1, i);
  for (int j = 0; j < depth; ++j) out += latex_label(-1, j + before, j);
  out += latex_cells(
      b, [&](int i, int j) { return latex_place(j + before, i); }, colour);
  out += latex_grid(before, 0, -1, columns);
  for (int i = 0; i < columns; ++i) out += latex_label(before - 1, i, i);
  for (int j = 0; j < depth; ++j) out += latex_label(j + before, -1, j);
  return out;
}
}  // namespace detail

/// Returns a LaTeX (TikZ) document that draws a tiled copy or tiled MMA. colour(thread, value) is the TikZ colour of a
/// cell.
template <detail::tiling T, class Colour = detail::PaleThreadColour>
std::string latex_text(T const& t, Colour const& colour = {}) {
  return detail::latex_of(t, colour) + "\\end{tikzpicture}\n\\end{document}\n";
}
/// Prints a LaTeX (TikZ) document that draws a tiled copy or tiled MMA to standard output.
template <detail::tiling T, class Colour = detail::PaleThreadColour>
void print_latex(T const& t, Colour const& colour = {}) {
  std::fputs(latex_text(t, colour).c_str(), stdout);
}

}  // namespace zellige
