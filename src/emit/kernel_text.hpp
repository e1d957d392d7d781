// Emits the CUDA source of one kernel from its plan. Used only by the emitter.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "emit/names.hpp"
#include "emit/parameters.hpp"
#include "emit/source_lines.hpp"
#include "kernel/evaluation.hpp"
#include "kernel/sliced.hpp"
#include "kernel/tensor_columns.hpp"
#include "kernel/widened.hpp"

namespace zellige::emit {

using graph::OpKind;
using kernel::Context;
using kernel::Item;
using kernel::SmemTensor;
using kernel::Work;
using kernel::WorkKind;
using tile::Node;
using tile::NodeKind;

/// A position in a loop nest of the source: the coordinate of the first of the neighbours that are evaluated together.
struct NestAt {
  const kernel::Context* context = nullptr;
  std::vector<Index> at;
  Index chunk;           // index, in the layout's registers, of the vector that holds the neighbours
  Index line = 0;        // in a layout of rows: index of the row among the thread's
  std::string sum = {};  // for a reduction: the expression of the thread's partial result
  bool gathers = false;  // the elements of a reduction are gathered in `sum`, a vector, and then joined
  /// Returns the index expression of a coordinate at this position of the loop nest, for example x + 1.
  Index index(const kernel::TileCoordinate&) const;
  std::vector<Index> index(const std::vector<kernel::TileCoordinate>&) const;
};

/// Returns the index of an element in a vector: the loop variable v, or 0 if there is only one element.
inline Index one_of(int vector) { return vector > 1 ? Index::named("v") : 0; }

/// The value of a node in the source: an expression for each neighbour ("t3[v]"), or one that all of them share.
struct NodeValue {
  std::string text;
  bool vector = false;    // one expression per neighbour
  std::string name = {};  // the Vec variable that has the value, "t3"; empty: none
  std::string type = "float";
  std::vector<std::string> terms = {};  // of x * number: x, number; of x * number - y (y per row): all three
  bool of_row = false;                  // one per row of the accumulators
};
/// What a rewrite of an expression reads besides its value: an elementwise operator on the values `in`.
struct Applied {
  const tile::Node& node;
  const kernel::Context& context;
  const std::vector<NodeValue>& in;
};
/// Returns a Value for `vector` adjacent elements, of type `type`, that are in the Vec variable `name` of the source.
inline NodeValue value_named(const std::string& name, int vector, const std::string& type = "float") {
  return {fmt::format("{}[{}]", name, one_of(vector)), vector > 1, name, type};
}

/// The elements of a thread-value layout that one thread evaluates, after the loop over them has been opened.
struct ThreadShare {
  Index step;  // number of the current item among this thread's
  // Expression for the number of the current vector of elements in the tile.
  Index item;
  int open;  // number of braces to close
};

/// Returns whether a loop nest reads memory, writes to memory that it does not read, and has no conditions. The
/// stores of several iterations can then be delayed until after all loads of these iterations. The nest may keep values
/// in registers as well. If `guarded`, a nest that reads global memory may have bounds checks.
bool reads_and_writes(const std::vector<Item>& items, bool guarded);

/// Emits one kernel, or one device function of a kernel that runs several tile programs.
class KernelText {
 public:
  KernelText(const kernel::Kernel& kernel, const tile::TilePrograms& program, Names& names, Text& out);

  /// Emits the kernel as a __global__ function or, for a launch of several tile programs, as a device function called
  /// `part`: there each block calls the function of its program. Further arguments of the function are the block's
  /// number within its program, and the index at which the program's part of a concatenation begins.
  void emit(const std::string& part = "");

 private:
  // kernel_text.cpp: the kernel's frame, its signature and declarations.
  std::string parameter_list() const;
  void declarations(), declare_first_iteration();
  std::string thread_index() const;
  std::string block_index(int axis) const;

  // symmetric_text.cpp: where ranks exchange tiles.
  friend class RankExchangeText;
  void begin_exchange_of_ranks(), end_exchange_of_ranks();
  std::string base(int tensor) const;

  // steps_text.cpp: the schedule, step by step.
  void run(const std::vector<kernel::Step>&);  // in order
  void registers(int node, const Context&);
  void start(const Work&);
  bool started(int node) const;
  void loop(const kernel::Loop&);
  void bounded(const kernel::Loop& begin);
  std::string in_iterations(const Index& keys, const std::string& by) const;
  void declare_masked_trips(), declare_trips(), declare_of_rows(const std::string&, int load, std::string_view extreme);
  void sized(const kernel::Loop& begin);
  void copy(kernel::StepSpan, int distance);
  void work(kernel::StepSpan);  // in order; steps that share a layout become one loop nest
  Index global_start(const tile::Interval&, bool far, const Index& iteration) const;
  Index global_start(const Node&, int dim, const Index& iteration) const;
  Index tile_number(const tile::Interval&, bool far = false) const;
  Index origin(const tile::Interval&) const;
  Index global_end(const tile::Interval&) const;
  Index number(const tile::SymbolicNumber&, bool wide = false) const;  // wide: computed in 64 bits
  /// Returns the expression for a bound of a mask: `bound` for the largest value of the size, if there is one.
  Index bound(std::int64_t bound, int size) const;
  void check(Condition& inside, const tile::Interval&, const Index& at) const;
  Condition inside(const Node&, const std::vector<Index>& at) const;
  void check_windows(Condition&, const Node&, const std::vector<Index>& at) const;
  void declare_windows(int tensor, const tile::Windows&, bool wide);

