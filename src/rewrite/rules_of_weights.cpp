// The rule of weights of 4 or 8 bits: their product is one kernel, which loads the narrow bytes and widens them.
//
//   y = x (q s)^T      q: uint4 (N, K), one scale for each row, s (N, 1), or for each group of K, s (N, G, 1)
//   y = x ((q - z) s)^T
//   y = x (q s + b)^T
//
// With many rows the weight is A of a product by wgmma, which takes it from registers: y^T = ((q - z) s) x^T.
//
// The operators that follow the product are part of the kernel (rewrite/epilogue.hpp), also those of a gate: silu(x v^T) (x w^T).
//
// A group's scale is a view of s that repeats it (lower/repeats.hpp), so that the kernel has tiles of (N, K) alone.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/widened.hpp"
#include "rewrite/custom_writer.hpp"
#include "rewrite/epilogue.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

/// Limits of the kernels: rows of x; blocks, where there are enough columns; columns and K of a tile; elements of x in a tile.
constexpr std::int64_t max_weight_rows = 64, min_weight_blocks = 128, max_weight_columns = 64, max_weight_k = 1024,
                       small_weight_k = 512, max_row_elements = 8192;

bool is_small(DType dtype) { return graph::is_weight_only(dtype) || dtype == DType::int8 || graph::is_float8(dtype); }
bool is_wide(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32; }

/// A number for each row of the weights, or for each of several groups of a row. `tensor` is cast to `dtype`.
struct GroupNumbers {
  int tensor = -1;
  std::int64_t groups = 1;
  DType dtype = DType::f32;
};

/// A weight (N, K) of which a matmul multiplies the transpose: (cast(q) - zero) * scale + bias.
struct WidenedWeight {
  int q = -1;
  std::int64_t n = 0, k = 0;
  DType narrow = DType::f32, dtype = DType::f32;  // of q, and to which it is cast
  std::optional<GroupNumbers> zero, scale, bias;
};

