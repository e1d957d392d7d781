// Computes sums, maxima and other reductions of float, double or int over groups of lanes in a warp. Every lane of a group gets the group's
// result. All 32 lanes of the warp must make the call.
//
//   float total = sum_lanes<8>(x);       // over the 8 lanes that have the same lane / 8
//   float total = sum_lanes<8, 2>(x);    // over 8 lanes at stride 2: all even, or all odd, of 16 adjacent lanes
//   float total = sum_lanes<8>(x, row);  // checked by the emulator: `row` is equal in these 8 lanes and in no others
#pragma once
#include <zellige/atom.hpp>
#include <zellige/block/float64.hpp>

namespace zellige {

/// Returns the sum of x over this lane's group: `Lanes` lanes (a power of two) at a stride of `Step` lanes.
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T sum_lanes(T x) {
#pragma unroll
  for (int mask = Lanes / 2; mask > 0; mask /= 2) x = sum_of(x, shfl_xor(x, mask * Step));
  return x;
}

/// Returns the maximum of x over this lane's group: `Lanes` lanes (a power of two) at a stride of `Step` lanes.
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T max_lanes(T x) {
#pragma unroll
  for (int mask = Lanes / 2; mask > 0; mask /= 2) x = max(x, shfl_xor(x, mask * Step));
  return x;
}

/// Raises `maximum`, the maximum so far, to x if x is above it. Returns the old maximum minus the new one: to keep a sum of
/// exponentials relative to the maximum, multiply it by the exponential of this difference.
template <class T>
ZELLIGE_CALL T raise_max(T& maximum, T x) {
  const T old = maximum;
  maximum = max(old, x);
  return old - maximum;
}

/// Functions to join by.
struct Sum {
  ZELLIGE_CALL float operator()(float x, float y) const { return x + y; }
};
/// The maximum without NaN.
struct Max {
  ZELLIGE_CALL float operator()(float x, float y) const { return max_number(x, y); }
};

/// Returns what join(x, y), associative and commutative, makes of x over this lane's group: `Lanes` lanes (a power of
/// two) at a stride of `Step` lanes.
template <int Lanes, int Step = 1, class T, class Join>
ZELLIGE_CALL T join_lanes(T x, const Join& join) {
#pragma unroll
  for (int mask = Lanes / 2; mask > 0; mask /= 2) x = join(x, shfl_xor(x, mask * Step));
  return x;
}

#if defined(ZELLIGE_EMULATE)
/// Returns true if lanes l and m belong to the same group, where a group is `Lanes` lanes at a stride of `Step` lanes.
template <int Lanes, int Step>
constexpr bool together(int l, int m) {
  return l / (Lanes * Step) == m / (Lanes * Step) && l % Step == m % Step;
}
/// On the emulator: reports an error unless `result` is equal in the lanes of each group and different in different
/// groups. The caller chooses `result` so that it identifies the reduction, for example the index of the reduced row.
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
  __builtin_snprintf(text, sizeof(text), "%s<%d>: lanes %d and %d hold parts of %s and are %s", name, Lanes, lane,
                     other, together<Lanes, Step>(lane, other) ? "different results" : "one result",
                     together<Lanes, Step>(lane, other) ? "put together" : "not put together");
  emulate::fail_at("", text);
}
#else
template <int Lanes, int Step>
ZELLIGE_CALL void check_lanes(int, const char*) {}
#endif

/// Returns sum_lanes(x), the sum over this lane's group. `result` identifies the sum, for example by the index of a
/// row; the emulator checks that `result` is equal in all lanes of a group and different in different groups.
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T sum_lanes(T x, int result) {
  check_lanes<Lanes, Step>(result, "sum_lanes");
  return sum_lanes<Lanes, Step>(x);
}
/// Returns max_lanes(x), the maximum over this lane's group. `result` identifies the maximum, for example by the index
/// of a row; the emulator checks that `result` is equal in all lanes of a group and different in different groups.
template <int Lanes, int Step = 1, class T>
ZELLIGE_CALL T max_lanes(T x, int result) {
  check_lanes<Lanes, Step>(result, "max_lanes");
  return max_lanes<Lanes, Step>(x);
}
/// Returns join_lanes(x, join) over this lane's group. `result` identifies the result, as for sum_lanes.
template <int Lanes, int Step = 1, class T, class Join>
ZELLIGE_CALL T join_lanes(T x, int result, const Join& join) {
  check_lanes<Lanes, Step>(result, "join_lanes");
  return join_lanes<Lanes, Step>(x, join);
}

}  // namespace zellige