  // role_text.cpp: warp roles, their shared-memory rings, TMA copies and synchronisation.
  void rings();
  void roles();
  void handover(const kernel::Step&, const kernel::Sync&);
  void box(const kernel::Step&, const kernel::Copy&);
  void tiles(const kernel::Loop&);
  void issue(const Work&, bool peeled);
  std::string ring(int channel) const;      // the name of a channel's ring in the source
  std::string ring_tile(int buffer) const;  // a buffer's tile at the stage that the agent has acquired
  /// A channel, and the position of a buffer's tile among those that the channel fills.
  struct InRing {
    int channel, tile;
  };
  std::optional<InRing> in_ring(int buffer) const;
  std::string map_name(int node) const;

  // copy_text.cpp: copies of tiles from global to shared memory, and where tiles lie in tensors.
  void copy_in(const kernel::Step&, const Index& stage, const Index& iteration);
  void fetch(const Work&);
  // An expression for the number of elements to load; `whole` if it is always the complete chunk.
  struct Existing {
    std::string text;
    bool whole;
  };
  Existing existing(const Node&, const graph::Shape& padded, const Context&, const std::vector<Index>& at,
                    const std::vector<Index>& from) const;
  std::string end_of(const Node&, const Index& iteration) const;
  std::int64_t last_read(const Node&, const Index& iteration) const;
  Index size_of(const Node&) const;
  tile::SymbolicNumber sized_last(int tensor, int dim) const;
  std::vector<Index> position(const Node&, const Index& iteration, const std::vector<Index>& at) const;
  Index in_page(const Node&, const Index& row, std::vector<Index> own) const;
  std::vector<Index> in_view(const Node&, const Index& iteration, const std::vector<Index>& at,
                             std::vector<Index> from) const;

  // loop_text.cpp: the loop over a thread's elements of a tile, and their coordinates.
  /// Options of the loop over a thread's items: type and name of its counter, the name of the item's
  /// number, and the pragma before the loop.
  struct Loop {
    const char *type, *counter, *item, *unroll = "";
    bool scaled = false;  // the item's number counts elements instead of vectors
    bool guarded = true;  // items beyond the last one are skipped
    // If > 0: the loop runs over this many of the thread's items, from the variable "first" on.
    int within = 0;
    std::int64_t from = 0, to = -1;  // the items [from, to) of the thread; -1: to the last
  };
  /// Returns how many steps of the loop along `axis` need no bounds check: in these first steps every thread
  /// has an element of the tile.
  static std::int64_t full_steps(const Context&, int axis);
  /// Splits the steps of the loop along axis 0 of the thread-value layout, from step `first` on, into ranges, and calls
  /// each(from, to) for each range. If the loop is `unrolled`, there is one range. Otherwise the first range has the
  /// steps in which every thread has an element, and the second one the remaining steps.
  static void in_full_steps(const Context&, bool unrolled, std::int64_t first,
                            const std::function<void(std::int64_t, std::int64_t)>& each);
  /// Emits the head of the loop over a thread's vectors of elements along an axis of a thread-value layout.
  /// Returns the indices of the loop's current vector, and the number of braces that close() has to emit.
  ThreadShare share(const Context&, int axis, const Loop&);
  void close(const ThreadShare&);
  /// Emits variables of integer type `type` for the coordinate, in the tile, of vector number `item` along
  /// `axis`. Returns the coordinate.
  std::vector<Index> coordinate(const char* type, const Index& item, const Context&, int axis);

  // fragment_text.cpp: loop nests over accumulators, and nests that store the results of several iterations together.
  void fragment_nest(kernel::StepSpan);
  NestAt fragment_at(const Context&);
  NestAt fragment_at(const Context&, const std::string& place);
  void buffer_stores(const std::vector<kernel::Item>&, const Context&, const char* counter, int many,
                     const std::function<NestAt()>& each, const std::function<void()>& close);
  bool is_kept(const kernel::Item&) const;
  static std::string kept_name(const kernel::Item&);
  void store_matrices(const kernel::Item&, const Context&, const char* counter, int many, bool pairs);

  // widened_text.cpp: matmuls that widen an operand in registers.
  void widened_product(const Work&, const kernel::WidenedOperand&);
  void start_widened(const Work&, const kernel::WidenedOperand&);

