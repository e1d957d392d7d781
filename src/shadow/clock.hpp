// Decides by vector clocks which accesses happen before which. Every cluster has its own clocks.
//
// The agents of the clocks are the cluster's warps and its asynchronous operations: completions on an mbarrier, the
// bulk groups of a thread, the wgmma groups of a warpgroup. A vector clock has one component, a time, per agent. An
// access is stamped with its thread and its warp's time. It happened before later accesses of the same thread, and
// before everything done by a thread that has since observed a later time of that warp.
//
// The times of warps come from one counter per cluster, so that after a block barrier all clocks are equal
// and one comparison decides. The time of an asynchronous agent is the number of its phases or groups.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "zellige/emulate/thread.hpp"

namespace zellige::shadow {

inline constexpr unsigned max_warps = 128;   // warps of a cluster
inline constexpr unsigned max_agents = 512;  // warps, mbarriers and asynchronous groups of a cluster

/// A set of warps of a cluster. Empty if its bytes are 0.
struct WarpSet {
  std::uint64_t words[max_warps / 64];

  static WarpSet of(unsigned warp) {
    WarpSet one{};
    one.words[warp / 64] = std::uint64_t(1) << warp % 64;
    return one;
  }
  bool empty() const {
    return std::all_of(std::begin(words), std::end(words), [](std::uint64_t w) { return w == 0; });
  }
  void add(const WarpSet& other) {
    for (unsigned i = 0; i < max_warps / 64; ++i) words[i] |= other.words[i];
  }
  /// Returns whether `holds(warp)` is true of every warp of the set, in order.
  template <class Holds>
  bool all(const Holds& holds) const {
    for (unsigned i = 0; i < max_warps / 64; ++i)
      for (std::uint64_t left = words[i]; left; left &= left - 1)
        if (!holds(i * 64 + unsigned(std::countr_zero(left)))) return false;
    return true;
  }
};

/// A vector clock: the latest observed time of each agent of a cluster: its warps, mbarriers and asynchronous groups.
struct Clock {
  std::uint32_t time[max_agents];
  // Per warp, the time up to which its ordinary writes are known to have passed a fence to the asynchronous proxy; by
  // Space, because some fences are of one state space only.
  std::uint32_t visible[2][max_warps];

  /// Merges the clock `other` into this one: sets each of the first `agents` components to the larger of the two times.
  void join(const Clock& other, unsigned agents) {
    raise(time, other.time, agents);
    for (unsigned s = 0; s < 2; ++s) raise(visible[s], other.visible[s], std::min(agents, max_warps));
  }
  void assign(const Clock& other, unsigned agents) {
    std::copy(other.time, other.time + agents, time);
    for (unsigned s = 0; s < 2; ++s)
      std::copy(other.visible[s], other.visible[s] + std::min(agents, max_warps), visible[s]);
  }
  void take_minimum(const Clock& other, unsigned agents) {  // the component-wise minimum
    for (unsigned a = 0; a < agents; ++a) time[a] = std::min(time[a], other.time[a]);
    const unsigned warps = std::min(agents, max_warps);
    for (unsigned s = 0; s < 2; ++s)
      for (unsigned w = 0; w < warps; ++w) visible[s][w] = std::min(visible[s][w], other.visible[s][w]);
  }
  bool equals(const Clock& other, unsigned agents) const {
    const std::size_t warps = std::min(agents, max_warps) * sizeof(time[0]);
    return std::memcmp(time, other.time, agents * sizeof(time[0])) == 0 &&
           std::memcmp(visible[0], other.visible[0], warps) == 0 &&
           std::memcmp(visible[1], other.visible[1], warps) == 0;
  }
  void clear(unsigned agents) {
    std::fill(time, time + agents, 0u);
    std::fill(visible[0], visible[0] + 2 * max_warps, 0u);
  }
  /// Returns the smallest time of the first `warps` agents, which are the cluster's warps.
  std::uint32_t minimum(unsigned warps) const { return *std::min_element(time, time + warps); }

