// The names of the dense warpgroup MMAs for the N that gmma_names.hpp leaves out; a thousand names cost every unit
// that has them.
#pragma once

#include <zellige/atom/gmma_names.hpp>

// clang-format off
#define ZELLIGE_GMMA_EVERY_N(prefix) \
  ZELLIGE_GMMA_NAMES(prefix, 24) \
  ZELLIGE_GMMA_FLOATS(prefix, 40) \
  ZELLIGE_GMMA_NAMES(prefix, 48) \
  ZELLIGE_GMMA_FLOATS(prefix, 56) \
  ZELLIGE_GMMA_FLOATS(prefix, 72) \
  ZELLIGE_GMMA_NAMES(prefix, 80) \
  ZELLIGE_GMMA_FLOATS(prefix, 88) \
  ZELLIGE_GMMA_FLOATS(prefix, 104) \
  ZELLIGE_GMMA_NAMES(prefix, 112) \
  ZELLIGE_GMMA_FLOATS(prefix, 120) \
  ZELLIGE_GMMA_FLOATS(prefix, 136) \
  ZELLIGE_GMMA_NAMES(prefix, 144) \
  ZELLIGE_GMMA_FLOATS(prefix, 152) \
  ZELLIGE_GMMA_NAMES(prefix, 160) \
  ZELLIGE_GMMA_FLOATS(prefix, 168) \
  ZELLIGE_GMMA_NAMES(prefix, 176) \
  ZELLIGE_GMMA_FLOATS(prefix, 184) \
  ZELLIGE_GMMA_FLOATS(prefix, 200) \
  ZELLIGE_GMMA_NAMES(prefix, 208) \
  ZELLIGE_GMMA_FLOATS(prefix, 216) \
  ZELLIGE_GMMA_NAMES(prefix, 224) \
  ZELLIGE_GMMA_FLOATS(prefix, 232) \
  ZELLIGE_GMMA_NAMES(prefix, 240) \
  ZELLIGE_GMMA_FLOATS(prefix, 248)
// clang-format on

namespace zellige {
namespace SM90::GMMA {
ZELLIGE_GMMA_EVERY_N(MMA_)
}
ZELLIGE_GMMA_EVERY_N(SM90_)
}  // namespace zellige

#undef ZELLIGE_GMMA_EVERY_N
