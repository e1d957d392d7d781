// CuTe's header for drawing layouts and tilings as SVG, with CuTe's colour functions.
#pragma once
#include <cute/tensor_impl.hpp>
#if !defined(__CUDACC_RTC__)
#include <zellige/tensor/picture.hpp>
#endif

namespace zellige {

/// Colours every cell white.
struct TSVGColor_White {
  CUTE_HOST_DEVICE char const* operator()(int) const { return "255,255,255"; }
};
/// Returns one of eight greys as "r,g,b", by index modulo 8.
struct TSVGColor_BWx8 {
  CUTE_HOST_DEVICE char const* operator()(int index) const {
    char const* const greys[] = {"255,255,255", "230,230,230", "205,205,205", "180,180,180",
                                 "155,155,155", "130,130,130", "105,105,105", "080,080,080"};
    return greys[index % 8];
  }
};
/// Returns one of eight pale colours as "r,g,b", by thread modulo 8.
struct SVGColor_TV {
  CUTE_HOST_DEVICE char const* operator()(int thread, int) const {
    char const* const colours[] = {"175,175,255", "175,255,175", "255,255,175", "255,175,175",
                                   "210,210,255", "210,255,210", "255,255,210", "255,210,210"};
    return colours[thread % 8];
  }
};

}  // namespace zellige
