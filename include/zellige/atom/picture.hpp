// Draws a matrix instruction's operands: print_svg(MMA_Atom) and print_latex(MMA_Atom) label each element of A, B and
// C with the thread and the value index that hold it. Host only.
//
//   print_svg(MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>{});
//
// print_svg and print_latex of TiledMMA and TiledCopy are in tensor/picture.hpp and tensor/latex.hpp.
#pragma once

#include <zellige/atom/tiled_copy.hpp>
#include <zellige/tensor/picture.hpp>

namespace zellige {

template <class... Args>
std::string svg_text(MMA_Atom<Args...> const& atom) {
  return svg_text(make_tiled_mma(atom));
}
template <class... Args, class Colour = detail::PaleThreadColour>
std::string latex_text(MMA_Atom<Args...> const& atom, Colour const& colour = {}) {
  return latex_text(make_tiled_mma(atom), colour);
}
template <class... Args>
void print_svg(MMA_Atom<Args...> const& atom) {
  print_svg(make_tiled_mma(atom));
}
template <class... Args, class Colour = detail::PaleThreadColour>
void print_latex(MMA_Atom<Args...> const& atom, Colour const& colour = {}) {
  print_latex(make_tiled_mma(atom), colour);
}

}  // namespace zellige
