// The plan of one kernel: what each pass decided, as plain data. Each pass is one free function that fills its part.
//
//   program (lower) ── select ── layouts ── group ── swizzle ── pipeline ── slice ── agents ── memory ── verify
//
// Words. A *context* is a (thread, value) layout: who evaluates which coordinates (context.hpp). A *task* is work that the threads do
// in one context without a barrier. A *buffer* is a tile's storage in shared memory. A node without a buffer lives in
// the registers of a context, or is evaluated anew by each task that reads it.
#pragma once
#include <map>
#include <optional>
#include <set>

#include "plan/fragments.hpp"
#include "plan/schedule.hpp"
#include "target/target.hpp"

namespace zellige::plan {

struct MatmulChoice {
  const Instruction* row = nullptr;   // of the tensor cores, or of outer products; nullptr: a sum at a time
  const Instruction* load = nullptr;  // brings its operands from shared memory; nullptr: loads of the threads
  WarpLayout warps;
  int a_from =
      -1;  // the matmul whose accumulators are, rounded, this one's A fragments; -1: A is in shared memory
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  /// Operands of four warps at once, in shared memory, read past the registers: wgmma.
  bool by_warpgroup() const { return row && row->issuers == 128; }
  /// Columns that an instruction's are of: a batch's lie side by side where warpgroups multiply.
  std::int64_t columns() const { return by_warpgroup() ? batch * n : n; }
  std::int64_t products() const { return by_warpgroup() ? 1 : batch; }
  /// Outer products of what each thread reads: ordinary multiply-adds (target/outer_products.hpp).
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
  Shape padded;      // what is written; beyond `shape`: zeros
  int partials = 1;  // float32 sums that its readers add; an outermost dimension where > 1
  int stages = 1;    // of the software pipeline
  bool matmul_operand = false;
  int inner = 0;          // the dimension of stride 1
  Strides strides;        // in elements
  std::int64_t span = 0;  // elements of `inner` side by side, followed by all rows of the next span; the last
                          // span has room past the row's end; 0: each row lies in one piece
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
  to_lines,      // a map, one value a row, into the registers of those who hold the row
  to_registers,  // a map over accumulators, into registers of its own
  rescale,       // a carried matmul's accumulators, before the product is added
  reduce,        // a reduction's thread-local partial sums
  finish,        // across lanes, into the reduction's buffer
  to_peers,      // a matmul's accumulators, each other rank's part of their columns, into its buffer
  from_peers,    // what the other ranks sent of this one's part, added to its accumulators
};
std::string_view name(TaskKind);
/// Whether it brings a load's tile from global memory, ahead of who uses it.
inline bool brings(TaskKind kind) { return kind == TaskKind::copy_in || kind == TaskKind::fetch; }

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

/// How a tile crosses between global and shared memory, or registers.
struct Copy {
  int vector = 1;                    // elements an access
  int bytes = 2;                     // of an access
  const Instruction* row = nullptr;  // goes past the registers; nullptr: a load, then a store
  bool anywhere = false;             // the load may begin at any element (load_anywhere)
  /// Whether it is there only when its group is waited for.
  bool async() const { return row && row->completion == Instruction::Completion::copy_group; }
  /// Whether one thread names the whole box, by a tensor map.
  bool by_tensor_map() const { return row && row->kind == Instruction::Kind::tensor_copy; }
};

/// Of a loop whose first and last iterations a mask leaves nothing of: a block makes those from (the first of its rows + from) / each, or 0,
/// up to min((the first of its rows + last) / each + 1, loop). Of those the first are whole where nothing else masks: up to
/// (the first of its rows + all) / each, and up to end / each.
struct Trips {
  Split rows;
  std::int64_t last = 0, each = 1;
  std::optional<std::int64_t> all = {}, from = {}, end = {};
  int mask = -1;  // its node
  std::int64_t start(std::int64_t block) const;
  std::int64_t whole(std::int64_t block, std::int64_t loop) const;
  std::int64_t of(std::int64_t block, std::int64_t loop) const;  // by its number along the axis of the rows
};

struct KernelPlan {
  BlockProgram program;
  std::map<int, MatmulChoice> matmuls;  // by node
  std::vector<Context> contexts;
  std::vector<Buffer> buffers;
  std::vector<Task> tasks;
  std::map<int, int> buffer_of;   // node -> buffer
  std::map<int, int> context_of;  // node whose value stays in registers -> context
  std::map<int, int> inner;       // node -> the dimension of stride 1 of its tile
  std::map<int, bool> direct;     // loads read from global memory where they are used
  std::map<int, Copy> copies;     // by load and store node
  std::map<int, int> parts;   // loads that a cluster shares -> the dimension of which each rank brings a part
  std::set<int> wide;         // tensors whose offsets pass 32 bits
  std::set<int> far;          // load and store nodes with coordinates that do
  std::set<int> constants;    // loads of what no earlier work on the stream writes
  bool programmatic = false;  // may be launched while the kernel before it still runs
  int split_k =
      1;  // ranks of a cluster that each sum so many'th part of the loop, and store a part of the columns
  std::optional<Trips> trips;  // where a block may make fewer iterations than the program's loop has
  std::int64_t shared_bytes = 0;
  std::int64_t blocks =
      0;  // launched, each to take one tile of the program's grid after another; 0: a block a tile
  int together =
      0;  // blocks on a multiprocessor that a thread's registers leave room for; 0: the compiler's choice
  Schedule schedule;  // in which order all of it runs
  std::vector<std::string> notes;

  /// Iterations that a block makes of the loop.
  std::int64_t trips_of_rank() const { return program.loop / split_k; }
  /// Whether a load's or store's tile crosses by TMA, its whole box named by one thread.
  bool boxed(int node) const {
    const auto copy = copies.find(node);
    return copy != copies.end() && copy->second.by_tensor_map();
  }
};

}  // namespace zellige::plan
