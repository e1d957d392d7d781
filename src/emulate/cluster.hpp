// Runs the blocks of one thread block cluster: holds their scheduler, the counter from which the vector
// clocks of the race detection take their times (clock.hpp), and the queue of asynchronous copies. In a
// launch without clusters, every block is a cluster of one.
//
// Copies into shared memory complete, the oldest first, only when no thread can continue. A thread that
// forgets to wait therefore reads old bytes.
#pragma once
#include <ctime>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "emulate/block.hpp"

namespace zellige::emulate {

/// An asynchronous copy into one block's shared memory, or a tcgen05.commit, that has not completed yet. A commit has no bytes.
struct Landing {
  std::uint32_t op = 0;                                    // index of its AsyncOp, which has its block and mbarrier
  std::uint32_t chunk = 16;                                // bytes per chunk
  std::shared_ptr<const std::vector<unsigned char>> data;  // the chunks, in order
  // byte offset of each chunk in the block's shared memory
  std::shared_ptr<const std::vector<std::uint32_t>> to;
  bool after_wait = false;  // the issuing thread had observed griddep_wait
  // Ends of phases that the issuing thread had observed, as (agent, time), of mbarriers that count arrivals only.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
};

/// The running blocks of a thread block cluster, on one worker thread. The object serves one cluster after another.
class Cluster {
 public:
  /// Allocates the blocks for a kernel launch, and clears the findings and counters of the previous launch.
  void prepare(const LaunchState&);
  /// Runs the cluster with this linear index to its end. Returns false if it was aborted; rethrows an
  /// exception that a kernel has thrown.
  bool run(std::uint64_t linear_index);
  /// Returns the index in the grid of the first block of the cluster with this linear index.
  dim3 first_block(std::uint64_t linear_index) const;

  std::uint32_t tick() { return ++time_; }  // starts a new epoch and returns its time
  unsigned agents() const { return agents_; }
  unsigned warps() const { return warps_; }
  unsigned size() const { return unsigned(blocks_.size()); }
  Block& block(unsigned rank) { return *blocks_[rank]; }
  const LaunchState& launch() const { return *launch_; }
  int first_warp(std::uint32_t block) const;  // of the block with this linear index; -1: of another cluster
  /// Returns its blocks as races are found with them: empty if there is one.
  std::span<const shadow::BlockOfCluster> places() const { return places_; }
  // Adds an agent (an mbarrier, or a source of asynchronous groups) to the vector clocks and returns its
  // index. Throws Error above max_agents.
  std::uint32_t new_agent();
  /// Returns the ends of mbarrier phases that a thread with this vector clock has observed: pairs (the mbarrier's index
  /// in the clocks, the number of its ended phases), for mbarriers that count only arrivals, no bytes. An asynchronous
  /// copy that the thread issues passes these pairs on to threads that wait for the copy.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_known(const shadow::Clock&) const;
  /// Adds an asynchronous operation to the cluster's list; returns its index.
  std::uint32_t add(const shadow::AsyncOp& op) {
    ops.push_back(op);
    return std::uint32_t(ops.size() - 1);
  }
  void queue(Landing landing) { landings_.push_back(std::move(landing)); }
  /// Lets a thread that has returned leave the cluster's barrier: removes its arrival, and completes the barrier if all
  /// of the remaining threads have arrived.
  void left(const Fiber&);
  Fiber* fiber_at(std::uintptr_t stack);             // returns the fiber with this address on its stack; null: none
  void report_all(Finding::Kind, std::string head);  // adds a finding with the position of every thread

  /// Arrives at the cluster's barrier (PTX barrier.cluster.arrive), with or without release semantics.
  void arrive(Fiber&, bool release, Site);
  /// Waits at the cluster's barrier (PTX barrier.cluster.wait).
  void wait(Fiber&, Site);
  /// Returns "thread 37 (warp 1)", followed by its block if the cluster has several.
  std::string spell(unsigned thread) const;