  // evaluate_text.cpp: loop nests over thread-value layouts, and what each of their works stores; and reduce_text.cpp:
  // reductions across lanes, and stores of tiles from shared to global memory.
  std::string operand_tile(const Work&, int side);
  void mma(const Work&);
  void nest(kernel::StepSpan);  // they share a thread-value layout
  void blocked_nest(kernel::StepSpan);
  void lanes_nest(const kernel::Step&);
  void finish(const Work&);
  void sum_declaration(const Work&);
  std::string sums_of(const Context&) const;
  bool in_two_passes(const kernel::Step&) const;
  void raise(const kernel::Step&);
  void operand_declaration(const Work&);
  void staged_store(const Work&);
  void leave(const kernel::Item&, const NestAt&);
  void to_shared(const kernel::Item&, const NestAt&);
  void to_global(const kernel::Item&, const NestAt&);
  void accumulate(const kernel::Item&, const NestAt&);
  void reduce(const kernel::Item&, const NestAt&);
  void write_pieces(const std::string& value, const NestAt&, int piece, const std::string& to,
                    const std::vector<Index>& at, const std::optional<Index>& limit, bool first_is_inside = false);

  // expression.cpp: the value of an operator of the kernel at a coordinate.
  void prepare(const std::vector<kernel::Item>&, const NestAt&);
  void evaluate(const std::vector<kernel::Item>&, const NestAt&);
  void evaluate_one(const std::vector<kernel::Item>&, std::size_t, const NestAt&);
  NodeValue apply(const kernel::Item&, const NestAt&);
  std::string rotated(const kernel::Item&, const std::vector<std::string>& in, const NestAt&);
  NodeValue unpacked(const kernel::Item&, const NestAt&);
  std::string masked(const kernel::Item&, const std::vector<std::string>& in, const NestAt&) const;
  NodeValue read_shared(const kernel::Item&, const NestAt&);
  bool clamp(std::vector<Index>& at, const Node&, const NestAt&) const;
  NodeValue read_global(const kernel::Item&, const NestAt&);
  NodeValue joined(const std::vector<std::string>& parts, int vector, const std::string& type);
  Condition condition(const kernel::Item& guard, const NestAt&) const;
  Condition in_slices(const Work&) const;
  std::string divisor(const std::string& text);
  NodeValue named(const NodeValue&);
  std::string store_value(const NodeValue&, int vector);  // returns the name of a Vec with the value
  std::string accumulator(int node, const NestAt&, int vector, bool other = false) const;
  std::string fresh(const char* stem) { return fmt::format("{}{}", stem, counter_++); }

  const std::string& tile(int buffer) const { return tiles_[buffer]; }
  /// Returns the expression for a buffer's tile at a stage; by default that of the pipelined loop's iteration.
  std::string tile_at(int buffer, const Index& stage = Index::named("stage")) const;
  std::string global(int tensor) const { return names_.global(program_.tensors[tensor].name); }
  std::string fragment_type(const Context&) const;
  static std::string runs(const Context&);
  static std::string lane_among(const Context&, int lanes);
  /// Opens a condition for the threads that have elements of the layout, if some have none; returns whether it did.
  bool open_threads(const Context&);
  int threads() const { return block_.threads(); }

  const kernel::Kernel& plan_;
  const tile::TilePrograms& program_;
  const tile::TileProgram& block_;
  Names& names_;
  Text& out_;
  std::vector<std::string> tiles_;     // by buffer: its name in the source
  std::vector<int> uses_;              // by node: how often it is an operand
  std::vector<NodeValue> values_;      // by item of the nest that is being emitted
  std::vector<std::string> divisors_;  // by item: name of its inverse, if the nest divides by it
  kernel::TensorColumns columns_;      // of products in tensor memory
  bool loaded_ = false;                // the code has loaded their accumulators
  int loops_ = 0;                      // open loops over iterations
  int agent_ = 0;                      // the agent whose steps are being emitted
  int counter_ = 0;                    // number for the next variable
  bool part_ = false;                  // a device function of a launch is being emitted
  Index iteration_ = 0;                // counter of the open loop
  std::int64_t from_ = 0;              // first value of the counter
  bool has_trips_ = false;             // all of the kernel knows how many iterations there are
  bool skips_ = false;           // the open loop is a prologue, whose copies may be of iterations that there are not
  bool whole_ = false;           // the mask keeps all elements in the open loop's iterations
  bool finds_maximum_ = false;   // in the first of two passes of a reduction
  std::set<int> raised_;         // reductions whose second pass is being emitted
  bool keeps_all_ = true;        // false: a nest keeps only what it stores as matrices
  const char* keeps_ = nullptr;  // if set: a nest's results go to register arrays, indexed by this variable
};

}  // namespace zellige::emit
