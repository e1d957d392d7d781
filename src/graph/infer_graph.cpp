#include <algorithm>
#include <cmath>
#include <set>

#include "graph/block_tiles.hpp"
#include "graph/collective.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/operand_scalar.hpp"
#include "graph/ops.hpp"
#include "graph/reductions.hpp"
#include "graph/rows.hpp"
#include "graph/sized_graph.hpp"

namespace zellige::graph {
namespace {

constexpr std::int64_t max_blocks = (std::int64_t{1} << 31) - 1;  // limit of one grid axis
constexpr std::int64_t min_threads = 32, max_threads = 1024;

/// Tracks which tensors of a level are computed so far, in a traversal of its operators.
struct LevelWalk {
  std::vector<bool> made;

  /// Throws Error unless an earlier operator has computed the tensor, which the operator at `where` reads.
  void read(const Where& where, int tensor) const {
    if (tensor < 0 || tensor >= static_cast<int>(made.size()))
      fail_at(where, "expected operands among the graph's {} tensors, found index {}", made.size(), tensor);
    if (!made[tensor])
      fail_at(where,
              "expected operands that an earlier operator or an input makes, found tensor {} before it is "
              "made: the operators are out of order, cyclic, or lack its producer",
              tensor);
  }
  /// Marks a tensor as computed by the operator at `where`. Throws Error if it is marked already.
  void make(const Where& where, int tensor) {
    if (tensor < 0 || tensor >= static_cast<int>(made.size()))
      fail_at(where, "expected results among the graph's {} tensors, found index {}", made.size(), tensor);
    if (made[tensor]) fail_at(where, "expected one producer for each tensor, found a second one of tensor {}", tensor);
    made[tensor] = true;
  }
};

/// Throws Error unless the operator has the operands and results that its row of the table (ops.hpp) allows.
void check_arity(const Where& where, const OpInfo& row, std::size_t inputs, std::size_t outputs) {
  const bool scalar = takes_scalar(row.kind, inputs);
  const auto limit = static_cast<std::size_t>(std::max(row.inputs, 0));
  if (row.optional > 0 && (inputs > limit || inputs + static_cast<std::size_t>(row.optional) < limit))
    fail_at(where, "expected {} to {} operands, found {}", row.inputs - row.optional, row.inputs, inputs);
  if (row.inputs >= 0 && row.optional == 0 && !scalar && inputs != limit)
    fail_at(where, "expected {} operand{}, found {}", row.inputs, row.inputs == 1 ? "" : "s", inputs);
  const std::size_t minimum = row.kind == OpKind::concat ? 2 : 1;
  if (row.inputs < 0 && inputs < minimum)
    fail_at(where, "expected at least {} operand{}, found {}", minimum, minimum == 1 ? "" : "s", inputs);
  if (row.outputs >= 0 && outputs != static_cast<std::size_t>(row.outputs))
    fail_at(where, "expected {} result{}, found {}", row.outputs, row.outputs == 1 ? "" : "s", outputs);
  if (row.outputs < 0 && outputs == 0) fail_at(where, "expected at least 1 result, found 0");
}

/// Throws Error if a number becomes infinite or 0 where kernels have it, which is in float32.
void check_in_float32(const Where& where, std::string_view what, double number) {
  const auto kept = static_cast<float>(number);
  if (std::isfinite(number) && (std::isinf(kept) || (kept == 0 && number != 0)))
    fail_at(where, "expected a {} within the range of float32, found {}, which is {} there", what, number, kept);
}

/// Throws Error if a scalar attribute is invalid, such as an infinite factor or lo > hi.
void check_scalars(const Where& where, OpKind kind, const Attributes& a, std::size_t operands, DType dtype) {
  const auto check_range = [&](std::string_view what, double number) {
    if (dtype != DType::f64) check_in_float32(where, what, number);
  };
  // Another eps could itself cause a division by zero or the root of a negative number.
  const bool norm = kind == OpKind::rms_norm || kind == OpKind::layer_norm;
  if (norm && !(std::isfinite(a.eps) && a.eps >= 0))
    fail_at(where, "expected a finite eps of at least 0, found {}", a.eps);
  if (norm) check_range("eps", a.eps);
  if (takes_scalar(kind, operands)) {
    const bool arithmetic = scalar_range(kind) == ScalarRange::finite;
    if (arithmetic ? !std::isfinite(a.scalar) : std::isnan(a.scalar))
      fail_at(where, "expected a {}, found {}", arithmetic ? "finite scalar" : "scalar that is a number", a.scalar);
    check_range("scalar", a.scalar);
  }
  if (kind == OpKind::mul_scalar && !std::isfinite(a.scalar))
    fail_at(where, "expected a finite scalar, found {}", a.scalar);
  if (kind == OpKind::mul_scalar) check_range("scalar", a.scalar);
  if (kind == OpKind::clamp && !(std::isfinite(a.lo) && std::isfinite(a.hi) && a.lo <= a.hi))
    fail_at(where, "expected finite bounds lo <= hi, found {} and {}", a.lo, a.hi);
  if (kind == OpKind::clamp) check_range("lo", a.lo), check_range("hi", a.hi);
}

/// Throws Error unless each extent of `d`, a grid or block, is 1 to `limit`. All axes have the same limit, because
/// lowering may number all blocks along x. `what` ("grid") and `unit` ("blocks") are words for the message.
void check_extents(const Where& where, std::string_view what, const Dim3& d, std::int64_t limit,
                   std::string_view unit) {
  for (int axis = 0; axis < 3; ++axis)
    if (d[axis] < 1 || d[axis] > limit)
      fail_at(where, "expected a {} of 1 to {} {} along {}, found {}", what, limit, unit, "xyz"[axis], d[axis]);
}

/// Throws Error unless the grid, the block and the loop are within CUDA's limits.
void check_launch(const Where& where, const BlockGraph& b) {
  check_extents(where, "grid", b.grid, max_blocks, "blocks");
  check_extents(where, "block", b.block, max_threads, "threads");
  if (b.grid.x > max_blocks / b.grid.y || b.grid.x * b.grid.y > max_blocks / b.grid.z)
    fail_at(where, "expected a grid of at most {} blocks, found {} x {} x {}", max_blocks, b.grid.x, b.grid.y,
            b.grid.z);
  if (b.block.count() < min_threads || b.block.count() > max_threads)
    fail_at(where, "expected a block of {} to {} threads, found {} ({} x {} x {})", min_threads, max_threads,
            b.block.count(), b.block.x, b.block.y, b.block.z);
  if (b.loop < 1 || b.loop > max_extent)
    fail_at(where, "expected a loop of 1 to {} iterations, found {}", max_extent, b.loop);
}

/// Returns the common dtype of an operator's operands. Throws Error if they differ. Operands with a fixed dtype are not
/// compared: row indices and a mask's lengths must be int32, a matmul's bias must have the result's dtype.
template <class Tensor>
DType common_dtype(const Where& where, OpKind kind, std::vector<int> operands, const std::vector<Tensor>& tensors) {
  if (const int at = number_operand(kind); at >= 0 && at < static_cast<int>(operands.size())) {
    const DType found = tensors[operands[at]].dtype;
    if (found != DType::int32)
      fail_at(where, "expected {} in int32, found {}", names_rows(kind) ? "row indices" : "lengths", name(found));
    operands.erase(operands.begin() + at);
  }
  const DType first = tensors[operands[0]].dtype;
  if (kind == OpKind::matmul && operands.size() > 2) {
    const DType product = result_dtype(kind, {}, first), found = tensors[operands[2]].dtype;
    if (found != product)
      fail_at(where, "expected a bias in the product's dtype, {}, found {}", name(product), name(found));
    operands.pop_back();
  }
  for (int t : operands)
    if (tensors[t].dtype != first)
      fail_at(where, "expected operands of one dtype, found {} and {}", name(first), name(tensors[t].dtype));
  return first;
}

/// Sets the inferred shape and dtype of a tensor. Throws Error if the graph has another shape for it.
template <class Tensor>
void settle(const Where& where, Tensor& tensor, const Shape& shape, DType dtype) {
  check_shape(where, "the result", shape);
  if (!tensor.shape.empty() && tensor.shape != shape)
    fail_at(where, "expected the result{} to have the shape {}, found {} in the graph",
            tensor.name.empty() ? "" : " " + tensor.name, to_string(shape), to_string(tensor.shape));
  tensor.shape = shape;
  tensor.dtype = dtype;
}

/// Gives each unnamed tensor a unique name: `letter` and its index. Throws Error if two tensors have the same name.
template <class Tensor>
void name_the_nameless(const Where& where, std::vector<Tensor>& tensors, char letter) {
  std::set<std::string> taken;
  for (const Tensor& t : tensors)
    if (!t.name.empty() && !taken.insert(t.name).second)
      fail_at(where, "expected each tensor to have a name of its own, found {} twice", t.name);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].name.empty()) continue;
    std::string name = letter + std::to_string(i);
    while (!taken.insert(name).second) name += '_';
    tensors[i].name = name;
  }
}