  Counters counters;
  Findings findings;
  AccessCosts costs;                 // by instruction, if the launch asks for them
  std::vector<shadow::AsyncOp> ops;  // all asynchronous operations; [0] is unused
  shadow::Fences fences;             // of all threads of the cluster
  shadow::GlobalReads global_reads;  // by its asynchronous copies
  void* scheduler = nullptr;         // suspended context of `run`
  bool abandoned = false;            // a fiber has ended the cluster
  volatile bool expired = false;     // the time limit is exceeded; set by a signal handler
  std::exception_ptr error;          // an exception thrown by a kernel

  // Programmatic dependent launch. `previous` is an agent whose time is 1 for threads that have observed a
  // griddep_wait. Earlier accesses are kept in `early`, and are findings if it is found that the launch must
  // wait for its predecessor.
  std::uint32_t previous = 0;
  // An agent whose time is 1 for threads that know, by the cluster's barrier, that all of its blocks have started.
  std::uint32_t begun = 0;
  bool waits_for_previous = false;  // the launch is `programmatic`, or a thread has called griddep_wait
  std::vector<RawFinding> early;

  std::uint32_t refused = 0;  // the AsyncOp of the last try_cancel to which the answer was no; 0: none

  // Missing fences of tcgen05: after a tcgen05.ld or st, and after a wait for a commit. Code without any fence, as CUTLASS's, leaves
  // them to the compiler. The latter are findings if a thread of the cluster executes such a fence; the former as well if none has said
  // that it leaves them.
  bool fences_tensors = false, leaves_fences = false;
  std::vector<RawFinding> unfenced_moves, unfenced_commits;

  // State of the cluster's barrier.
  unsigned arrived = 0, live = 0;  // threads that have arrived; threads that have not returned
  // number of times that polling threads were resumed since other progress was made
  std::uint32_t polled = 0;
  bool takes_turns = false;  // of ranks: after each wait any of them may run, by the launch's seed

 private:
  Fiber* next();    // takes a fiber that can run; null: none
  bool land_one();  // completes the oldest copy or commit; false if there is none
  void land_commit(const Landing&);
  void add_unordered();
  // Resumes the threads that poll an mbarrier. Returns false if there are none, or if they have been resumed
  // 1000 times while no other thread made progress.
  bool wake_pollers();
  bool others_run();
  bool gather();    // lets the threads in active_lanes() continue; false if there are none
  void complete();  // completes the barrier of the cluster
  bool unstick();   // reports why no thread can run; false if the cluster must end

  const LaunchState* launch_ = nullptr;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<shadow::BlockOfCluster> places_;  // of the blocks, by rank; none if there is one block
  unsigned agents_ = 0, warps_ = 0, current_ = 0;
  int idle_ = 0;              // how often in a row no other worker ran when all threads waited for memory
  std::uint64_t random_ = 0;  // of the order of ranks, if the launch has a seed
  unsigned favourite_ = 0;    // the rank that runs as far as it can for a while, if the seed is odd
  std::uint32_t time_ = 0;
  std::deque<Landing> landings_;
  // what the threads that have arrived at the cluster's barrier observed; what the last barrier released
  shadow::Clock observed_{}, released_{};
  std::uint32_t barrier_phase_ = 0;
};

/// Handles the signals of the calling thread while a cluster runs on it; the destructor restores the previous state.
class SignalWatch {
 public:
  /// Starts handling faults for a cluster that runs on the calling thread. `seconds`: limit of the thread's
  /// CPU time for it; 0: no limit.
  SignalWatch(Cluster&, double seconds);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;

 private:
  Cluster* before_;  // the cluster that was running on this thread before
  timer_t timer_{};
  bool timed_ = false;
};

/// Whether interrupt() has been called.
inline volatile bool interrupted = false;

[[gnu::always_inline]] inline void Block::suspend(Fiber& f, Fiber::State state, Site site) {
  f.state = state;
  f.site = site;
  Fiber* other = cluster.expired || interrupted || cluster.takes_turns ? nullptr : next();
  switch_context(f.context, other ? other->context : cluster.scheduler);
}

inline void Block::check_time(Fiber& f, Site site) {
  if (cluster.expired || interrupted) [[unlikely]]
    suspend(f, Fiber::State::ready, site);
}

}  // namespace zellige::emulate
