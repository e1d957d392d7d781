// KernelPlan: everything that the planner decides about one CUDA kernel, as data. Each pass of the planner is a free
// function that fills in its part; the emitter then prints CUDA source from the result. The passes, in order:
//
//   program (lower) ── select ── layouts ── group ── swizzle ── pipeline ── slice ── agents ── memory ── verify
//
// Words used by the fields of KernelPlan:
//
//   node      an operator of the kernel's block program, which yields one value (program.hpp)
//   context   a thread-value layout: which thread evaluates which elements of a tile (context.hpp)
//   task      work that the threads do in one context without a barrier: a copy, a matmul, a reduction ...
//   buffer    a tile in shared memory (smem_tensor.hpp)
//
// A node without a buffer is kept in registers, or is recomputed by each task that reads it.
#pragma once
#include <map>
#include <optional>
#include <set>

#include "kernel/fragments.hpp"
#include "kernel/schedule.hpp"
#include "kernel/smem_tensor.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// How one matmul of the block is computed: its size, its instruction, and how warps share it.
struct MatmulChoice {
  // Tensor-core or FMA instruction; nullptr: scalar fallback, one dot product per thread.
  const Instruction* row = nullptr;
  // Instruction that loads the operands from shared memory (ldmatrix); nullptr: ordinary loads.
  const Instruction* load = nullptr;
  WarpLayout warps;
  // The matmul node whose accumulators, rounded, are this matmul's A fragments; -1: A is in shared memory.
  int a_from = -1;
  std::int64_t batch = 1, m = 1, n = 1, k = 1;  // elements
  /// Returns whether the instruction is wgmma, which four warps (a warpgroup) execute together.
  bool by_warpgroup() const { return row && row->issuers == 128; }
  /// Number of columns that the instructions cover. This is N, or N * batch for wgmma, for which the matrices of a
  /// batch are adjacent columns of one wide product.
  std::int64_t columns() const { return by_warpgroup() ? batch * n : n; }
  /// Number of separate matrix products: one per batch index, or a single wide one for wgmma.
  std::int64_t products() const { return by_warpgroup() ? 1 : batch; }
  /// Returns whether the matmul is computed as outer products by ordinary float32 FMAs (target/outer_products.hpp).
  bool by_threads() const { return plan::by_threads(row); }
};

/// What a task does.
enum class TaskKind : std::uint8_t {
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
  to_cluster,    // split-K: sends accumulators to the ranks (blocks of the cluster) that store their columns
  from_cluster,  // split-K: adds the partial results received from other ranks to this rank's accumulators
};
/// Returns the task kind in words, as --explain prints it.
std::string_view name(TaskKind);
/// Returns whether tasks of this kind only load a tile from global memory, for other tasks to read.
inline bool is_global_load(TaskKind kind) { return kind == TaskKind::copy_in || kind == TaskKind::fetch; }

/// Work that the threads do in one thread-value layout without a barrier.
struct Task {
  TaskKind kind{};
  Section section{};            // before, inside or after the loop
  int node = -1;                // index into the program's nodes
  int context = -1;             // index into KernelPlan::contexts: the thread-value layout
  int buffer = -1;              // the buffer that it writes; -1: none
  std::vector<int> reads;       // buffers
  std::vector<int> after;       // tasks whose shared-memory results other threads read: needs a barrier
  std::vector<int> after_same;  // tasks whose results the same threads read: no barrier
};

/// How a tile is copied between global memory and shared memory or registers.
struct CopyChoice {
  int vector = 1;                    // elements per access
  int bytes = 2;                     // per access
  const Instruction* row = nullptr;  // cp.async or TMA; nullptr: a load into registers, then a store
  bool anywhere = false;             // the source may be unaligned, and is read by load_anywhere
  /// Returns whether the copy is a cp.async, which is complete only after a wait for its cp.async group.
  bool async() const { return row && row->completion == Instruction::Completion::copy_group; }
  /// Returns whether the copy is by TMA: one thread copies the whole tile with a tensor map.
  bool by_tensor_map() const { return row && row->kind == Instruction::Kind::tensor_copy; }
};

