// A running block: its threads' fibers, its warps, its barriers, its shared memory. A fiber runs until it
// must wait for others; then the next fiber of its warp runs, or another warp's. If none can run, the cluster
// (cluster.hpp) switches to another block, and if no block can run, the cluster has ended or is stuck.
#pragma once
#include <bit>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulate/access_log.hpp"
#include "emulate/async_shadow.hpp"
#include "emulate/clock.hpp"
#include "emulate/findings.hpp"
#include "emulate/global_shadow.hpp"
#include "emulate/in_flight.hpp"
#include "emulate/mbarrier.hpp"
#include "emulate/parts.hpp"
#include "emulate/shared_shadow.hpp"
#include "emulate/stacks.hpp"
#include "zellige/emulate/async.hpp"

namespace zellige::emulate {

/// The engine's state of a buffer during a launch; Region::shadow points here.
struct GlobalState {
  GlobalShadow* races = nullptr;  // null: not written
  std::uint8_t* flags = nullptr;  // null: all initialized
  bool padded = false;            // uninitialized bytes are padding
};

/// The launch, shared by all workers.
struct LaunchState : Launch {
  const LaunchConfig* config = nullptr;
  void (*body)(const Launch&) = nullptr;
};

struct Warp {
  unsigned index = 0, local = 0;  // within its cluster, within its block
  std::uint32_t lanes = 0;        // that exist
  std::uint32_t ready = 0, returned = 0;
  Clock clock{};  // observed by all of its lanes
  std::uint32_t minimum = 0;
  std::uint32_t synced = 0;  // when its lanes last synchronized, see Actor
  // Lanes that have observed more than the others, by a wait or a fence of their own, until the warp
  // synchronizes.
  std::uint32_t diverged = 0;
  std::unique_ptr<Clock[]> own;
  std::uint32_t own_synced[32] = {};
  AccessLog log;

  const Fiber* left_first = nullptr;  // the first of those that have returned

  std::uint32_t met = 0;  // lanes that have reached the collective
  const char* what = nullptr;
  Site converging{};
  const void* in[32];
  void* out[32];

  std::uint32_t synced_lanes = 0, sync_mask = 0;  // in __syncwarp
};

struct Barrier {
  unsigned arrived = 0, expected = 0;
  std::uint32_t warps = 0;  // with a thread waiting
  std::uint32_t waiting[32] = {};
  std::uint32_t come[32] = {};         // arrived, waiting or not
  std::uint32_t came_before[32] = {};  // in the last round, per warp: its time on arrival; 0: did not arrive
  std::uint32_t epoch[32] = {};        // the same for this round
  // finished rounds; warps in this round that could not know that the last one ended
  unsigned rounds = 0, strays = 0;
  Clock observed{};  // from threads that arrived without waiting
  Site first{};
  unsigned first_thread = 0;
};

/// The threads of a warpgroup that have reached a wgmma.
struct GroupConvergence {
  unsigned arrived = 0;
  Site site{};
  const WgmmaCall* call[128] = {};
};

/// The last access to this block's shared memory by a warp of another block.
struct Touch {
  std::uint32_t epoch = 0;
  std::uint16_t thread = 0;
  Site site{};
  const char *verb = "", *kind = "";  // "arrives at", "mbarrier"
  std::string what;
};

/// The call table for emitted source code.
const Engine& engine();

class Cluster;

class Block {
 public:
  Block(Cluster&, unsigned rank);
  /// Allocates for a launch; forgets the names of the previous one.
  void prepare(const LaunchState&);
  /// Starts a new block: nothing is written, every thread is ready.
  void begin(std::uint64_t linear);
  void end();  // counts the cost of its warps' accesses

  // The engine's calls.
  const Region* shared(Fiber&, const char* name, unsigned offset, unsigned bytes, Site);
  const Region* region_of(Fiber&, const void*, Site);  // of a raw pointer
  const Region* arranged(const Region&, const Arrangement&, const Parts*);
  void meet(Fiber&, const void* in, void* out, Compute, void* compute, const char* what, Site);
  void sync_warp(Fiber&, unsigned mask, Site);
  void bar_sync(Fiber&, unsigned id, unsigned threads, Site);
  void bar_arrive(Fiber&, unsigned id, unsigned threads, Site);
  void issue_copy(Fiber&, std::size_t at, const Region&, const void* data, unsigned bytes, unsigned valid,
                  Site);
  void land_copies(Fiber&, unsigned pending_groups);

