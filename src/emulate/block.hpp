// Runs a thread block on the emulator: holds the fibers of its threads, its warps, its barriers and its shared memory.
//
// A fiber runs until it must wait for other threads; then another fiber of its warp or of another warp runs.
// If no fiber of the block can run, the cluster (cluster.hpp) switches to another block. If no block can run,
// the cluster has ended or is deadlocked.
#pragma once
#include <bit>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulate/async_shadow.hpp"
#include "emulate/block_state.hpp"
#include "emulate/findings.hpp"
#include "emulate/in_flight.hpp"
#include "emulate/mbarrier.hpp"
#include "emulate/parts.hpp"
#include "emulate/shared_shadow.hpp"
#include "emulate/stacks.hpp"
#include "zellige/emulate/async.hpp"

namespace zellige::emulate {

/// Returns the table of functions by which emulated kernels call the emulator, for memory accesses, barriers
/// and asynchronous instructions.
const Engine& engine();

class Cluster;

/// A running block of a thread block cluster. The object is used for one block after another. Functions with
/// a Site (a call from the kernel) report findings (errors in the kernel) at that call; functions with a
/// Fiber (an emulated thread) may suspend it.
class Block {
 public:
  Block(Cluster&, unsigned rank);
  /// Allocates stacks and shared memory for a kernel launch, and forgets the shared memory tensors of the previous one.
  void prepare(const LaunchState&);
  /// Starts the block with linear index `linear`: its memory is uninitialized, every thread is ready.
  void begin(std::uint64_t linear);
  /// Ends the block: counts the wavefronts and sectors of the remaining accesses. Reports parts of tiles
  /// (ring stages, partial results) that were filled but never read, and unfinished barriers.
  void end();

  // The functions from here to land_copies implement functions of Engine, the table by which kernels call the
  // emulator (zellige/emulate/thread.hpp).
  //
  // Returns the Region (byte range) of `bytes` bytes of dynamic shared memory from byte `offset` on, as the
  // tensor `name`. If the range exceeds the block's shared memory, reports that and ends the cluster.
  const Region* shared(Fiber&, const char* name, unsigned offset, unsigned bytes, Site);
  const Region* region_of(Fiber&, const void*, Site);  // tensor of a raw pointer
  const Region* arranged(const Region&, const Arrangement&, const Parts*);
  void meet(Fiber&, const void* in, void* out, LaneFunction, void* compute, const char* what, Site);
  void sync_warp(Fiber&, unsigned mask, Site);
  void bar_sync(Fiber&, unsigned id, unsigned threads, Site);
  void bar_arrive(Fiber&, unsigned id, unsigned threads, Site);
  void land_copies(Fiber&, unsigned pending_groups);

  // The following functions implement those of AsyncEngine (zellige/emulate/async.hpp).

