// The rule of products of 8-bit floats with scales of blocks: their product is one kernel, which multiplies the numbers as they are,
// 128 of K at a time, and adds up the products times both scales.
//
//   y = (cast(a) s)(cast(b) t)     a: e4m3 (M, K), s (M, K / 128);  b: e4m3 (K, N), t (K / 128, N / 128)
//   y = sum over g of s[:, g] t[g, :] (a[:, g] b[g, :])
//
// Over 128 of K both scales are constant. The operands' products with their scales are not rounded to bf16, as the graph says; in
// place of that the tensor cores of sm_90 keep 13 bits of the products of 32 of K (docs/reference/dtypes.md).
#include <algorithm>
#include <optional>
#include <utility>

#include "rewrite/custom_writer.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

constexpr std::int64_t step = 128;  // of K: an iteration's

/// An operand of a matmul: 8-bit floats, `values` (M, K) or (N, K), times scales, one for each block of a matrix `shape` that has K along
/// dimension `k`.
struct ScaledOperand {
  int values = -1, scales = -1;
  std::size_t k = 1;
  Shape shape, blocks;

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

 private:
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
    const DType dtype = g_.dtype(found.values);
    if (g_.shape(found.values) != found.shape || (dtype != DType::e4m3 && dtype != DType::e5m2)) return false;
    const KernelOp* permuted = g_.made_by(found.values, OpKind::permute);
    if (permuted) found.values = permuted->inputs[0];
    return (found.k == 0) == (permuted != nullptr);
  }

  const Known& g_;
};

/// A kernel's tile of the result, and its threads.
struct ScaledTiles {
  std::int64_t rows, columns, threads;
};

std::int64_t tiles_along(std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; }

/// Returns the tiles that keep the busiest multiprocessor busy for the least time: a step of K takes the tensor cores, or the threads that
/// scale the products, or the L2 cache. One warpgroup multiplies and scales alternately. For tiles that part blocks with one scale a
/// kernel repeats the scales.
ScaledTiles tiles_of(const ScaledOperand& a, const ScaledOperand& b) {
  constexpr double cache = 40;  // bytes a cycle
  constexpr std::int64_t multiprocessors = 132, latency = 1500, kernel = 5000;
  const std::int64_t steps = a.shape[a.k] / step;
  ScaledTiles best{};
  double lowest = 0;
  for (const ScaledTiles& t :
       {ScaledTiles{128, 128, 256}, {64, 128, 128}, {128, 64, 256}, {64, 64, 128}, {64, 32, 128}, {64, 16, 128}}) {
    const auto area = static_cast<double>(t.rows * t.columns) / 64,
               bytes = static_cast<double>(step * (t.rows + t.columns));
    const double cycles = std::max(t.threads == 256 ? 2 * area : 3 * area, bytes / cache) + 200;
    const auto tiles = tiles_along(a.across(), t.rows) * tiles_along(b.across(), t.columns),
               waves = tiles_along(tiles, multiprocessors);
    const bool parts = t.rows % a.block_across() != 0 || t.columns % b.block_across() != 0;
    const double time =
        static_cast<double>(waves) * (cycles * static_cast<double>(steps) + latency) + (parts ? kernel : 0);
    if (best.rows == 0 || time < lowest) lowest = time, best = t;
  }
  return best;
}

/// Writes the custom operator of a product of scaled operands.
class ScaledWriter : CustomWriter {
 public:
  ScaledWriter(Rewrite& out, const ScaledOperand& a, const ScaledOperand& b)
      : CustomWriter(out), a_(a), b_(b), m_(a.across()), n_(b.across()), tiles_(tiles_of(a, b)) {
    rows_ = tiles_along(m_, tiles_.rows) * tiles_.rows, columns_ = tiles_along(n_, tiles_.columns) * tiles_.columns;
    block_.grid = {columns_ / tiles_.columns, rows_ / tiles_.rows, 1};
    block_.block = {tiles_.threads, 1, 1};
    block_.loop = a.shape[1] / step;
  }

  KernelOp write(int result) {
    const std::array<int, 3> by_rows{-1, block_.grid.y > 1 ? 0 : -1, -1},
        by_columns{block_.grid.x > 1 ? 1 : -1, -1, -1};
    const std::int64_t k = a_.shape[1], steps = k / step;
    const int permuted = out_.add(OpKind::permute, {b_.values}, {.sizes = {1, 0}}, out_.name(b_.values) + "_turned");
    const int x = load(a_.values, by_rows, 1, {rows_, k}), y = load(permuted, by_columns, 0, {k, columns_});
    const int s = load(each(a_, 1), by_rows, 1, {rows_, steps}),
              t = load(each(b_, 0), by_columns, 0, {steps, columns_});
    const int product = add(OpKind::matmul, {x, y}, {.dtype = DType::bf16});
    const int scaled = add(OpKind::mul, {add(OpKind::mul, {product, s}), t});
    const int rounded = add(OpKind::cast, {add(OpKind::accum, {scaled})}, {.dtype = out_.tensor(result).dtype});
    const bool all = rows_ == m_ && columns_ == n_;
    return store(rounded, {by_columns[0], by_rows[1], -1}, result, all ? Shape() : Shape{m_, n_});
  }

 private:
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

  const ScaledOperand &a_, &b_;
  std::int64_t m_, n_, rows_ = 0, columns_ = 0;  // of the result; that the tiles cover
  ScaledTiles tiles_;
};

/// Makes the product `op` one custom operator.
bool scaled_product(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::matmul || op.inputs.size() != 2 || g.graph.sizes) return false;
  const ScaledReader reader(g);
  const std::optional<ScaledOperand> a = reader.read(op.inputs[0], 1), b = reader.read(op.inputs[1], 0);
  const bool several =
      a && b && a->shape[1] % step == 0 && a->shape[1] > step && g.dtype(a->values) == g.dtype(b->values);
  // Views repeat scales along one dimension.
  const auto repeats = [](const ScaledOperand& of) { return of.block_across() > 1 && of.blocks[of.k] > step; };
  if (!several || repeats(*a) || repeats(*b)) return false;
  out.keep(ScaledWriter(out, *a, *b).write(op.outputs[0]));
  return true;
}

}  // namespace

/// Makes products of 8-bit floats with scales of blocks custom operators, whose blocks scale the products of 128 of K.
std::optional<KernelGraph> scaled_blocks(const KernelGraph& g) {
  const auto is_narrow = [](const KernelTensor& t) { return t.dtype == DType::e4m3 || t.dtype == DType::e5m2; };
  return std::ranges::any_of(g.tensors, is_narrow) ? each<scaled_product>(g) : std::nullopt;
}

}  // namespace zellige::rewrite