/// Returns the shapes and the dtype of an operator's results, given the shapes of its operands. Throws Error if its
/// scalars, the dtypes of its operands or the number of its results do not suit it.
template <class Op, class T>
std::pair<std::vector<Shape>, DType> results_of(const Where& where, const Op& op, const std::vector<Shape>& shapes,
                                                const std::vector<T>& tensors) {
  check_scalars(where, op.kind, op.attributes, op.inputs.size(), tensors[op.inputs[0]].dtype);
  const DType operands = common_dtype(where, op.kind, op.inputs, tensors);
  check_dtype(where, op.kind, op.attributes, operands, op.inputs.size());
  std::vector<Shape> results = infer_shapes(where, op.kind, op.attributes, shapes);
  if (results.size() != op.outputs.size())
    fail_at(where, "expected {} results, found {}", results.size(), op.outputs.size());
  return {std::move(results), result_dtype(op.kind, op.attributes, operands)};
}

/// Infers the tensors of one block graph, and the kernel-level results of its custom operator.
class BlockInference {
 public:
  BlockInference(const Where& where, KernelGraph& g, const KernelOp& op, BlockGraph& b)
      : where_(where), g_(g), op_(op), b_(b), varies_(b.tensors.size(), false), stored_(op.outputs.size(), false) {
    walk_.made.assign(b.tensors.size(), false);
  }

