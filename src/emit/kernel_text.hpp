// One kernel's CUDA text, from its plan. Private to the emitter.
//
// kernel_text.cpp    the kernel's frame: signature, declarations, and the schedule, step by step
// role_text.cpp      agents that part, their rings, boxes and handovers
// loop_text.cpp      a thread's share of items, and an item's coordinate
// copy_text.cpp      tiles from global to shared memory
// reduce_text.cpp    sums over lanes, and staged stores
// evaluate_text.cpp  loop nests of the contexts, and what each task leaves behind
// expression.cpp     the value of a node at a coordinate
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "emit/names.hpp"
#include "emit/parameters.hpp"
#include "emit/text.hpp"

namespace zellige::emit {

/// The coordinate at which a nest evaluates, dimension by dimension. `inner` runs over `vector` neighbours.
struct Point {
  explicit Point(std::size_t rank) : at(rank), limit(rank, 0) {}

  std::vector<Index> at;            // of the first of the neighbours
  std::vector<std::int64_t> limit;  // > 0: reads in this dimension are clamped below it, the nest passes it
  int inner = 0;
  int vector = 1;
  std::int64_t shift = 0;  // of at[inner] from a multiple of `vector`: slices and concatenations move it
  int context = -1;        // whose registers `pair` and `state` index
  Index index;             // of this chunk in those registers
  bool own = true;         // the nest's own coordinate: what its registers hold is at hand
};

/// The number of one of `vector` neighbours.
inline Index one_of(int vector) { return vector > 1 ? Index::named("v") : 0; }

/// A node's value: text for one of the neighbours ("t3[v]"), or one value for all.
struct Value {
  std::string text;
  bool vector = false;
  std::string name = {};  // of the Vec that holds it, "t3"; "": none does
};
/// Neighbours that stand in the Vec `name`.
inline Value held_by(const std::string& name, int vector) {
  return {fmt::format("{}[{}]", name, one_of(vector)), vector > 1, name};
}

/// One thread's share of a context's items: the loop over it is open.
struct Share {
  Index step;  // of this thread
  Index item;
  int open;  // braces
};

class KernelText {
 public:
  KernelText(const plan::KernelPlan& plan, const plan::Program& program, Names& names, Text& out);

  void emit();

 private:
  using Node = plan::Node;
  using Task = plan::Task;
  using Context = plan::Context;
  using Buffer = plan::Buffer;

  // kernel_text.cpp
  void signature();
  void declarations();
  void run(const std::vector<plan::Step>&, std::size_t first, std::size_t last);
  void start(const Task&);
  void loop(const plan::Step&, const std::vector<plan::Step>&, std::size_t first, std::size_t last);
  void slices(const plan::Step&, const std::vector<plan::Step>&, std::size_t first, std::size_t last);
  void copy(const std::vector<int>& tasks, int ahead);
  void work(const std::vector<int>& tasks);  // one behind another, of one nest where they share a context
  int stages() const;                        // of the loop's rings
  Index global_start(const Node&, int dim, const Index& iteration) const;
  std::string thread_index() const;

  // role_text.cpp
  void rings();
  void roles();
  void cursors();
  void handover(const plan::Step&);
  void box(const plan::Step&);
  void tiles(const std::vector<plan::Step>&, std::size_t first, std::size_t last);
  void multiply_by_warpgroups(const plan::Step&);
  std::string ring(int channel) const;      // its name in the text
  std::string ring_tile(int buffer) const;  // at the stage that the agent holds
  /// Which of a channel's tiles a buffer is.
  struct InRing {
    int channel, tile;
  };
  std::optional<InRing> in_ring(int buffer) const;
  int threads_at(int barrier) const;
  bool parted() const { return plan_.schedule.parted(); }
  std::string map_name(int node) const;

  // copy_text.cpp
  void copy_in(int task, const Index& stage, const Index& iteration);
  std::vector<Index> position(const Node&, const Index& iteration, const std::vector<Index>& at) const;

