// Draws instructions: print_svg(MMA_Atom) and print_latex(MMA_Atom) show the thread and value of each element
// of A, B and C, as print_svg(TiledMMA) does for a tiling. Host only.
#pragma once

#include <zellige/atom/tiled_copy.hpp>
#include <zellige/tensor/picture.hpp>

namespace zellige {

template <class... Args>
std::string svg_text(MMA_Atom<Args...> const& atom) {
  return svg_text(make_tiled_mma(atom));
}
template <class... Args>
std::string latex_text(MMA_Atom<Args...> const& atom) {
  return latex_text(make_tiled_mma(atom));
}
template <class... Args>
void print_svg(MMA_Atom<Args...> const& atom) {
  print_svg(make_tiled_mma(atom));
}
template <class... Args>
void print_latex(MMA_Atom<Args...> const& atom) {
  print_latex(make_tiled_mma(atom));
}

}  // namespace zellige
