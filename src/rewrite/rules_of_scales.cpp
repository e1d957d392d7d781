// The rules of products of 8-bit floats, perhaps with scales of blocks: their product is one kernel, which multiplies the numbers as they
// are, 128 of K at a time, and adds up the products times both scales.
//
//   y = (cast(a) s)(cast(b) t)     a: e4m3 (M, K), s (M, K / 128);  b: e4m3 (K, N), t (K / 128, N / 128)
//   y = sum over g of s[:, g] t[g, :] (a[:, g] b[g, :])
//
//   y = a b, of precision bf16     a: e4m3 (M, K), b: e4m3 (K, N); no scales
//
// Over 128 of K both scales are constant. The operands' products with their scales are not rounded to bf16, as the graph says; in
// place of that the tensor cores of sm_90 keep 13 bits of the products of 32 of K (docs/reference/dtypes.md).
//
// The operators that follow the product are part of the kernel (rewrite/epilogue.hpp), such as scales of its rows and columns.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "rewrite/custom_writer.hpp"
#include "rewrite/epilogue.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

constexpr std::int64_t step = 128;  // of K: an iteration's

/// An operand of a matmul: 8-bit floats, `values` (M, K) or (N, K), times scales, one for each block of a matrix `shape` that has K along
/// dimension `k`; -1: none. `swapped`: the values of B are (K, N), whose memory has K along lines.
struct ScaledOperand {
  int values = -1, scales = -1;
  std::size_t k = 1;
  Shape shape, blocks = {1, 1};
  bool swapped = false;

  std::int64_t across() const { return shape[1 - k]; }
  std::int64_t block_across() const { return blocks[1 - k]; }
};

/// Returns how many elements of one dimension of a matrix, which is split in the dimensions [from, to) of `whole`, have one scale, if
/// those are adjacent; else 0.
std::int64_t block_of(const Shape& whole, const Shape& scales, std::size_t from, std::size_t to) {
  std::int64_t block = 1;
  for (std::size_t d = to; d-- > from;) {
    if (scales[d] == 1 && block == graph::size(Shape(whole.begin() + static_cast<std::ptrdiff_t>(d) + 1,
                                                     whole.begin() + static_cast<std::ptrdiff_t>(to))))
      block *= whole[d];
    else if (scales[d] != whole[d])
      return 0;
  }
  return block;
}

/// Reads the operators from which a matmul's operand is computed.
class ScaledReader {
 public:
  explicit ScaledReader(const Known& g) : g_(g) {}

  /// Returns both operands of a product that the rule computes.
  std::optional<std::pair<ScaledOperand, ScaledOperand>> operands(const KernelOp& op) const {
    if (op.kind != OpKind::matmul || op.inputs.size() != 2 || g_.graph.sizes) return {};
    const bool bare = graph::is_float8(g_.dtype(op.inputs[0]));
    if (bare && op.attributes.dtype != DType::bf16) return {};
    const std::optional<ScaledOperand> a = bare ? unscaled(op.inputs[0], 1) : read(op.inputs[0], 1),
                                       b = bare ? unscaled(op.inputs[1], 0) : read(op.inputs[1], 0);
    if (!a || !b || g_.dtype(a->values) != g_.dtype(b->values) || a->shape[1] <= step) return {};
    // TMA reads lines of whole 16 bytes, and fills the last tile with zeros.
    if (a->shape[1] % (bare ? 16 : step) != 0) return {};
    // Views repeat scales along one dimension.
    const auto repeats = [](const ScaledOperand& of) { return of.block_across() > 1 && of.blocks[of.k] > step; };
    if (repeats(*a) || repeats(*b)) return {};
    return std::pair{*a, *b};
  }

 private:
  /// Returns operand `t` of 8-bit floats, if its lines in memory are of K. k: its dimension of K.
  std::optional<ScaledOperand> unscaled(int t, std::size_t k) const {
    const KernelOp* permuted = g_.made_by(t, OpKind::permute);
    const Strides& strides = g_.graph.tensors[static_cast<std::size_t>(t)].strides;
    ScaledOperand found{.values = t, .k = k, .shape = g_.shape(t)};
    if (k == 1) {
      if (permuted || (!strides.empty() && strides.back() != 1)) return {};
      found.shape = as_matrix(found.shape);
    } else if (found.shape.size() != 2) {
      return {};
    } else if (permuted) {
      found.values = permuted->inputs[0];
      const Strides& of = g_.graph.tensors[static_cast<std::size_t>(found.values)].strides;
      if (!of.empty() && of.back() != 1) return {};
    } else {
      found.swapped = true;
      if (strides.size() != 2 || strides[0] != 1 || found.shape[1] == 1) return {};
    }
    return found;
  }

