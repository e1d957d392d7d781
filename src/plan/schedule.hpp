// A schedule: agents (warp roles) that run in parallel, each with its operations in order, connected by
// channels (pipelines).
//
// It is the only description of a kernel's control flow: verify() and verify_registers() prove it, print()
// shows it, place_buffers() reads lifetimes from it, the emitter prints the source code of each step, and the
// tests execute it.
//
// An SM80 kernel is one agent (all warps) whose loads go through cp.async groups. A Hopper kernel is a TMA
// producer and WGMMA consumers connected by mbarriers. Both are this type, and verify() proves both by the
// same rules.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace zellige::plan {

/// How a producer's writes become visible to its consumers.
enum class Synchronisation : std::uint8_t {
  block_barrier,   // __syncthreads
  named_barrier,   // bar.sync id, threads
  cp_async_group,  // visible to the issuing threads after wait_group, to others after a subsequent barrier
  mbarrier_bytes,  // full/empty mbarriers; the producer expects bytes, the copy engine completes them
  commit_group,    // wgmma: registers and operands are free after wait_group
  bulk_group,      // a TMA store: its source is free after wait_group
  // For writes of other ranks into this rank's tensor: each arrives at the mbarriers of all other ranks.
  mbarrier_cluster,
};
std::string_view name(Synchronisation);

struct Channel {
  std::string name;
  int tensor = -1;  // index into Schedule::tensors
  int stages = 1;
  int producer = -1;  // an agent
  // Agents; for cp.async the producer itself; a stage is empty when all have released it.
  std::vector<int> consumers;
  Synchronisation by{};
  // mbarrier_bytes: offset in bytes of its stages' full barriers, followed by the empty ones.
  std::int64_t offset = -1;
};
bool consumes(const Channel&, int agent);
/// Returns whether the ranks of a cluster fill each other's stages through it.
inline bool is_exchange(const Channel& c) { return c.by == Synchronisation::mbarrier_cluster; }
/// Bytes of shared memory for a channel's barriers.
std::int64_t barrier_bytes(const Channel&);

/// A tensor in shared memory, as a byte range: two tensors whose ranges overlap must never be alive together.
struct SharedTensor {
  std::string name;
  std::int64_t offset = 0, bytes = 0;  // of all stages
  int stages = 1;
};

/// An access of a step. In iteration i it touches stage (i + lag) % stages of a staged tensor.
struct Access {
  int tensor = -1;
  int lag = 0;
  bool same_thread = false;  // each thread touches only what it wrote itself, so that no barrier is required
};

/// A step's accesses to global memory.
enum class Global : std::uint8_t {
  nothing,
  constants,  // reads data that no earlier work on the stream writes
  anything,   // reads data that earlier kernels may have written, or writes
};

// ---- the alternatives of a step, each with the fields that it alone has ----

/// Starts an asynchronous copy: a load into `writes`, or a TMA store of `reads`.
struct Copy {
  int channel = -1;
  int guard_lag = 0;          // in a pipelined loop: runs only while iteration + guard_lag < trip_count
  bool multicast = false;     // this rank's part of the tile, to every rank
  int acquired_channel = -1;  // the channel whose stage the agent holds meanwhile; -1: `channel`
};
/// Asynchronous like wgmma: reads operands and writes registers until a wait_group.
struct Mma {
  int channel = -1;
  bool peeled = false;     // is the first iteration of the following loop
  bool pipelined = false;  // takes what the previous iteration left in registers
};
/// Reads and writes tensors with ordinary instructions of all the agent's threads.
struct Compute {
  int channel = -1;         // of wgmma: it reads the registers that these write
  int guard_lag = 0;        // as of a copy
  bool to_cluster = false;  // writes into the other ranks' tensors, a part of each that is its own
};
/// Initialises a loop state, in registers or shared memory.
struct Start {};

/// Closes the cp.async, wgmma or bulk group of what was started since the last commit.
struct Commit {
  int channel = -1;  // -1: the only kind of groups that the agent starts
};
/// Waits until at most `pending` groups of this agent are in flight.
struct WaitGroup {
  int pending = 0;
  int channel = -1;
};
/// __syncthreads among all agents that have it, or a named barrier.
struct Barrier {
  int id = 0;         // 0 is __syncthreads
  int threads = 0;    // of a round of a named barrier
  bool waits = true;  // false: bar.arrive, which only counts the threads, as in ping-pong
};
/// A consumer waits until its channel's next stage is full, a producer until it is empty.
struct Acquire {
  int channel = -1;
};
/// A consumer marks the stage as empty.
struct Release {
  int channel = -1;
  int acquired_channel = -1;  // as of a copy
};
/// The producer waits until all stages of its channel have been released.
struct Drain {
  int channel = -1;
};
/// Setup: one thread initialises the channel's mbarriers.
struct MbarrierInit {
  int channel = -1;
  int arrivals = 0;  // of warps at an empty barrier, or at that of the other ranks
};
struct FenceInit {};                // setup: makes that visible to the asynchronous proxy and the cluster
struct FenceProxy {};               // makes ordinary writes visible to the asynchronous proxy
struct GriddepWait {};              // waits until all earlier kernels have ended and their writes are visible
struct GriddepLaunchDependents {};  // lets the next kernel start, which itself waits for this one's end
struct WarpBarrier {};              // teardown: __syncwarp
struct ClusterBarrier {};           // setup, teardown: synchronises all threads of all ranks

