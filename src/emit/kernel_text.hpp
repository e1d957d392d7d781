// Emits one kernel's CUDA source from its plan. Private to the emitter.
//
// kernel_text.cpp    the kernel's frame: signature, declarations, and the schedule, step by step
// role_text.cpp      warp-specialised agents, their rings, TMA boxes and handovers
// loop_text.cpp      a thread's share of items, and an item's coordinate
// copy_text.cpp      tiles from global to shared memory
// reduce_text.cpp    reductions over lanes, and staged stores
// evaluate_text.cpp  loop nests of the contexts, and what each task stores
// expression.cpp     the value of a node at a coordinate
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "emit/names.hpp"
#include "emit/parameters.hpp"
#include "emit/source_lines.hpp"
#include "plan/evaluation.hpp"
#include "plan/sliced.hpp"

namespace zellige::emit {

/// Position in a nest: the coordinate of the first of its neighbouring elements.
struct NestAt {
  const plan::Context* context = nullptr;
  std::vector<Index> at;
  Index chunk;           // index of these neighbours' vector in the context's registers
  std::string sum = {};  // for a reduction: the lane's own accumulator
  Index index(const plan::Place&) const;
  std::vector<Index> index(const std::vector<plan::Place>&) const;
};

/// The index of one of `vector` neighbours.
inline Index one_of(int vector) { return vector > 1 ? Index::named("v") : 0; }

/// A node's value: an expression for one of the neighbours ("t3[v]"), or one for all.
struct Value {
  std::string text;
  bool vector = false;
  std::string name = {};  // the Vec that holds it, "t3"; "": none
  std::string type = "float";
  std::vector<std::string> terms = {};  // for x * number: both; for x * number - a number per row: all three
};
/// The value of neighbours that are in the Vec `name`.
inline Value value_named(const std::string& name, int vector, const std::string& type = "float") {
  return {fmt::format("{}[{}]", name, one_of(vector)), vector > 1, name, type};
}

/// One thread's items of a context, after the loop over them has been opened.
struct Share {
  Index step;  // of this thread
  Index item;
  int open;  // number of open braces
};

class KernelText {
 public:
  KernelText(const plan::KernelPlan& plan, const plan::Program& program, Names& names, Text& out);

  void emit();
  /// Emits it as a device function of this name; the launch passes the block's number within the program, and
  /// its part_begin.
  void emit_part(const std::string& name);

 private:
  using Node = plan::Node;
  using Task = plan::Task;
  using Context = plan::Context;
  using Buffer = plan::Buffer;

  // kernel_text.cpp
  void signature();
  void grid_comment();
  std::string parameter_list() const;
  void body();
  void declarations();
  void run(const std::vector<plan::Step>&);
  void start(const Task&);
  bool overwritten(int node) const;
  void loop(const plan::Loop&);
  void bounded(const plan::Loop& begin);
  void slices(const plan::Loop&);
  void copy(const std::vector<int>& tasks, int distance);
  void work(const std::vector<int>& tasks);  // in order; those that share a context in one nest
  int stages() const;                        // of the loop's rings
  Index global_start(const plan::Split&, bool far, const Index& iteration) const;
  Index global_start(const Node&, int dim, const Index& iteration) const;
  Index offset_of(const plan::Split&) const;
  Index global_end(const plan::Split& s) const { return offset_of(s) + s.extent; }
  void declare_loop_begin();
  std::string thread_index() const;
  std::string block_index(int axis) const;

  // role_text.cpp
  void rings();
  void roles();
  void cursors();
  void handover(const plan::Step&, const plan::Sync&);
  void box(const plan::Step&, const plan::Copy&);
  void tiles(const plan::Loop&);
  void multiply_by_warpgroups(const Task&, bool peeled);
  std::string ring(int channel) const;      // its name in the source
  std::string ring_tile(int buffer) const;  // at the stage that the agent has acquired
  /// The channel and the index in it of a buffer's tile.
  struct InRing {
    int channel, tile;
  };
  std::optional<InRing> in_ring(int buffer) const;
  bool exchange(int buffer) const;  // whether other blocks of the cluster fill it
  bool warp_specialized() const { return plan_.schedule.warp_specialized(); }
  std::string map_name(int node) const;

  // copy_text.cpp
  void copy_in(int task, const Index& stage, const Index& iteration);
  void fetch(const Task&);
  struct Existing {
    std::string text;
    bool whole;
  };
  Existing existing(const Node&, const plan::Shape& padded, const Context&, const std::vector<Index>& at,
                    const std::vector<Index>& from) const;
  std::string end_of(const Node&, const Index& iteration) const;
  std::int64_t last_read(const Node&, const Index& iteration) const;
  std::vector<Index> position(const Node&, const Index& iteration, const std::vector<Index>& at) const;