  /// Returns operand `t`, a matrix of bf16, if it is made so. k: its dimension of K.
  std::optional<ScaledOperand> read(int t, std::size_t k) const {
    if (g_.dtype(t) != DType::bf16 || g_.shape(t).size() != 2) return {};
    if (const KernelOp* permuted = g_.inner(t, OpKind::permute); permuted && k == 0) t = permuted->inputs[0], k = 1;
    ScaledOperand found{.k = k, .shape = g_.shape(t)};
    const KernelOp* product = g_.inner(below(t), OpKind::mul, 2);
    for (const int side : {1, 0})
      if (product && g_.shape(product->inputs[side]).size() == g_.shape(product->inputs[1 - side]).size() &&
          blocks(product->inputs[1 - side], product->inputs[side], found) && found.blocks[k] % step == 0 &&
          numbers(product->inputs[1 - side], found))
        return found;
    return {};
  }

  /// Looks through reshapes, and casts between floats of 16 and 32 bits, which nobody else reads.
  int below(int t) const {
    for (;;) {
      const KernelOp* op = g_.inner(t, OpKind::reshape);
      if (!op) op = g_.inner(t, OpKind::cast);
      if (!op || graph::bits(g_.dtype(op->inputs[0])) < 16 || op->attributes.saturate) return t;
      t = op->inputs[0];
    }
  }

  /// Finds the blocks of the scales of tensor `whole`, the matrix in parts.
  bool blocks(int whole, int scales, ScaledOperand& found) const {
    const Shape &parts = g_.shape(whole), &of = g_.shape(scales);
    std::size_t rows = 0;
    for (std::int64_t all = 1; rows < parts.size() && all < found.shape[0]; ++rows) all *= parts[rows];
    while (rows < parts.size() && parts[rows] == 1) ++rows;  // a block of one row
    const auto end = parts.begin() + static_cast<std::ptrdiff_t>(rows);
    if (graph::size(parts) != graph::size(found.shape) || graph::size(Shape(parts.begin(), end)) != found.shape[0])
      return false;
    found.scales = scales;
    found.blocks = {block_of(parts, of, 0, rows), block_of(parts, of, rows, parts.size())};
    return found.blocks[0] > 0 && found.blocks[1] > 0 && g_.dtype(scales) == DType::f32;
  }

  /// Finds the 8-bit floats of which tensor `whole` is a cast, and whether they lie along K.
  bool numbers(int whole, ScaledOperand& found) const {
    const int wide = below(whole);
    const KernelOp* cast = g_.inner(wide, OpKind::cast);
    if (!cast || cast->attributes.saturate) return false;
    found.values = cast->inputs[0];
    while (const KernelOp* view = g_.made_by(found.values, OpKind::reshape)) found.values = view->inputs[0];
    if (g_.shape(found.values) != found.shape || !graph::is_float8(g_.dtype(found.values))) return false;
    const KernelOp* permuted = g_.made_by(found.values, OpKind::permute);
    if (permuted) found.values = permuted->inputs[0];
    return (found.k == 0) == (permuted != nullptr);
  }

  const Known& g_;
};

/// A kernel's tile of the result, and its threads. `swapped`: the columns of the result are the product's rows.
struct ScaledTiles {
  std::int64_t rows, columns, threads;
  bool swapped = false;
};

std::int64_t tiles_along(std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; }