using Sync = std::variant<Commit, WaitGroup, Barrier, Acquire, Release, Drain, MbarrierInit, FenceInit,
                          FenceProxy, GriddepWait, GriddepLaunchDependents, WarpBarrier, ClusterBarrier>;

struct Step;
struct Loop {
  enum Kind : std::uint8_t {
    iterations,  // the block graph's; stages and guards are counted by it
    prologue,    // fills the first stages of a ring: stage i in iteration i
    slices,      // within one iteration: a matmul one slice of N after another
    tiles,       // output tiles of a persistent block: the whole kernel for each
  };
  Kind kind = iterations;
  std::int64_t trip_count = 1;  // it ends before this iteration
  std::int64_t from = 0;        // its first iteration
  bool bounded = false;         // some blocks make fewer iterations, at least one (KernelPlan::loop_bounds)
  bool whole = false;           // of those iterations only the ones in which the mask takes nothing away
  std::int64_t each = 0;        // of tiles: iterations per tile, by which a ring's stage advances
  std::vector<Step> body;
};

struct Step {
  std::variant<Copy, Mma, Compute, Start, Sync, Loop> is;
  std::string what = {};  // for humans
  std::vector<Access> reads = {}, writes = {};
  Global global{};
  int task = -1;  // of the kernel's plan: what a copy, an mma or a compute does; -1: a hand-written schedule
};
std::string_view name(const Step&);
std::string describe(const Step&, int index);  // "step 'load A'", or "step 3 (commit)" where `what` is empty

/// Joins lambdas into one visitor.
template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

/// The alternatives that one of match()'s lambdas takes.
template <class T, class... Of>
concept OneOf = (std::same_as<T, Of> || ...);

/// Calls the lambda that takes the step's alternative: of a Sync the alternative in it, unless a lambda takes every Sync.
/// An alternative without a lambda is an error of the compiler.
///
///   match(step, [](const Loop& loop) { ... }, [](const OneOf<Copy, Mma, Compute, Start, Sync> auto&) {});
template <class S, class... F>
decltype(auto) match(S& step, F... f) {
  const overloaded<F...> all{std::move(f)...};
  return std::visit(
      [&](auto& is) -> decltype(auto) {
        if constexpr (std::is_invocable_v<decltype(all), decltype(is)>)
          return all(is);
        else
          return std::visit(all, is);
      },
      step.is);
}

/// The step as this alternative; nullptr if it is another.
template <class T, class S>
auto* as(S& step) {
  if constexpr (std::is_constructible_v<Sync, T>) {
    auto* sync = std::get_if<Sync>(&step.is);
    return sync ? std::get_if<T>(sync) : nullptr;
  } else {
    return std::get_if<T>(&step.is);
  }
}

int channel_of(const Step&);    // -1: it names none
int guard_lag_of(const Step&);  // of a copy or computation; 0: it has no guard

/// A step's position in a list: its number in the order of printing, and how many loops are around it.
struct Position {
  int index = 0, depth = 0;
  bool in_loop() const { return depth > 0; }
};

/// Calls visit(step, position) for each step in the order of printing: of a loop first the loop itself, then
/// its body.
template <class Steps, class V>
void walk(Steps& steps, const V& visit, Position&& at = {}) {
  for (auto& step : steps) {
    visit(step, at);
    ++at.index, ++at.depth;
    if (auto* loop = as<Loop>(step)) walk(loop->body, visit, std::move(at));
    --at.depth;
  }
}

/// The first step in that order for which it holds; nullptr where there is none.
template <class P>
const Step* find_step(const std::vector<Step>& steps, const P& holds) {
  for (const Step& step : steps) {
    if (holds(step)) return &step;
    if (const Loop* loop = as<Loop>(step))
      if (const Step* inner = find_step(loop->body, holds)) return inner;
  }
  return nullptr;
}

struct Agent {
  std::string name;
  int warps = 1;
  int registers = 0;  // per thread; 0: the compiler's choice
  std::vector<Step> steps;
};

/// Returns whether the agent only fills channels: one thread of it is enough.
bool fills_only(const Agent&);

struct Schedule {
  int threads = 0;
  int ranks = 1;  // blocks of a cluster that run it together, each with its own tensors and channels
  bool programmatic = false;  // may start while the previous kernel still runs, and waits for its end
  std::vector<SharedTensor> tensors;
  std::vector<Agent> agents;
  std::vector<Channel> channels;
  std::vector<Step> setup, teardown;  // executed by all threads, before and after the agents
  bool warp_specialized() const { return agents.size() > 1; }
};

/// Blocks that together fill a channel's stages, and to all of which its consumers release them.
int ranks_of(const Schedule&, int channel);
/// The arrival count with which setup initialises the channel's mbarriers; 0: it does not.
int arrivals_of(const Schedule&, int channel);

std::string print(const Schedule&);
/// One step of it: 'copy load A writes sA[i+2]', 'wait_group 1'.
std::string print(const Schedule&, const Step&, bool in_loop);
std::string print(const Schedule&,
                  const Channel&);  // "channel ring: sA, 4 stages, producer -> consumer, ..."
std::string heading(const Agent&);  // "agent consumer: 8 warps, 232 registers a thread"
/// An agent's steps, one per line, loops indented; line(step, in_loop) prints one.
std::string print(const Agent&, const std::function<std::string(const Step&, bool in_loop)>& line);

}  // namespace zellige::plan