  // SM90: mbarriers, TMA, bulk copies, WGMMA.
  MBarrier* mbarrier(Fiber&, Place, const char* verb, Site);  // null: reported
  MBarrier* mbarrier(Fiber&, std::uint32_t at, const char* verb, Site, const char* tensor,
                     bool by_copy = false);
  void mbarrier_init(Fiber&, Place, unsigned count, Site);
  void mbarrier_arrive(Fiber&, MBarrier&, unsigned count, unsigned bytes, Site);
  void mbarrier_complete(MBarrier&, std::int64_t bytes);
  bool mbarrier_poll(Fiber&, MBarrier&, unsigned parity, Site);
  void mbarrier_wait(Fiber&, MBarrier&, unsigned parity, Site);
  void wgmma(Fiber&, const WgmmaCall&, Site);
  void check_accumulators(Fiber&, const Accumulators*, const WgmmaCall&, unsigned d_bytes, bool running,
                          Site);
  void take_operand(Fiber&, const std::uint32_t* registers, std::uint32_t group, Site);
  void wgmma_fence(Fiber&);
  /// Checks that a lane has executed such an instruction as often as another lane of its warp.
  void check_together(const Fiber&, const Fiber& other);
  void wgmma_wait(Fiber&, unsigned pending, Site);
  void griddep_wait(Fiber&);
  /// Reports an access to global memory by a thread that has not observed a griddep_wait.
  void early(const Fiber&, const Region&, std::ptrdiff_t from, std::ptrdiff_t to, bool writes, Site);
  void set_registers(Fiber&, unsigned registers, bool more, Site);
  void finish_stores(Fiber&, std::uint32_t groups);
  // What a thread has observed (lanes.cpp).
  const Clock& known(const Fiber& f) const {
    return f.its_warp->diverged >> f.lane & 1 ? f.its_warp->own[f.lane] : f.its_warp->clock;
  }
  void hear(Fiber&, const Clock&);  // adds to a thread's observations
  void hear(Fiber&, std::uint32_t agent, std::uint32_t time);
  void fence(Fiber&);                             // makes its observations visible to the asynchronous proxy
  void release(Warp&);                            // publishes what its threads have done; starts a new epoch
  void share(Warp&, std::uint32_t lanes);         // what these lanes have observed, all have
  void common(unsigned warpgroup, Clock&) const;  // observed by all threads of a warpgroup
  void arrive_at_registers();

  /// Checks an access by `f` to this block's memory, which may not be its own: false (with a finding) if the
  /// block has exited. Later accesses of a copy are checked through its operation instead.
  bool reach(Fiber& f, const char* verb, const char* kind, const std::string& what, Site,
             bool by_copy = false);

  Actor actor(const Fiber& f, std::uintptr_t site) const {
    const Warp& w = *f.its_warp;
    const bool diverged = w.diverged >> f.lane & 1;
    return {diverged ? &w.own[f.lane] : &w.clock,
            w.minimum,
            w.clock.time[w.index],
            std::uint16_t(first_thread + f.index),
            std::uint16_t(w.index),
            std::uint32_t(site),
            diverged ? w.own_synced[f.lane] : w.synced,
            cluster_warps,
            std::uint16_t(first_warp),
            acquired.empty() ? nullptr : &acquired,
            fences};
  }
  /// The view of that name that contains the byte at `at`; null if none.
  const Region* region(std::uint16_t id, std::size_t at) const {
    for (const auto& r : regions_)
      if (r->id == id && memory + at >= r->begin && memory + at < r->begin + r->bytes) return r.get();
    return nullptr;
  }
  const Region* first_region(std::uint16_t id) const {
    for (const auto& r : regions_)
      if (r->id == id) return r.get();
    return nullptr;
  }
  Fiber* fiber_at(std::uintptr_t stack) const {
    const bool mine = stack >= stacks_.low(0) && stack < stacks_.high(threads_ - 1);
    return mine ? &stacks_.fiber(unsigned((stack - stacks_.low(0)) / stack_bytes)) : nullptr;
  }
  Fiber& thread(unsigned i) const { return stacks_.fiber(i); }
  std::vector<std::uintptr_t> walk(const Fiber& running, Site) const;
  std::string spell(unsigned thread) const;      // "thread 37 (warp 1)"
  std::string spell_block(std::uint64_t) const;  // "block (3,0,0)"
  void report(const Fiber& running, Finding::Kind, const char* tensor, Site, std::string text,
              std::uintptr_t other_site = 0, bool only_between_lines = false);
  /// Reports the use of an unwritten register. `declared`: address of its declaration, 0 if unknown.
  void unwritten(const Fiber&, Use, std::uintptr_t declared, unsigned value, Site);
  /// Reports a read of a part of a tile that is older than one that the warp has read before.
  void stale(const Fiber&, unsigned thread, const Region&, const PartsRead::Part&, Site);
  /// Reports a race of an access to bytes from..to of a tensor.
  void clash(const Fiber& running, unsigned thread, const Region&, std::ptrdiff_t from, std::ptrdiff_t to,
             const char* verb, Site, const Clash&);
  void clash_of_global(const Fiber& running, Place, unsigned bytes, bool writes, Site, const Clash&);
  [[noreturn]] void abandon(Fiber&);

