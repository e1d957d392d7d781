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
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
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
/// Bytes of shared memory for a channel's barriers.
std::int64_t barrier_bytes(const Channel&);

/// A tensor in shared memory, as a byte range: two tensors whose ranges overlap must never be alive together.
struct SharedTensor {
  std::string name;
  std::int64_t offset = 0, bytes = 0;  // of all stages
  int stages = 1;
};

enum class StepKind : std::uint8_t {
  start,         // initialises a loop state, in registers or shared memory
  work,          // reads and writes tensors with ordinary instructions of all the agent's threads
  copy,          // starts an asynchronous copy into `writes` (through `channel`)
  commit,        // closes the cp.async or wgmma group of what was started since the last commit
  wait_group,    // waits until at most `pending` groups of this agent are in flight
  barrier,       // __syncthreads among all agents that have it, or bar.sync `id`
  arrive,        // bar.arrive `id`: arrives at the barrier without waiting, as in ping-pong
  acquire,       // a consumer waits until its channel's next stage is full, a producer until it is empty
  release,       // a consumer marks the stage as empty
  async_work,    // asynchronous like wgmma: reads operands and writes registers until a wait_group
  fence_proxy,   // makes ordinary writes visible to the asynchronous proxy
  griddep_wait,  // waits until all earlier kernels have ended and their writes are visible
  griddep_launch_dependents,  // lets the next kernel start, which itself waits for this one's end
  init,                       // setup: one thread initialises the channel's mbarriers for `arrivals`
  fence_init,                 // setup: makes that visible to the asynchronous proxy and the cluster
  drain,                      // the producer waits until all stages of its channel have been released
  warp_barrier,               // teardown: __syncwarp
  cluster_barrier,            // setup, teardown: synchronises all threads of all ranks
  loop,
};
std::string_view name(StepKind);
/// Returns whether a step orders this kernel with its neighbours on the stream.
inline bool depends(StepKind kind) {
  return kind == StepKind::griddep_wait || kind == StepKind::griddep_launch_dependents;
}
/// Returns whether a step is executed by all threads, before or after the agents.
inline bool outside_agents(StepKind kind) {
  return kind == StepKind::init || kind == StepKind::fence_init || kind == StepKind::warp_barrier ||
         kind == StepKind::cluster_barrier;
}
/// Returns whether a step arrives at a barrier.
inline bool is_named_barrier(StepKind kind) { return kind == StepKind::barrier || kind == StepKind::arrive; }

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

enum class Loop : std::uint8_t {
  iterations,  // the block graph's; stages and guards are counted by it
  prologue,    // fills the first stages of a ring: stage i in iteration i
  slices,      // within one iteration: a matmul one slice of N after another
  tiles,       // output tiles of a persistent block: the whole kernel for each
};

struct Step {
  StepKind kind{};
  std::string what;  // for humans
  std::vector<Access> reads, writes;
  int channel = -1;
  int pending = 0;              // wait_group
  int id = 0;                   // barrier: 0 is __syncthreads
  int threads = 0;              // barrier, arrive: of a round of a named barrier
  int arrivals = 0;             // init: of warps at an empty barrier, or at that of the other ranks
  std::int64_t trip_count = 1;  // loop: it ends before this iteration
  std::int64_t from = 0;        // loop: its first iteration
  bool bounded = false;  // loop: some blocks make fewer iterations, at least one (KernelPlan::trip_count)
  Global global{};
  Loop loop{};             // loop
  std::int64_t each = 0;   // loop of tiles: the iterations that each has, as which number of stages of a ring
  int guard_lag = 0;       // copy in a pipelined loop: runs only while iteration + guard_lag < trip_count
  bool multicast = false;  // copy: this rank's part of the tile, to every rank
  bool to_cluster = false;  // work: writes into the other ranks' tensors, a part of each that is its own
  int acquired_channel =
      -1;                  // copy, release: the channel whose stage the agent holds meanwhile; -1: `channel`
  bool peeled = false;     // does what the first iteration of the loop after it would
  bool whole = false;      // loop: of those iterations only the ones in which the mask takes nothing away
  bool pipelined = false;  // takes what the iteration before left in registers
  int task = -1;  // of the kernel's plan: what a copy or a work step does; -1: a hand-written schedule
  std::vector<Step> body;  // loop
};

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
    walk(step.body, visit, std::move(at));
    --at.depth;
  }
}

/// The first step in that order for which it holds; nullptr where there is none.
template <class P>
const Step* find_step(const std::vector<Step>& steps, const P& holds) {
  for (const Step& step : steps) {
    if (holds(step)) return &step;
    if (const Step* inner = find_step(step.body, holds)) return inner;
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
