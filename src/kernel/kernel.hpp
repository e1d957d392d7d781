// Kernel: one CUDA kernel as one value, which the planner makes and all others read. verify() and verify_registers()
// prove it, predict() counts what it executes, ir::print() shows it, and the emitter prints CUDA source from it.
//
//   tensors    what lies in shared memory: layout, stages, place (smem_tensor.hpp)
//   rmem       what lies in registers: which thread has which elements of a tile (context.hpp)
//   gmem       what is read in global memory, where it is used
//   agents     the warp roles, which run in parallel, each with its list of steps (step.hpp)
//   channels   what joins them: synchronised buffers like CUTLASS's pipelines
//   setup      the steps of all threads before the agents; `teardown`: those after them
//
// A matmul on Hopper has two agents. A producer fills the stages of the tensors sA and sB by TMA, a consumer multiplies
// them by wgmma:
//
//   smem sA "A" f16 (128,64) ... stages 4 stage_step 16384 ... at 0
//   smem sB "B" f16 (64,128) ... stages 4 stage_step 16384 ... at 65536
//   channel ring of sA stages 4 from producer to consumer by mbarrier_bytes
//   agent producer warps 4 registers 40
//     loop iterations from 0 to 16
//       acquire through ring
//       copy "copy in A" through ring ... writes sA[i mod 4]
//       copy "copy in B" through ring ... writes sB[i mod 4]
//   agent consumer warps 8 registers 232
//     ...
//
// ir::print() prints a kernel so (docs/reference/kernel-ir.md).
//
// The passes of the planner are free functions; each fills in its part:
//
//   program (lower) ── select ── layouts ── group ── swizzle ── pipeline ── slice ── agents ── memory ── verify
//
// Words used by the fields:
//
//   node      an operator of the kernel's tile program, which yields one value (program.hpp)
//   context   a thread-value layout: which thread evaluates which elements of a tile (context.hpp)
//   work      what the threads do in one context without a barrier: a copy, a matmul, a reduction ... (step.hpp)
//
// A node without a tensor is kept in registers, or is recomputed by each step that reads it.
#pragma once
#include <algorithm>
#include <map>
#include <optional>

#include "kernel/smem_tensor.hpp"
#include "kernel/step.hpp"
#include "target/target.hpp"

