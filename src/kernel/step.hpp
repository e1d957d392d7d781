// Step: what the threads of a warp role do next. A kernel's warp roles are lists of steps, its setup and teardown are, too.
//
// A step is a copy, a matrix multiplication, a computation, the start of a loop state, a synchronisation, or a loop over
// steps. docs/explanation/verifier.md explains every step.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
#include <zellige/atom/instruction.hpp>

#include "kernel/fragments.hpp"
#include "target/pipe.hpp"
#include "tile/sections.hpp"

namespace zellige::kernel {

using Completion = Instruction::Completion;
using Space = Instruction::Space;

/// What a step does with the value of a node.
enum class WorkKind : std::uint8_t {
  copy_in,       // copies a load's tile from global to shared memory
  fetch,         // copies a load's tile from global memory into registers of the threads that store it later
  mma,           // multiplies, into accumulators
  to_shared,     // writes a node's value to its buffer
  to_operand,    // rounds accumulators to A fragments of the next matmul, in registers
  to_global,     // stores to global memory
  accumulate,    // updates the state of an accumulate or running_max node
  to_lines,      // evaluates a map with one value per row into registers of the threads that hold the row
  to_registers,  // evaluates a map over accumulators, or a load or map over rows, into registers
  rescale,       // multiplies a matmul's accumulators by a factor per row, before this iteration is added
  reduce,        // reduces each thread's own summands
  finish,        // combines the threads' results of a `reduce` across lanes, in registers or into a buffer
  to_cluster,    // split-K: sends accumulators to the blocks of the cluster that store their columns
  from_cluster,  // split-K: adds the partial results received from other blocks to this block's accumulators
};
/// Returns the kind in words, as --explain prints it.
std::string_view name(WorkKind);
/// Returns whether work of this kind only loads a tile from global memory, for other work to read.
inline bool is_global_load(WorkKind kind) { return kind == WorkKind::copy_in || kind == WorkKind::fetch; }

/// How a tile is copied between global memory, shared memory and registers.
struct CopyChoice {
  int vector = 1;  // elements per access
  int bytes = 2;   // per access
  // cp.async, TMA or, from registers, stmatrix; nullptr: ordinary loads and stores.
  const Instruction* row = nullptr;
  bool anywhere = false;  // the source may be unaligned, and is read by load_anywhere
  auto operator<=>(const CopyChoice&) const = default;
  /// Returns whether the copy is a cp.async, which is complete only after a wait for its cp.async group.
  bool async() const { return row && row->completion == Completion::copy_group; }
  /// Returns whether warps store registers as 8x8 matrices, by stmatrix.
  bool by_matrices() const { return row && row->kind == Instruction::Kind::matrix_store; }
  /// Returns whether the copy is by TMA: one thread copies the whole tile with a tensor map.
  bool by_tensor_map() const { return row && row->kind == Instruction::Kind::tensor_copy; }
};

/// How one matmul of the block is computed: its size, its instruction, and how warps share it.
struct MatmulChoice {
  // Tensor-core or FMA instruction; nullptr: scalar fallback, one dot product per thread.
  const Instruction* row = nullptr;
  // Loads the operands from shared memory (ldmatrix), except those that it cannot transpose; nullptr: ordinary loads.
  const Instruction* load = nullptr;
  WarpLayout warps;
  std::int64_t batch = 1, m = 1, n = 1, k = 1;  // elements
  auto operator<=>(const MatmulChoice&) const = default;
  target::Pipe pipe() const { return target::pipe(row); }
  /// Returns whether `load` loads operands that are contiguous along K or, if not `along_k`, across it. It transposes
  /// only elements of its own width.
  bool by_matrices(bool along_k) const { return load && (along_k || row->a.bits == load->a.bits); }
  /// Returns whether the operands may be so: if `load` does not load them, ordinary loads do, whose elements fill
  /// registers.
  bool may_lie(bool along_k) const { return !load || by_matrices(along_k) || row->a.bits == 32; }
  target::Proxy proxy() const { return target::proxy(row); }
  /// Returns whether the instruction only starts the product, as wgmma does: until a wait for its group it reads its
  /// operands, and its accumulators may not be touched.
  bool asynchronous() const { return row && row->completion != Completion::at_once; }
  /// Number of columns that the instructions cover. This is N, or N * batch if a descriptor addresses B, for which the
  /// matrices of a batch are adjacent columns of one wide product.
  std::int64_t columns() const { return proxy() == target::Proxy::async ? batch * n : n; }
  /// Number of separate matrix products: one per batch index, or a single wide one.
  std::int64_t products() const { return batch * n / columns(); }
  /// Returns whether the instruction still reads A from registers after it has been issued, as the second wgmma of an
  /// attention does.
  bool chained() const { return asynchronous() && row->a.space == Instruction::Space::rmem; }
};

/// What a step does with the value of one node, without a barrier: all threads in one thread-value layout.
struct Work {
  WorkKind kind{};
  int node = -1;             // index into the program's nodes; -1: the step does no work
  int context = -1;          // index into Kernel::rmem: the thread-value layout
  int tensor = -1;           // index into Kernel::tensors: what it writes, or stores to global memory; -1: none
  int part = -1;             // the dimension along which each block copies its part; -1: all of the tile
  CopyChoice copy = {};      // copy_in, fetch, to_global; to_shared: only its row
  MatmulChoice matmul = {};  // mma
  auto operator<=>(const Work&) const = default;
};
/// Returns the section of its kernel in which the work is done: that in which its node is evaluated, if the work evaluates
/// or updates it; otherwise that in which the node's value is complete.
tile::Section section_of(const Work&, const tile::Sections&);

/// A step's access to a tensor in shared memory. In iteration i it touches stage (i + lag) % stages.
struct Access {
  int tensor = -1;  // index into Kernel::tensors
  int lag = 0;
  // Each thread touches only elements that it accessed itself; no barrier is needed.
  bool same_thread = false;
  bool operator==(const Access&) const = default;
};

/// What a step accesses in global memory. Relevant for kernels that start before the preceding one has ended.
enum class Global : std::uint8_t {
  nothing,
  constants,  // reads data that no earlier work on the stream writes
  anything,   // reads data that earlier kernels may have written, or writes
};

// ---- The alternatives of a step. A `channel` is an index into Kernel::channels; -1: none. ----

/// Starts an asynchronous copy: a load from global memory into `writes`, or a TMA store of `reads`.
struct Copy {
  int channel = -1;
  // In a pipelined loop: the step runs only while iteration + guard_lag < trip_count.
  int guard_lag = 0;
  bool multicast = false;     // loads this block's part of the tile into every block of the cluster
  int acquired_channel = -1;  // the channel whose stage the agent has acquired for the copy; -1: `channel`
};
/// Starts wgmma: reads its operands and writes registers until a WaitGroup. (A matmul by mma.sync is a Compute step.)
struct Mma {
  int channel = -1;
  bool peeled = false;     // is the first iteration of the loop that follows, taken out of it
  bool pipelined = false;  // uses values that the preceding iteration left in registers
};
/// Reads and writes tensors by ordinary instructions of all threads of the warp role.
struct Compute {
  int channel = -1;   // of wgmma groups, whose accumulators the step reads
  int guard_lag = 0;  // as in Copy
  // Writes into the tensors of the other blocks, each of which has a part for this block.
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
  // Of warps, per phase: at an empty barrier, or at the barrier of an exchange between blocks.
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
struct WarpBarrier {};     // __syncwarp, before one lane speaks for its warp
struct ClusterBarrier {};  // setup, teardown: synchronises all threads of the cluster

/// The steps that synchronise.
using Sync = std::variant<Commit, WaitGroup, Barrier, Acquire, Release, Drain, MbarrierInit, FenceInit, FenceProxy,
                          GriddepWait, GriddepLaunchDependents, WarpBarrier, ClusterBarrier>;

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
  // A mask leaves some blocks fewer iterations, or a size known at launch all of them, but at least one (has_loop_bounds()). In a
  // prologue copies of further iterations are omitted.
  bool bounded = false;
  bool whole = false;     // runs only those of these iterations in which the mask removes no element
  std::int64_t each = 0;  // tiles: iterations per tile, by which the stage of a ring advances
  std::vector<Step> body;
};

/// One step of a warp role: what it does, its accesses to shared memory, and the kind of its accesses to global memory.
struct Step {
  std::variant<Copy, Mma, Compute, Start, Sync, Loop> is;
  std::string what = {};  // only for messages and printed schedules
  std::vector<Access> reads = {}, writes = {};
  Global global{};
  Work work = {};  // what a copy, matmul or computation does, or what it starts
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

/// Returns the T that the step is, for example as<Copy>(step) or as<Barrier>(step); nullptr if it is something else.
template <class T, class S>
auto* as(S& step) {
  if constexpr (std::is_constructible_v<Sync, T>) {
    auto* sync = std::get_if<Sync>(&step.is);
    return sync ? std::get_if<T>(sync) : nullptr;
  } else {
    return std::get_if<T>(&step.is);
  }
}

/// Returns the index of the channel that a step names; -1 if it names none.
int channel_of(const Step&);
/// Returns the channel whose acquired stage a copy or release uses: its `acquired_channel`, else channel_of(step). In a
/// cluster this is the channel of the agent's own block, even if the step fills or releases a stage in another block.
int acquired_channel_of(const Step&);
/// Returns how many loop iterations before the use of its result the step runs; 0 if it has no field guard_lag.
int guard_lag_of(const Step&);

/// A step's position in a list: its number in the order of printing, and the number of loops around it.
struct StepPosition {
  int index = 0, depth = 0;
  bool in_loop() const { return depth > 0; }
};

/// Calls visit(step, position) for each step, including those in loops, in the order of printing: a loop comes before
/// its body. `position` has the step's index in this order and its loop depth; `at` is that of the first step.
template <class Steps, class V>
void walk(Steps& steps, const V& visit, StepPosition&& at = {}) {
  for (auto& step : steps) {
    visit(step, at);
    ++at.index, ++at.depth;
    if (auto* loop = as<Loop>(step)) walk(loop->body, visit, std::move(at));
    --at.depth;
  }
}

/// Returns the first step, in the order of printing, for which holds(step) is true; nullptr if there is none.
template <class P>
const Step* find_step(const std::vector<Step>& steps, const P& holds) {
  for (const Step& step : steps) {
    if (holds(step)) return &step;
    if (const Loop* loop = as<Loop>(step))
      if (const Step* inner = find_step(loop->body, holds)) return inner;
  }
  return nullptr;
}

}  // namespace zellige::kernel
