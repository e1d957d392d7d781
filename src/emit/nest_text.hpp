// Loops over the elements that a thread has of a tile, and what the source computes and stores in them. Used only by the emitter.
//
//   LoopNest loop{c, place};
//   const ThreadShare share = emit::share(k, c, 0, {"int", "i", "c"});          // for (int i = 0; ...) { const int c = ...;
//   NestAt at{&loop, coordinate(k, "int", share.item, c, 0)};                   // const int i0 = c / 8; ...
//   prepare(k, items, at), evaluate(k, items, at);                              // the items of kernel::evaluate()
//   close(k, share);
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emit/kernel_text.hpp"
#include "kernel/evaluation.hpp"

namespace zellige::emit {

using kernel::Item;

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

/// A loop nest over a thread-value layout, whose steps are at one place of the schedule, and the values that its items have in the
/// source so far.
struct LoopNest {
  const kernel::Context& context;
  StepPlace place;
  std::set<int> raised = {};               // reductions whose sums have been raised to the maxima of this nest
  bool finds_maximum = false;              // the nest is the pass of a reduction that finds the maxima
  std::vector<NodeValue> values = {};      // by item
  std::vector<std::string> divisors = {};  // by item: name of its inverse, if the nest divides by it
};

/// Which results of a nest go to arrays of registers, and are stored after the loop.
struct KeptStores {
  const char* counter = nullptr;  // the variable that indexes the arrays; none: each result is stored at once
  bool matrices = false;          // only what is stored as matrices; otherwise whatever is stored in memory
};

/// A position in a loop nest of the source: the coordinate of the first of the neighbours that are evaluated together.
struct NestAt {
  LoopNest* loop = nullptr;
  std::vector<Index> at;
  Index chunk;           // index, in the layout's registers, of the vector that holds the neighbours
  Index line = 0;        // in a layout of rows: index of the row among the thread's
  std::string sum = {};  // for a reduction: the expression of the thread's partial result
  bool gathers = false;  // the elements of a reduction are gathered in `sum`, a vector, and then joined
  KeptStores keeps = {};
  const kernel::Context& context() const { return loop->context; }
  const StepPlace& place() const { return loop->place; }
  /// Returns the value of an item, which the items that use it read.
  template <class I>
  NodeValue& value(I item) const {
    return loop->values[static_cast<std::size_t>(item)];
  }
  /// Returns the index expression of a coordinate at this position of the loop nest, for example x + 1.
  Index index(const kernel::TileCoordinate&) const;
  std::vector<Index> index(const std::vector<kernel::TileCoordinate>&) const;
};

// loop_text.cpp: the loop over a thread's elements of a tile, and their coordinates.
/// The elements of a thread-value layout that one thread evaluates, after the loop over them has been opened.
struct ThreadShare {
  Index step;  // number of the current item among this thread's
  // Expression for the number of the current vector of elements in the tile.
  Index item;
  int open;  // number of braces to close
};
/// Options of the loop over a thread's items: type and name of its counter, the name of the item's number, and the pragma before the
/// loop.
struct ThreadLoop {
  const char *type, *counter, *item, *unroll = "";
  bool scaled = false;  // the item's number counts elements instead of vectors
  bool guarded = true;  // items beyond the last one are skipped
  // If > 0: the loop runs over this many of the thread's items, from the variable "first" on.
  int within = 0;
  std::int64_t from = 0, to = -1;  // the items [from, to) of the thread; -1: to the last
};
/// Returns how many steps of the loop along `axis` need no bounds check: in these first steps every thread has an element of the tile.
std::int64_t full_steps(const Context&, int axis);
/// Splits the steps of the loop along axis 0 of the thread-value layout, from step `first` on, into ranges, and calls each(from, to) for
/// each range. If the loop is `unrolled`, there is one range. Otherwise the first range has the steps in which every thread has an
/// element, and the second one the remaining steps.
void in_full_steps(const Context&, bool unrolled, std::int64_t first,
                   const std::function<void(std::int64_t, std::int64_t)>& each);
/// Emits the head of the loop over a thread's vectors of elements along an axis of a thread-value layout. Returns the indices of the
/// loop's current vector, and the number of braces that close() has to emit.
ThreadShare share(const KernelText&, const Context&, int axis, const ThreadLoop&);
void close(const KernelText&, const ThreadShare&);
/// Emits variables of integer type `type` for the coordinate, in the tile, of vector number `item` along `axis`. Returns the coordinate.
std::vector<Index> coordinate(const KernelText&, const char* type, const Index& item, const Context&, int axis);

// fragment_text.cpp: loop nests over accumulators, and nests that store the results of several iterations together.
/// Returns whether a loop nest reads memory, writes to memory that it does not read, and has no conditions. The stores of several
/// iterations can then be delayed until after all loads of these iterations. The nest may keep values in registers as well. If
/// `guarded`, a nest that reads global memory may have bounds checks.
bool reads_and_writes(const std::vector<Item>& items, bool guarded);
/// Emits a loop nest over a thread's accumulator registers, or over its rows of the accumulators.
void fragment_nest(const KernelText&, LoopNest, kernel::StepSpan);
/// Emits the computation of `many` iterations of a nest with results in registers, and then the stores of all these iterations. `each`
/// opens a loop over the iterations and returns the position in the nest; `close` closes the loop.
void buffer_stores(const KernelText&, LoopNest&, const std::vector<Item>&, const KeptStores&, int many,
                   const std::function<NestAt()>& each, const std::function<void()>& close);
/// Returns whether buffer_stores() stores what an item leaves after it has computed the results of several iterations.
bool is_kept(const Item&, const KeptStores&);
/// Returns the name of the array of registers that keeps the values of a store until buffer_stores() emits it.
std::string kept_name(const Item& leave);

// expression.cpp: the value of an operator of the kernel at a coordinate.
/// Emits, before the loop of a nest, the values that are invariant along it, and the inverses of invariant divisors.
void prepare(const KernelText&, const std::vector<Item>&, const NestAt&);
/// Emits the nest's loads, computations and stores that are not invariant, in order.
void evaluate(const KernelText&, const std::vector<Item>&, const NestAt&);
/// Emits an item at a position, and records the expression of its value for the items that use it.
void evaluate_one(const KernelText&, const std::vector<Item>&, std::size_t item, const NestAt&);
/// Returns the name of the Vec variable that has the value's `vector` elements. Emits the variable if there is none.
std::string store_value(const KernelText&, const NodeValue&, int vector);
/// Returns the expression of `vector` adjacent accumulators of operator `node`, at the coordinate in `nest`. If `other` is true, returns
/// those at the same row and column of another matrix of the batch: of the matrix with index 2 i + 1 in place of 2 i, and vice versa.
std::string accumulator(int node, const NestAt& nest, int vector, bool other = false);

// leave_text.cpp
/// Emits an item that is what a work does with its operator's value: a store, an accumulation, or the assignment to an operand.
void leave(const KernelText&, const Item&, const NestAt&);
/// Returns the condition under which a block stores its tile of the work's output; empty: always (kernel/sliced.hpp).
Condition in_slices(const KernelText&, const Work&);

// reduce_text.cpp
/// Returns whether a step reduces rows of accumulators by LogSum and reads no memory, so that elements are cheaply evaluated twice:
/// their maximum is found first, and then each takes one exponential, which waits for no other.
bool in_two_passes(const KernelText&, const kernel::Step&);
/// Emits the first pass of a reduction in two passes: the maxima, to which the sums are raised.
void raise(const KernelText&, const StepPlace&, const kernel::Step&);
/// Returns the number of results of a reduction of which a thread has parts.
std::string sums_of(const Context&);

// evaluate_text.cpp
/// Returns the C++ type of the registers that hold a tile in an instruction's layout (block/fragment.hpp).
std::string fragment_type(const Context&);
/// Returns the name of the accessor of class Fragment for adjacent elements of a thread: "pair" for mma.sync and wgmma accumulators,
/// "run" for FMA accumulators.
std::string runs(const Context&);
/// Returns the expression for a thread's number, from 0 to lanes - 1, among `lanes` lanes of its warp: those that share one row of the
/// accumulators or, in a replicated layout, those that have the same elements.
std::string lane_among(const Context&, int lanes);
/// Opens a condition for the threads that have elements of the layout, if some have none; returns whether it did.
bool open_threads(const KernelText&, const Context&);
/// Returns the expression for a buffer's tile at a stage; by default that of the pipelined loop's iteration.
std::string tile_at(const KernelText&, int buffer, const Index& stage = Index::named("stage"));

}  // namespace zellige::emit
