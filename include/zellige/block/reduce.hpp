// Sums and maxima of float or int over lanes of a warp; every lane gets the result.
//
//   float total = sum_lanes<8>(x);       // of the 8 lanes whose lane / 8 is this one's
//   float total = sum_lanes<8, 2>(x);    // of 8 lanes with a stride of two
//   float total = sum_lanes<8>(x, row);  // the emulator checks that exactly these 8 have this row
#pragma once
#include <zellige/atom.hpp>

namespace zellige {

template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T sum_lanes(T x) {
#pragma unroll
  for (int mask = Lanes / 2; mask > 0; mask /= 2) x = sum_of(x, shfl_xor(x, mask * Step));
  return x;
}

template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T max_lanes(T x) {
#pragma unroll
  for (int mask = Lanes / 2; mask > 0; mask /= 2) x = max(x, shfl_xor(x, mask * Step));
  return x;
}

#if defined(ZELLIGE_EMULATE)
template <int Lanes, int Step>
constexpr bool together(int l, int m) {
  return l / (Lanes * Step) == m / (Lanes * Step) && l % Step == m % Step;
}
/// Identifies the result to which a lane contributes: equal for `Lanes` lanes at stride `Step`, different for
/// all others of the warp.
template <int Lanes, int Step>
ZELLIGE_CALL void check_lanes(int result, const char* name) {
  const auto compute = [](const int* in, int* other) {
    for (int l = 0; l < 32; ++l) {
      other[l] = -1;
      for (int m = 31; m >= 0; --m)
        if (together<Lanes, Step>(l, m) != (in[l] == in[m])) other[l] = m;
    }
  };
  const int lane = static_cast<int>(emulate::lane()), other = emulate::meet<int, int>(result, compute, name);
  if (other < 0) return;
  char text[160];
  __builtin_snprintf(text, sizeof(text), "%s<%d>: lanes %d and %d hold parts of %s and are %s", name, Lanes,
                     lane, other, together<Lanes, Step>(lane, other) ? "different results" : "one result",
                     together<Lanes, Step>(lane, other) ? "put together" : "not put together");
  emulate::fail_at("", text);
}
#else
template <int Lanes, int Step>
ZELLIGE_CALL void check_lanes(int, const char*) {}
#endif

/// `result`: identifies the sum, or maximum, of which x is a part.
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T sum_lanes(T x, int result) {
  check_lanes<Lanes, Step>(result, "sum_lanes");
  return sum_lanes<Lanes, Step>(x);
}
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T max_lanes(T x, int result) {
  check_lanes<Lanes, Step>(result, "max_lanes");
  return max_lanes<Lanes, Step>(x);
}

}  // namespace zellige
