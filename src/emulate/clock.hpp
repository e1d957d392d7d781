// Happens-before by vector clocks. Agents are a cluster's warps and its asynchronous operations: completions
// on an mbarrier, a thread's bulk groups, a warpgroup's MMAs. Each agent has a component in every vector
// clock. An access is stamped with its thread and its warp's time; it happened before everything done by a
// thread whose warp has since observed a later time of that warp, and before later accesses of the same
// thread. Warps' times come from one counter per cluster, so that after a block barrier all clocks are equal
// and one comparison decides; an asynchronous agent counts its phases or groups.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace zellige::emulate {

inline constexpr unsigned max_warps = 64;    // of a cluster
inline constexpr unsigned max_agents = 512;  // of a cluster, its warps included

struct Clock {
  std::uint32_t time[max_agents];
  // Time up to which each warp's ordinary writes are known to have passed a fence to the asynchronous proxy.
  std::uint32_t visible[max_warps];

  void join(const Clock& other, unsigned agents) {
    for (unsigned a = 0; a < agents; ++a) time[a] = std::max(time[a], other.time[a]);
    const unsigned warps = std::min(agents, max_warps);
    for (unsigned w = 0; w < warps; ++w) visible[w] = std::max(visible[w], other.visible[w]);
  }
  void assign(const Clock& other, unsigned agents) {
    std::copy(other.time, other.time + agents, time);
    std::copy(other.visible, other.visible + std::min(agents, max_warps), visible);
  }
  void take_minimum(const Clock& other, unsigned agents) {  // the component-wise minimum
    for (unsigned a = 0; a < agents; ++a) time[a] = std::min(time[a], other.time[a]);
    const unsigned warps = std::min(agents, max_warps);
    for (unsigned w = 0; w < warps; ++w) visible[w] = std::min(visible[w], other.visible[w]);
  }
  void clear(unsigned agents) {
    std::fill(time, time + agents, 0u);
    std::fill(visible, visible + max_warps, 0u);
  }
  std::uint32_t minimum(unsigned warps) const { return *std::min_element(time, time + warps); }
};

/// The blocks of the same cluster, and the indices of their warps in the clocks.
struct ClusterWarps {
  virtual int first_warp(std::uint32_t block) const = 0;  // -1: another cluster

 protected:
  ~ClusterWarps() = default;
};

struct Acquisition;  // arrivals.hpp

/// When each thread of a cluster has executed a fence to the asynchronous proxy, in its warp's time.
using Fences = std::vector<std::vector<std::uint32_t>>;

/// A thread that accesses memory, with its observations. Threads and warps are numbered within the cluster.
struct Actor {
  const Clock* clock;
  std::uint32_t minimum;  // minimum of the clock: anything older happened before
  std::uint32_t epoch;    // its warp's own time
  std::uint16_t thread, warp;
  std::uint32_t site;  // low half of the return address
  // The last time at which the warp's own lanes synchronized: a fence or an arrival by one of them starts a
  // new epoch, but orders no other lane.
  std::uint32_t synced = ~0u;
  const ClusterWarps* cluster_warps = nullptr;
  std::uint16_t first_warp = 0;  // of its block
  // what its block has observed of others by atomic counters
  const std::vector<Acquisition>* acquired = nullptr;
  const Fences* fences = nullptr;

  std::uint32_t observed(unsigned w) const {
    return w == warp ? std::min(clock->time[w], synced) : clock->time[w];
  }
  /// Returns whether an ordered ordinary write has passed a fence since, and that fence is ordered, too.
  bool fenced(std::uint32_t write_epoch, std::uint16_t writer) const {
    const unsigned w = writer / 32;
    if (write_epoch < clock->visible[w]) return true;
    if (!fences) return false;
    const std::vector<std::uint32_t>& its = (*fences)[writer];
    const auto next = std::upper_bound(its.begin(), its.end(), write_epoch);
    return next != its.end() && (writer == thread || *next <= clock->time[w]);
  }
  bool after(std::uint32_t other_epoch, std::uint16_t other_thread) const {
    return other_epoch < minimum || other_thread == thread || other_epoch < observed(other_thread / 32);
  }
};

inline constexpr std::uint32_t unnamed_block = 0xFFFFFFFF;  // an unspecified other one

/// The conflict of an access, if any.
struct Clash {
  enum class What : std::uint8_t {
    none,
    unwritten,
    padding,
    other_tensor,
    other_layout,
    written,
    read,
    in_flight,
    unfenced,     // written by ordinary code without a fence to the asynchronous proxy since
    async_write,  // `op` may not have written yet
    async_read,   // `op` may still read
  };
  What what = What::none;
  std::uint16_t thread = 0;  // of the earlier access
  std::uint16_t region = 0;  // other_tensor: the tensor as which it was written
  std::uint32_t site = 0;
  std::uint32_t block = 0;  // global memory: the other block's linear index, or unnamed_block
  std::uint32_t op = 0;     // asynchronous operations: index in the cluster

  explicit operator bool() const { return what != What::none; }
};

}  // namespace zellige::emulate
