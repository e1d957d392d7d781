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

/// Runs blocks of a custom operator's grid, one at a time. Each thread has a worker of its own.
class Worker {
 public:
  explicit Worker(const GridData& p) : p_(p), magnitudes_(p.block.tensors.size()), states_(p.block.ops.size()) {
    for (const graph::BlockTensor& t : p.block.tensors) tiles_.push_back(make_array(t.shape));
    rounded_.resize(tiles_.size());
    for (std::size_t i = 0; i < p.block.ops.size(); ++i) {
      const graph::BlockOp& op = p.block.ops[i];
      if (op.kind == graph::OpKind::reduction_max) states_[i] = make_array(p.block.tensors[op.outputs[0]].shape);
      if (graph::is_accumulator(op.kind)) {
        const bool whole = graph::reduction_of(op.kind)->along == graph::Along::then_last;
        states_[i] = make_array(p.block.tensors[whole ? op.inputs[0] : op.outputs[0]].shape);
      }
    }
    if (p.options.errors) bound_ = {tiles_, states_, rounded_};
    if (p.options.sample) own_ = bound_;
  }

  /// Runs all loop iterations of one block, then the operators after the loop, and stores the outputs.
  void run(const graph::Dim3& block) {
    const graph::BlockGraph& b = p_.block;
    noise_ = Noise(p_.options.sample, p_.op, block.x + b.grid.x * (block.y + b.grid.y * block.z));
    for (std::int64_t iteration = 0; iteration < b.loop; ++iteration)
      for (std::size_t i = 0; i < b.ops.size(); ++i) {
        const graph::BlockOp& op = b.ops[i];
        if (graph::is_accumulator(op.kind))
          accumulate(op, i, iteration == 0);
        else if (op.kind != graph::OpKind::output && !b.tensors[op.outputs[0]].after_loop &&
                 (iteration == 0 || p_.varies[op.outputs[0]]))
          compute(op, i, block, iteration);
      }
    for (std::size_t i = 0; i < b.ops.size(); ++i) {
      const graph::BlockOp& op = b.ops[i];
      if (graph::is_accumulator(op.kind))
        finish(op, i);
      else if (op.kind == graph::OpKind::output)
        store(op, block);
      else if (b.tensors[op.outputs[0]].after_loop)
        compute(op, i, block, 0);
    }
  }

  const std::vector<Magnitude>& magnitudes() const { return magnitudes_; }
  bool stopped() const { return stopped_; }

 private:
  /// Returns whether the operator reads this operand rounded to its dtype. True for A and B of a matmul if
  /// the block computes them; a loaded tile is rounded already.
  bool rounds(const graph::BlockOp& op, std::size_t operand) const {
    return op.kind == graph::OpKind::matmul && operand < 2 && p_.operand[op.inputs[operand]];
  }
  OperandValues operand(int t) const { return {p_.block.tensors[t].shape, tiles_[t].values.data()}; }
  ResultValues result(int t) { return {p_.block.tensors[t].shape, tiles_[t].values.data()}; }

  bool errors() const { return p_.options.errors; }
  bool sampling() const { return p_.options.sample != 0; }

  /// Error bounds, or one operator's own errors, of all tiles and accumulators. `rounded` holds the errors of
  /// the tiles as rounded for a matmul. Empty unless ReferenceOptions requests errors.
  struct Side {
    std::vector<Array> tiles, states;
    std::vector<std::vector<double>> rounded;
  };
  /// Returns the values of tile `t` together with their errors, which `e` holds for all tiles: either error bounds,
  /// or the errors that one operator alone adds.
  Uncertain uncertain(int t, const Side& e) const { return {operand(t), e.tiles[t].values.data()}; }

  /// Changes the results of an operator at random, as the rounding of a right kernel might change them: by at
  /// most the operator's own error bound.
  void perturb(const graph::BlockOp& op) {
    if (jumps(op.kind)) {
      std::vector<double>& y = tiles_[op.outputs[0]].values;
      return noise_.perturb(y.data(), bound_.tiles[op.outputs[0]].values.data(), static_cast<std::int64_t>(y.size()));
    }
    if (cuts(op.kind, op.attributes)) {
      std::vector<double>& y = tiles_[op.outputs[0]].values;
      noise_.cut(op.attributes, operands_[0].values, bound_.tiles[op.inputs[0]].values.data(), y.data(),
                 static_cast<std::int64_t>(y.size()));
    }
    for (int t : op.outputs) {
      std::vector<double>& own = own_.tiles[t].values;
      noise_.move(tiles_[t].values.data(), own.data(), static_cast<std::int64_t>(own.size()));
      std::fill(own.begin(), own.end(), 0.0);
    }
  }

