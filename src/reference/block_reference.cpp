#include "reference/block_reference.hpp"

#include <atomic>
#include <cstring>

#include "graph/block_tiles.hpp"
#include "graph/dtype.hpp"
#include "graph/infer.hpp"
#include "graph/kept.hpp"
#include "graph/ops.hpp"
#include "reference/evaluate.hpp"
#include "reference/masked.hpp"
#include "reference/noise.hpp"
#include "reference/parallel.hpp"

namespace zellige::reference {
namespace {

/// Data that all blocks of one custom operator's grid share while the reference runs them.
struct GridData {
  const graph::BlockGraph& block;
  const std::vector<const Array*>& inputs;
  const std::vector<Array*>& outputs;
  const Errors& errors;
  const ReferenceOptions& options;
  int op;                    // index into KernelGraph::ops
  std::vector<bool> varies;  // per block tensor: its value changes with the loop iteration
  std::vector<Mask> masked;  // per block tensor: non-finite values that masks may have produced
  // per block tensor: computed in the block and read by a matmul, which rounds it; other consumers read it unrounded
  std::vector<bool> operand;
};

/// Error bounds, or one operator's own errors, of all tiles and accumulators. Empty unless the options request errors.
struct BlockErrors {
  std::vector<Array> tiles, states;
  std::vector<std::vector<double>> rounded;  // the errors of the tiles as rounded for a matmul
};

/// The values of one block, and their errors.
struct BlockState {
  explicit BlockState(const GridData& grid) : p(grid), states(p.block.ops.size()) {
    for (const graph::BlockTensor& t : p.block.tensors) tiles.push_back(make_array(t.shape));
    rounded.resize(tiles.size());
    for (std::size_t i = 0; i < p.block.ops.size(); ++i) {
      const graph::BlockOp& op = p.block.ops[i];
      if (op.kind == graph::OpKind::reduction_max) states[i] = make_array(p.block.tensors[op.outputs[0]].shape);
      if (graph::is_accumulator(op.kind)) {
        const bool whole = graph::reduction_of(op.kind)->along == graph::Along::then_last;
        states[i] = make_array(p.block.tensors[whole ? op.inputs[0] : op.outputs[0]].shape);
      }
    }
    if (p.options.errors) bound = {tiles, states, rounded};
    if (p.options.sample) own = bound;
  }

  /// Returns whether the operator reads this operand rounded to its dtype. True for A and B of a matmul if
  /// the block computes them; a loaded tile is rounded already.
  bool rounds(const graph::BlockOp& op, std::size_t i) const {
    return op.kind == graph::OpKind::matmul && i < 2 && p.operand[op.inputs[i]];
  }
  /// Returns the values of tile `t` together with their errors, which `e` holds for all tiles: either error bounds,
  /// or the errors that one operator alone adds.
  Uncertain uncertain(int t, const BlockErrors& e) const { return {tiles[t], e.tiles[t].values.data()}; }

  bool errors() const { return p.options.errors; }
  bool sampling() const { return p.options.sample != 0; }