  Cluster& cluster;
  const unsigned rank;
  Counters& counters;
  Findings& findings;
  const ClusterWarps* cluster_warps = nullptr;
  Fences* fences = nullptr;         // the cluster's
  unsigned char* memory = nullptr;  // the dynamic shared memory, aligned to 1024 bytes
  unsigned shared_bytes = 0;
  std::uint64_t linear = 0;
  unsigned first_warp = 0, first_thread = 0;  // numbered within the cluster
  SharedShadow shadow;
  PartsRead parts;
  AsyncShadow async;
  std::map<std::uint32_t, MBarrier> mbarriers;  // by byte offset
  std::unordered_map<unsigned, Touch> touches;  // by warp of the cluster
  std::vector<Acquisition> acquired;            // by atomic counters
  std::vector<const char*> region_names;        // by Region::id

  unsigned live() const { return live_; }
  unsigned thread_count() const { return threads_; }
  unsigned warp_count() const { return warps_; }
  Warp& warp(unsigned w) { return warp_[w]; }
  bool any_ready() const { return ready_warps_ != 0; }
  Fiber* next();
  void suspend(Fiber&, Fiber::State, Site);
  void check_time(Fiber&, Site);  // aborts the block if the launch's time is over
  void make_ready(Warp&, std::uint32_t lanes);
  bool unstick();  // false: the block is aborted
  bool report_convergence();
  void report_deadlock(RawFinding&, unsigned& ranges, std::uintptr_t& first_site) const;

 private:
  static void start(Transfer);
  void finish(Fiber&);
  Fiber* next_at_random();
  Clock& diverge(Fiber&);
  void catch_up(Warp&);
  void complete_sync_warp(Warp&);
  Barrier& arrive(Fiber&, unsigned id, unsigned threads, Site);
  void complete(Barrier&);
  void leave(Fiber&);  // checks the state when the last thread returns
  void check_parts();
  bool may_arrive(const MBarrier&, const Actor&) const;
  void check_barriers();  // checks for unfinished rounds and phases
  std::string waiting_for(const Fiber&, RawFinding&) const;
  std::string against(const Clash&, unsigned thread) const;

  const LaunchState* launch_ = nullptr;
  Stacks stacks_;
  std::unique_ptr<unsigned char[]> storage_;
  std::size_t storage_bytes_ = 0;
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<const Arrangement*> arrangements_;  // by Region::arrangement; the first means none
  unsigned threads_ = 0, warps_ = 0, live_ = 0;
  Warp warp_[32];
  Barrier barrier_[16];
  GroupConvergence group_[8];
  std::uint32_t wgmma_agent_[8] = {};
  std::uint32_t registers_[32] = {}, pool_ = 0;  // registers per thread of each warp; free ones
  std::uint32_t ready_warps_ = 0;
  unsigned current_warp_ = 0;
  std::uint64_t random_ = 0;  // state of the launch's random schedule; 0: in order
};

// The last warp continues as long as it can: its lanes should converge.
inline Fiber* Block::next() {
  if (!ready_warps_) return nullptr;
  if (random_) return next_at_random();
  if (!(ready_warps_ >> current_warp_ & 1)) {
    const std::uint32_t later = ready_warps_ & ~((2u << current_warp_) - 1);
    current_warp_ = unsigned(std::countr_zero(later ? later : ready_warps_));
  }
  Warp& w = warp_[current_warp_];
  const unsigned lane = unsigned(std::countr_zero(w.ready));
  w.ready &= w.ready - 1;
  if (!w.ready) ready_warps_ &= ~(1u << current_warp_);
  Fiber& f = stacks_.fiber(current_warp_ * 32 + lane);
  // Most likely the next to run. A lane that is not ready may not exist, because the last warp can be
  // partial.
  if (w.ready >> lane & 2) __builtin_prefetch(stacks_.fiber(current_warp_ * 32 + lane + 1).context);
  if (w.ready >> lane & 4) __builtin_prefetch(&stacks_.fiber(current_warp_ * 32 + lane + 2).context);
  f.state = Fiber::State::ready;
  return &f;
}

inline void Block::make_ready(Warp& w, std::uint32_t lanes) {
  w.ready |= lanes;
  if (w.ready) ready_warps_ |= 1u << w.local;
}

}  // namespace zellige::emulate
