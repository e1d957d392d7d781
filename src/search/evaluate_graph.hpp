// Evaluates a whole graph without rounding over any kind of number, such as a finite field: its kernel-level
// operators, and every block and iteration of its custom operators. Intended for graphs with small sizes;
// reference/reference.hpp evaluates graphs of any size in float64.
//
//   std::vector<ArrayOf<Ball>> y = evaluate_graph(balls, g, inputs);     // one entry per graph output
#pragma once
#include <list>

#include "graph/block_tiles.hpp"
#include "graph/infer.hpp"
#include "search/evaluate_op.hpp"

namespace zellige::search {

/// Returns whether an operator on integers of this dtype has the same result, modulo a power of two, whatever multiples of 2^bits its
/// operands are off.
inline bool is_modular(graph::OpKind kind, const graph::Attributes& attributes, graph::DType dtype) {
  using enum graph::OpKind;
  if (kind == add || kind == sub || kind == mul || kind == neg || kind == square || kind == mul_scalar) return true;
  if (graph::is_view(kind) || kind == concat || kind == split) return true;
  if (kind == cast) {
    const graph::DType to = attributes.dtype;
    return graph::is_integer(to) && !attributes.saturate && to != graph::DType::boolean &&
           graph::bits(to) <= graph::bits(dtype);
  }
  return graph::adds_integers(kind) && kind != matmul && (dtype == graph::DType::int32 || dtype == graph::DType::int64);
}

/// Returns a tensor of this dtype with its integers in the dtype's range. Sums and products of integers are computed without limits, and
/// taken modulo 2^8, 2^16, 2^32 or 2^64 where that matters. A bool holds what a cast gave.
template <number::Arithmetic A>
ValuesOf<A> wrapped(A& a, ValuesOf<A> x, graph::DType dtype) {
  if (!graph::is_integer(dtype) || dtype == graph::DType::boolean) return x;
  const bool has_sign = graph::format(dtype).lowest < 0;
  const auto half = a.integer(has_sign ? 0 : std::int64_t{1} << (graph::bits(dtype) - 1));
  for (NumberOf<A>& v : x.values)
    v = has_sign ? a.wrapped(v, graph::bits(dtype)) : a.add(a.wrapped(a.sub(v, half), graph::bits(dtype)), half);
  return x;
}

/// Evaluates the thread blocks of a custom operator, one after another.
template <number::Arithmetic A>
class BlockRun {
 public:
  using N = NumberOf<A>;
  using OpKind = graph::OpKind;

  BlockRun(A& a, const graph::BlockGraph& b, const std::vector<const ValuesOf<A>*>& inputs,
           const std::vector<ValuesOf<A>*>& outputs)
      : a_(a), b_(b), inputs_(inputs), outputs_(outputs), varies_(graph::varies(b)), states_(b.ops.size()) {
    for (const graph::BlockTensor& t : b.tensors) tiles_.push_back(reference::make_array(t.shape, a.integer(0)));
  }

  /// Evaluates the thread block with the coordinates `block` in the grid: all iterations, then the operators
  /// after the loop, and the stores.
  void run(const graph::Dim3& block) {
    for (std::int64_t iteration = 0; iteration < b_.loop; ++iteration)
      for (std::size_t i = 0; i < b_.ops.size(); ++i) {
        const graph::BlockOp& op = b_.ops[i];
        if (graph::is_accumulator(op.kind))
          accumulate(op, states_[i], iteration == 0);
        else if (op.kind != OpKind::output && !b_.tensors[op.outputs[0]].after_loop &&
                 (iteration == 0 || varies_[op.outputs[0]]))
          compute(op, states_[i], block, iteration);
      }
    for (std::size_t i = 0; i < b_.ops.size(); ++i) {
      const graph::BlockOp& op = b_.ops[i];
      if (graph::is_accumulator(op.kind))
        finish(op, states_[i]);
      else if (op.kind == OpKind::output)
        store(op, block);
      else if (b_.tensors[op.outputs[0]].after_loop)
        compute(op, states_[i], block, 0);
    }
  }

