// Computes sums and maxima of float or int over groups of lanes in a warp. Every lane of a group gets the result. All
// 32 lanes must call.
//
//   float total = sum_lanes<8>(x);       // of the 8 lanes whose lane / 8 is this one's
//   float total = sum_lanes<8, 2>(x);    // of 8 lanes with a stride of two
//   float total = sum_lanes<8>(x, row);  // the emulator checks that exactly these 8 have this row
#pragma once
#include <zellige/atom.hpp>

namespace zellige {

/// Returns the sum of x over the `Lanes` lanes (a power of two) at stride `Step` that contain this lane.
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T sum_lanes(T x) {
#pragma unroll
  for (int mask = Lanes / 2; mask > 0; mask /= 2) x = sum_of(x, shfl_xor(x, mask * Step));
  return x;
}

/// Returns the maximum of x over the `Lanes` lanes (a power of two) at stride `Step` that contain this lane.
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T max_lanes(T x) {
#pragma unroll
  for (int mask = Lanes / 2; mask > 0; mask /= 2) x = max(x, shfl_xor(x, mask * Step));
  return x;
}

#if defined(ZELLIGE_EMULATE)
/// Returns true if lanes l and m belong to the same group of `Lanes` lanes at stride `Step`.
template <int Lanes, int Step>
constexpr bool together(int l, int m) {
  return l / (Lanes * Step) == m / (Lanes * Step) && l % Step == m % Step;
}
/// Checks on the emulator that the lanes of a reduction belong together: `result`, a number of the caller's choice,
/// must be equal in the lanes of one group and different in those of different groups. Reports a finding if not.
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

/// Like sum_lanes(x). `result` identifies the sum to which x belongs, such as the index of a row; the emulator checks
/// that exactly the lanes of one group have the same number.
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T sum_lanes(T x, int result) {
  check_lanes<Lanes, Step>(result, "sum_lanes");
  return sum_lanes<Lanes, Step>(x);
}
/// Like max_lanes(x). `result` identifies the maximum to which x belongs; the emulator checks it as for sum_lanes.
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T max_lanes(T x, int result) {
  check_lanes<Lanes, Step>(result, "max_lanes");
  return max_lanes<Lanes, Step>(x);
}

}  // namespace zellige
