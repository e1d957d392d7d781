// A schedule: what the warp roles of a kernel execute, step by step, and how they synchronise. It is the
// only description of a kernel's control flow.
//
// The warp roles (agents), such as a TMA producer and WGMMA consumers, run in parallel. Channels connect
// them: synchronised buffers like CUTLASS's pipelines. A kernel without warp specialization is one agent of
// all warps, whose loads are cp.async groups.
//
// verify() and verify_registers() prove that a schedule is correct, print() shows it, place_buffers() takes
// lifetimes from it, and the emitter writes the source code of each step. docs/explanation/verifier.md
// explains every step.
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
  named_barrier,   // bar.sync with an id and a number of threads
  cp_async_group,  // visible to the issuing threads after wait_group, to others after a subsequent barrier
  mbarrier_bytes,  // full and empty mbarriers; the producer announces bytes, TMA completes them
  commit_group,    // wgmma: registers and operands are free after wait_group
  bulk_group,      // a TMA store: its source is free after wait_group
  // The ranks of a cluster write into each other's shared memory; each arrives at an mbarrier of every
  // other rank.
  mbarrier_cluster,
};
/// Returns the enumerator's name. Throws Error if the value is no enumerator.
std::string_view name(Synchronisation);

/// A synchronised buffer between warp roles, or of an agent's asynchronous groups; a pipeline in CUTLASS.
/// Its tensor has one tile per stage, and the stages are used cyclically.
struct Channel {
  std::string name;
  int tensor = -1;  // index into Schedule::tensors; -1: registers
  int stages = 1;
  int producer = -1;  // index of the agent that fills the stages
  // Indices of the agents that read the stages; a stage is empty when all of them have released it. For
  // cp.async the only consumer is the producer itself.
  std::vector<int> consumers;
  Synchronisation by{};
  // Of its mbarriers in shared memory, in bytes: the full barriers of all stages, followed by the empty
  // ones. -1: not placed.
  std::int64_t offset = -1;
};
/// Returns whether the warp role with index `agent` reads the stages of the channel (a synchronised buffer, like a
/// CUTLASS pipeline).
bool consumes(const Channel&, int agent);
/// Returns whether the blocks of a cluster (ranks) exchange partial results through the channel (split-K): each
/// writes into the shared memory of the others.
inline bool is_exchange(const Channel& c) { return c.by == Synchronisation::mbarrier_cluster; }
/// Returns the bytes of shared memory for the mbarriers of the channel (like a CUTLASS pipeline); 0 if it has none.
std::int64_t barrier_bytes(const Channel&);

/// A tensor in shared memory, as a range of bytes. Two tensors whose ranges overlap must not be in use at
/// the same time.
struct SharedTensor {
  std::string name;
  std::int64_t offset = 0, bytes = 0;  // in bytes; `bytes` is that of all stages together
  int stages = 1;
};

/// A step's access to a tensor in shared memory. In iteration i it touches stage (i + lag) % stages.
struct Access {
  int tensor = -1;  // index into Schedule::tensors
  int lag = 0;
  // Each thread touches only elements that it accessed itself; no barrier is needed.
  bool same_thread = false;
};

/// What a step accesses in global memory. Relevant for kernels that start before the preceding one has
/// ended.
enum class Global : std::uint8_t {
  nothing,
  constants,  // reads data that no earlier work on the stream writes
  anything,   // reads data that earlier kernels may have written, or writes
};

// ---- The alternatives of a step. A `channel` is an index into Schedule::channels; -1: none. ----

/// Starts an asynchronous copy: a load from global memory into `writes`, or a TMA store of `reads`.
struct Copy {
  int channel = -1;
  // In a pipelined loop: the step runs only while iteration + guard_lag < trip_count.
  int guard_lag = 0;
  bool multicast = false;     // loads this rank's part of the tile into every rank of the cluster
  int acquired_channel = -1;  // the channel whose stage the agent has acquired for the copy; -1: `channel`
};
/// Starts wgmma: reads its operands and writes registers asynchronously, until a WaitGroup. (A matmul by
/// mma.sync is a Compute step.)
struct Mma {
  int channel = -1;
  bool peeled = false;     // is the first iteration of the loop that follows, taken out of it
  bool pipelined = false;  // uses values that the preceding iteration left in registers
};
/// Reads and writes tensors by ordinary instructions of all threads of the warp role.
struct Compute {
  int channel = -1;   // of wgmma groups, whose accumulators the step reads
  int guard_lag = 0;  // as in Copy
  // Writes into the tensors of the other ranks, each of which has a part for this rank.
  bool to_cluster = false;
};
/// Initialises the state of a loop, in registers or shared memory.
struct Start {};