  void run() {
    check_launch(where_, b_);
    for (std::size_t i = 0; i < b_.ops.size(); ++i) {
      const BlockOp& op = b_.ops[i];
      const OpInfo& row = info(op.kind);
      const Where where = where_.inside(static_cast<int>(i), row.name);
      if (!row.block) fail_at(where, "expected an operator of the block level, found {}", row.name);
      check_arity(where, row, op.inputs.size(), op.outputs.size());
      for (int t : op.inputs) walk_.read(where, t);
      for (int t : op.outputs) walk_.make(where, t);
      if (op.kind == OpKind::input)
        load(where, op);
      else if (op.kind == OpKind::output)
        store(where, op);
      else
        compute(where, op);
    }
    for (std::size_t i = 0; i < stored_.size(); ++i)
      if (!stored_[i]) fail_at(where_, "expected an output operator for each result, found none for result {}", i);
    for (std::size_t t = 0; t < walk_.made.size(); ++t)
      if (!walk_.made[t]) fail_at(where_, "expected a producer for each block tensor, found none for tensor {}", t);
  }

 private:
  void load(const Where& where, const BlockOp& op) {
    if (op.kernel_tensor < 0 || op.kernel_tensor >= static_cast<int>(op_.inputs.size()))
      fail_at(where, "expected one of the custom operator's {} operands, found index {}", op_.inputs.size(),
              op.kernel_tensor);
    const KernelTensor& whole = g_.tensors[op_.inputs[op.kernel_tensor]];
    BlockTensor& tile = b_.tensors[op.outputs[0]];
    settle(where, tile, input_tile(where, op, whole.shape, b_.grid, b_.loop), whole.dtype);
    tile.after_loop = false;
    varies_[op.outputs[0]] = op.loop_dim >= 0 && b_.loop > 1;
  }

  void store(const Where& where, const BlockOp& op) {
    if (op.kernel_tensor < 0 || op.kernel_tensor >= static_cast<int>(op_.outputs.size()))
      fail_at(where, "expected one of the custom operator's {} results, found index {}", op_.outputs.size(),
              op.kernel_tensor);
    if (stored_[op.kernel_tensor])
      fail_at(where, "expected one output operator for each result, found a second one for result {}",
              op.kernel_tensor);
    stored_[op.kernel_tensor] = true;
    refuse_varying(where, op.inputs[0], "be stored");
    const BlockTensor& tile = b_.tensors[op.inputs[0]];
    settle(where, g_.tensors[op_.outputs[op.kernel_tensor]], output_whole(where, op, tile.shape, b_.grid), tile.dtype);
  }