 private:
  /// Loads the tile that block `block` reads in one iteration. Elements beyond the end of the tensor are set to 0.
  void load(const graph::BlockOp& op, const graph::Dim3& block, std::int64_t iteration) {
    const ValuesOf<A>& whole = *inputs_[op.kernel_tensor];
    ValuesOf<A>& tile = tiles_[op.outputs[0]];
    const graph::Shape origin = graph::tile_origin(op, tile.shape, block, iteration, b_.loop);
    if (!op.attributes.sizes.empty()) tile.values.assign(tile.values.size(), a_.integer(0));
    graph::copy_tile(whole.shape, tile.shape, origin, [&](std::int64_t w, std::int64_t t, std::int64_t n) {
      std::copy_n(&whole.values[w], n, &tile.values[t]);
    });
  }

  /// Stores the tile that thread block `block` has computed. Elements beyond the end of the tensor are not stored.
  void store(const graph::BlockOp& op, const graph::Dim3& block) {
    ValuesOf<A>& whole = *outputs_[op.kernel_tensor];
    const ValuesOf<A>& tile = tiles_[op.inputs[0]];
    if (const std::optional<graph::Shape> origin = graph::stored_at(op, tile.shape, block))
      graph::copy_tile(whole.shape, tile.shape, *origin, [&](std::int64_t w, std::int64_t t, std::int64_t n) {
        std::copy_n(&tile.values[t], n, &whole.values[w]);
      });
  }

  /// Evaluates an operator of the block that is no accumulator and no store. `state`: what it keeps between iterations.
  void compute(const graph::BlockOp& op, ValuesOf<A>& state, const graph::Dim3& block, std::int64_t iteration) {
    if (op.kind == graph::OpKind::input) return load(op, block, iteration);
    if (op.kind == graph::OpKind::reduction_max) return running_max(op, state, iteration == 0);
    std::vector<const ValuesOf<A>*> in;
    std::vector<ValuesOf<A>*> out;
    for (int t : op.inputs) in.push_back(&tiles_[t]);
    for (int t : op.outputs) out.push_back(&tiles_[t]);
    std::list<ValuesOf<A>> integers;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (const graph::DType dtype = b_.tensors[op.inputs[i]].dtype;
          graph::is_integer(dtype) && !is_modular(op.kind, op.attributes, dtype))
        in[i] = &integers.emplace_back(wrapped(a_, *in[i], dtype));
    graph::Attributes attributes = op.attributes;
    if (op.kind == graph::OpKind::mask)
      attributes = graph::mask_from(attributes, graph::tile_origin(op, out[0]->shape, block, iteration, b_.loop));
    evaluate_op(a_, op.kind, attributes, b_.tensors[op.inputs[0]].dtype, in, out);
  }

  /// Evaluates a running maximum. Its first result is the maximum so far. Its second result is the maximum
  /// after the previous iteration minus the first result; it is 0 in the first iteration.
  void running_max(const graph::BlockOp& op, ValuesOf<A>& state, bool first) {
    ValuesOf<A>&now = tiles_[op.outputs[0]], &difference = tiles_[op.outputs[1]];
    if (first) state = reference::make_array(now.shape, a_.constant(graph::monoids::max.start));
    now.values = state.values;
    fold_max(a_, tiles_[op.inputs[0]], op.attributes.dim, false, now);
    for (std::size_t i = 0; i < now.values.size(); ++i)
      difference.values[i] = first ? a_.integer(0) : a_.sub(state.values[i], now.values[i]);
    state.values = now.values;
  }

  /// Adds the operand of one iteration to an accumulator, after initialising the accumulator if `first` is true.
  void accumulate(const graph::BlockOp& op, ValuesOf<A>& state, bool first) {
    const ValuesOf<A> x = wrapped(a_, tiles_[op.inputs[0]], b_.tensors[op.inputs[0]].dtype);
    const graph::ReductionRow& row = *graph::reduction_of(op.kind);
    if (first)
      state = reference::make_array(row.along == graph::Along::then_last ? x.shape : tiles_[op.outputs[0]].shape,
                                    a_.constant(row.of->start));
    if (row.of == &graph::monoids::max) return fold_max(a_, x, -1, false, state);
    if (row.rescales && !first) {  // a sum of 0 stays 0, even if the factor is infinite
      const ValuesOf<A> old = state;
      map(a_, OpKind::mul, {}, {&old, &tiles_[op.inputs[1]]}, state);
    }
    if (row.along == graph::Along::iterations_last)
      return fold(a_, *row.of, x, static_cast<int>(x.shape.size()) - 1, row.squares, state);
    const ValuesOf<A> old = state;
    map(a_, row.of->join, {}, {&old, &x}, state);
  }