/// Closes the asynchronous group (cp.async, wgmma or bulk) of everything started since the last commit.
struct Commit {
  int channel = -1;  // whose kind of group; -1: the only kind that the agent starts
};
/// Waits until at most `pending` of the warp role's asynchronous groups are incomplete.
struct WaitGroup {
  int pending = 0;
  // As in Commit.
  int channel = -1;
};
/// Synchronises all threads of all warp roles that have a step with this id.
struct Barrier {
  int id = 0;         // 0: __syncthreads; else a named barrier
  int threads = 0;    // number of threads that a named barrier expects
  bool waits = true;  // false: bar.arrive, which counts the threads but does not wait (ping-pong)
};
/// Waits for the channel's next stage: a consumer until it is full, a producer until it is empty.
struct Acquire {
  int channel = -1;
};
/// Marks the stage as empty (a consumer), or as full besides its copies (a producer).
struct Release {
  int channel = -1;
  int acquired_channel = -1;  // as in Copy
};
/// Waits until all stages of the producer's channel have been released.
struct Drain {
  int channel = -1;
};
/// Setup: one thread initialises the channel's mbarriers for this number of arrivals.
struct MbarrierInit {
  int channel = -1;
  // Of warps, per phase: at an empty barrier, or at the barrier of an exchange between ranks.
  int arrivals = 0;
};
// Setup: makes initialised mbarriers visible to the asynchronous proxy and the cluster.
struct FenceInit {};
// Makes the threads' writes visible to the asynchronous proxy (TMA, wgmma).
struct FenceProxy {};
// Waits until all preceding kernels have ended and their writes are visible.
struct GriddepWait {};
// Allows the next kernel to start; that kernel waits for this one's end by itself.
struct GriddepLaunchDependents {};
struct WarpBarrier {};     // teardown: __syncwarp
struct ClusterBarrier {};  // setup, teardown: synchronises all threads of the cluster

/// The steps that synchronise.
using Sync = std::variant<Commit, WaitGroup, Barrier, Acquire, Release, Drain, MbarrierInit, FenceInit,
                          FenceProxy, GriddepWait, GriddepLaunchDependents, WarpBarrier, ClusterBarrier>;

struct Step;
/// A loop over steps. The loop is a step itself.
struct Loop {
  enum Kind : std::uint8_t {
    iterations,  // the loop of the block graph
    prologue,    // fills the first stages of a ring: iteration i fills stage i
    slices,      // a matmul computed one slice of N after another, within one iteration
    tiles,       // output tiles of a persistent block; the body is the complete kernel for a tile
  };
  Kind kind = iterations;
  std::int64_t trip_count = 1;  // the iterations are from, .., trip_count - 1
  std::int64_t from = 0;
  // A mask leaves some blocks fewer iterations, but at least one (KernelPlan::loop_bounds).
  bool bounded = false;
  bool whole = false;     // runs only those of these iterations in which the mask removes no element
  std::int64_t each = 0;  // tiles: iterations per tile, by which the stage of a ring advances
  std::vector<Step> body;
};

/// One step of a warp role: what it does, its accesses to shared memory, and the kind of its accesses to
/// global memory.
struct Step {
  std::variant<Copy, Mma, Compute, Start, Sync, Loop> is;
  std::string what = {};  // only for messages and printed schedules
  std::vector<Access> reads = {}, writes = {};
  Global global{};
  int task = -1;  // index into KernelPlan::tasks: what a copy, matmul or computation does; -1: none
};
/// Returns the step's name in printed schedules, such as "copy" or "wait_group".
std::string_view name(const Step&);
/// Returns the step's name in messages: "step 'load A'", or "step 3 (commit)" if `what` is empty.
std::string describe(const Step&, int index);

/// A visitor for std::visit made of several lambdas.
template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

/// Satisfied if T is one of the types `Of`. Constrains a generic lambda of match() to these alternatives.
template <class T, class... Of>
concept OneOf = (std::same_as<T, Of> || ...);

/// Calls the lambda that accepts what the step is (a Copy, Mma, Loop, ...) and returns the lambda's result.
/// If the step is a Sync and no lambda accepts Sync itself, calls the lambda for the alternative in the Sync
/// (Commit, Acquire, ...). The call does not compile unless the lambdas accept every alternative.
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

