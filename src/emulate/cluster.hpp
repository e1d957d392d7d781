// The running blocks of one cluster: one scheduler, one clock, and the queue of asynchronous copies. A block
// of a launch without clusters is a cluster of one.
//
// Copies complete when no thread can continue, the oldest first: code that forgets to wait reads old bytes.
#pragma once
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "emulate/async_op.hpp"
#include "emulate/block.hpp"

namespace zellige::emulate {

/// Bytes in flight to shared memory; they complete on an mbarrier.
struct Landing {
  std::uint32_t op = 0;  // the operation's index
  std::uint32_t chunk = 16;
  std::uint32_t bytes = 0;  // reported to the mbarrier
  std::shared_ptr<const std::vector<unsigned char>> data;
  std::shared_ptr<const std::vector<std::uint32_t>> to;  // byte offset of each chunk
  bool after_wait = false;                               // issued after griddep_wait
  // Ends of phases that the issuing thread had observed, of mbarriers that count arrivals only: agent, time.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
};

class Cluster final : public ClusterWarps {
 public:
  /// Allocates for a launch; clears the findings and counts of the previous one.
  void prepare(const LaunchState&);
  /// Runs one cluster to its end; false if it was aborted.
  bool run(std::uint64_t linear_index);

  std::uint32_t tick() { return ++time_; }
  unsigned agents() const { return agents_; }
  unsigned warps() const { return warps_; }
  unsigned size() const { return unsigned(blocks_.size()); }
  Block& block(unsigned rank) { return *blocks_[rank]; }
  const LaunchState& launch() const { return *launch_; }
  int first_warp(std::uint32_t block) const override;
  std::uint32_t new_agent();
  /// The ends of mbarrier phases that a copy issued now passes on to threads that observe its completion.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_known(const Clock&) const;
  std::uint32_t add(const AsyncOp& op) {
    ops.push_back(op);
    return std::uint32_t(ops.size() - 1);
  }
  void queue(Landing landing) { landings_.push_back(std::move(landing)); }
  void left(const Fiber&);                           // it no longer counts, even if it has arrived
  void joined(Block&);                               // a block's last thread has returned
  Fiber* fiber_at(std::uintptr_t stack);             // the owner of that stack; null: none
  void report_all(Finding::Kind, std::string head);  // with the position of every thread

  void arrive(Fiber&, bool release, Site);
  void wait(Fiber&, Site);
  /// "thread 37 (warp 1)", with its block if the cluster has several.
  std::string spell(unsigned thread) const;

  Counters counters;
  Findings findings;
  std::vector<AsyncOp> ops;  // [0] is unused
  Fences fences;             // of its threads
  void* scheduler = nullptr;
  bool abandoned = false;
  volatile bool expired = false;  // its time limit is exceeded
  std::exception_ptr error;       // thrown on a fiber's stack

  // Programmatic dependent launch: an agent whose time is 1 for threads that have observed a griddep_wait;
  // accesses before it are findings once it is clear that the launch is one.
  std::uint32_t previous = 0;
  bool waits_for_previous = false;
  std::vector<RawFinding> early;

  // The barrier of the cluster.
  unsigned arrived = 0, live = 0;  // threads
  std::uint32_t polled = 0;        // resumptions of pollers without other progress

 private:
  Fiber* next();
  bool land_one();
  bool wake_pollers();
  void complete();
  bool unstick();
  void report_early();

  const LaunchState* launch_ = nullptr;
  std::vector<std::unique_ptr<Block>> blocks_;
  unsigned agents_ = 0, warps_ = 0, current_ = 0;
  std::uint32_t time_ = 0;
  std::deque<Landing> landings_;
  Clock observed_{}, released_{};
  std::uint32_t barrier_phase_ = 0;
};

[[gnu::always_inline]] inline void Block::suspend(Fiber& f, Fiber::State state, Site site) {
  f.state = state;
  f.site = site;
  Fiber* other = cluster.expired ? nullptr : next();
  switch_context(f.context, other ? other->context : cluster.scheduler);
}

inline void Block::check_time(Fiber& f, Site site) {
  if (cluster.expired) [[unlikely]]
    suspend(f, Fiber::State::ready, site);
}

}  // namespace zellige::emulate