 private:
  // Sets each of `count` times to the larger one of the two.
  static void raise(std::uint32_t* to, const std::uint32_t* from, unsigned count) {
    using Four [[gnu::vector_size(16)]] = std::uint32_t;
    unsigned i = 0;
    for (; i + 4 <= count; i += 4) {
      Four a, b;
      std::memcpy(&a, to + i, sizeof(a)), std::memcpy(&b, from + i, sizeof(b));
      a = a > b ? a : b;
      std::memcpy(to + i, &a, sizeof(a));
    }
    for (; i < count; ++i) to[i] = std::max(to[i], from[i]);
  }
};

struct Acquisition;  // global_shadow.hpp

/// Per thread of a cluster, the ascending times, in its warp's component of the clocks, at which it executed
/// a fence to the asynchronous proxy; one list for each Space.
using Fences = std::vector<std::array<std::vector<std::uint32_t>, 2>>;

/// A block of a cluster: its linear index in the grid, and its first warp, numbered within the cluster.
struct BlockOfCluster {
  std::uint32_t linear;
  std::uint16_t first_warp;
};

/// A thread that accesses memory, with what it has observed. Threads and warps are numbered within the cluster.
struct Actor {
  const Clock* clock;
  std::uint32_t minimum;  // accesses of all warps before this time happened before
  std::uint32_t epoch;    // time of its warp
  std::uint16_t thread, warp;
  std::uint32_t site;  // low half of the return address
  // Time at which the lanes of its warp last synchronized with each other. A fence or arrival of a single
  // lane starts a new epoch of the warp, but orders no other lane.
  std::uint32_t synced = ~0u;
  std::span<const BlockOfCluster> blocks;  // of its cluster, if that has several
  std::uint16_t first_warp = 0;            // first warp of its block
  // increments of atomic counters by its block's threads
  const std::vector<Acquisition>* acquired = nullptr;
  const Fences* fences = nullptr;
  // per lane of its warp, the time before which the lane's accesses are ordered before the actor's by a __syncwarp of some
  // lanes; null if the warp has had none
  const std::uint32_t* pairs = nullptr;

  /// Returns the latest time of warp `w` that this thread (the actor) has observed. For the thread's own
  /// warp, that is the time at which the warp's lanes last synchronized.
  std::uint32_t observed(unsigned w) const { return w == warp ? std::min(clock->time[w], synced) : clock->time[w]; }
  /// Returns the latest time at which thread `t` executed a fence to the asynchronous proxy, for global memory, that the
  /// actor has observed; 0 if there is none.
  std::uint32_t last_fence(unsigned t) const {
    if (!fences) return 0;
    const std::vector<std::uint32_t>& its = (*fences)[t][unsigned(emulate::Space::global)];
    const auto next = t == thread ? its.end() : std::upper_bound(its.begin(), its.end(), clock->time[t / 32]);
    return next == its.begin() ? 0 : next[-1];
  }
  /// Returns true if this thread (the actor) knows that an ordinary write to `space`, by the thread `writer` at time
  /// `write_epoch`, has passed a fence to the asynchronous proxy. Precondition: the actor has observed the write. The
  /// fence may be the writer's own fence after the write, or a fence of another thread that the actor has observed.
  bool fenced(std::uint32_t write_epoch, std::uint16_t writer, emulate::Space space) const {
    const unsigned w = writer / 32, s = unsigned(space);
    if (write_epoch < clock->visible[s][w]) return true;
    if (!fences) return false;
    const std::vector<std::uint32_t>& its = (*fences)[writer][s];
    const auto next = std::upper_bound(its.begin(), its.end(), write_epoch);
    return next != its.end() && (writer == thread || *next <= clock->time[w]);
  }
  /// Returns true if an access by thread `other_thread`, at time `other_epoch` of that thread's warp,
  /// happened before the current access of this thread (the actor).
  bool after(std::uint32_t other_epoch, std::uint16_t other_thread) const {
    const unsigned w = other_thread / 32;
    if (other_epoch < minimum || other_thread == thread || other_epoch < observed(w)) return true;
    return pairs && w == warp && other_epoch < pairs[other_thread % 32];
  }
};

inline constexpr std::uint32_t unnamed_block = 0xFFFFFFFF;  // represents a block that is not known

/// The conflict between a memory access and an earlier one; converts to false if there is none.
struct Clash {
  /// Kind of the conflict between a memory access and an earlier one.
  enum class What : std::uint8_t {
    none,
    unwritten,     // nothing has written the bytes
    padding,       // the bytes are padding between a tensor's elements
    other_tensor,  // the bytes were last written as another tensor
    other_layout,  // the bytes were written through an incompatible layout
    written,       // an unordered write
    read,          // an unordered read
    in_flight,     // a cp.async that has not been waited for
    unfenced,      // ordinary code wrote the bytes, and no fence to the asynchronous proxy follows
    async_write,   // the asynchronous operation `op` may not have written yet
    async_read,    // the asynchronous operation `op` may not have read yet
    storing,       // global memory: an asynchronous write or reduction that has not been waited for
    added,         // global memory: an unordered atomic or reduction
    copying,       // global memory: a cp.async that may not have read yet
  };
  What what = What::none;
  std::uint16_t thread = 0;  // of the earlier access
  std::uint16_t region = 0;  // other_tensor: id of that tensor; other_layout: index of that layout
  std::uint32_t site = 0;    // low half of the return address of the earlier access
  std::uint32_t block = 0;   // global memory: the other block's linear index, or unnamed_block
  std::uint32_t op = 0;      // asynchronous operations: index in the cluster's list

  explicit operator bool() const { return what != What::none; }
};
/// Returns `a` if it is a conflict, else `b`.
inline Clash first_of(const Clash& a, const Clash& b) { return a ? a : b; }

}  // namespace zellige::shadow