/// Loop bounds of one block of attention under a causal, window or length mask. The block computes a tile of rows
/// (queries) from row r on, in a loop over tiles of `each` keys. Key tiles that are masked completely are skipped:
///
///   iterations run             start <= i < stop
///     start                    max(r + *from, 0) / each; 0 without `from`
///     stop                     min((r + last) / each + 1, loop)
///   iterations without a mask  the first min((r + *all) / each, *end / each); none without `all`
///
/// In the functions `block` is blockIdx along the axis that splits the rows, and `loop` the full trip count.
struct MaskedLoopBounds {
  Split rows;                       // how blocks split the mask's rows
  std::int64_t last = 0, each = 1;  // last key that the tile's last row keeps, minus r; keys per iteration
  // Number of keys that all rows keep, minus r; first key of row r, minus r; number of keys that are not padding.
  std::optional<std::int64_t> all = {}, from = {}, end = {};
  int mask = -1;  // the mask's node
  /// Returns the first iteration that the block runs. `block` is its blockIdx along the axis that splits the rows.
  std::int64_t start(std::int64_t block) const;
  /// Returns the number of the block's first iterations in which the mask keeps every element; these run without the
  /// mask. `loop` is the full trip count.
  std::int64_t whole(std::int64_t block, std::int64_t loop) const;
  /// Returns the number of iterations that the block runs. `loop` is the full trip count.
  std::int64_t of(std::int64_t block, std::int64_t loop) const;
};

/// Everything that is decided about one kernel. Unless stated otherwise, integers are indices of nodes.
struct KernelPlan {
  BlockProgram program;
  std::map<int, MatmulChoice> matmuls;  // by node
  std::vector<Context> contexts;
  std::vector<SmemTensor> buffers;
  std::vector<Task> tasks;
  std::map<int, int> buffer_of;   // node -> buffer
  std::map<int, int> context_of;  // node whose value stays in registers -> index into `contexts`
  std::map<int, int> inner;       // node -> the dimension of stride 1 of its tile
  // loads read from global memory where they are used, and the number of tasks that read each; 0: not read so
  std::map<int, int> direct;
  std::map<int, CopyChoice> copies;  // by load and store node
  std::map<int, int> parts;          // multicast load -> the dimension along which each rank loads its part
  std::set<int> wide;                // tensors (not nodes) whose element offsets need 64 bits
  std::set<int> far;                 // load and store nodes whose coordinates need 64 bits
  std::set<int> constants;  // loads of tensors that no earlier work on the stream writes, such as weights
  // The kernel may start before the previous one ends (programmatic dependent launch).
  bool programmatic = false;
  // Split-K: number of ranks (blocks) of a cluster. Each accumulates 1/split_k of the loop and stores a part of
  // the columns. 1: no split.
  int split_k = 1;
  std::optional<MaskedLoopBounds> loop_bounds;  // if a mask lets blocks skip iterations
  std::int64_t shared_bytes = 0;                // per block
  // Grid of persistent blocks, which compute one output tile after another; 0: one block per tile.
  std::int64_t blocks = 0;
  int together = 0;   // minimum blocks per multiprocessor in __launch_bounds__; 0: the compiler's choice
  Schedule schedule;  // the order of execution
  std::vector<std::string> notes;

  /// Number of loop iterations that each block (rank) of a split-K cluster runs; all iterations without split-K.
  std::int64_t iterations_per_rank() const { return program.loop / split_k; }
  /// Returns whether the tile of the load or store `node` is copied by TMA.
  bool uses_tma(int node) const {
    const auto copy = copies.find(node);
    return copy != copies.end() && copy->second.by_tensor_map();
  }
};

}  // namespace zellige::plan