/// Returns the tensor of which `t` is a cast of a narrow type, or `t` itself.
int below_cast(const Known& g, int t) {
  const KernelOp* cast = g.made_by(t, OpKind::cast);
  return cast && !cast->attributes.saturate && is_small(g.dtype(cast->inputs[0])) ? cast->inputs[0] : t;
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
    if (const KernelOp* sum = g_.inner(t, OpKind::add, 2)) {
      if (!split(*sum, w_.bias, true, t)) return false;
      t = below_views(t);
    }
    if (const KernelOp* product = g_.inner(t, OpKind::mul, 2)) {
      if (!split(*product, w_.scale, true, t)) return false;
      t = below_views(t);
    }
    if (const KernelOp* difference = g_.inner(t, OpKind::sub, 2)) {
      if (!split(*difference, w_.zero, false, t)) return false;
      t = below_views(t);
    }
    while (const KernelOp* wider = g_.inner(t, OpKind::cast)) {  // of what is exact in the narrower type
      if (is_small(g_.dtype(wider->inputs[0]))) break;
      if (w_.zero || w_.scale || w_.bias) return false;
      t = below_views(wider->inputs[0]);
    }
    const KernelOp* cast = g_.inner(t, OpKind::cast);
    if (!cast || cast->attributes.saturate || !is_wide(cast->attributes.dtype)) return false;
    w_.dtype = cast->attributes.dtype, w_.q = cast->inputs[0], w_.narrow = g_.dtype(w_.q);
    return is_small(g_.dtype(w_.q)) && is_whole(w_.q);
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

/// The tiles of the kernel. With `rows` the weight is A: a warpgroup multiplies 64 of its rows, or `columns`, by so many rows of x.
struct WeightTiles {
  std::int64_t columns = 0, k = 0, rows = 0;
};

/// Returns how many elements of K have one scale and one zero point; 1: all of a row.
std::int64_t run_of(const WidenedWeight& w) {
  std::int64_t run = 1;
  for (const auto& numbers : {w.scale, w.zero, w.bias})
    if (numbers && numbers->groups > 1) run = std::max(run, w.k / numbers->groups);
  return run;
}

/// Returns whether ptxas spills registers of a block of two warpgroups and a producer, of which each thread has several tiles of accumulators and
/// keeps so many registers over an iteration: it fits them into those that all threads of the block may have, although setmaxnreg leaves
/// these more, unless they are clearly more.
bool is_squeezed(std::int64_t kept) {
  constexpr std::int64_t fits = 116, exceeds = 188;
  return kept > fits && kept < exceeds;
}

/// Returns the tiles of one or two products by wgmma that keep the busiest multiprocessor busy for the least time: it multiplies a tile as
/// fast as it widens the weights, as its tensor cores multiply, and as the L2 cache answers.
std::optional<WeightTiles> tiles_of_warpgroups(const WidenedWeight& w, std::int64_t rows, std::int64_t products) {
  // Of a step of 16 elements of K: cycles that widen 64 rows of the weight, bytes of the cache a cycle.
  constexpr double widens = 28, cache = 40;
  constexpr std::int64_t multiprocessors = 132, unit = 64, step = 16, max_rows = 256, accumulators = 128,
                         latency = 4096, registers = 200;  // of a thread: accumulators, and what it takes to widen
  const std::int64_t run = run_of(w), k = run % unit == 0 ? run : unit;
  if (k > 2 * unit || w.k % k != 0 || k % run != 0 || (run > 1 && run % step != 0) || w.k < 2 * k) return std::nullopt;
  const auto blocks = [](std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; };
  std::int64_t numbers = 0;  // of a row, in a tile
  for (const auto& of : {w.scale, w.zero, w.bias})
    if (of) numbers += std::max<std::int64_t>(1, of->groups * k / w.k);
  std::optional<WeightTiles> best;
  double lowest = 0;
  for (const std::int64_t columns : {4 * unit, 2 * unit, unit})
    for (std::int64_t tile = step; tile <= max_rows; tile += step) {
      const std::int64_t threads = columns == unit ? 128 : 256;
      const std::int64_t own = columns * tile / threads,
                         widened = kernel::widened_registers(columns, k, graph::bits(w.narrow), numbers, threads);
      if (tile >= rows + step || columns >= w.n + unit || products * own > accumulators ||
          products * (own + widened) > registers ||
          (products * columns > 2 * unit && threads == 256 && is_squeezed(products * (own + widened))))
        continue;
      const auto waves = static_cast<double>(blocks(blocks(w.n, columns) * blocks(rows, tile), multiprocessors)),
                 parts = static_cast<double>(products * columns) / unit, all = static_cast<double>(tile),
                 bytes = 2 * step * all + step * static_cast<double>(products * columns * graph::bits(w.narrow)) / 8;
      const std::int64_t steps = w.k / step;
      // Of equal tiles those of fewer weights, which fewer blocks widen again.
      const double cycles = (std::max({parts * widens, parts * all / 2, bytes / cache}) + parts * widens / 64) *
                            static_cast<double>(steps);
      if (const double time = waves * (cycles + latency); !best || time < lowest)
        lowest = time, best = WeightTiles{columns, k, tile};
    }
  return best;
}

std::optional<WeightTiles> tiles_of(const WidenedWeight& w, std::int64_t rows, std::int64_t products) {
  WeightTiles t;
  // Few rows of x cost little, so that there may be many blocks, which read them all.
  const std::int64_t blocks = (rows <= 8 ? 2 : 1) * min_weight_blocks;
  for (std::int64_t columns = max_weight_columns / products; columns >= 16 && t.columns == 0; columns /= 2)
    if ((w.n % columns == 0 || w.n % 16 != 0) && (w.n / columns >= blocks || columns == 16)) t.columns = columns;
  const std::int64_t run = run_of(w);
  const std::int64_t whole = (rows + 7) / 8 * 8;
  const bool small = t.columns == 16 && w.k <= 8 * small_weight_k;
  for (std::int64_t k = small ? small_weight_k : max_weight_k; k >= 64 && t.k == 0; k /= 2)
    if (w.k % k == 0 && k % run == 0 && (k * whole <= max_row_elements || k == 64)) t.k = k;
  if (t.k == 0 && run > 1 && w.k % run == 0 && run % 32 == 0 && run * whole <= 4 * max_row_elements) t.k = run;
  // A last tile of columns that is not whole pays where iterations are few.
  const bool fits = t.columns > 0 && t.k > 0 && (w.n % t.columns == 0 || t.k >= small_weight_k);
  return fits ? std::optional(t) : std::nullopt;
}

/// Writes the custom operator of products of the same rows with widened weights, and what follows them.
class WeightWriter : CustomWriter {
 public:
  WeightWriter(const Known& g, Rewrite& out, const Epilogue& of, const std::vector<WidenedWeight>& weights,
               const WeightTiles& tiles)
      : CustomWriter(out), g_(g), of_(of), weights_(weights), w_(weights.front()), tiles_(tiles) {
    covered_ = (w_.n + tiles.columns - 1) / tiles.columns * tiles.columns;
    block_.grid = {covered_ / tiles.columns, 1, 1};
    // A warp for each 32 of K, or 128 where blocks are small, so that a lane takes four words at a time.
    const bool small = tiles.columns == 16 && tiles.k == small_weight_k;
    block_.block = {std::min<std::int64_t>(small ? 128 : 256, tiles.k), 1, 1};
    block_.loop = w_.k / tiles.k;
    if (tiles.rows == 0) return;
    block_.block = {tiles.columns == 64 ? 128 : 256, 1, 1};
  }

  /// Writes the operator that makes `result` of the rows `x`.
  KernelOp write(int x, int result) {
    const std::int64_t given = out_.shape(x)[0];
    covered_rows_ = given;
    if (tiles_.rows > 0) {
      block_.grid.y = (given + tiles_.rows - 1) / tiles_.rows;
      covered_rows_ = block_.grid.y * tiles_.rows;
    }
    const int tile = load(x, {-1, along_rows(), -1}, 1, {covered_rows_, w_.k});
    std::vector<int> products;  // all of them before what follows the loop
    for (const WidenedWeight& w : weights_) products.push_back(product(w, tile));
    std::map<int, int> made;
    for (std::size_t i = 0; i < products.size(); ++i) made[of_.products[i]->outputs[0]] = products[i];
    int last = add_epilogue(
        of_, std::move(made), [&](int t) { return operand(t); },
        [&](const KernelOp& op, std::vector<int> in) { return add(op.kind, std::move(in), op.attributes); });
    if (tiles_.rows > 0) last = add(OpKind::permute, {last}, {.sizes = {1, 0}});
    const bool all = covered_rows_ == given && covered_ == w_.n;
    const bool only = tiles_.rows > 0 && block_.grid.x == 1;  // a single block of columns
    return store(last, {only ? -1 : 1, along_rows(), -1}, result, all ? Shape() : Shape{given, w_.n});
  }

 private:
  int along_rows() const { return block_.grid.y > 1 ? 0 : -1; }

  /// Adds the product of the tile of rows and a weight, which is A if wgmma multiplies.
  int product(const WidenedWeight& w, int rows) {
    const int value = widened(w, dtype(rows));
    std::vector<int> factors{value, swapped_};
    if (tiles_.rows == 0)
      factors = {rows, add(OpKind::permute, {value}, {.sizes = {1, 0}})};
    else if (swapped_ < 0)
      factors[1] = swapped_ = add(OpKind::permute, {rows}, {.sizes = {1, 0}});
    return add(OpKind::accum, {add(OpKind::matmul, std::move(factors))});
  }

  /// Loads a block's tile of the weight, and adds what widens it. Returns the tile of type `to`.
  int widened(const WidenedWeight& w, DType to) {
    const int first = block_.grid.x > 1 ? 0 : -1;
    int value = load(in_shape(w.q, {w.n, w.k}), {first, -1, -1}, 1, {covered_, w.k});
    value = add(OpKind::cast, {value}, {.dtype = w.dtype});
    if (w.zero) value = add(OpKind::sub, {value, numbers(w, *w.zero)});
    if (w.scale) value = add(OpKind::mul, {value, numbers(w, *w.scale)});
    if (w.bias) value = add(OpKind::add, {value, numbers(w, *w.bias)});
    return to != dtype(value) ? add(OpKind::cast, {value}, {.dtype = to}) : value;
  }

  /// Loads an operand of the operators that follow, swapped as the products are.
  int operand(int t) {
    const Shape matrix = as_matrix(g_.shape(t));
    const bool by_rows = matrix[0] > 1, by_columns = matrix[1] > 1;
    const int tile =
        load(in_shape(t, matrix), {by_columns && block_.grid.x > 1 ? 1 : -1, by_rows ? along_rows() : -1, -1}, -1,
             {by_rows ? covered_rows_ : 1, by_columns ? covered_ : 1});
    return tiles_.rows > 0 ? add(OpKind::permute, {tile}, {.sizes = {1, 0}}) : tile;
  }

  int in_shape(int t, const Shape& shape) {
    return out_.shape(t) == shape ? t : out_.add(OpKind::reshape, {t}, {.sizes = shape}, out_.name(t) + "_view");
  }
  /// Loads the numbers of rows or groups, and casts them: those of groups repeated for each element of a group.
  int numbers(const WidenedWeight& w, const GroupNumbers& of) {
    int from = below_cast(g_, of.tensor);
    const bool odd = graph::bits(g_.dtype(from)) < 8 && tiles_.k / (w.k / of.groups) % 2 != 0;
    if (odd) from = of.tensor;  // a tile would part a byte
    if (of.groups > 1) {
      const std::int64_t run = w.k / of.groups;
      from = in_shape(from, {w.n, of.groups, 1});
      from = out_.add(OpKind::expand, {from}, {.sizes = {w.n, of.groups, run}}, out_.name(from) + "_runs");
      from = out_.add(OpKind::reshape, {from}, {.sizes = {w.n, w.k}}, out_.name(from) + "_each");
    } else {
      from = in_shape(from, {w.n, 1});
    }
    const int first = block_.grid.x > 1 ? 0 : -1;
    const int tile = load(from, {first, -1, -1}, of.groups > 1 ? 1 : -1, {covered_, of.groups > 1 ? w.k : 1});
    return dtype(tile) == of.dtype ? tile : add(OpKind::cast, {tile}, {.dtype = of.dtype});
  }

  const Known& g_;
  const Epilogue& of_;
  const std::vector<WidenedWeight>& weights_;
  const WidenedWeight& w_;  // the first one: all have its size
  WeightTiles tiles_;
  std::int64_t covered_ = w_.n, covered_rows_ = 0;  // rows of the weight, and of x, that the tiles have
  int swapped_ = -1;                                // the transpose of the tile of rows
};

/// Writes products and what follows them in these tiles.
void replace(const Known& g, const Epilogue& of, Rewrite& out, const std::vector<WidenedWeight>& weights,
             const WeightTiles& tiles) {
  int from = of.products.front()->inputs[0], to = of.result;
  const Shape x = as_matrix(g.shape(from)), y = g.shape(to);
  if (g.shape(from).size() > 2) from = out.add(OpKind::reshape, {from}, {.sizes = x}, g.name(from) + "_rows");
  if (y.size() != 2) to = out.make({g.dtype(to), as_matrix(y), {}, g.name(to) + "_rows"});
  out.keep(WeightWriter(g, out, of, weights, tiles).write(from, to));
  if (to != of.result) out.add(OpKind::reshape, {to}, {.sizes = y}, "", of.result);
}

/// Returns the weight of 4 or 8 bits by which the matmul `op` multiplies 16-bit rows.
std::optional<WidenedWeight> weight_of(const Known& g, const KernelOp& op) {
  if (op.kind != OpKind::matmul || op.inputs.size() != 2 || g.graph.sizes) return {};
  const DType dtype = g.dtype(op.inputs[0]);
  if ((dtype != DType::f16 && dtype != DType::bf16) || g.shape(op.inputs[0]).size() < 2) return {};
  return WeightReader(g).read(op.inputs[1]);
}

/// Returns whether threads may widen the weight for a product by wgmma, whose other operand is of type `dtype`.
bool fits_registers(const Known& g, const WidenedWeight& w, DType dtype) {
  if (w.dtype != dtype || (w.bias && (w.zero || !w.scale))) return false;
  return std::ranges::all_of(std::array{w.scale, w.zero, w.bias}, [&](const std::optional<GroupNumbers>& numbers) {
    return !numbers || (numbers->dtype == dtype && g.dtype(below_cast(g, numbers->tensor)) == dtype);
  });
}

/// Makes the operators that end at `op` one custom operator, if it ends what follows products with narrow weights. `on_warpgroups`: the weight
/// is A of a product by wgmma.
bool weights_below(const Known& g, const KernelOp& op, Rewrite& out, bool on_warpgroups) {
  const auto rows = [&](const KernelOp& product) { return as_matrix(g.shape(product.inputs[0]))[0]; };
  const auto tiles = [&](const WidenedWeight& w, const KernelOp& product, std::int64_t count) {
    const std::int64_t m = rows(product);
    const std::optional<WeightTiles> small = m <= max_weight_rows ? tiles_of(w, m, count) : std::nullopt;
    // Few rows whose blocks would make many iterations, each of little.
    const bool many = m > 8 || !small || small->k < small_weight_k;
    if (on_warpgroups)
      return many && fits_registers(g, w, g.dtype(product.inputs[0])) ? tiles_of_warpgroups(w, m, count) : std::nullopt;
    return small;
  };
  const auto is_product = [&](const KernelOp& product) {
    const std::optional<WidenedWeight> w = weight_of(g, product);
    return w && tiles(*w, product, 1);
  };
  const auto together = [&](const KernelOp& a, const KernelOp& b) {
    const std::optional<WidenedWeight> v = weight_of(g, a), w = weight_of(g, b);
    return a.inputs[0] == b.inputs[0] && v->n == w->n && v->k == w->k && v->narrow == w->narrow &&
           run_of(*v) == run_of(*w) && tiles(*v, a, 2);
  };
  const std::optional<Epilogue> of = EpilogueReader(g, {.is_product = is_product, .together = together}).ending_at(op);
  if (!of) return false;
  std::vector<WidenedWeight> weights;
  for (const KernelOp* product : of->products) weights.push_back(*weight_of(g, *product));
  const std::optional<WeightTiles> chosen = tiles(weights.front(), *of->products.front(), std::ssize(of->products));
  if (chosen) replace(g, *of, out, weights, *chosen);
  return chosen.has_value();
}

bool in_shared_memory(const Known& g, const KernelOp& op, Rewrite& out) { return weights_below(g, op, out, false); }
bool in_registers(const Known& g, const KernelOp& op, Rewrite& out) { return weights_below(g, op, out, true); }

bool has_narrow(const KernelGraph& g) {
  return std::ranges::any_of(g.tensors, [](const KernelTensor& t) { return is_narrow(t.dtype); });
}

}  // namespace

/// Makes products with weights of 4 or 8 bits, with what follows them, custom operators, whose blocks widen their tiles of the weights.
std::optional<KernelGraph> widened_weights(const KernelGraph& g) {
  return has_narrow(g) ? each<in_shared_memory>(g) : std::nullopt;
}

/// The same where wgmma multiplies the weight from registers: of more rows than its least, which one warp multiplies as well.
std::optional<KernelGraph> weights_in_registers(const KernelGraph& g) {
  return has_narrow(g) ? each<in_registers>(g) : std::nullopt;
}

}  // namespace zellige::rewrite