  void compute(const Where& where, const BlockOp& op) {
    std::vector<Shape> shapes;
    bool after = false, vary = false;
    for (int t : op.inputs) {
      shapes.push_back(b_.tensors[t].shape);
      after = after || b_.tensors[t].after_loop;
      vary = vary || varies_[t];
    }
    if (is_accumulator(op.kind) && after)
      fail_at(where, "expected to accumulate what the loop computes, found an operand that lives after the loop");
    if (after)
      for (int t : op.inputs) refuse_varying(where, t, "be combined with a value computed after the loop");
    if (op.kind == OpKind::mask) vary = check_place(where, op, shapes[0], after) || vary;
    const auto [results, dtype] = results_of(where, op, shapes, b_.tensors);
    for (std::size_t i = 0; i < results.size(); ++i) {
      BlockTensor& t = b_.tensors[op.outputs[i]];
      settle(where, t, results[i], dtype);
      t.after_loop = after || is_accumulator(op.kind);
      varies_[op.outputs[i]] = vary && !is_accumulator(op.kind);
    }
  }

  /// Returns whether the position of a mask's tile in the whole tensor changes with the loop iteration.
  /// Throws Error unless `map` and `loop_dim`, which say how grid axes and loop divide the tensor's
  /// dimensions, are valid for the tile. `after`: the mask is computed after the loop.
  bool check_place(const Where& where, const BlockOp& op, const Shape& tile, bool after) const {
    for (int axis = 0; axis < 3; ++axis) check_axis(where, op, axis, tile);
    check_loop_dim(where, op, tile);
    const bool vary = op.loop_dim >= 0 && b_.loop > 1;
    if (vary && after) fail_at(where, "expected a loop_dim of -1 for what lives after the loop, found {}", op.loop_dim);
    return vary;
  }

  /// Throws Error if the tensor changes with the loop iteration. `what` completes the message after the word
  /// "cannot", for example "be stored".
  void refuse_varying(const Where& where, int tensor, std::string_view what) const {
    if (varies_[tensor])
      fail_at(where,
              "block tensor {} differs in each of the {} loop iterations and cannot {}; accumulate it first "
              "(accum, accum_max, ...)",
              b_.tensors[tensor].name.empty() ? std::to_string(tensor) : b_.tensors[tensor].name, b_.loop, what);
  }

  const Where& where_;
  KernelGraph& g_;
  const KernelOp& op_;
  BlockGraph& b_;
  LevelWalk walk_;
  std::vector<bool> varies_, stored_;
};

void infer_custom(const Where& where, KernelGraph& g, KernelOp& op) {
  if (!op.block) fail_at(where, "expected a block graph, found none");
  auto block = std::make_shared<BlockGraph>(*op.block);
  BlockInference(where, g, op, *block).run();
  name_the_nameless(where, block->tensors, 's');
  op.block = std::move(block);
}

void infer_operator(const Where& where, KernelGraph& g, const KernelOp& op) {
  if (is_collective(op.kind)) {
    const KernelTensor* x = op.inputs.empty() ? nullptr : &g.tensors[op.inputs[0]];
    const KernelTensor y = collective_result(where, op.kind, op.attributes, x, g.ranks);
    return settle(where, g.tensors[op.outputs[0]], y.shape, y.dtype);
  }
  std::vector<Shape> shapes;
  for (int t : op.inputs) shapes.push_back(g.tensors[t].shape);
  const auto [results, dtype] = results_of(where, op, shapes, g.tensors);
  for (std::size_t i = 0; i < results.size(); ++i) settle(where, g.tensors[op.outputs[i]], results[i], dtype);
}

}  // namespace

KernelGraph infer(KernelGraph g) {
  const Where top{g.name};
  if (g.ranks < 1 || g.ranks > max_ranks) fail_at(top, "expected 1 to {} ranks, found {}", max_ranks, g.ranks);
  LevelWalk walk{std::vector<bool>(g.tensors.size(), false)};
  for (int t : g.inputs) {
    walk.make(top, t);
    check_shape(top, g.tensors[t].name.empty() ? "an input" : "input " + g.tensors[t].name, g.tensors[t].shape);
  }
  std::optional<ExtentInference> extents;
  if (g.sizes) extents.emplace(g);
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    KernelOp& op = g.ops[i];
    const OpInfo& row = info(op.kind);
    const Where where = top.at(static_cast<int>(i), row.name);
    if (!row.kernel) fail_at(where, "expected an operator of the kernel level, found {}", row.name);
    check_arity(where, row, op.inputs.size(), op.outputs.size());
    for (int t : op.inputs) walk.read(where, t);
    for (int t : op.outputs) walk.make(where, t);
    if (extents) extents->run(where, static_cast<int>(i));
    if (op.kind == OpKind::custom)
      infer_custom(where, g, op);
    else
      infer_operator(where, g, op);
    if (extents && op.kind == OpKind::custom)
      for (int t : op.outputs) extents->take(t);
  }
  for (std::size_t t = 0; t < walk.made.size(); ++t)
    if (!walk.made[t]) fail_at(top, "expected a producer for each tensor, found none for tensor {}", t);
  name_the_nameless(top, g.tensors, 't');
  return g;
}