  /// Sets the result of an accumulator from its `state` after the loop.
  void finish(const graph::BlockOp& op, const ValuesOf<A>& state) {
    const graph::ReductionRow& row = *graph::reduction_of(op.kind);
    ValuesOf<A>& y = tiles_[op.outputs[0]];
    if (row.along == graph::Along::then_last) {
      y.values.assign(y.values.size(), a_.integer(0));
      fold(a_, graph::monoids::sum, state, static_cast<int>(state.shape.size()) - 1, false, y);
    } else {
      y.values = state.values;
    }
    if (row.then == graph::Then::nothing) return;
    const N count = a_.integer(tiles_[op.inputs[0]].shape.back() * b_.loop);
    for (N& v : y.values) v = a_.div(v, count);
    if (row.then == graph::Then::root_of_mean)
      for (N& v : y.values) v = a_.sqrt(v);
  }

  A& a_;
  const graph::BlockGraph& b_;
  const std::vector<const ValuesOf<A>*>& inputs_;
  const std::vector<ValuesOf<A>*>& outputs_;
  std::vector<bool> varies_;                 // by tile: it changes with the iteration
  std::vector<ValuesOf<A>> tiles_, states_;  // by tile; by operator, what it keeps between iterations
};

/// Returns the values of a valid graph's outputs, in the order of the outputs. `inputs` are in the order of
/// the graph's inputs. Throws Error if an operator has no meaning over this kind of number.
template <number::Arithmetic A>
std::vector<ValuesOf<A>> evaluate_graph(A& a, const graph::KernelGraph& g, const std::vector<ValuesOf<A>>& inputs) {
  std::vector<ValuesOf<A>> tensors(g.tensors.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) tensors[g.inputs[i]] = inputs[i];
  for (const graph::KernelOp& op : g.ops) {
    std::vector<const ValuesOf<A>*> in;
    std::vector<ValuesOf<A>*> out;
    for (int t : op.outputs) tensors[t] = reference::make_array(g.tensors[t].shape, a.integer(0));
    std::list<ValuesOf<A>> integers;
    for (int t : op.inputs) {
      const graph::DType dtype = g.tensors[t].dtype;
      const bool wraps = graph::is_integer(dtype) && !is_modular(op.kind, op.attributes, dtype);
      in.push_back(wraps ? &integers.emplace_back(wrapped(a, tensors[t], dtype)) : &tensors[t]);
    }
    for (int t : op.outputs) out.push_back(&tensors[t]);
    if (op.kind == graph::OpKind::custom) {
      BlockRun<A> run(a, *op.block, in, out);
      const graph::Dim3& grid = op.block->grid;
      for (std::int64_t x = 0; x < grid.x; ++x)
        for (std::int64_t y = 0; y < grid.y; ++y)
          for (std::int64_t z = 0; z < grid.z; ++z) run.run({x, y, z});
    } else {
      evaluate_op(a, op.kind, op.attributes, g.tensors[op.inputs[0]].dtype, in, out);
    }
  }
  std::vector<ValuesOf<A>> outputs;
  for (int t : g.outputs) outputs.push_back(wrapped(a, tensors[t], g.tensors[t].dtype));
  return outputs;
}

/// Returns the same at inputs that are exact real numbers.
template <number::Arithmetic A>
std::vector<ValuesOf<A>> evaluate_exactly(A& a, const graph::KernelGraph& g,
                                          const std::vector<reference::Array>& inputs) {
  std::vector<ValuesOf<A>> exact;
  for (const reference::Array& x : inputs) exact.push_back(mapped(x, [&](double v) { return a.exact(v); }));
  return evaluate_graph(a, g, exact);
}

}  // namespace zellige::search
