// One block as it runs: its threads' fibers, its warps, its barriers, its shared memory. A fiber runs until
// it must wait for others; then the next one of its warp runs, or another warp's. When none can, the block
// has ended or is stuck.
#pragma once
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "emulate/access_log.hpp"
#include "emulate/clock.hpp"
#include "emulate/findings.hpp"
#include "emulate/global_shadow.hpp"
#include "emulate/shared_shadow.hpp"
#include "emulate/stacks.hpp"

namespace zellige::emulate {

/// What the engine knows of a buffer during a launch; Region::shadow points here.
struct GlobalState {
  GlobalShadow* races = nullptr;  // null: nobody writes it
  std::uint8_t* flags = nullptr;  // null: all initialised
};

/// The launch as all workers see it.
struct LaunchState : Launch {
  const LaunchConfig* config = nullptr;
  void (*body)(const Launch&) = nullptr;
};

struct Warp {
  unsigned index = 0;
  std::uint32_t lanes = 0;  // that exist
  std::uint32_t ready = 0, returned = 0;
  Clock clock{};
  std::uint32_t least = 0;
  AccessLog log;

  std::uint32_t met = 0;  // lanes at the meeting
  const char* what = nullptr;
  Site meeting{};
  const void* in[32];
  void* out[32];

  std::uint32_t synced = 0, sync_mask = 0;  // lanes in __syncwarp
};

struct Barrier {
  unsigned arrived = 0, expected = 0;
  std::uint32_t warps = 0;  // with a thread waiting
  std::uint32_t waiting[max_warps] = {};
  Clock heard{};  // from threads that arrived without waiting
  Site first{};
  unsigned first_thread = 0;
};

/// The table that emitted text calls.
const Engine& engine();

class Block {
 public:
  /// Makes room for a launch; names and findings of an earlier one are forgotten.
  void prepare(const LaunchState&);
  /// Runs one block to its end; false if it was given up.
  bool run(std::uint64_t linear);

  // The engine's calls.
  const Region* shared(Fiber&, const char* name, unsigned offset, unsigned bytes, Site);
  void meet(Fiber&, const void* in, void* out, Compute, void* compute, const char* what, Site);
  void sync_warp(Fiber&, unsigned mask, Site);
  void bar_sync(Fiber&, unsigned id, unsigned threads, Site);
  void bar_arrive(Fiber&, unsigned id, unsigned threads, Site);
  void issue_copy(Fiber&, std::size_t at, const Region&, const void* data, unsigned bytes, unsigned valid,
                  Site);
  void land_copies(Fiber&, unsigned pending_groups);

  Actor actor(const Fiber& f, std::uintptr_t site) const {
    const Warp& w = *f.its_warp;
    return {
        &w.clock,           w.least, w.clock.time[w.index], std::uint16_t(f.index), std::uint16_t(w.index),
        std::uint32_t(site)};
  }
  Fiber& thread(unsigned i) const { return stacks_.fiber(i); }
  std::vector<std::uintptr_t> walk(const Fiber& running, Site) const;
  std::string spell(unsigned thread) const;      // "thread 37 (warp 1)"
  std::string spell_block(std::uint64_t) const;  // "block (3,0,0)"
  void report(const Fiber& running, Finding::Kind, const char* tensor, Site, std::string text,
              std::uintptr_t other_site = 0, bool only_between_lines = false);
  [[noreturn]] void abandon(Fiber&);

  unsigned char* memory = nullptr;  // the dynamic shared memory, aligned to 1024 bytes
  std::uint64_t linear = 0;
  SharedShadow shadow;
  Counters counters;
  Findings findings;
  std::vector<const char*> region_names;  // by Region::id

 private:
  static void start(Transfer);
  void suspend(Fiber&, Fiber::State, Site);
  Fiber* next();
  void make_ready(Warp&, std::uint32_t lanes);
  void finish(Fiber&);
  void complete_sync_warp(Warp&);
  Barrier& arrive(Fiber&, unsigned id, unsigned threads, Site);
  void complete(Barrier&);
  bool unstick();  // false: the block is given up
  bool report_meeting();
  void report_deadlock();
  std::string waiting_for(const Fiber&, RawFinding&) const;

  const LaunchState* launch_ = nullptr;
  Stacks stacks_;
  std::unique_ptr<unsigned char[]> storage_;
  std::size_t storage_bytes_ = 0;
  std::vector<std::unique_ptr<Region>> regions_;
  unsigned threads_ = 0, warps_ = 0, live_ = 0;
  Warp warp_[max_warps];
  Barrier barrier_[16];
  std::uint32_t ready_warps_ = 0, time_ = 0;
  unsigned current_warp_ = 0;
  void* scheduler_ = nullptr;
  bool abandoned_ = false;
};

// The warp that ran last goes on as long as it can: its lanes are to meet.
inline Fiber* Block::next() {
  if (!ready_warps_) return nullptr;
  if (!(ready_warps_ >> current_warp_ & 1)) {
    const std::uint32_t later = ready_warps_ & ~((2u << current_warp_) - 1);
    current_warp_ = unsigned(std::countr_zero(later ? later : ready_warps_));
  }
  Warp& w = warp_[current_warp_];
  const unsigned lane = unsigned(std::countr_zero(w.ready));
  w.ready &= w.ready - 1;
  if (!w.ready) ready_warps_ &= ~(1u << current_warp_);
  Fiber& f = stacks_.fiber(current_warp_ * 32 + lane);
  // Most likely the next ones. A lane that is not ready may not exist: the last warp can be partial.
  if (w.ready >> lane & 2) __builtin_prefetch(stacks_.fiber(current_warp_ * 32 + lane + 1).context);
  if (w.ready >> lane & 4) __builtin_prefetch(&stacks_.fiber(current_warp_ * 32 + lane + 2).context);
  f.state = Fiber::State::ready;
  return &f;
}

[[gnu::always_inline]] inline void Block::suspend(Fiber& f, Fiber::State state, Site site) {
  f.state = state;
  f.site = site;
  Fiber* other = next();
  switch_context(f.context, other ? other->context : scheduler_);
}

inline void Block::make_ready(Warp& w, std::uint32_t lanes) {
  w.ready |= lanes;
  if (w.ready) ready_warps_ |= 1u << w.index;
}

}  // namespace zellige::emulate
