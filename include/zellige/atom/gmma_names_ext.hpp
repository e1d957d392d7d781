// Declares CuTe's names of the dense warpgroup MMAs (wgmma) for the N that gmma_names.hpp does not have. The
// header is separate because these thousand names cost compile time in every source that includes them.
#pragma once

#include <zellige/atom/gmma_names.hpp>

// Declares the instructions for each N of this header; `what` is CLASS or ALIAS (gmma_families.hpp).
// clang-format off
#define ZELLIGE_GMMA_EVERY_N(what) \
  ZELLIGE_GMMA_NAMES(what, 24) \
  ZELLIGE_GMMA_FLOATS(what, 40) \
  ZELLIGE_GMMA_NAMES(what, 48) \
  ZELLIGE_GMMA_FLOATS(what, 56) \
  ZELLIGE_GMMA_FLOATS(what, 72) \
  ZELLIGE_GMMA_NAMES(what, 80) \
  ZELLIGE_GMMA_FLOATS(what, 88) \
  ZELLIGE_GMMA_FLOATS(what, 104) \
  ZELLIGE_GMMA_NAMES(what, 112) \
  ZELLIGE_GMMA_FLOATS(what, 120) \
  ZELLIGE_GMMA_FLOATS(what, 136) \
  ZELLIGE_GMMA_NAMES(what, 144) \
  ZELLIGE_GMMA_FLOATS(what, 152) \
  ZELLIGE_GMMA_NAMES(what, 160) \
  ZELLIGE_GMMA_FLOATS(what, 168) \
  ZELLIGE_GMMA_NAMES(what, 176) \
  ZELLIGE_GMMA_FLOATS(what, 184) \
  ZELLIGE_GMMA_FLOATS(what, 200) \
  ZELLIGE_GMMA_NAMES(what, 208) \
  ZELLIGE_GMMA_FLOATS(what, 216) \
  ZELLIGE_GMMA_NAMES(what, 224) \
  ZELLIGE_GMMA_FLOATS(what, 232) \
  ZELLIGE_GMMA_NAMES(what, 240) \
  ZELLIGE_GMMA_FLOATS(what, 248)
// clang-format on

namespace zellige {
namespace SM90::GMMA {
ZELLIGE_GMMA_EVERY_N(CLASS)
}
ZELLIGE_GMMA_EVERY_N(ALIAS)
}  // namespace zellige

#undef ZELLIGE_GMMA_EVERY_N
