// The rule of weights of 4 or 8 bits: their product is one kernel, which loads the narrow bytes and widens them.
//
//   y = x (q s)^T      q: uint4 (N, K), one scale for each row, s (N, 1), or for each group of K, s (N, G, 1)
//   y = x ((q - z) s)^T
//
// A group's scale is a view of s that repeats it (lower/repeats.hpp), so that the kernel has tiles of (N, K) alone.
#include <algorithm>
#include <optional>

#include "graph/infer.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

/// Limits of the kernels: rows of x; blocks, where there are enough columns; columns and K of a tile; elements of x in a tile.
constexpr std::int64_t max_weight_rows = 64, min_weight_blocks = 128, max_weight_columns = 64, max_weight_k = 1024,
                       small_weight_k = 512, max_row_elements = 8192;

bool is_narrow(DType dtype) {
  return graph::is_weight_only(dtype) || dtype == DType::int8 || dtype == DType::e4m3 || dtype == DType::e5m2;
}
bool is_wide(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32; }

/// A number for each row of the weights, or for each of several groups of a row. `tensor` is cast to `dtype`.
struct GroupNumbers {
  int tensor = -1;
  std::int64_t groups = 1;
  DType dtype = DType::f32;
};

/// A weight (N, K) of which a matmul multiplies the transpose: (cast(q) - zero) * scale.
struct WidenedWeight {
  int q = -1;
  std::int64_t n = 0, k = 0;
  DType dtype = DType::f32;  // to which q is cast
  std::optional<GroupNumbers> zero, scale;
};

/// Returns the tensor of which `t` is a cast of a narrow type, or `t` itself.
int below_cast(const Known& g, int t) {
  const KernelOp* cast = g.made_by(t, OpKind::cast);
  return cast && !cast->attributes.saturate && is_narrow(g.dtype(cast->inputs[0])) ? cast->inputs[0] : t;
}

/// Reads the operators from which a matmul's second operand is computed.
class WeightReader {
 public:
  explicit WeightReader(const Known& g) : g_(g) {}

  std::optional<WidenedWeight> read(int operand) {
    const Shape& shape = g_.shape(operand);
    if (shape.size() != 2) return std::nullopt;
    w_.k = shape[0], w_.n = shape[1];
    const KernelOp* transposed = g_.inner(operand, OpKind::permute);
    if (!transposed) return std::nullopt;
    return along_groups(transposed->inputs[0]) ? std::optional(w_) : std::nullopt;
  }

 private:
  /// Looks through reshapes between (N, K) and (N, G, K / G), which nobody else reads.
  int below_views(int t) const {
    while (const KernelOp* view = g_.inner(t, OpKind::reshape)) t = view->inputs[0];
    return t;
  }
  bool is_whole(int t) const {
    const Shape& s = g_.shape(t);
    return (s == Shape{w_.n, w_.k}) || (s.size() == 3 && s[0] == w_.n && s[1] * s[2] == w_.k);
  }

  bool along_groups(int t) {
    t = below_views(t);
    if (!is_whole(t)) return false;
    if (const KernelOp* product = g_.inner(t, OpKind::mul, 2)) {
      if (!split(*product, w_.scale, true, t)) return false;
      t = below_views(t);
    }
    if (const KernelOp* difference = g_.inner(t, OpKind::sub, 2)) {
      if (!split(*difference, w_.zero, false, t)) return false;
      t = below_views(t);
    }
    while (const KernelOp* wider = g_.inner(t, OpKind::cast)) {  // of what is exact in the narrower type
      if (is_narrow(g_.dtype(wider->inputs[0]))) break;
      if (w_.zero || w_.scale) return false;
      t = below_views(wider->inputs[0]);
    }
    const KernelOp* cast = g_.inner(t, OpKind::cast);
    if (!cast || cast->attributes.saturate || !is_wide(cast->attributes.dtype)) return false;
    w_.dtype = cast->attributes.dtype, w_.q = cast->inputs[0];
    return is_narrow(g_.dtype(w_.q)) && is_whole(w_.q);
  }