bool adds_integers(OpKind kind) {
  if (kind == OpKind::matmul || kind == OpKind::sum) return true;
  const ReductionRow* row = reduction_of(kind);
  return row && row->of == &monoids::sum && !row->squares && !row->rescales && row->then == Then::nothing;
}

DType result_dtype(OpKind kind, const Attributes& attributes, DType operands) {
  if (kind == OpKind::matmul && is_float8(operands)) return DType::f32;
  if (adds_integers(kind) && is_integer(operands)) return operands == DType::int64 ? operands : DType::int32;
  return kind == OpKind::cast ? attributes.dtype : operands;
}

/// Returns whether an elementwise operator makes other numbers of integers, which may need more bits.
static bool is_arithmetic(OpKind kind) {
  using enum OpKind;
  return kind == add || kind == sub || kind == mul || kind == neg || kind == abs || kind == square ||
         kind == mul_scalar;
}

void check_dtype(const Where& where, OpKind kind, const Attributes& a, DType dtype, std::size_t operands) {
  if (a.tf32 && kind == OpKind::matmul && dtype != DType::f32)
    fail_at(where, "expected tf32 with operands of f32, found {}", name(dtype));
  if (kind == OpKind::matmul && a.dtype != DType::f32 && (a.dtype != DType::bf16 || !is_float8(dtype)))
    fail_at(where, "expected precision f32, or bf16 with operands of e4m3 or e5m2, found {} with {}", name(a.dtype),
            name(dtype));
  if (kind == OpKind::cast && is_weight_only(a.dtype))
    fail_at(where, "expected a cast to a dtype that kernels store, found {}: of it there are inputs alone",
            name(a.dtype));
  const bool shown = family(kind) == OpFamily::view && kind != OpKind::unfold;
  if (is_weight_only(dtype) && kind != OpKind::cast && !shown && kind != OpKind::input)
    fail_at(where, "expected operands that are cast to f16, bf16 or f32, found {}: weights are viewed and cast alone",
            name(dtype));
  if (!is_integer(dtype)) return;
  const bool moves = family(kind) == OpFamily::view || family(kind) == OpFamily::join || names_rows(kind);
  if (kind == OpKind::matmul && dtype != DType::int8)
    fail_at(where, "expected floating-point operands or int8, found {}: cast them first", name(dtype));
  if (kind == OpKind::amin)  // as compose() defines it
    fail_at(
        where,
        "expected floating-point operands, found {}: a minimum is minus the maximum of -x, and the lowest {} has no "
        "negative; -1 - amax(-1 - x) is the minimum of integers",
        name(dtype), name(dtype));
  const bool folds = adds_integers(kind) || kind == OpKind::amax;
  if (!moves && !folds && !(is_elementwise(kind) && !elementwise(kind).integers.empty()))
    fail_at(where, "expected floating-point operands, found {}: cast them first", name(dtype));
  const bool copies = kind == OpKind::mul_scalar && a.scalar == 1;
  if (is_stored_only(dtype) && is_arithmetic(kind) && !copies)
    fail_at(where, "expected numbers to compute with, found {}: cast them to int32 first", name(dtype));
  const Format& f = format(dtype);
  const auto check = [&](const char* what, double x) {
    if (x != std::floor(x) || x < f.lowest || x > f.greatest)
      fail_at(where, "expected a {} that {} holds, found {}", what, name(dtype), x);
  };
  if (kind == OpKind::mul_scalar || takes_scalar(kind, operands)) check("scalar", a.scalar);
  if (kind == OpKind::clamp) check("lo", a.lo), check("hi", a.hi);
}

}  // namespace zellige::graph