  // loop_text.cpp
  /// Options of the loop over a thread's items: type and name of its counter, name of the item, and a pragma
  /// before it.
  struct Loop {
    const char *type, *counter, *item, *unroll = "";
    bool scaled = false;             // the item counts elements, not vectors
    bool guarded = true;             // items after the last are skipped
    int within = 0;                  // if > 0: only this many of a thread's items, from "first" on
    std::int64_t from = 0, to = -1;  // the steps [from, to); -1: to the end
  };
  /// Number of leading steps along an axis at which every thread has an item.
  static std::int64_t full_steps(const Context&, int axis);
  /// Calls each(from, to) for the steps along axis 0: once if they are unrolled, else for the full ones and
  /// then for the rest.
  static void in_full_steps(const Context&, bool unrolled,
                            const std::function<void(std::int64_t, std::int64_t)>& each);
  /// Opens the loop over a thread's items along an axis of a context, one vector at a time.
  Share share(const Context&, int axis, const Loop&);
  void close(const Share&);
  /// Declares the coordinate of an item along an axis, counted in vectors.
  std::vector<Index> coordinate(const char* type, const Index& item, const Context&, int axis);

  // evaluate_text.cpp
  void mma(const Task&);
  void nest(const std::vector<int>& tasks);  // tasks of one context
  void blocked_nest(const std::vector<int>& tasks);
  void fragment_nest(const std::vector<int>& tasks);
  NestAt fragment_at(const Context&);
  void buffer_stores(const std::vector<plan::Item>&, const Context&, const char* counter, int many,
                     const std::function<NestAt()>& each, const std::function<void()>& close);
  void lanes_nest(const Task&);
  void finish(const Task&);
  void sum_declaration(const Task&);
  void operand_declaration(const Task&);
  void staged_store(const Task&);
  void leave(const plan::Item&, const NestAt&);
  void to_shared(const plan::Item&, const NestAt&);
  void to_global(const plan::Item&, const NestAt&);
  void accumulate(const plan::Item&, const NestAt&);
  void reduce(const plan::Item&, const NestAt&);
  void write_pieces(const std::string& value, const NestAt&, int piece, const std::string& to,
                    const std::vector<Index>& at, const std::optional<Index>& limit);

  // expression.cpp
  void prepare(const std::vector<plan::Item>&, const NestAt&);
  void evaluate(const std::vector<plan::Item>&, const NestAt&);
  void evaluate_one(const std::vector<plan::Item>&, std::size_t, const NestAt&);
  Value apply(const plan::Item&, const NestAt&);
  void terms(const plan::Item&, const std::vector<std::string>& in, const NestAt&, Value& result) const;
  std::string rotated(const plan::Item&, const std::vector<std::string>& in, const NestAt&);
  std::string masked(const plan::Item&, const std::vector<std::string>& in, const NestAt&) const;
  Value read_shared(const plan::Item&, const NestAt&);
  Value read_global(const plan::Item&, const NestAt&);
  Value joined(const std::vector<std::string>& parts, int vector, const std::string& type);
  Condition condition(const plan::Item& guard, const NestAt&) const;
  Condition in_slices(const Task&) const;
  std::string divisor(const std::string& text);
  Value named(const Value&);
  std::string store_value(const Value&, int vector);  // a Vec of `vector` holding it
  std::string accumulator(int node, const NestAt&, int vector,
                          bool other = false) const;  // of one of the neighbours
  std::string fresh(const char* stem) { return fmt::format("{}{}", stem, counter_++); }

  const std::string& tile(int buffer) const { return tiles_[buffer]; }
  std::string tile_at_stage(int buffer) const;
  std::string global(int tensor) const { return names_.global(program_.tensors[tensor].name); }
  std::string fragment_type(const Context&) const;
  static std::string runs(const Context&);
  static std::string lane_among(const Context&, int lanes);
  static std::string lanes_of(const Context&);
  /// Opens a condition if some threads of the block own no elements of the context.
  bool open_threads(const Context&);
  int warps() const { return block_.warps(); }
  int threads() const { return block_.threads(); }
  bool looped() const { return block_.loop > 1; }

  const plan::KernelPlan& plan_;
  const plan::Program& program_;
  const plan::BlockProgram& block_;
  Names& names_;
  Text& out_;
  std::vector<std::string> tiles_;     // names of the buffers in the source
  std::vector<int> uses_;              // by node: how often it is an operand
  std::vector<Value> values_;          // by item of the nest that is being emitted
  std::vector<bool> of_rows_;          // by item: whether there is one per row of the accumulators
  std::vector<std::string> divisors_;  // by item that is a divisor in the open nest: its name
  int agent_ = 0;                      // whose steps are being emitted
  int counter_ = 0;
  bool part_ = false;                             // emitting a device function of a launch
  plan::Section section_ = plan::Section::after;  // being emitted
  std::set<int> started_;  // accumulators and operands that a step initialised, for tasks in an inner loop
  Index iteration_ = 0;    // the open loop's counter
  std::int64_t from_ = 0;  // its first value
  bool whole_ = false;     // the mask leaves all of its iterations unmasked
  const char* keeps_ = nullptr;  // if set: results of the nest are kept in registers, indexed by this
};

}  // namespace zellige::emit