  /// Returns the mbarrier at a checked pointer. If there is no valid one, reports a finding (an error in the
  /// kernel) and returns null. `verb`: what the thread does with it ("waits at"), for the message.
  MBarrier* mbarrier(Fiber&, Place, const char* verb, Site);
  /// Returns the mbarrier at byte offset `at` of this block. If there is no valid one, reports a finding (an error in
  /// the kernel) and returns null. The thread may be of another block. For the message: `verb`, what the thread does
  /// ("waits at"), and the tensor's name `tensor`. `by_copy`: an asynchronous copy uses the mbarrier.
  MBarrier* mbarrier(Fiber&, std::uint32_t at, const char* verb, Site, const char* tensor, bool by_copy = false);
  /// Counts `bytes` bytes as arrived at an mbarrier. If no arrivals or bytes of its phase are missing, ends
  /// the phase and wakes the waiting threads.
  void mbarrier_complete(MBarrier&, std::int64_t bytes);
  /// Records that bytes `at` to at + 8 of shared memory hold an mbarrier, so that writes to them are checked.
  void guard_mbarrier(std::uint32_t at) {
    mbarriers_from = std::min(mbarriers_from, at);
    mbarriers_to = std::max(mbarriers_to, at + 8);
  }
  /// Checks that a write of bytes at..at + bytes of this block's shared memory, by thread `f`, meets no live mbarrier.
  void spare_mbarriers(const Fiber& f, std::size_t at, std::size_t bytes, const char* verb, Site site) {
    if (at < mbarriers_to && at + bytes > mbarriers_from) [[unlikely]]
      find_mbarriers(f, at, bytes, verb, site);
  }
  void wgmma(Fiber&, const WgmmaCall&, Site);
  /// Reports a finding (an error in the kernel) if two lanes of a warp have executed an instruction for whole
  /// warps (wgmma_fence, wgmma_commit, wgmma_wait, setmaxnreg) a different number of times.
  void check_together(const Fiber&, const Fiber& other);
  void wgmma_wait(Fiber&, unsigned pending, Site);
  /// Records that a thread accesses bytes from..to of a tensor in global memory before it has observed a
  /// griddep_wait. The access is reported if this kernel turns out to depend on the previous kernel.
  void early(const Fiber&, const Region&, std::ptrdiff_t from, std::ptrdiff_t to, bool writes, Site);
  void set_registers(Fiber&, unsigned registers, bool more, Site);  // setmaxnreg; more: increase
  /// Checks and records that a TMA or bulk store begins to write global memory.
  void begin_store(Fiber&, const StoreInFlight&);
  // Writes the bytes of the thread's TMA and bulk stores to global memory, for its bulk groups up to number `groups`.
  void finish_stores(Fiber&, std::uint32_t groups);
  /// Returns the vector clock of a thread: for each warp and each asynchronous agent of the cluster, the
  /// latest time that the thread has observed.
  const Clock& known(const Fiber& f) const {
    return f.its_warp->diverged >> f.lane & 1 ? f.its_warp->own[f.lane] : f.its_warp->clock;
  }
  void hear(Fiber&, const Clock&);                      // adds to what a thread has observed
  void hear(Fiber&, const MBarrier&, unsigned parity);  // what a wait for a phase of this parity tells
  void hear(Fiber&, std::uint32_t agent, std::uint32_t time);
  // fence.proxy.async: makes its observations of these state spaces visible to the asynchronous proxy
  void fence(Fiber&, bool shared, bool global);
  void release(Warp&);  // starts a new epoch of the warp: what its lanes do from now on is not released
  void share(Warp&, std::uint32_t lanes);  // adds what these lanes have observed to the warp's clock

  /// Checks an access to this block's shared memory by thread `f`, which may be of another block of the cluster. If
  /// this block has exited, reports a finding (an error in the kernel) and returns false. Otherwise returns true, and
  /// records an access by another block. That is valid only if this block cannot exit before it: one of its threads
  /// must have synchronized with the access, which leave() checks. `by_copy`: an asynchronous copy makes the access; it
  /// is not recorded here, because leave() checks all copies. For the message: `verb` ("arrives at"), `kind`
  /// ("mbarrier") and `what`, the name of what is accessed.
  bool reach(Fiber& f, const char* verb, const char* kind, const std::string& what, Site, bool by_copy = false);