  /// Reads the operand of `op` that has a number for each row or group; `t` becomes the other one.
  bool split(const KernelOp& op, std::optional<GroupNumbers>& numbers, bool commutes, int& t) {
    if (op.inputs.size() != 2) return false;
    for (const int side : {1, 0}) {
      const int of = op.inputs[side];
      const Shape& s = g_.shape(of);
      const Shape& whole = g_.shape(op.inputs[1 - side]);
      const bool by_row = s == Shape{w_.n, 1} && whole.size() == 2,
                 by_group = s.size() == 3 && whole.size() == 3 && s == Shape{w_.n, whole[1], 1};
      if ((side == 1 || commutes) && (by_row || by_group) && is_wide(g_.dtype(of))) {
        numbers = {of, by_group ? s[1] : 1, g_.dtype(of)};
        t = op.inputs[1 - side];
        return true;
      }
    }
    return false;
  }

  const Known& g_;
  WidenedWeight w_;
};

/// The tiles of the kernel.
struct WeightTiles {
  std::int64_t columns = 0, k = 0;
};

std::optional<WeightTiles> tiles_of(const WidenedWeight& w, std::int64_t rows) {
  WeightTiles t;
  // Few rows of x cost little, so that there may be many blocks, which read them all.
  const std::int64_t blocks = (rows <= 8 ? 2 : 1) * min_weight_blocks;
  for (std::int64_t columns = max_weight_columns; columns >= 16 && t.columns == 0; columns /= 2)
    if (w.n % columns == 0 && (w.n / columns >= blocks || columns == 16)) t.columns = columns;
  std::int64_t run = 1;  // elements of K with one scale and one zero point
  for (const auto& numbers : {w.scale, w.zero})
    if (numbers && numbers->groups > 1) run = std::max(run, w.k / numbers->groups);
  const std::int64_t whole = (rows + 7) / 8 * 8;
  const bool small = t.columns == 16 && w.k <= 8 * small_weight_k;
  for (std::int64_t k = small ? small_weight_k : max_weight_k; k >= 64 && t.k == 0; k /= 2)
    if (w.k % k == 0 && k % run == 0 && (k * whole <= max_row_elements || k == 64)) t.k = k;
  if (t.k == 0 && run > 1 && w.k % run == 0 && run % 32 == 0 && run * whole <= 4 * max_row_elements) t.k = run;
  return t.columns > 0 && t.k > 0 ? std::optional(t) : std::nullopt;
}

/// Writes the custom operator of a widened weight.
class WeightWriter {
 public:
  WeightWriter(const Known& g, Rewrite& out, const WidenedWeight& w, const WeightTiles& tiles)
      : g_(g), out_(out), w_(w), tiles_(tiles) {
    block_.grid = {w.n / tiles.columns, 1, 1};
    // A warp for each 32 of K, or 128 where blocks are small, so that a lane takes four words at a time.
    const bool small = tiles.columns == 16 && tiles.k == small_weight_k;
    block_.block = {std::min<std::int64_t>(small ? 128 : 256, tiles.k), 1, 1};
    block_.loop = w.k / tiles.k;
  }

  KernelOp write(int x, int result) {
    const int rows = load(x, {-1, -1, -1}, 1);
    int value = load(in_shape(w_.q, {w_.n, w_.k}), {0, -1, -1}, 1);
    value = add(OpKind::cast, {value}, {.dtype = w_.dtype});
    if (w_.zero) value = add(OpKind::sub, {value, numbers(*w_.zero)});
    if (w_.scale) value = add(OpKind::mul, {value, numbers(*w_.scale)});
    if (g_.dtype(x) != out_dtype(value)) value = add(OpKind::cast, {value}, {.dtype = g_.dtype(x)});
    value = add(OpKind::permute, {value}, {.sizes = {1, 0}});
    const int sum = add(OpKind::accum, {add(OpKind::matmul, {rows, value})});
    block_.ops.push_back({.kind = OpKind::output, .inputs = {sum}, .kernel_tensor = 0, .map = {1, -1, -1}});
    return {OpKind::custom, inputs_, {result}, {}, std::make_shared<const BlockGraph>(std::move(block_))};
  }