  /// Computes the results of an operator other than an accumulator or output, in one iteration of one block, and their
  /// error bounds if these are requested. Then checks the results' magnitudes against the limits in the options.
  void compute(const graph::BlockOp& op, std::size_t index, const graph::Dim3& block, std::int64_t iteration) {
    if (op.kind == graph::OpKind::input) {
      return load(op, block, iteration);
    } else if (op.kind == graph::OpKind::reduction_max) {
      running_max(op, index, iteration == 0);
    } else {
      operands_.clear();
      results_.clear();
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const int t = op.inputs[i];
        operands_.push_back(rounds(op, i) ? OperandValues{p_.block.tensors[t].shape, rounded_[t].data()} : operand(t));
      }
      for (int t : op.outputs) results_.push_back(result(t));
      graph::Attributes attributes = op.attributes;
      if (op.kind == graph::OpKind::mask)  // its bounds are in coordinates of the whole tensor
        attributes =
            graph::mask_from(attributes, graph::tile_origin(op, results_[0].shape, block, iteration, p_.block.loop));
      graph::Attributes evaluated = attributes;
      evaluated.tf32 = evaluated.tf32 && p_.options.round;
      if (op.kind == graph::OpKind::cast && !p_.options.round && !graph::is_integer(op.attributes.dtype))
        tiles_[op.outputs[0]].values = tiles_[op.inputs[0]].values;
      else
        evaluate(op.kind, evaluated, operands_, results_, p_.block.tensors[op.inputs[0]].dtype);
      if (errors()) propagate_errors(op, attributes, bound_);
      if (sampling()) propagate_errors(op, attributes, own_), perturb(op);
      if (op.kind == graph::OpKind::exp) check_exponent(op);
    }
    for (int t : op.outputs) made(t);
  }

  /// Updates `e`, which has errors of all tiles: computes the errors of an operator's results from those of
  /// its operands.
  void propagate_errors(const graph::BlockOp& op, const graph::Attributes& attributes, Side& e) {
    std::vector<Uncertain> in;
    std::vector<OperandValues> out;
    std::vector<double*> to;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const int t = op.inputs[i];
      in.push_back({operands_[i], rounds(op, i) ? e.rounded[t].data() : e.tiles[t].values.data()});
    }
    for (int t : op.outputs) out.push_back(operand(t)), to.push_back(e.tiles[t].values.data());
    const bool carried = !p_.block.tensors[op.outputs[0]].after_loop;
    propagate(op.kind, attributes, p_.block.tensors[op.inputs[0]].dtype, in, out, to, carried ? p_.block.loop : 1);
  }

  /// Stops the run if an argument of `op`, an exp, exceeds ReferenceOptions::exp_limit.
  void check_exponent(const graph::BlockOp& op) {
    if (p_.options.exp_limit == std::numeric_limits<double>::infinity()) return;
    const std::vector<double>& x = tiles_[op.inputs[0]].values;
    const auto count = static_cast<std::int64_t>(x.size());
    if (magnitude(x.data(), count, p_.masked[op.inputs[0]]).within(p_.options.exp_limit)) return;
    magnitudes_[op.outputs[0]].finite = false;
    stopped_ = true;
  }

  /// Finishes tile `t` after its values are computed. If a matmul reads the tile, also stores the values rounded to the
  /// tile's dtype. Stops the run if the tile's magnitude exceeds the limit for it in the options.
  void made(int t) {
    if (!p_.operand[t]) {
      if (p_.options.tile_limit == std::numeric_limits<double>::infinity()) return;
      const Magnitude m =
          magnitude(tiles_[t].values.data(), static_cast<std::int64_t>(tiles_[t].values.size()), p_.masked[t]);
      if (m.within(p_.options.tile_limit)) return;
      magnitudes_[t] = join(magnitudes_[t], m);
      stopped_ = true;
      return;
    }
    std::vector<double>& values = rounded_[t];
    values = tiles_[t].values;
    const auto count = static_cast<std::int64_t>(values.size());
    if (errors()) {
      const graph::DType dtype = p_.block.tensors[t].dtype;
      if (sampling())
        own_.rounded[t].assign(values.size(), 0),
            noise_.store(dtype, values.data(), bound_.tiles[t].values.data(), count);
      bound_.rounded[t] = bound_.tiles[t].values;
      if (p_.options.round) storage_error(dtype, values.data(), bound_.rounded[t].data(), count);
    }
    if (p_.options.round) graph::round_to(p_.block.tensors[t].dtype, values.data(), count);
    const Magnitude m = magnitude(values.data(), count, p_.masked[t]);
    magnitudes_[t] = join(magnitudes_[t], m);
    stopped_ = stopped_ || p_.options.stops_at(m);
  }

  /// Copies an input operator's tile, for one block and iteration, from the kernel-level tensor. Elements
  /// beyond the tensor become zeros.
  void load(const graph::BlockOp& op, const graph::Dim3& block, std::int64_t iteration) {
    const Array& whole = *p_.inputs[op.kernel_tensor];
    Array& tile = tiles_[op.outputs[0]];
    const graph::Shape origin = graph::tile_origin(op, tile.shape, block, iteration, p_.block.loop);
    if (!op.attributes.sizes.empty()) {
      std::ranges::fill(tile.values, 0.0);
      if (errors()) std::ranges::fill(bound_.tiles[op.outputs[0]].values, 0.0);
    }
    graph::copy_tile(whole.shape, tile.shape, origin, [&](std::int64_t w, std::int64_t t, std::int64_t n) {
      std::memcpy(tile.values.data() + t, whole.values.data() + w, n * sizeof(double));
      if (errors())
        std::memcpy(bound_.tiles[op.outputs[0]].values.data() + t, p_.errors.in[op.kernel_tensor]->values.data() + w,
                    n * sizeof(double));
    });
  }

  /// Copies an output operator's tile, for one block, to the kernel-level output. Does nothing if the
  /// operator stores a slice and the tile is outside of the slice.
  void store(const graph::BlockOp& op, const graph::Dim3& block) {
    Array& whole = *p_.outputs[op.kernel_tensor];
    const Array& tile = tiles_[op.inputs[0]];
    const std::optional<graph::Shape> origin = graph::stored_at(op, tile.shape, block);
    if (!origin) return;
    graph::copy_tile(whole.shape, tile.shape, *origin, [&](std::int64_t w, std::int64_t t, std::int64_t n) {
      std::memcpy(whole.values.data() + w, tile.values.data() + t, n * sizeof(double));
      if (errors())
        std::memcpy(p_.errors.out[op.kernel_tensor]->values.data() + w, bound_.tiles[op.inputs[0]].values.data() + t,
                    n * sizeof(double));
    });
  }

  /// Computes the two results of reduction_max in one iteration: the new running maximum, and the old running
  /// maximum minus the new one. `first`: it is the first iteration, in which this difference is 0.
  void running_max(const graph::BlockOp& op, std::size_t index, bool first) {
    Array &state = states_[index], &now = tiles_[op.outputs[0]], &difference = tiles_[op.outputs[1]];
    if (first) std::fill(state.values.begin(), state.values.end(), graph::monoids::max.start);
    now.values = state.values;
    if (errors()) running_max_error(op, index, first);
    fold(graph::monoids::max, operand(op.inputs[0]), op.attributes.dim, false, result(op.outputs[0]));
    for (std::size_t i = 0; i < now.values.size(); ++i)
      difference.values[i] = first && now.values[i] == now.values[i] ? 0 : state.values[i] - now.values[i];
    if (errors())
      for (std::size_t i = 0; i < now.values.size(); ++i)
        bound_.tiles[op.outputs[1]].values[i] += sum_error(1) * std::fabs(difference.values[i]);
    state.values = now.values;
  }

  /// Computes the error bounds of the two results of reduction_max: the new running maximum, and the old
  /// running maximum minus the new one. `first`: it is the first iteration. Must be called before the running
  /// maximum is updated, because the bounds depend on the maximum of the previous iteration.
  void running_max_error(const graph::BlockOp& op, std::size_t index, bool first) {
    std::vector<double>&state = bound_.states[index].values, &difference = bound_.tiles[op.outputs[1]].values;
    if (first) std::fill(state.begin(), state.end(), 0.0);
    difference = state;
    fold_max_error(uncertain(op.inputs[0], bound_), op.attributes.dim, operand(op.outputs[0]),
                   {states_[index].shape, state.data()});
    bound_.tiles[op.outputs[0]].values = state;
    for (std::size_t i = 0; i < state.size(); ++i) difference[i] = first ? 0 : difference[i] + state[i];
  }

  /// Adds one iteration's tile to the running value of an accumulator. `index`: the operator's index in the
  /// block graph; `first`: it is the first iteration, so that the running value is initialised before.
  void accumulate(const graph::BlockOp& op, std::size_t index, bool first) {
    Array& state = states_[index];
    const OperandValues x = operand(op.inputs[0]);
    const ResultValues acc{state.shape, state.values.data()};
    const int last = static_cast<int>(x.shape.size()) - 1;
    const graph::ReductionRow& row = *graph::reduction_of(op.kind);
    if (first) std::fill(state.values.begin(), state.values.end(), row.of->start);
    if (errors()) accumulate_error(op, index, first, bound_);
    if (sampling()) accumulate_error(op, index, first, own_);
    if (row.rescales && !first)  // in the first iteration the state is 0, whatever r is
      broadcast({state.shape, state.values.data()}, operand(op.inputs[1]), acc,
                [](double a, double r) { return a * r; });
    fold(*row.of, x, row.along == graph::Along::iterations_last ? last : -1, row.squares, acc);
  }

  /// Updates the errors of an accumulator's running value, which are in `e`, by one iteration. `first`: it is
  /// the first iteration. Must be called before the value is updated, because the errors depend on the value
  /// of the previous iteration.
  void accumulate_error(const graph::BlockOp& op, std::size_t index, bool first, Side& e) {
    const bool exact = graph::is_integer(p_.block.tensors[op.inputs[0]].dtype);
    const Array& state = states_[index];
    const Uncertain x = uncertain(op.inputs[0], e);
    const ResultValues to{state.shape, e.states[index].values.data()};
    const int last = static_cast<int>(x.at.shape.size()) - 1;
    const graph::ReductionRow& row = *graph::reduction_of(op.kind);
    if (first) std::fill(to.values, to.values + state.values.size(), 0.0);
    if (row.of == &graph::monoids::max) return fold_max_error(x, -1, {state.shape, state.values.data()}, to);
    if (row.of != &graph::monoids::sum) return joined_error(row.of->join, {state.shape, state.values.data()}, x, to);
    if (!first && row.rescales)
      joined_error(graph::OpKind::mul, {state.shape, state.values.data()}, uncertain(op.inputs[1], e), to);
    if (row.along != graph::Along::iterations_last)  // element by element
      for (std::size_t i = 0; i < state.values.size(); ++i)
        to.values[i] += x.error[i] + (exact ? 0 : sum_error(p_.block.loop) * std::fabs(x.at.values[i]));
    else if (exact)
      fold(graph::monoids::sum, {x.at.shape, x.error}, last, false, to);
    else
      fold_error(x, last, row.squares, x.at.shape[last] / state.shape[last] * p_.block.loop, to);
  }

  /// Computes the errors of an accumulator's result after the loop, from those of its running value; both are
  /// in `side`. `count`: the number of elements by which a mean divides.
  void finish_error(const graph::BlockOp& op, std::size_t index, double count, Side& side) {
    const Array& state = states_[index];
    const graph::ReductionRow& row = *graph::reduction_of(op.kind);
    std::vector<double>& e = side.tiles[op.outputs[0]].values;
    if (row.along == graph::Along::then_last) {
      std::fill(e.begin(), e.end(), 0.0);
      const int last = static_cast<int>(state.shape.size()) - 1;
      fold_error({{state.shape, state.values.data()}, side.states[index].values.data()}, last, false, state.shape[last],
                 {p_.block.tensors[op.outputs[0]].shape, e.data()});
    } else {
      e = side.states[index].values;
    }
    if (row.then != graph::Then::nothing)
      mean_error({state.shape, state.values.data()}, count, row.then == graph::Then::root_of_mean, e.data());
  }

  /// Computes an accumulator's result from its running value, after the loop: the sum over the last
  /// dimension, the mean, the root mean square or the value itself, as the kind of accumulator requires.
  void finish(const graph::BlockOp& op, std::size_t index) {
    const graph::ReductionRow& row = *graph::reduction_of(op.kind);
    const Array& state = states_[index];
    Array& y = tiles_[op.outputs[0]];
    const double count = static_cast<double>(tiles_[op.inputs[0]].shape.back() * p_.block.loop);
    if (errors()) finish_error(op, index, count, bound_);
    if (sampling()) finish_error(op, index, count, own_);
    if (row.along == graph::Along::then_last) {
      std::fill(y.values.begin(), y.values.end(), 0.0);
      fold(graph::monoids::sum, {state.shape, state.values.data()}, static_cast<int>(state.shape.size()) - 1, false,
           result(op.outputs[0]));
    } else {
      y.values = state.values;
    }
    if (graph::is_integer(p_.block.tensors[op.outputs[0]].dtype))
      for (double& v : y.values) v = graph::wrapped(static_cast<std::int64_t>(v), 32);
    if (row.then == graph::Then::mean)
      for (double& v : y.values) v /= count;
    if (row.then == graph::Then::root_of_mean)
      for (double& v : y.values) v = std::sqrt(v / count);
    if (sampling()) perturb(op);
    made(op.outputs[0]);
  }

  const GridData& p_;
  std::vector<Array> tiles_;
  std::vector<std::vector<double>> rounded_;  // tiles that a matmul reads, rounded to their dtype
  std::vector<Magnitude> magnitudes_;
  std::vector<Array> states_;  // accumulators and running maxima, per operator
  // error bounds of the values (rounding.hpp), and the errors that the latest operator adds
  Side bound_, own_;
  Noise noise_;
  std::vector<OperandValues> operands_;
  std::vector<ResultValues> results_;
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
  std::vector<Magnitude> magnitudes(block.tensors.size());
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
