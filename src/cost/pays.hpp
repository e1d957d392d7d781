// Which of two ways is taken where times are measured, or are estimates of a framework's kernels: a program in place of them,
// one of them in place of another, one tiling in place of another. better.hpp orders what is expected of plans.
//
//   clearly_faster({.us = 9.6}, {.us = 10})                      // true: more than measurements vary by
//   total_us({.us = 10, .host_us = 2})                           // 10.5: the host launches while the GPU works
//   pays({.us = 34, .host_us = 8}, {.us = 8, .host_us = 17}, g)  // true if the graph g takes less time by it
#pragma once
#include <algorithm>

#include "cost/better.hpp"

namespace zellige::cost {

/// The thresholds of these decisions. All are of measured times and of the host, and so the same for all targets; those of
/// expected times are in target/costs.hpp. They are set by hand, with the cases that are named.
struct Margins {
  // Largest share of the other's time on the GPU of what is clearly faster. With torch's kernels for the attentions of
  // bench/draws.py (seed 11), and with mixed parts of qwen3 and mixtral.
  double clear = 0.97;
  // Measured tilings take equally long if the slower one takes at most this times the time of the faster one.
  double alike = 1.01;
  // Share of an expected time, of a framework's kernels or of a plan, below which the measured one is not expected to be. With
  // the same mixed parts.
  double hopeful = 0.8;
  // A plan whose expected time is more than this times the other's is neither compiled nor measured.
  double hopeless = 4;
  // Share of the time of the faster one of GPU and host that does not overlap with that of the slower one.
  double waits = 0.25;

  // Of what is done another way in a graph. It loses if the GPU takes more than `longer` times the time and `longer_us` more,
  // or if the host takes `host_us` longer, a call of a part, and that is not hidden. It wins if the GPU takes less than
  // `shorter` times the time, or if both together take less.
  double longer = 1.02, longer_us = 0.2, host_us = 3, shorter = 0.95;
  // The host is hidden where the GPU takes more than this times as long as the host for the graph. With qwen3 and mixtral: the
  // GPU takes four times as long, and mixed parts, which have more launches, save it 4%.
  double gpu_bound = 1.5;
  // It is hidden, too, if the graph saves more than this share of what the host loses: estimates of the host's time are not
  // exact. With a softmax of 16 x 127280 f32, 34 us as torch's kernel and 8 as two of ours, by which the host loses 9.
  double host_doubt = 0.25;
  // Share of the GPU's time for a graph that parts must save if they do not save what the call of a graph with parts costs.
  double whole = 0.05;
};
inline constexpr Margins margins{};

/// Returns how long work of this cost takes in all, in microseconds. The host launches while the GPU works, so that the
/// slower of the two decides.
inline double total_us(const WayCost& way) {
  return std::max(way.us, way.host_us) + margins.waits * std::min(way.us, way.host_us);
}

/// Returns whether `a` takes less time in all than `b`.
inline bool faster(const WayCost& a, const WayCost& b) { return total_us(a) < total_us(b); }

/// The same in a graph of which the GPU is the slower: the host's time counts as far as it does not overlap.
inline bool faster_gpu_bound(const WayCost& a, const WayCost& b) {
  return a.us + margins.waits * a.host_us < b.us + margins.waits * b.host_us;
}

/// Returns whether `a` takes so much less time on the GPU than `b` that it is no accident of measurements.
inline bool clearly_faster(const WayCost& a, const WayCost& b) { return a.us <= margins.clear * b.us; }

/// Returns whether `a`, of which the time is expected, may be clearly faster when it is measured.
inline bool may_be_faster(const WayCost& a, const WayCost& b) { return margins.hopeful * a.us <= margins.clear * b.us; }

/// Returns whether `a` is worth measuring next to `b`; the times of both are expected.
inline bool worth_measuring(const WayCost& a, const WayCost& b) { return a.us <= margins.hopeless * b.us; }

/// Returns whether the measured time of `a` is that of the faster `b`, as far as measurements tell.
inline bool as_fast(const WayCost& a, const WayCost& b) { return a.us <= margins.alike * b.us; }

/// Returns whether work that costs `after` in place of `before` makes a graph faster, which costs `whole` with `after`:
/// neither the GPU nor the host takes longer, and one of them takes less time; or the host takes longer, and the graph
/// nevertheless takes less time, or the GPU clearly saves time and is the slower of the two.
inline bool pays(const WayCost& before, const WayCost& after, const WayCost& whole) {
  const WayCost saved{.us = before.us - after.us, .host_us = before.host_us - after.host_us};
  const WayCost without{.us = whole.us + saved.us, .host_us = whole.host_us + saved.host_us};
  const bool gpu_counts = whole.us > margins.gpu_bound * whole.host_us && after.us < margins.clear * before.us;
  const bool hidden = gpu_counts || total_us(without) - total_us(whole) > -margins.host_doubt * saved.host_us;
  const bool loses =
      after.us > margins.longer * before.us + margins.longer_us || (-saved.host_us > margins.host_us && !hidden);
  return !loses && (gpu_counts || after.us < margins.shorter * before.us || faster(after, before));
}

/// Returns whether parts that save `saved` of a graph are worth what `call` costs, a call of a graph with parts. `whole`: what
/// the graph costs without them.
inline bool worth(const WayCost& saved, const WayCost& call, const WayCost& whole) {
  return saved.host_us + saved.us >= call.us + call.host_us || saved.us >= margins.whole * whole.us;
}

}  // namespace zellige::cost
