// Declares CuTe's names of the dense warpgroup MMAs (wgmma) for the most frequent N: 8, 16, 32, 64, 96, 128,
// 192 and 256.
//
//   SM90::GMMA::MMA_64x128x16_F32F16F16_SS<Major::K, Major::MN>      SM90_64x128x16_F32F16F16_SS<...>
//
// The classes derive from one template, GMMA::Mma of gmma.hpp, which kernels may use directly. The names for
// the other N are in gmma_names_ext.hpp.
#pragma once

#include <zellige/atom/gmma_families.hpp>

// Declares the instructions for each N of this header; `what` is CLASS or ALIAS (gmma_families.hpp).
// clang-format off
#define ZELLIGE_GMMA_EVERY_N(what) \
  ZELLIGE_GMMA_NAMES(what, 8) \
  ZELLIGE_GMMA_NAMES(what, 16) \
  ZELLIGE_GMMA_NAMES(what, 32) \
  ZELLIGE_GMMA_NAMES(what, 64) \
  ZELLIGE_GMMA_NAMES(what, 96) \
  ZELLIGE_GMMA_NAMES(what, 128) \
  ZELLIGE_GMMA_NAMES(what, 192) \
  ZELLIGE_GMMA_NAMES(what, 256)
// clang-format on

namespace zellige {
namespace SM90::GMMA {
ZELLIGE_GMMA_EVERY_N(CLASS)
}
ZELLIGE_GMMA_EVERY_N(ALIAS)
}  // namespace zellige

#undef ZELLIGE_GMMA_EVERY_N