  const GridData& p;
  std::vector<Array> tiles;
  std::vector<std::vector<double>> rounded;  // tiles that a matmul reads, rounded to their dtype
  std::vector<Array> states;                 // accumulators and running maxima, per operator
  BlockErrors bound, own;  // error bounds of the values (rounding.hpp), and the errors that the latest operator adds
};

/// Copies an input operator's tile, for one block and iteration, from the kernel-level tensor. Elements
/// beyond the tensor become zeros.
void load_tile(BlockState& s, const graph::BlockOp& op, const graph::Dim3& block, std::int64_t iteration) {
  const Array& whole = *s.p.inputs[op.kernel_tensor];
  Array& tile = s.tiles[op.outputs[0]];
  const graph::Shape origin = graph::tile_origin(op, tile.shape, block, iteration, s.p.block.loop);
  if (!op.attributes.sizes.empty()) {
    std::ranges::fill(tile.values, 0.0);
    if (s.errors()) std::ranges::fill(s.bound.tiles[op.outputs[0]].values, 0.0);
  }
  graph::copy_tile(whole.shape, tile.shape, origin, [&](std::int64_t w, std::int64_t t, std::int64_t n) {
    std::memcpy(tile.values.data() + t, whole.values.data() + w, n * sizeof(double));
    if (s.errors())
      std::memcpy(s.bound.tiles[op.outputs[0]].values.data() + t, s.p.errors.in[op.kernel_tensor]->values.data() + w,
                  n * sizeof(double));
  });
}

/// Copies an output operator's tile, for one block, to the kernel-level output. Does nothing if the
/// operator stores a slice and the tile is outside of the slice.
void store_tile(const BlockState& s, const graph::BlockOp& op, const graph::Dim3& block) {
  Array& whole = *s.p.outputs[op.kernel_tensor];
  const Array& tile = s.tiles[op.inputs[0]];
  const std::optional<graph::Shape> origin = graph::stored_at(op, tile.shape, block);
  if (!origin) return;
  graph::copy_tile(whole.shape, tile.shape, *origin, [&](std::int64_t w, std::int64_t t, std::int64_t n) {
    std::memcpy(whole.values.data() + w, tile.values.data() + t, n * sizeof(double));
    if (s.errors())
      std::memcpy(s.p.errors.out[op.kernel_tensor]->values.data() + w, s.bound.tiles[op.inputs[0]].values.data() + t,
                  n * sizeof(double));
  });
}

/// Computes the error bounds of the two results of reduction_max: the new running maximum, and the old
/// running maximum minus the new one. `first`: it is the first iteration. Must be called before the running
/// maximum is updated, because the bounds depend on the maximum of the previous iteration.
void running_max_error(BlockState& s, const graph::BlockOp& op, std::size_t index, bool first) {
  std::vector<double>&state = s.bound.states[index].values, &difference = s.bound.tiles[op.outputs[1]].values;
  if (first) std::fill(state.begin(), state.end(), 0.0);
  difference = state;
  fold_max_error(s.uncertain(op.inputs[0], s.bound), op.attributes.dim, s.tiles[op.outputs[0]],
                 {s.states[index].shape, state.data()});
  s.bound.tiles[op.outputs[0]].values = state;
  for (std::size_t i = 0; i < state.size(); ++i) difference[i] = first ? 0 : difference[i] + state[i];
}

/// Computes the two results of reduction_max in one iteration: the new running maximum, and the old running
/// maximum minus the new one. `first`: it is the first iteration, in which this difference is 0.
void running_max(BlockState& s, const graph::BlockOp& op, std::size_t index, bool first) {
  Array &state = s.states[index], &now = s.tiles[op.outputs[0]], &difference = s.tiles[op.outputs[1]];
  if (first)
    std::fill(state.values.begin(), state.values.end(),
              graph::start_in(graph::monoids::max, s.p.block.tensors[op.inputs[0]].dtype));
  now.values = state.values;
  if (s.errors()) running_max_error(s, op, index, first);
  fold(graph::monoids::max, s.tiles[op.inputs[0]], op.attributes.dim, false, s.tiles[op.outputs[0]]);
  for (std::size_t i = 0; i < now.values.size(); ++i)
    difference.values[i] = first && now.values[i] == now.values[i] ? 0 : state.values[i] - now.values[i];
  if (s.errors())
    for (std::size_t i = 0; i < now.values.size(); ++i)
      s.bound.tiles[op.outputs[1]].values[i] +=
          sum_error(1, s.p.block.tensors[op.inputs[0]].dtype) * std::fabs(difference.values[i]);
  state.values = now.values;
}

/// Updates the errors of an accumulator's running value, which are in `e`, by one iteration. `first`: it is
/// the first iteration. Must be called before the value is updated, because the errors depend on the value
/// of the previous iteration.
void accumulate_error(const BlockState& s, const graph::BlockOp& op, std::size_t index, bool first, BlockErrors& e) {
  const graph::DType dtype = s.p.block.tensors[op.inputs[0]].dtype;
  const bool exact = graph::is_integer(dtype);
  const Array& state = s.states[index];
  const Uncertain x = s.uncertain(op.inputs[0], e);
  const ResultValues to{state.shape, e.states[index].values.data()};
  const int last = static_cast<int>(x.at.shape.size()) - 1;
  const graph::ReductionRow& row = *graph::reduction_of(op.kind);
  if (first) std::fill(to.values, to.values + state.values.size(), 0.0);
  if (row.of == &graph::monoids::max) return fold_max_error(x, -1, state, to);
  if (row.of != &graph::monoids::sum) return joined_error(row.of->join, state, x, to, dtype);
  if (!first && row.rescales) joined_error(graph::OpKind::mul, state, s.uncertain(op.inputs[1], e), to, dtype);
  if (row.along != graph::Along::iterations_last)  // element by element
    for (std::size_t i = 0; i < state.values.size(); ++i)
      to.values[i] += x.error[i] + (exact ? 0 : sum_error(s.p.block.loop, dtype) * std::fabs(x.at.values[i]));
  else if (exact)
    fold(graph::monoids::sum, {x.at.shape, x.error}, last, false, to);
  else
    fold_error(x, last, row.squares, x.at.shape[last] / state.shape[last] * s.p.block.loop, to, dtype);
}

/// Adds one iteration's tile to the running value of an accumulator. `index`: the operator's index in the
/// block graph; `first`: it is the first iteration, so that the running value is initialised before.
void accumulate(BlockState& s, const graph::BlockOp& op, std::size_t index, bool first) {
  Array& state = s.states[index];
  const Array& x = s.tiles[op.inputs[0]];
  const int last = static_cast<int>(x.shape.size()) - 1;
  const graph::ReductionRow& row = *graph::reduction_of(op.kind);
  if (first)
    std::fill(state.values.begin(), state.values.end(),
              graph::start_in(*row.of, s.p.block.tensors[op.inputs[0]].dtype));
  if (s.errors()) accumulate_error(s, op, index, first, s.bound);
  if (s.sampling()) accumulate_error(s, op, index, first, s.own);
  if (row.rescales && !first)  // in the first iteration the state is 0, whatever r is
    broadcast(state, s.tiles[op.inputs[1]], state, [](double a, double r) { return a * r; });
  fold(*row.of, x, row.along == graph::Along::iterations_last ? last : -1, row.squares, state);
}

/// Computes the errors of an accumulator's result after the loop, from those of its running value; both are
/// in `side`. `count`: the number of elements by which a mean divides.
void finish_error(const BlockState& s, const graph::BlockOp& op, std::size_t index, double count, BlockErrors& side) {
  const Array& state = s.states[index];
  const graph::ReductionRow& row = *graph::reduction_of(op.kind);
  std::vector<double>& e = side.tiles[op.outputs[0]].values;
  const graph::DType dtype = s.p.block.tensors[op.inputs[0]].dtype;
  if (row.along == graph::Along::then_last) {
    std::fill(e.begin(), e.end(), 0.0);
    const int last = static_cast<int>(state.shape.size()) - 1;
    fold_error({state, side.states[index].values.data()}, last, false, state.shape[last],
               {s.p.block.tensors[op.outputs[0]].shape, e.data()}, dtype);
  } else {
    e = side.states[index].values;
  }
  if (row.then != graph::Then::nothing)
    mean_error(state, count, row.then == graph::Then::root_of_mean, e.data(), dtype);
}

/// Computes an accumulator's result from its running value, after the loop: the sum over the last
/// dimension, the mean, the root mean square or the value itself, as the kind of accumulator requires.
void finish(BlockState& s, const graph::BlockOp& op, std::size_t index) {
  const graph::ReductionRow& row = *graph::reduction_of(op.kind);
  const Array& state = s.states[index];
  Array& y = s.tiles[op.outputs[0]];
  const double count = static_cast<double>(s.tiles[op.inputs[0]].shape.back() * s.p.block.loop);
  if (s.errors()) finish_error(s, op, index, count, s.bound);
  if (s.sampling()) finish_error(s, op, index, count, s.own);
  if (row.along == graph::Along::then_last) {
    std::fill(y.values.begin(), y.values.end(), 0.0);
    fold(graph::monoids::sum, state, static_cast<int>(state.shape.size()) - 1, false, s.tiles[op.outputs[0]]);
  } else {
    y.values = state.values;
  }
  if (const graph::DType made = s.p.block.tensors[op.outputs[0]].dtype; graph::is_integer(made))
    for (double& v : y.values) v = graph::wrapped(static_cast<std::int64_t>(v), graph::format(made));
  if (row.then == graph::Then::mean)
    for (double& v : y.values) v /= count;
  if (row.then == graph::Then::root_of_mean)
    for (double& v : y.values) v = std::sqrt(v / count);
}

/// Computes the errors of an operator's results from those of its operands; both are in `e`.
void propagate_block_errors(const BlockState& s, const graph::BlockOp& op, const graph::Attributes& attributes,
                            const std::vector<OperandValues>& operands, BlockErrors& e) {
  std::vector<Uncertain> in;
  std::vector<OperandValues> out;
  std::vector<double*> to;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const int t = op.inputs[i];
    in.push_back({operands[i], s.rounds(op, i) ? e.rounded[t].data() : e.tiles[t].values.data()});
  }
  for (int t : op.outputs) out.push_back(s.tiles[t]), to.push_back(e.tiles[t].values.data());
  const bool carried = !s.p.block.tensors[op.outputs[0]].after_loop;
  propagate(op.kind, attributes, s.p.block.tensors[op.inputs[0]].dtype, in, out, to, carried ? s.p.block.loop : 1);
}

/// Runs blocks of a custom operator's grid, one at a time. Each thread has a worker of its own.
class Worker {
 public:
  explicit Worker(const GridData& p) : s_(p), magnitudes_(p.block.tensors.size()) {}