/// Returns the tiles that keep the busiest multiprocessor busy for the least time: a step of K takes the tensor cores, or the threads that
/// scale the products, or the L2 cache. One warpgroup multiplies and scales alternately. For tiles that part blocks with one scale a
/// kernel repeats the scales. A product of few rows without scales is turned, since an instruction has 64 rows at least.
ScaledTiles tiles_of(const ScaledOperand& a, const ScaledOperand& b) {
  constexpr double cache = 40;  // bytes a cycle
  constexpr std::int64_t multiprocessors = 132, latency = 1500, kernel = 5000;
  const std::int64_t steps = tiles_along(a.shape[a.k], step);
  ScaledTiles best{};
  double lowest = 0;
  const auto consider = [&](const ScaledTiles& t) {
    const auto area = static_cast<double>(t.rows * t.columns) / 64,
               bytes = static_cast<double>(step * (t.rows + t.columns));
    const double cycles = std::max(t.threads == 256 ? 2 * area : 3 * area, bytes / cache) + 200;
    const auto tiles = tiles_along(a.across(), t.rows) * tiles_along(b.across(), t.columns),
               waves = tiles_along(tiles, multiprocessors);
    const bool parts = t.rows % a.block_across() != 0 || t.columns % b.block_across() != 0;
    const double time =
        static_cast<double>(waves) * (cycles * static_cast<double>(steps) + latency) + (parts ? kernel : 0);
    if (best.rows == 0 || time < lowest) lowest = time, best = t;
  };
  for (const ScaledTiles& t :
       {ScaledTiles{128, 128, 256}, {64, 128, 128}, {128, 64, 256}, {64, 64, 128}, {64, 32, 128}, {64, 16, 128}}) {
    consider(t);
    if (a.scales < 0 && t.columns != t.rows) consider({t.columns, t.rows, t.threads, true});
  }
  return best;
}

/// Writes the custom operator of a product of 8-bit floats, and of what follows it.
class ScaledWriter : CustomWriter {
 public:
  ScaledWriter(const Known& g, Rewrite& out, const ScaledOperand& a, const ScaledOperand& b)
      : CustomWriter(out), g_(g), a_(a), b_(b), m_(a.across()), n_(b.across()), tiles_(tiles_of(a, b)) {
    rows_ = tiles_along(m_, tiles_.rows) * tiles_.rows, columns_ = tiles_along(n_, tiles_.columns) * tiles_.columns;
    block_.grid = {columns_ / tiles_.columns, rows_ / tiles_.rows, 1};
    block_.block = {tiles_.threads, 1, 1};
    block_.loop = tiles_along(a.shape[1], step);
  }

  KernelOp write(const Epilogue& of, int result) {
    const std::int64_t k = step * tiles_along(a_.shape[1], step), steps = k / step;
    const int values = a_.shape == out_.shape(a_.values) ? a_.values
                                                         : out_.add(OpKind::reshape, {a_.values}, {.sizes = a_.shape},
                                                                    out_.name(a_.values) + "_rows");
    int x = load(values, {-1, along_rows(), -1}, 1, {rows_, k}), y = columns_of_b(k);
    int made = -1;
    if (a_.scales < 0) {
      if (tiles_.swapped) std::swap(x, y), x = swapped(x), y = swapped(y);
      made = add(OpKind::mul_scalar, {add(OpKind::matmul, {x, y}, {.dtype = DType::bf16})}, {.scalar = 1});
    } else {
      const int s = load(each(a_, 1), {-1, along_rows(), -1}, 1, {rows_, steps}),
                t = load(each(b_, 0), {along_columns(), -1, -1}, 0, {steps, columns_});
      made = add(OpKind::matmul, {x, y}, {.dtype = DType::bf16});
      made = add(OpKind::mul, {add(OpKind::mul, {made, s}), t});
    }
    const KernelOp& product = *of.products.front();
    int sum = add(OpKind::accum, {made});
    if (const DType dtype = out_.tensor(product.outputs[0]).dtype; dtype != DType::f32)
      sum = add(OpKind::cast, {sum}, {.dtype = dtype});
    int last = add_epilogue(
        of, {{product.outputs[0], sum}}, [&](int t) { return operand(t); },
        [&](const KernelOp& op, std::vector<int> in) { return add(op.kind, std::move(in), op.attributes); });
    if (tiles_.swapped) last = swapped(last);
    const bool all = rows_ == m_ && columns_ == n_;
    return store(last, {along_columns(), along_rows(), -1}, result, all ? Shape() : Shape{m_, n_});
  }

