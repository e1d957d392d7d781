// The plan of one kernel: what each pass decided, as data. Each pass is one free function that fills its
// part.
//
//   program (lower) ── select ── layouts ── group ── swizzle ── pipeline ── slice ── agents ── memory ── verify
//
// Words. A *context* is a thread-value layout: which thread evaluates which coordinates (context.hpp). A
// *task* is work that the threads do in one context without a barrier. A *buffer* is a tile's storage in
// shared memory. A node without a buffer is in the registers of a context, or is recomputed by each task that
// reads it.
#pragma once
#include <map>
#include <optional>
#include <set>

#include "plan/fragments.hpp"
#include "plan/schedule.hpp"
#include "target/target.hpp"

namespace zellige::plan {

struct MatmulChoice {
  // Tensor-core or FMA instruction; nullptr: scalar fallback, one dot product per thread.
  const Instruction* row = nullptr;
  // Loads its operands from shared memory; nullptr: the threads' own loads.
  const Instruction* load = nullptr;
  WarpLayout warps;
  // The matmul whose accumulators are, rounded, this one's A fragments; -1: A is in shared memory.
  int a_from = -1;
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  /// wgmma: four warps read operands directly from shared memory.
  bool by_warpgroup() const { return row && row->issuers == 128; }
  /// Columns of one instruction's N range: with wgmma the columns of a batch are adjacent.
  std::int64_t columns() const { return by_warpgroup() ? batch * n : n; }
  std::int64_t products() const { return by_warpgroup() ? 1 : batch; }
  /// FMAs on what each thread reads (target/outer_products.hpp).
  bool by_threads() const { return plan::by_threads(row); }
};

struct Swizzle {
  int B = 0, M = 0, S = 0;
};

struct Buffer {
  std::string name;
  int node = -1;
  DType dtype = DType::f32;
  Shape shape;       // of the tile, without padding
  Shape padded;      // what is written; zeros beyond `shape`
  int partials = 1;  // number of float32 partial results, which its users add; an outermost dimension if > 1
  int stages = 1;    // of the software pipeline
  bool matmul_operand = false;
  int inner = 0;    // the dimension of stride 1
  Strides strides;  // in elements
  // Contiguous elements of `inner`, followed by all rows of the next span; the last span has padding after
  // the row's end; 0: each row is contiguous.
  std::int64_t span = 0;
  std::int64_t partial_stride = 0, stage_stride = 0;
  Swizzle swizzle;
  std::int64_t elements = 0;  // of one stage, partials included
  std::int64_t bytes = 0;     // of all stages
  std::int64_t offset = -1;   // in shared memory
  std::string swizzle_reason;
};

enum class TaskKind : std::uint8_t {
  copy_in,       // a load's tile, global to shared
  fetch,         // a load's tile into the registers of the threads that store it
  mma,           // a matmul, into accumulators
  to_shared,     // a node's value into its buffer
  to_operand,    // a round node into A fragments
  to_global,     // a store
  accumulate,    // an accumulate, running_max: its state
  to_lines,      // a map, one value per row, into the registers of the threads that hold the row
  to_registers,  // a map over accumulators, into registers
  rescale,       // a carried matmul's accumulators, before this iteration is added
  reduce,        // a reduction's thread-local partial results
  finish,        // across lanes, into the reduction's buffer
  to_cluster,    // split-K: accumulators of the columns that other ranks store, into their buffers
  from_cluster,  // split-K: adds what the other ranks sent to this rank's accumulators
};
std::string_view name(TaskKind);
/// Returns whether the task loads a tile from global memory, before its users.
inline bool is_global_load(TaskKind kind) { return kind == TaskKind::copy_in || kind == TaskKind::fetch; }

struct Task {
  TaskKind kind{};
  Section section{};
  int node = -1;
  int context = -1;
  int buffer = -1;              // written; copy_in, to_shared, finish
  std::vector<int> reads;       // buffers
  std::vector<int> after;       // tasks whose shared-memory results it reads in other threads
  std::vector<int> after_same;  // tasks whose results it reads in the same threads
};

/// How a tile is copied between global memory and shared memory or registers.
struct CopyChoice {
  int vector = 1;                    // elements per access
  int bytes = 2;                     // per access
  const Instruction* row = nullptr;  // asynchronous, bypassing registers; nullptr: a load, then a store
  bool anywhere = false;             // the load may be unaligned (load_anywhere)
  /// Returns whether the copy is complete only after a wait for its group (cp.async).
  bool async() const { return row && row->completion == Instruction::Completion::copy_group; }
  /// Returns whether one thread copies the whole box with a tensor map (TMA).
  bool by_tensor_map() const { return row && row->kind == Instruction::Kind::tensor_copy; }
};

/// Loop bounds of one block under a causal, window or length mask; fully masked key tiles are skipped. With r
/// the block's first row and `each` the key-tile size, the block runs iterations [from ? max(r + *from, 0) /
/// each : 0, min((r + last) / each + 1, loop)). If there is no other mask, the first min((r + *all) / each,
/// *end / each) of them are unmasked.
struct MaskedLoopBounds {
  Split rows;
  std::int64_t last = 0, each = 1;
  std::optional<std::int64_t> all = {}, from = {}, end = {};
  int mask = -1;  // the mask's node
  std::int64_t start(std::int64_t block) const;
  std::int64_t whole(std::int64_t block, std::int64_t loop) const;
  std::int64_t of(std::int64_t block, std::int64_t loop) const;  // by block number along the rows' axis
};

struct KernelPlan {
  BlockProgram program;
  std::map<int, MatmulChoice> matmuls;  // by node
  std::vector<Context> contexts;
  std::vector<Buffer> buffers;
  std::vector<Task> tasks;
  std::map<int, int> buffer_of;      // node -> buffer
  std::map<int, int> context_of;     // node whose value stays in registers -> context
  std::map<int, int> inner;          // node -> the dimension of stride 1 of its tile
  std::map<int, bool> direct;        // loads read from global memory where they are used
  std::map<int, CopyChoice> copies;  // by load and store node
  std::map<int, int> parts;  // loads shared by a cluster -> the dimension along which each rank loads a part
  std::set<int> wide;        // tensors with offsets beyond 32 bits
  std::set<int> far;         // load and store nodes with coordinates beyond 32 bits
  std::set<int> constants;   // loads of tensors that no earlier work on the stream writes
  // May start while the previous kernel still runs (programmatic dependent launch).
  bool programmatic = false;
  // Split-K: ranks of a cluster, each of which accumulates 1/split_k of the loop and stores a part of the
  // columns.
  int split_k = 1;
  std::optional<MaskedLoopBounds> loop_bounds;  // if a mask lets blocks skip iterations
  std::int64_t shared_bytes = 0;
  // Persistent blocks, each of which takes one tile after another; 0: a block per tile.
  std::int64_t blocks = 0;
  int together = 0;   // blocks per multiprocessor for which registers are limited; 0: the compiler's choice
  Schedule schedule;  // the order of execution
  std::vector<std::string> notes;

  /// Iterations of the loop per rank.
  std::int64_t iterations_per_rank() const { return program.loop / split_k; }
  /// Returns whether a load's or store's tile is copied by TMA.
  bool uses_tma(int node) const {
    const auto copy = copies.find(node);
    return copy != copies.end() && copy->second.by_tensor_map();
  }
};

}  // namespace zellige::plan