  /// Runs all loop iterations of one block, then the operators after the loop, and stores the outputs.
  void run(const graph::Dim3& block) {
    const graph::BlockGraph& b = s_.p.block;
    noise_ = Noise(s_.p.options.sample, s_.p.op, block.x + b.grid.x * (block.y + b.grid.y * block.z));
    for (std::int64_t iteration = 0; iteration < b.loop; ++iteration)
      for (std::size_t i = 0; i < b.ops.size(); ++i) {
        const graph::BlockOp& op = b.ops[i];
        if (graph::is_accumulator(op.kind))
          accumulate(s_, op, i, iteration == 0);
        else if (op.kind != graph::OpKind::output && !b.tensors[op.outputs[0]].after_loop &&
                 (iteration == 0 || s_.p.varies[op.outputs[0]]))
          compute(op, i, block, iteration);
      }
    for (std::size_t i = 0; i < b.ops.size(); ++i) {
      const graph::BlockOp& op = b.ops[i];
      if (graph::is_accumulator(op.kind)) {
        finish(s_, op, i);
        if (s_.sampling()) perturb(op);
        made(op.outputs[0]);
      } else if (op.kind == graph::OpKind::output) {
        store_tile(s_, op, block);
      } else if (b.tensors[op.outputs[0]].after_loop) {
        compute(op, i, block, 0);
      }
    }
  }