namespace zellige::kernel {

/// How a producer's writes become visible to its consumers.
enum class Synchronisation : std::uint8_t {
  block_barrier,   // __syncthreads
  named_barrier,   // bar.sync with an id and a number of threads
  cp_async_group,  // visible to the issuing threads after wait_group, to others after a subsequent barrier
  mbarrier_bytes,  // full and empty mbarriers; the producer announces bytes, TMA completes them
  commit_group,    // wgmma: registers and operands are free after wait_group
  bulk_group,      // a TMA store: its source is free after wait_group
  // The blocks of a cluster write into each other's shared memory; each arrives at an mbarrier of every other block.
  mbarrier_cluster,
  // Full and empty mbarriers of sets of columns in tensor memory. The producer is one thread that multiplies: a set is full, and a stage
  // of its operands empty, when all products that it has started are complete (tcgen05.commit).
  mbarrier_commit,
};
/// Returns the enumerator's name. Throws Error if the value is no enumerator.
std::string_view name(Synchronisation);
/// Returns how what an instruction makes becomes visible, which follows from how it completes.
Synchronisation synchronisation(Completion);

/// A synchronised buffer between warp roles, or of an agent's asynchronous groups; a pipeline in CUTLASS.
/// Its tensor has one tile per stage, and the stages are used cyclically.
struct Channel {
  std::string name;
  int tensor = -1;  // index into Kernel::tensors; -1: registers
  int stages = 1;
  int producer = -1;  // index of the agent that fills the stages
  // Indices of the agents that read the stages; a stage is empty when all of them have released it. For
  // cp.async the only consumer is the producer itself.
  std::vector<int> consumers;
  Synchronisation by{};
  // In bytes: of its mbarriers in shared memory, first the full ones of all stages, then the empty ones; -1: none yet.
  std::int64_t offset = -1;
};
/// Returns whether the warp role with index `agent` reads the stages of the channel.
bool consumes(const Channel&, int agent);
/// Returns whether the blocks of a cluster exchange partial results through the channel (split-K): each
/// writes into the shared memory of the others.
inline bool is_exchange(const Channel& c) { return c.by == Synchronisation::mbarrier_cluster; }
/// Returns whether the channel's stages are sets of columns in tensor memory, which one thread fills by products.
inline bool in_columns(const Channel& c) { return c.by == Synchronisation::mbarrier_commit; }
/// Returns whether agents acquire and release the channel's stages by a full and an empty mbarrier of each.
inline bool has_stages(const Channel& c) { return c.by == Synchronisation::mbarrier_bytes || in_columns(c); }
/// Returns the bytes of shared memory for the mbarriers of the channel; 0 if it has none.
std::int64_t barrier_bytes(const Channel&);

/// A warp role: warps with one control flow, such as a TMA producer, a WGMMA consumer, or all warps of the block.
struct Agent {
  std::string name;
  int warps = 1;
  int registers = 0;  // limit per thread (setmaxnreg); 0: the compiler's choice
  std::vector<Step> steps;
};

/// A tile in registers: its thread-value layout, over which works run, and the nodes whose values threads hold in it
/// for works that follow. A tile whose elements are only copied, or are written at once, holds no node's value.
struct RmemTensor {
  Context layout;
  std::vector<int> nodes = {};
  bool holds(int node) const { return std::ranges::find(nodes, node) != nodes.end(); }
};

/// The tile of a load that no step copies: works read it in global memory, where they use it.
struct GmemTensor {
  int node = -1;
  int vector = 1;  // elements per access, at most
};

/// Loop bounds of one block of attention under a causal, window or length mask. The block computes a tile of rows
/// (queries) from row r on, in a loop over tiles of `each` keys. Key tiles that are masked completely are skipped:
///
///   iterations run             start <= i < stop
///     start                    max(r + *from, 0) / each; 0 without `from`
///     stop                     min((r + last) / each + 1, loop)
///   iterations without a mask  the first min((r + *all) / each, *end / each); none without `all`
///
/// If `lengths` has the number of keys of the block's sequence, or of each row's, those tiles of keys are skipped, too, that begin beyond
/// the largest one; if `starts` has the first key of each, those that end before the least one. One iteration runs at least; how many,
/// no function here knows.
///
/// In the functions `block` is blockIdx along the axis that splits the rows, and `loop` the full trip count.
struct MaskedLoopBounds {
  tile::Interval rows;              // of the mask, among the blocks
  std::int64_t last = 0, each = 1;  // last key that the tile's last row keeps, minus r; keys per iteration
  // Number of keys that all rows keep, minus r; first key of row r, minus r; number of keys that are not padding.
  std::optional<std::int64_t> all = {}, from = {}, end = {};
  int mask = -1;     // the mask's node
  int lengths = -1;  // the load of an integer for each block or row, from which on masks keep no key; -1: none
  int starts = -1;   // the same of the first key that masks keep
  /// Returns whether the device reads how many iterations run.
  bool reads() const { return lengths >= 0 || starts >= 0; }
  bool reads(int node) const { return node >= 0 && (node == lengths || node == starts); }
  /// Returns whether blocks may begin after the first iteration.
  bool begins_later() const { return from || starts >= 0; }
  /// Returns the number of blocks along the axis that splits the rows; 1 if none does.
  std::int64_t row_blocks(const tile::TileProgram& p) const { return rows.axis() < 0 ? 1 : p.grid[rows.axis()]; }
  /// Returns the first iteration that the block runs. `block` is its blockIdx along the axis that splits the rows.
  std::int64_t start(std::int64_t block) const;
  /// Returns the number of the block's first iterations in which the mask keeps every element; these run without the
  /// mask. `loop` is the full trip count.
  std::int64_t whole(std::int64_t block, std::int64_t loop) const;
  /// Returns the number of iterations that the block runs. `loop` is the full trip count.
  std::int64_t of(std::int64_t block, std::int64_t loop) const;
  bool operator==(const MaskedLoopBounds&) const = default;
};

/// How the blocks of a kernel exchange tiles with those of the same number on the other ranks of a job: at its start, before they do
/// anything else, or at its end.
///
/// At the start a block copies its tile of `published` to its rank's window and sets its flag on every rank. Then it waits for the flags
/// that the blocks of its number set on all ranks, and may read their tiles in the windows. At the end the tile is what the block has
/// computed and stored in its window, and the block itself adds the tiles of all ranks and stores the sum in `result`.
///
/// In two shots a block adds the tiles of all ranks for its rank's share alone, stores this sum in the memory of every rank (`sums`), and
/// waits once more.
///
/// A gather is at the start, too: each rank stores its rows in the windows of the others, and each window has the rows of all. The first
/// blocks of a rank compute what depends on its own rows, which they read in `published`. They store these rows in the windows of the others
/// and wait for nobody. Each later block waits for the flags of the blocks that have stored its rows (block/symmetric.hpp).
///
/// Nothing is reset between launches: the flags count them. What is published in the next launch never lies where others may
/// still read: at the start in one shot, launches use the two halves of a window in turn; else a block waits until all have read.
struct SymmetricExchange {
  int published = -1;        // tensor of the program, in this rank's memory; at the end: -1
  int window = -1;           // where this rank publishes: the window of its number, for stores; in a gather, for loads
  std::vector<int> windows;  // by rank: the tensor in that rank's memory where it publishes; a half has its shape
  // By rank: int32 in that rank's memory, of shape (times * ranks, blocks); in a gather (ranks, blocks that read a rank's own rows).
  std::vector<int> flags;
  int state = -1;           // int32 in this rank's memory: its number, and by block the number of its last launch
  std::vector<int> sums{};  // in two shots, by rank: in that rank's memory, where all ranks store totals; else none
  int sum = -1;             // in two shots: that of this rank, for loads
  int result = -1;          // at the end: the tensor of the totals
  bool scatters = false;    // at the end: each rank keeps its part of the totals alone
  bool maximum = false;     // in place of the sum, where the exchange itself computes it
  bool gathers = false;     // at the start: windows have the rows of all ranks
  int ranks() const { return static_cast<int>(windows.size()); }
  bool two_shots() const { return !sums.empty(); }
  bool at_end() const { return result >= 0; }
  /// Returns whether launches use the two halves of a window in turn.
  bool alternates() const { return !two_shots() && !at_end(); }
  /// Returns how often ranks tell each other that they are ready.
  int times() const { return alternates() ? 1 : 2; }
  bool operator==(const SymmetricExchange&) const = default;
};

/// Everything that is decided about one kernel. Unless stated otherwise, integers are indices of nodes.
struct Kernel {
  tile::TileProgram program;
  int threads = 0;       // of the block, those of a producer included
  int cluster = 1;       // blocks per cluster; each has its own tensors and channels
  bool split_k = false;  // each block accumulates 1/cluster of the loop, and stores a part of the columns
  // May start while the preceding kernel runs (programmatic dependent launch), and waits for its end.
  bool programmatic = false;
  std::vector<SmemTensor> tensors;
  std::vector<RmemTensor> rmem;
  std::vector<GmemTensor> gmem;
  std::vector<Agent> agents;
  std::vector<Channel> channels;
  std::vector<Step> setup, teardown;  // executed by all threads of the block, before and after the agents
  std::int64_t shared_bytes = 0;      // per block
  std::int64_t registers = 0;         // estimate of what a thread needs
  // Grid of persistent blocks, which compute one output tile after another; 0: one block per tile.
  std::int64_t blocks = 0;
  int together = 0;  // minimum blocks per multiprocessor in __launch_bounds__; 0: the compiler's choice
  std::optional<MaskedLoopBounds> loop_bounds;  // if a mask lets blocks skip iterations
  std::optional<SymmetricExchange> symmetric;   // of ranks, at its start
  std::vector<std::string> notes;

