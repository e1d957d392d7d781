// Sums and maxima over neighbouring lanes of a warp; every lane gets the result.
//
//   float total = sum_lanes<8>(x);       // of the 8 lanes whose lane / 8 is this one's
#pragma once
#include <zellige/atom.hpp>

namespace zellige {

template <int Lanes>
ZELLIGE_CALL float sum_lanes(float x) {
#pragma unroll
  for (int mask = Lanes / 2; mask > 0; mask /= 2) x += shfl_xor(x, mask);
  return x;
}

template <int Lanes>
ZELLIGE_CALL float max_lanes(float x) {
#pragma unroll
  for (int mask = Lanes / 2; mask > 0; mask /= 2) x = max(x, shfl_xor(x, mask));
  return x;
}

}  // namespace zellige