  /// Returns the Actor for an access by thread `f` of this block at code address `site`: the thread with its clock.
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
            in_cluster,
            std::uint16_t(first_warp),
            acquired.empty() ? nullptr : &acquired,
            fences,
            w.pairs ? &w.pairs[f.lane * 32] : nullptr};
  }
  /// Returns the Region (byte range) of the shared memory tensor with this id that contains byte offset `at`;
  /// null if there is none.
  const Region* region(std::uint16_t id, std::size_t at) const {
    for (const auto& r : regions_)
      if (r->id == id && memory + at >= r->begin && memory + at < r->begin + r->bytes) return r.get();
    return nullptr;
  }
  /// Returns any Region (byte range) of the shared memory tensor with this id; null if there is none.
  const Region* first_region(std::uint16_t id) const {
    for (const auto& r : regions_)
      if (r->id == id) return r.get();
    return nullptr;
  }
  /// Returns the emulated thread whose stack contains this address; null if it is none of this block's.
  Fiber* fiber_at(std::uintptr_t stack) const {
    const bool mine = stack >= stacks_.low(0) && stack < stacks_.high(threads_ - 1);
    return mine ? &stacks_.fiber(unsigned((stack - stacks_.low(0)) / stack_bytes)) : nullptr;
  }
  Fiber& thread(unsigned i) const { return stacks_.fiber(i); }
  // Returns the return addresses of a call from the kernel and of its callers, innermost first.
  std::vector<std::uintptr_t> walk(const Fiber& running, Site) const;
  std::string spell(unsigned thread) const;      // "thread 37 (warp 1)"
  std::string spell_block(std::uint64_t) const;  // "block (3,0,0)"
  std::string who(unsigned thread) const;        // "thread 37 (warp 1) of block (3,0,0)"
  /// The call that a finding is about. Converts from the Site alone.
  struct Where {
    Where(Site call, std::uintptr_t other = 0, bool between_lines = false)
        : site(call), other_site(other), only_between_lines(between_lines) {}
    Site site;
    std::uintptr_t other_site;  // return address of a second call; 0: none
    bool only_between_lines;    // drop the finding if both turn out to be the same line
  };
  /// Adds a finding (an error in the kernel) unless an equal one exists. `running`: the thread that made the call.
  /// `tensor`: name of the tensor, or null. In `text`, a format with its arguments, \1 is a placeholder for the source
  /// line of the call and \2 for that of Where::other_site. Returns false, for callers that return whether all is well.
  template <class... Args>
  bool report(const Fiber& running, Finding::Kind kind, const char* tensor, const Where& at,
              fmt::format_string<Args...> text, Args&&... args) {
    if (findings.fresh(kind, tensor, at.site.address, at.only_between_lines ? at.other_site : 0))
      add_finding(running, kind, tensor, at, fmt::format(text, std::forward<Args>(args)...));
    return false;
  }
  /// Ends the cluster's run at this thread, after an error in the kernel that makes it impossible to continue.
  [[noreturn]] void abandon(Fiber&);
  /// Reports as report() does, and abandons the cluster.
  template <class... Args>
  [[noreturn]] void stop(Fiber& running, Finding::Kind kind, const char* tensor, const Where& at,
                         fmt::format_string<Args...> text, Args&&... args) {
    report(running, kind, tensor, at, text, std::forward<Args>(args)...);
    abandon(running);
  }
  /// Reports that the thread `running` violates a rule of a single instruction; the arguments are those of report().
  template <class... Args>
  bool fail_at(const Fiber& running, const char* tensor, const Where& at, fmt::format_string<Args...> text,
               Args&&... args) {
    return report(running, Finding::Kind::instruction, tensor, at, "at \1, {}: {}", running.home->who(running.index),
                  fmt::format(text, std::forward<Args>(args)...));
  }
  /// Reports that the access of thread `thread` to bytes from..to of a tensor conflicts with the earlier
  /// access that the Clash describes. `verb`: what the thread does ("reads"). `running`: the thread that
  /// runs, which in a warp collective accesses memory for all lanes.
  void clash(const Fiber& running, unsigned thread, const Region&, std::ptrdiff_t from, std::ptrdiff_t to,
             const char* verb, Site, const Clash&);
  /// The same for global memory, whose earlier accesses may be those of other blocks.
  void clash_of_global(const Fiber& running, Place, unsigned bytes, const char* verb, Site, const Clash&);

  Cluster& cluster;
  const unsigned rank;
  Counters& counters;
  Findings& findings;
  const Cluster* in_cluster = nullptr;  // the cluster, if it has several blocks
  Fences* fences = nullptr;             // times of fences, per thread of the cluster
  unsigned char* memory = nullptr;      // the dynamic shared memory, aligned to 1024 bytes
  unsigned shared_bytes = 0;
  std::uint64_t linear = 0;                   // index in the grid
  unsigned first_warp = 0, first_thread = 0;  // numbered within the cluster
  SharedShadow shadow;
  PartsRead parts;
  AsyncShadow async;
  std::map<std::uint32_t, MBarrier> mbarriers;           // by byte offset
  std::uint32_t mbarriers_from = ~0u, mbarriers_to = 0;  // the bytes between which they lie
  std::unordered_map<unsigned, RemoteTouch> touches;     // by index of the warp in the cluster
  std::vector<Acquisition> acquired;                     // increments of atomic counters by this block's threads
  std::vector<const char*> region_names;                 // names of tensors, by Region::id

  unsigned live() const { return live_; }
  unsigned thread_count() const { return threads_; }
  unsigned warp_count() const { return warps_; }
  bool any_ready() const { return ready_warps_ != 0; }
  /// Returns the next thread to run, and marks it as running; null if none is ready.
  Fiber* next();
  /// Suspends the running thread, sets its state (what it waits for) and runs another thread. Site: the call
  /// in which it waits. Returns when the thread has been made ready and runs again.
  void suspend(Fiber&, Fiber::State, Site);
  void check_time(Fiber&, Site);  // ends the cluster if the launch's time is over
  void make_ready(Warp&, std::uint32_t lanes);
  /// Makes all threads in this state (what they wait for) ready. Returns whether there are any.
  bool wake(Fiber::State);
  /// Called when no thread can run. If all threads that have not returned wait at the block's barrier,
  /// reports that as a finding (an error in the kernel), releases the barrier and returns true. Otherwise
  /// returns false: the block is deadlocked.
  bool unstick();
  /// If only some lanes of a warp wait in a collective instruction, reports that as a finding (an error in
  /// the kernel) and returns true. Returns false if there is no such warp.
  bool report_convergence();
  /// Appends to the message of a deadlock what each thread of the block waits for. `ranges`: number of ranges of
  /// threads listed so far, which the call increases; `first_site`: code address of the first call listed, 0 if none.
  void report_deadlock(RawFinding&, unsigned& ranges, std::uintptr_t& first_site) const;

 private:
  static void start(Transfer);
  void finish(Fiber&);
  Fiber* next_at_random();
  Clock& diverge(Fiber&);  // returns the lane's own clock, made from the warp's if it has none
  void catch_up(Warp&);    // updates the warp's clock if all lanes have clocks of their own
  void complete_sync_warp(Warp&, std::uint32_t group);
  void sync_lanes(Warp&, std::uint32_t group);
  /// Returns the mask of the lanes that wait in __syncwarp with the same mask as `lane`, if they are all that it names and
  /// that have not returned; else 0.
  static std::uint32_t sync_group(const Warp&, unsigned lane);
  void check_registers();  // reports warpgroups whose warps differ in what they have executed of setmaxnreg
  /// Records that a thread has reached its warpgroup's wgmma. Returns whether it is the last of the warpgroup. Reports
  /// a finding (an error in the kernel) if others have reached another wgmma.
  bool join_wgmma(Fiber&, const WgmmaCall&, Site);
  /// Reports a finding if the threads of a warpgroup that have reached a wgmma disagree: about its descriptors, about
  /// whether it accumulates, or about how many instructions for whole warps they have executed.
  void check_agreement(Fiber&, unsigned warpgroup, Site);
  NamedBarrier& arrive(Fiber&, unsigned id, unsigned threads, Site);
  void complete(NamedBarrier&);
  void leave();
  void find_mbarriers(const Fiber&, std::size_t at, std::size_t bytes, const char* verb, Site);
  void add_finding(const Fiber& running, Finding::Kind, const char* tensor, const Where&, std::string text);
  void check_parts();  // reports parts of a tile that are never read
  /// Reports the barriers and mbarriers that are in the middle of a round or phase when the block ends.
  void check_barriers();
  // Returns what a thread waits for, as words of a sentence. Appends the call in which it waits to the calls
  // that the RawFinding (an unfinished message) lists.
  std::string waiting_for(const Fiber&, RawFinding&) const;
  // Returns the earlier access of a conflict in words, as the end of a sentence. `thread`: the thread that
  // makes the later access.
  std::string against(const Clash&, unsigned thread) const;

  const LaunchState* launch_ = nullptr;
  Stacks stacks_;
  std::unique_ptr<unsigned char[]> storage_;
  std::size_t storage_bytes_ = 0;
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<const Arrangement*> arrangements_;  // by Region::arrangement; the first is unused
  unsigned threads_ = 0, warps_ = 0, live_ = 0;
  Warp warp_[32];
  NamedBarrier barrier_[16];
  GroupConvergence group_[8];
  std::uint32_t wgmma_agent_[8] = {};            // clock agent of each warpgroup's wgmma groups; 0: none yet
  std::uint32_t registers_[32] = {}, pool_ = 0;  // registers per thread of each warp; sum of those released
  std::uint32_t ready_warps_ = 0;
  unsigned current_warp_ = 0;
  std::uint64_t random_ = 0;  // state of the random schedule; 0: threads run in order
};

// Returns the next thread to run. Prefers the warp that ran last, so that its lanes reach the next collective soon.
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
  // Prefetches the lanes that most likely run next. A lane that is not ready may not exist: the last warp can
  // be partial.
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