  const std::string& name() const { return program.name; }
  /// Returns the number of stages of the loop's software pipeline: the most that a tensor has.
  int stages() const;
  /// Returns whether there are several warp roles, such as a producer and a consumer.
  bool warp_specialized() const { return agents.size() > 1; }
  /// Returns into how many parts the blocks divide the loop: 1 without split-K.
  int parts_of_loop() const { return split_k ? cluster : 1; }
  /// Number of loop iterations that each block of a split-K cluster runs; all iterations without split-K. If the
  /// blocks do not divide the loop, the last block runs iterations beyond its end, whose tiles TMA fills with zeros.
  std::int64_t iterations_per_block() const { return tile::ceil_div(program.loop, parts_of_loop()); }
  /// Returns the index of the tensor that holds the value of `node`; -1 if none does.
  int tensor_of(int node) const {
    const auto t = std::ranges::find(tensors, node, &SmemTensor::node);
    return t == tensors.end() ? -1 : static_cast<int>(t - tensors.begin());
  }
  /// Returns the index of the tile in registers that holds the value of `node`; -1 if none does.
  int rmem_of(int node) const {
    const auto t = std::ranges::find_if(rmem, [&](const RmemTensor& r) { return r.holds(node); });
    return t == rmem.end() ? -1 : static_cast<int>(t - rmem.begin());
  }
  /// Returns the thread-value layout over which a work runs.
  const Context& layout_of(const Work& work) const { return rmem[work.context].layout; }
  /// Returns the tile of `node` that works read in global memory, where they use it; nullptr if it is copied, or no load.
  const GmemTensor* in_place(int node) const {
    const auto t = std::ranges::find(gmem, node, &GmemTensor::node);
    return t == gmem.end() ? nullptr : &*t;
  }
  /// Returns whether the matmul `node` reads its A operand in registers, as fragments.
  bool has_fragments(int node) const { return rmem_of(program.nodes[node].in[0]) >= 0; }
  /// Returns the work that multiplies the operands of the matmul `node`; nullptr if none does.
  const Work* product_of(int node) const;
  /// Returns how the steps copy the tile of the load or store `node`; nullptr if none copies it.
  const CopyChoice* copy_of(int node) const;
  /// Returns whether the tile of the load or store `node` is copied by TMA.
  bool uses_tma(int node) const;
  /// Returns the number of elements per access to global memory of the load or store `node`; 1 if there is no access.
  int vector_of(int node) const;
};

/// Returns whether blocks may run fewer iterations than the largest number, by a mask or by a size that is known at launch.
inline bool has_loop_bounds(const Kernel& k) { return k.loop_bounds.has_value() || k.program.has_sized_loop(); }
/// Returns whether a size, or a length that is read on the device, decides the number of iterations: there may be fewer than a ring has
/// stages.
inline bool has_open_loop(const Kernel& k) {
  return k.program.has_sized_loop() || (k.loop_bounds && k.loop_bounds->reads());
}

/// Returns the node with the factor, one per row, by which the accumulators of the matmul `n` are multiplied before
/// an iteration's product is added. Returns -1 if `n` is no matmul or has no such factor.
inline int rescaled_by(const tile::Node& n) {
  return n.kind == tile::NodeKind::matmul && n.in.size() > 2 ? n.in[2] : -1;
}

/// Returns what the steps of all warp roles do, each once, in the order of their first steps.
std::vector<Work> works(const Kernel&);
/// Returns the first step of the warp roles, or the first work, for which `holds` is true; nullptr if there is none.
template <class P>
const Step* find_step(const Kernel& k, const P& holds) {
  for (const Agent& agent : k.agents)
    if (const Step* step = find_step(agent.steps, holds)) return step;
  return nullptr;
}
template <class P>
const Work* find_work(const Kernel& k, const P& holds) {
  const Step* found = find_step(k, [&](const Step& s) { return s.work.node >= 0 && holds(s.work); });
  return found ? &found->work : nullptr;
}
/// Returns the channel through which the blocks exchange partial results in the tensor; -1 if they do not.
int exchange_of(const Kernel&, int tensor);
/// Returns the number of blocks of a cluster that fill the channel's stages together by multicast; 1 without
/// multicast. The consumers release a stage to all these blocks.
int cluster_of(const Kernel&, int channel);
/// Returns the number of arrivals for which the setup steps initialise the channel's mbarriers; 0: none.
int arrivals_of(const Kernel&, int channel);
/// Returns the channel of the sets of columns into which a warp role multiplies for others, -1 if it does not. Its releases are
/// arrivals of what it has started (tcgen05.commit).
int multiplies_into(const Kernel&, const Agent&);
/// Returns the number of threads that carry out the steps of a warp role: 1 if all that it starts are copies that
/// announce bytes to an mbarrier (TMA loads), or products for other roles, which one thread issues; otherwise all of its threads.
int issuers(const Kernel&, const Agent&);

/// Returns whether the kernel's rows go through registers (selection/row_registers.hpp). Its loads are then all in flight together.
bool holds_rows(const Kernel&);

/// Returns how many blocks of `threads` threads fit on a multiprocessor at a time, as limited by registers,
/// threads and shared memory; at least 1.
int blocks_together(const Kernel&, const target::Target&, std::int64_t threads);

}  // namespace zellige::kernel