 private:
  int along_rows() const { return block_.grid.y > 1 ? 0 : -1; }
  int along_columns() const { return block_.grid.x > 1 ? 1 : -1; }
  int swapped(int tile) { return add(OpKind::permute, {tile}, {.sizes = {1, 0}}); }

  /// Loads the tile (K, columns) of B.
  int columns_of_b(std::int64_t k) {
    const int b = b_.swapped
                      ? b_.values
                      : out_.add(OpKind::permute, {b_.values}, {.sizes = {1, 0}}, out_.name(b_.values) + "_turned");
    return load(b, {along_columns(), -1, -1}, 0, {k, columns_});
  }

  /// Loads an operand of the operators that follow the product, swapped as that is.
  int operand(int t) {
    const Shape matrix = as_matrix(g_.shape(t));
    const bool by_rows = matrix[0] > 1, by_columns = matrix[1] > 1;
    const int from =
        g_.shape(t) == matrix ? t : out_.add(OpKind::reshape, {t}, {.sizes = matrix}, out_.name(t) + "_view");
    const int tile = load(from, {by_columns ? along_columns() : -1, by_rows ? along_rows() : -1, -1}, -1,
                          {by_rows ? rows_ : 1, by_columns ? columns_ : 1});
    return tiles_.swapped ? swapped(tile) : tile;
  }

  /// Returns the scales as a matrix with a number for each row, or column, and each 128 of K, which is along dimension `k`.
  int each(const ScaledOperand& of, std::size_t k) {
    Shape blocks = of.blocks, counts{of.shape[0] / blocks[0], of.shape[1] / blocks[1]};
    const std::string name = out_.name(of.scales);
    int to = of.scales;
    if (out_.shape(to) != counts) to = out_.add(OpKind::reshape, {to}, {.sizes = counts}, name + "_blocks");
    if (of.k != k) {
      to = out_.add(OpKind::permute, {to}, {.sizes = {1, 0}}, name + "_turned");
      std::swap(blocks[0], blocks[1]), std::swap(counts[0], counts[1]);
    }
    blocks[k] /= step;
    if (blocks == Shape{1, 1}) return to;
    const std::size_t after = blocks[1] > 1 ? 2 : 1;  // where the dimension of what has one scale is
    const auto with = [&](std::int64_t extent) {
      Shape shape = counts;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(after), extent);
      return shape;
    };
    const std::int64_t run = blocks[after - 1];
    to = out_.add(OpKind::reshape, {to}, {.sizes = with(1)}, name + "_apart");
    to = out_.add(OpKind::expand, {to}, {.sizes = with(run)}, name + "_runs");
    counts[after - 1] *= run;
    return out_.add(OpKind::reshape, {to}, {.sizes = counts}, name + "_each");
  }

  const Known& g_;
  const ScaledOperand &a_, &b_;
  std::int64_t m_, n_, rows_ = 0, columns_ = 0;  // of the result; that the tiles cover
  ScaledTiles tiles_;
};

/// Makes the operators that end at `op` one custom operator, if it ends what follows such a product.
bool scaled_product(const Known& g, const KernelOp& op, Rewrite& out) {
  const ScaledReader reader(g);
  const auto is_product = [&](const KernelOp& product) { return reader.operands(product).has_value(); };
  const std::optional<Epilogue> of =
      EpilogueReader(g, {.is_product = is_product, .together = {}, .max_products = 1}).ending_at(op);
  if (!of) return false;
  const auto [a, b] = *reader.operands(*of->products.front());
  const Shape &y = g.shape(of->result), matrix = as_matrix(y);
  const int to = y == matrix ? of->result : out.make({g.dtype(of->result), matrix, {}, g.name(of->result) + "_rows"});
  out.keep(ScaledWriter(g, out, a, b).write(*of, to));
  if (to != of->result) out.add(OpKind::reshape, {to}, {.sizes = y}, "", of->result);
  return true;
}

}  // namespace

/// Makes products of 8-bit floats, perhaps with scales of blocks, custom operators, whose blocks scale the products of 128 of K.
std::optional<KernelGraph> scaled_blocks(const KernelGraph& g) {
  const auto is_narrow = [](const KernelTensor& t) { return graph::is_float8(t.dtype); };
  return std::ranges::any_of(g.tensors, is_narrow) ? each<scaled_product>(g) : std::nullopt;
}

}  // namespace zellige::rewrite