  // loop_text.cpp
  /// How the loop over a thread's items is written: its counter's type and name, the item's, and what stands before it.
  struct Loop {
    const char *type, *counter, *item, *unroll = "";
    bool scaled = false;  // the item counts elements, not vectors
    bool guarded = true;  // past the last item nothing is done
  };
  /// Opens the loop over a thread's items along an axis of a context, vector by vector.
  Share share(const Context&, int axis, const Loop&);
  void close(const Share&);
  /// Declares the coordinate of an item along an axis, counted in vectors.
  std::vector<Index> coordinate(const char* type, const Index& item, const Context&, int axis);

  // evaluate_text.cpp
  void mma(const Task&);
  void nest(const std::vector<int>& tasks);  // tasks of one context
  void sweep_nest(const std::vector<int>& tasks);
  void fragment_nest(const std::vector<int>& tasks);
  Condition inside(const Task&) const;
  void lanes_nest(const Task&);
  void finish(const Task&);
  void sum_declaration(const Task&);
  void staged_store(const Task&);
  void sink(const Task&, const Point&);
  void sink_shared(const Task&, const Point&);
  void sink_global(const Task&, const Point&);
  void sink_accumulate(const Task&, const Point&);
  void write_pieces(const std::string& value, const Point&, int piece, const std::string& to,
                    const std::vector<Index>& at, const std::optional<Index>& limit);
  Condition conditions(int node, const Point&);
  std::size_t mark() const { return order_.size(); }
  void forget(std::size_t mark);
  void guard(const Condition&);

  // expression.cpp
  Value value(int node, const Point&);
  Point narrowed(int operand, int node, const Point&) const;
  Value leaf(int node, const Point&);
  Value read_buffer(const Buffer&, const plan::Shape& shape, const Point&, const std::string& stage);
  Value read_global(int node, const Point&);
  Value concat(int node, const Point&);
  Value rotated(int node, const Point&);
  std::string rotated_one(int node, const Point&, bool& vector);
  std::string masked(const Node&, const std::string& operand, const Point&) const;
  template <class Read>
  Value read(const plan::Shape&, const Point&, int piece, Read);
  std::string store_value(const Value&, int vector);      // a Vec<float, vector> holding it
  std::string accumulator(int node, const Point&) const;  // of one of the neighbours
  std::string fresh(const char* stem) { return fmt::format("{}{}", stem, counter_++); }

  const std::string& tile(int buffer) const { return tiles_[buffer]; }
  std::string tile_at_stage(int buffer) const;
  std::string global(int tensor) const { return names_.global(program_.tensors[tensor].name); }
  std::string fragment_type(const Context&) const;
  /// Opens a condition where a context leaves some threads of the block without a share.
  bool open_threads(const Context&);
  int warps() const { return block_.warps(); }
  int threads() const { return block_.threads(); }
  bool looped() const { return block_.loop > 1; }

  /// A value is known by its node and where it was asked for.
  struct Key {
    int node;
    std::vector<Index> at;
    std::vector<std::int64_t> limit;
    int vector;
    auto operator<=>(const Key&) const = default;
  };

  const plan::KernelPlan& plan_;
  const plan::Program& program_;
  const plan::BlockProgram& block_;
  Names& names_;
  Text& out_;
  std::vector<std::string> tiles_;  // the buffers' names in the text
  std::vector<int> uses_;           // how often each node is an operand
  std::map<Key, Value> known_;      // values at hand in the open scopes
  std::vector<std::map<Key, Value>::iterator>
      order_;        // of their computation: a scope that closes takes its own along
  Condition guard_;  // that is open in a nest, and what was known before it
  std::size_t guarded_ = 0;
  int agent_ = 0;  // whose steps are being emitted
  int counter_ = 0;
  int spilled_ = -1;                              // node on its way from registers to its buffer
  plan::Section section_ = plan::Section::after;  // being emitted
  std::set<int> started_;                         // sums that a step began, for tasks in an inner loop
  Index iteration_ = 0;                           // the open loop's counter
};

}  // namespace zellige::emit