  const std::vector<Magnitude>& magnitudes() const { return magnitudes_; }
  bool stopped() const { return stopped_; }

 private:
  /// Changes the results of an operator at random, as the rounding of a right kernel might change them: by at
  /// most the operator's own error bound.
  void perturb(const graph::BlockOp& op) {
    const auto bound = [&](int t) -> const std::vector<double>& { return s_.bound.tiles[t].values; };
    std::vector<double>& y = s_.tiles[op.outputs[0]].values;
    if (jumps(op.kind)) return noise_.perturb(y, bound(op.outputs[0]));
    if (cuts(op.kind, op.attributes)) noise_.cut(op.attributes, s_.tiles[op.inputs[0]].values, bound(op.inputs[0]), y);
    for (int t : op.outputs) {
      std::vector<double>& own = s_.own.tiles[t].values;
      noise_.move(s_.tiles[t].values, own);
      std::ranges::fill(own, 0.0);
    }
  }

  /// Computes the results of an operator other than an accumulator or output, in one iteration of one block, and their
  /// error bounds if these are requested. Then checks the results' magnitudes against the limits in the options.
  void compute(const graph::BlockOp& op, std::size_t index, const graph::Dim3& block, std::int64_t iteration) {
    if (op.kind == graph::OpKind::input) {
      return load_tile(s_, op, block, iteration);
    } else if (op.kind == graph::OpKind::reduction_max) {
      running_max(s_, op, index, iteration == 0);
    } else {
      std::vector<OperandValues> operands;
      std::vector<ResultValues> results;
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const int t = op.inputs[i];
        operands.push_back(s_.rounds(op, i) ? OperandValues(s_.tiles[t].shape, s_.rounded[t].data()) : s_.tiles[t]);
      }
      for (int t : op.outputs) results.push_back(s_.tiles[t]);
      graph::Attributes attributes = op.attributes;
      if (op.kind == graph::OpKind::mask)  // its bounds are in coordinates of the whole tensor
        attributes =
            graph::mask_from(attributes, graph::tile_origin(op, results[0].shape, block, iteration, s_.p.block.loop));
      graph::Attributes evaluated = attributes;
      evaluated.tf32 = evaluated.tf32 && s_.p.options.round;
      if (op.kind == graph::OpKind::cast && !s_.p.options.round && !graph::is_integer(op.attributes.dtype))
        s_.tiles[op.outputs[0]].values = s_.tiles[op.inputs[0]].values;
      else
        evaluate(op.kind, evaluated, operands, results, s_.p.block.tensors[op.inputs[0]].dtype);
      if (s_.errors()) propagate_block_errors(s_, op, attributes, operands, s_.bound);
      if (s_.sampling()) propagate_block_errors(s_, op, attributes, operands, s_.own), perturb(op);
      if (op.kind == graph::OpKind::exp) check_exponent(op);
    }
    for (int t : op.outputs) made(t);
  }

