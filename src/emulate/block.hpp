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

#include "emulate/block_state.hpp"
#include "emulate/findings.hpp"
#include "emulate/mbarrier.hpp"
#include "emulate/tensor_memory.hpp"
#include "shadow/async_shadow.hpp"
#include "shadow/shared_additions.hpp"
#include "shadow/shared_shadow.hpp"

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

  /// Returns the Region (byte range) of `bytes` bytes of dynamic shared memory from byte `offset` on, as the
  /// tensor `name`. If the range exceeds the block's shared memory, reports that and ends the cluster.
  const Region* shared(Fiber&, const char* name, unsigned offset, unsigned bytes, Site);
  const Region* region_of(Fiber&, const void*, Site);  // tensor of a raw pointer
  /// Returns the Region (a tensor's byte range) that represents accesses to the tensor `from` through the layout
  /// `a`. The first call with these arguments makes it, as a copy of `from`; later calls return the same one.
  /// `of`: division of the tile into parts, such as the stages of a ring; null if it has none. If the block
  /// already has 63 layouts, returns `from` itself.
  const Region* arranged(const Region& from, const Arrangement& a, const Parts* of);
  /// Returns the Region (byte range) of the shared memory tensor with this id that contains byte offset `at`;
  /// null if there is none.
  const Region* region(std::uint16_t id, std::size_t at) const {
    for (const auto& r : regions_)
      if (r->id == id && memory + at >= r->begin && memory + at < r->begin + r->bytes) return r.get();
    return nullptr;
  }
  /// Returns true if the tensor is the memory that raw pointers name: ordinary writes to it are not recorded.
  bool is_raw(std::uint16_t id) const { return std::string_view(region_names[id]) == "shared memory"; }
  /// Returns any Region (byte range) of the shared memory tensor with this id; null if there is none.
  const Region* first_region(std::uint16_t id) const {
    for (const auto& r : regions_)
      if (r->id == id) return r.get();
    return nullptr;
  }

  /// Returns the Actor for an access by thread `f` of this block at code address `site`: the thread with its clock.
  shadow::Actor actor(const Fiber& f, std::uintptr_t site) const {
    const Warp& w = *f.its_warp;
    const bool diverged = w.diverged >> f.lane & 1;
    return {diverged ? &w.own[f.lane] : &w.clock,
            w.minimum,
            w.clock.time[w.index],
            std::uint16_t(first_thread + f.index),
            std::uint16_t(w.index),
            std::uint32_t(site),
            diverged ? w.own_synced[f.lane] : w.synced,
            places,
            std::uint16_t(first_warp),
            acquired.empty() ? nullptr : &acquired,
            fences,
            w.pairs ? &w.pairs[f.lane * 32] : nullptr};
  }
  /// Returns the emulated thread whose stack contains this address; null if it is none of this block's.
  Fiber* fiber_at(std::uintptr_t stack) const {
    const bool mine = stack >= stacks_.low(0) && stack < stacks_.high(threads_ - 1);
    return mine ? &stacks_.fiber(unsigned((stack - stacks_.low(0)) / stack_bytes)) : nullptr;
  }
  Fiber& thread(unsigned i) const { return stacks_.fiber(i); }

  // Returns the return addresses of a call from the kernel and of its callers, innermost first.
  std::vector<std::uintptr_t> walk(const Fiber& running, Site) const;
  static std::string spell(unsigned thread);                  // "thread 37 (warp 1)"
  std::string spell_block(std::uint64_t linear_index) const;  // "block (3,0,0)"
  std::string name() const { return spell_block(linear); }    // of this block
  std::string who(unsigned thread) const;                     // "thread 37 (warp 1) of block (3,0,0)"
  /// The call that a finding is about. Converts from the Site alone.
  struct Where {
    Where(Site call, std::uintptr_t other = 0, bool between_lines = false,
          Finding::Missing lacks = Finding::Missing::nothing)
        : site(call), other_site(other), only_between_lines(between_lines), missing(lacks) {}
    Where(Site call, Finding::Missing lacks) : Where(call, 0, false, lacks) {}
    Site site;
    std::uintptr_t other_site;  // return address of a second call; 0: none
    bool only_between_lines;    // drop the finding if both turn out to be the same line
    Finding::Missing missing;
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

  Cluster& cluster;
  const unsigned rank;
  Counters& counters;
  Findings& findings;
  std::span<const shadow::BlockOfCluster> places;  // of the cluster's blocks, if it has several
  shadow::Fences* fences = nullptr;                // times of fences, per thread of the cluster
  unsigned char* memory = nullptr;                 // the dynamic shared memory, aligned to 1024 bytes
  unsigned shared_bytes = 0;
  std::uint64_t linear = 0;                   // index in the grid
  unsigned first_warp = 0, first_thread = 0;  // numbered within the cluster
  shadow::SharedShadow shadow;
  shadow::SharedAdditions additions;
  std::map<std::size_t, std::vector<shadow::Arrival>> shared_arrivals;  // atomics of fenced threads, by byte offset
  PartsRead parts;
  shadow::AsyncShadow async;
  MBarriers mbarriers;
  TensorMemory tensor;
  std::unordered_map<unsigned, RemoteTouch> touches;  // by index of the warp in the cluster
  std::vector<shadow::Acquisition> acquired;          // increments of atomic counters by this block's threads
  std::vector<const char*> region_names;              // names of tensors, by Region::id
  std::vector<const Arrangement*> arrangements;       // by Region::arrangement; the first is unused
  Warp warps[32];
  NamedBarrier barriers[16];
  Warpgroup warpgroups[8];
  std::uint32_t free_registers = 0;  // that setmaxnreg has released

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

 private:
  static void start(Transfer);
  void finish(Fiber&);
  Fiber* next_at_random();
  void add_finding(const Fiber& running, Finding::Kind, const char* tensor, const Where&, std::string text);

  Stacks stacks_;
  std::unique_ptr<unsigned char[]> storage_;
  std::size_t storage_bytes_ = 0;
  std::vector<std::unique_ptr<Region>> regions_;
  unsigned threads_ = 0, warps_ = 0, live_ = 0;
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
  Warp& w = warps[current_warp_];
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