/// Returns a pointer to the T that the step is, for example as<Copy>(step) or as<Barrier>(step); nullptr if
/// the step is something else.
template <class T, class S>
auto* as(S& step) {
  if constexpr (std::is_constructible_v<Sync, T>) {
    auto* sync = std::get_if<Sync>(&step.is);
    return sync ? std::get_if<T>(sync) : nullptr;
  } else {
    return std::get_if<T>(&step.is);
  }
}

/// Returns the index of the channel (a synchronised buffer, like a CUTLASS pipeline) that a step names; -1 if it
/// names none.
int channel_of(const Step&);
/// Returns how many loop iterations before the use of its result the step runs: the field guard_lag if the
/// step is a copy or computation, otherwise 0.
int guard_lag_of(const Step&);

/// A step's position in a list: its number in the order of printing, and the number of loops around it.
struct Position {
  int index = 0, depth = 0;
  bool in_loop() const { return depth > 0; }
};

/// Calls visit(step, position) for each step, including those in loops, in the order of printing: a loop
/// comes before its body. `position` has the step's index in this order and its loop depth; `at` is that of
/// the first step.
template <class Steps, class V>
void walk(Steps& steps, const V& visit, Position&& at = {}) {
  for (auto& step : steps) {
    visit(step, at);
    ++at.index, ++at.depth;
    if (auto* loop = as<Loop>(step)) walk(loop->body, visit, std::move(at));
    --at.depth;
  }
}

/// Returns the first step, in the order of printing, for which holds(step) is true; nullptr if there is
/// none.
template <class P>
const Step* find_step(const std::vector<Step>& steps, const P& holds) {
  for (const Step& step : steps) {
    if (holds(step)) return &step;
    if (const Loop* loop = as<Loop>(step))
      if (const Step* inner = find_step(loop->body, holds)) return inner;
  }
  return nullptr;
}

/// A warp role: warps with one control flow, such as a TMA producer, a WGMMA consumer, or all warps of the
/// block.
struct Agent {
  std::string name;
  int warps = 1;
  int registers = 0;  // limit per thread (setmaxnreg); 0: the compiler's choice
  std::vector<Step> steps;
};

/// Returns whether the warp role only fills channels by asynchronous copies (a TMA producer), so that one
/// of its threads suffices.
bool fills_only(const Agent&);

/// The schedule of one kernel, for every block of its grid.
struct Schedule {
  int threads = 0;  // of the block
  // Blocks per cluster, which run the schedule together; each has its own tensors and channels.
  int ranks = 1;
  // May start while the preceding kernel runs (programmatic dependent launch), and waits for its end.
  bool programmatic = false;
  std::vector<SharedTensor> tensors;
  std::vector<Agent> agents;
  std::vector<Channel> channels;
  std::vector<Step> setup, teardown;  // executed by all threads of the block, before and after the agents
  /// Returns whether there are several warp roles, such as a producer and a consumer.
  bool warp_specialized() const { return agents.size() > 1; }
};

/// Returns the number of blocks of a cluster that fill the channel's stages together by multicast; 1 without
/// multicast. The consumers release a stage to all these blocks.
int ranks_of(const Schedule&, int channel);
/// Returns the number of arrivals for which the setup steps initialise the channel's mbarriers; 0 if they
/// initialise none.
int arrivals_of(const Schedule&, int channel);

/// Returns the complete schedule as a string.
std::string print(const Schedule&);
/// Returns one step as a string: "copy 'load A' writes sA[i+2]", "wait_group 1". Stages are shown relative to the
/// iteration i if `in_loop`, otherwise as numbers.
std::string print(const Schedule&, const Step&, bool in_loop);
/// Returns a channel (a synchronised buffer, like a CUTLASS pipeline) as a string: "channel ring: sA, 4 stages,
/// producer -> consumer, mbarrier_bytes".
std::string print(const Schedule&, const Channel&);
/// Returns a warp role without its steps as a string: "agent consumer: 8 warps, 232 registers a thread".
std::string heading(const Agent&);
/// Returns a warp role's steps as a string, one per line, loops indented. line(step, in_loop) must return the
/// string of a step.
std::string print(const Agent&, const std::function<std::string(const Step&, bool in_loop)>& line);

}  // namespace zellige::plan