  /// Stops the run if an argument of `op`, an exp, exceeds ReferenceOptions::exp_limit.
  void check_exponent(const graph::BlockOp& op) {
    if (s_.p.options.exp_limit == infinity) return;
    if (magnitude(s_.tiles[op.inputs[0]].values, s_.p.masked[op.inputs[0]]).within(s_.p.options.exp_limit)) return;
    magnitudes_[op.outputs[0]].finite = false;
    stopped_ = true;
  }

  /// Finishes tile `t` after its values are computed. If a matmul reads the tile, also stores the values rounded to the
  /// tile's dtype. Stops the run if the tile's magnitude exceeds the limit for it in the options.
  void made(int t) {
    if (!s_.p.operand[t]) {
      if (s_.p.options.tile_limit == infinity) return;
      const Magnitude m = magnitude(s_.tiles[t].values, s_.p.masked[t]);
      if (m.within(s_.p.options.tile_limit)) return;
      magnitudes_[t] = join(magnitudes_[t], m);
      stopped_ = true;
      return;
    }
    std::vector<double>& values = s_.rounded[t];
    values = s_.tiles[t].values;
    const graph::DType dtype = s_.p.block.tensors[t].dtype;
    if (s_.sampling()) {
      s_.own.rounded[t].assign(values.size(), 0);
      noise_.store(dtype, values, s_.bound.tiles[t].values);
    }
    if (s_.errors()) {
      s_.bound.rounded[t] = s_.bound.tiles[t].values;
      if (s_.p.options.round) storage_error(dtype, values, s_.bound.rounded[t]);
    }
    if (s_.p.options.round) graph::round_to(dtype, values.data(), std::ssize(values));
    const Magnitude m = magnitude(values, s_.p.masked[t]);
    magnitudes_[t] = join(magnitudes_[t], m);
    stopped_ = stopped_ || s_.p.options.stops_at(m);
  }

  BlockState s_;
  std::vector<Magnitude> magnitudes_;
  Noise noise_;
  bool stopped_ = false;
};

}  // namespace

std::vector<BlockOperand> run_block_graph(const graph::KernelGraph& g, int op, const std::vector<const Array*>& inputs,
                                          const std::vector<Array*>& outputs, const Errors& errors,
                                          const ReferenceOptions& options, const std::vector<Mask>& masked,
                                          bool& stopped) {
  std::vector<Mask> in;
  for (int t : g.ops[op].inputs) in.push_back(masked[t]);
  const graph::BlockGraph& block = *g.ops[op].block;
  std::vector<bool> operand(block.tensors.size(), false);
  for (const graph::BlockOp& inner : block.ops)
    if (inner.kind == graph::OpKind::matmul) operand[inner.inputs[0]] = operand[inner.inputs[1]] = true;  // no bias
  for (const graph::BlockOp& inner : block.ops)
    if (inner.kind == graph::OpKind::input)
      operand[inner.outputs[0]] = false;  // rounded already, as a kernel-level tensor
  const GridData program{
      block, inputs, outputs, errors, options, op, graph::varies(block), reference::masked(block, in), operand};
  const int threads = static_cast<int>(
      std::min<std::int64_t>(options.threads > 0 ? options.threads : hardware_threads(), block.grid.count()));
  std::vector<Worker> workers(threads, Worker(program));
  std::atomic<bool> stop{false};
  parallel_for(block.grid.count(), threads, [&](std::int64_t index, int worker) {
    if (stop) return;
    const std::int64_t x = index % block.grid.x, yz = index / block.grid.x;
    workers[worker].run({x, yz % block.grid.y, yz / block.grid.y});
    if (workers[worker].stopped()) stop = true;
  });
  stopped = stop;
  std::vector<BlockOperand> operands;
  for (std::size_t t = 0; t < block.tensors.size(); ++t) {
    Magnitude m;
    for (const Worker& w : workers) m = join(m, w.magnitudes()[t]);
    if (!program.operand[t] && m.within(0)) continue;  // not a matmul's operand, and within the limits
    operands.push_back({op, static_cast<int>(t), m});
  }
  return operands;
}

}  // namespace zellige::reference
