// One kernel's CUDA text, from its plan. Private to the emitter.
//
// kernel_text.cpp    the kernel's frame: signature, declarations, and the schedule, step by step
// copy_text.cpp      tiles from global to shared memory
// reduce_text.cpp    sums over lanes, and staged stores
// evaluate_text.cpp  loop nests of the contexts, and what each task leaves behind
// expression.cpp     the value of a node at a coordinate
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "emit/names.hpp"
#include "emit/text.hpp"

namespace zellige::emit {

/// The coordinate at which a nest evaluates, dimension by dimension, as text. `inner` runs over `vector` neighbours.
struct Point {
  std::vector<std::string> at;      // of the first of the neighbours
  std::vector<std::int64_t> limit;  // > 0: reads in this dimension are clamped below it, the nest passes it
  int inner = 0;
  int vector = 1;
  std::int64_t shift = 0;  // of at[inner] from a multiple of `vector`: slices and concatenations move it
  int context = -1;        // whose registers `pair` and `state` index
  std::string index;       // of this chunk in those registers
  bool own = true;         // the nest's own coordinate: what its registers hold is at hand
};

/// A node's value: text for one of the neighbours ("t3[v]"), or one value for all.
struct Value {
  std::string text;
  bool vector = false;
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
  std::string global_start(const Node&, int dim, const std::string& iteration) const;
  std::string thread_index() const;

  // copy_text.cpp
  void copy_in(int task, const std::string& stage, const std::string& iteration);
  std::string position(const Node&, int dim, const std::string& iteration, const std::string& at) const;

  // evaluate_text.cpp
  void mma(const Task&);
  void nest(const std::vector<int>& tasks);  // tasks of one context
  void sweep_nest(const std::vector<int>& tasks);
  void fragment_nest(const std::vector<int>& tasks);
  bool has_room(const Task&, std::int64_t columns) const;
  const plan::Shape& written(const Task&) const;
  std::string inside(const Task&) const;
  void lanes_nest(const Task&);
  void finish(const Task&);
  void sum_declaration(const Task&);
  void staged_store(const Task&);
  void sink(const Task&, const Point&);
  void sink_shared(const Task&, const Point&);
  void sink_global(const Task&, const Point&);
  void sink_accumulate(const Task&, const Point&);
  void write_pieces(const std::string& value, const Point&, int piece, const std::string& tile,
                    const std::vector<std::string>& at, const std::string& guard_inner);
  std::string conditions(int node, const Point&);
  std::size_t mark() const { return order_.size(); }
  void forget(std::size_t mark);
  void guard(const std::string& condition);

  // expression.cpp
  Value value(int node, const Point&);
  Point narrowed(int operand, int node, const Point&) const;
  Value leaf(int node, const Point&);
  Value read_buffer(const Buffer&, const plan::Shape& shape, const Point&, const std::string& stage);
  Value read_global(int node, const Point&);
  Value concat(int node, const Point&);
  std::string store_value(const Value&, int vector);  // a Vec<float, vector> holding it
  std::string fresh(const char* stem) { return fmt::format("{}{}", stem, counter_++); }

  int piece(const Buffer&, const Point&) const;
  const std::string& tile(int buffer) const { return tiles_[buffer]; }
  std::string tile_at_stage(int buffer) const;
  std::string global(int tensor) const { return names_.global(program_.tensors[tensor].name); }
  std::string fragment_type(const Context&) const;
  int used_warps(const Context&) const;
  int warps() const { return block_.warps(); }
  int threads() const { return block_.threads(); }
  int steps(const Context&) const;  // chunks a thread of a sweep
  bool looped() const { return block_.loop > 1; }

  const plan::KernelPlan& plan_;
  const plan::Program& program_;
  const plan::BlockProgram& block_;
  Names& names_;
  Text& out_;
  std::vector<std::string> tiles_;                // the buffers' names in the text
  std::vector<int> uses_;                         // how often each node is an operand
  std::unordered_map<std::string, Value> known_;  // values at hand in the open scopes, by node and coordinate
  std::vector<std::string> order_;  // of their computation: a scope that closes takes its own along
  std::string guard_;               // the condition that is open in a nest, and what was known before it
  std::size_t guarded_ = 0;
  int counter_ = 0;
  int spilled_ = -1;                              // node on its way from registers to its buffer
  plan::Section section_ = plan::Section::after;  // being emitted
  std::optional<plan::Loop> loop_;                // that is open
};

}  // namespace zellige::emit