 private:
  int tensor(DType dtype) {
    block_.tensors.push_back({.dtype = dtype, .name = fmt::format("b{}", block_.tensors.size())});
    return static_cast<int>(block_.tensors.size()) - 1;
  }
  DType out_dtype(int t) const { return block_.tensors[static_cast<std::size_t>(t)].dtype; }
  int add(OpKind kind, std::vector<int> in, const Attributes& a = {}) {
    const int to = tensor(graph::result_dtype(kind, a, out_dtype(in[0])));
    block_.ops.push_back({.kind = kind, .inputs = std::move(in), .outputs = {to}, .attributes = a});
    return to;
  }
  int load(int t, const std::array<int, 3>& map, int loop_dim) {
    const int to = tensor(out_.tensor(t).dtype);
    block_.ops.push_back({.kind = OpKind::input,
                          .outputs = {to},
                          .kernel_tensor = static_cast<int>(inputs_.size()),
                          .map = map,
                          .loop_dim = block_.loop > 1 ? loop_dim : -1});
    inputs_.push_back(t);
    return to;
  }
  int in_shape(int t, const Shape& shape) {
    return out_.shape(t) == shape ? t : out_.add(OpKind::reshape, {t}, {.sizes = shape}, out_.name(t) + "_view");
  }
  /// Loads the numbers of rows or groups, and casts them: those of groups repeated for each element of a group.
  int numbers(const GroupNumbers& of) {
    int from = below_cast(g_, of.tensor);
    const bool odd = graph::bits(g_.dtype(from)) < 8 && tiles_.k / (w_.k / of.groups) % 2 != 0;
    if (odd) from = of.tensor;  // a tile would part a byte
    if (of.groups > 1) {
      const std::int64_t run = w_.k / of.groups;
      from = in_shape(from, {w_.n, of.groups, 1});
      from = out_.add(OpKind::expand, {from}, {.sizes = {w_.n, of.groups, run}}, out_.name(from) + "_runs");
      from = out_.add(OpKind::reshape, {from}, {.sizes = {w_.n, w_.k}}, out_.name(from) + "_each");
    }
    const int tile = load(from, {0, -1, -1}, of.groups > 1 ? 1 : -1);
    return out_dtype(tile) == of.dtype ? tile : add(OpKind::cast, {tile}, {.dtype = of.dtype});
  }

  const Known& g_;
  Rewrite& out_;
  const WidenedWeight& w_;
  WeightTiles tiles_;
  BlockGraph block_;
  std::vector<int> inputs_;
};

}  // namespace

/// Makes the product with a weight of 4 or 8 bits one custom operator, whose blocks widen their tiles of the weight.
bool widened_weights(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::matmul || op.inputs.size() != 2 || g.graph.sizes) return false;
  const Shape& x = g.shape(op.inputs[0]);
  const DType dtype = g.dtype(op.inputs[0]);
  if (dtype != DType::f16 && dtype != DType::bf16) return false;
  const std::optional<WidenedWeight> w = WeightReader(g).read(op.inputs[1]);
  if (!w || x.size() < 2) return false;
  const std::int64_t rows = graph::size(x) / w->k;
  if (rows > max_weight_rows) return false;
  const std::optional<WeightTiles> tiles = tiles_of(*w, rows);
  if (!tiles) return false;
  int from = op.inputs[0], to = op.outputs[0];
  if (x.size() > 2) {
    from = out.add(OpKind::reshape, {from}, {.sizes = {rows, w->k}}, g.name(from) + "_rows");
    to = out.make({g.dtype(to), {rows, w->n}, {}, g.name(to) + "_rows"});
  }
  out.keep(WeightWriter(g, out, *w, *tiles).write(from, to));
  if (x.size() > 2) out.add(OpKind::reshape, {to}, {.sizes = g.shape(op.outputs[0])}, "", op.outputs[0]);
  return true;
}

}  // namespace zellige::rewrite
