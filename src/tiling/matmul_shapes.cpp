#include "tiling/matmul_shapes.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "selection/layouts.hpp"
#include "target/instructions.hpp"
#include "target/products.hpp"
#include "tile/program.hpp"

namespace zellige::tiling {
namespace {

using retile::MatmulTile;

/// Tiles {M, N, K, threads} on FMA units, with 8 x 8, 8 x 4 or 4 x 4 accumulators per thread. Those with small M or N
/// stream weights, with several warps along K.
constexpr MatmulTile on_fma_units[] = {
    {8, 4, 256, 256},   {64, 32, 16, 128},  {64, 64, 16, 128},  {4, 32, 256, 256},   {8, 32, 256, 256},
    {8, 64, 128, 128},  {16, 32, 128, 128}, {16, 64, 64, 128},  {16, 128, 32, 128},  {32, 4, 256, 256},
    {32, 32, 64, 128},  {32, 64, 32, 128},  {32, 64, 64, 128},  {64, 16, 128, 128},  {64, 32, 32, 128},
    {64, 32, 64, 128},  {64, 64, 32, 128},  {64, 64, 64, 128},  {64, 64, 64, 256},   {64, 128, 32, 128},
    {64, 128, 32, 256}, {128, 64, 32, 128}, {128, 64, 32, 256}, {128, 128, 16, 256}, {128, 128, 32, 256}};
constexpr MatmulTile of_integers[] = {{16, 16, 32, 128}, {32, 32, 32, 256}, {64, 64, 16, 256}};

/// Collects the legal tiles of a matmul.
class Legal {
 public:
  Legal(const MatmulSize& size, const target::Target& target)
      : size_(size), target_(target), type_(target::multiplied_as(size.dtype, size.tf32)) {}

  std::vector<MatmulTile> run() {
    const Instruction* row = target::find_mma(target_, type_, type_, graph::name(graph::DType::f32));
    if (graph::is_integer(size_.dtype) || size_.dtype == graph::DType::f64)  // by dot products
      add_all(of_integers);
    else if (row)
      of_warps(*row);
    else
      add_all(on_fma_units);
    of_warpgroups();
    return std::move(found_);
  }

 private:
  /// Adds a tile unless it is an earlier one once both are cut to the matrix, whose columns are padded to a multiple of `columns`.
  /// With A and B swapped, N is not cut.
  void add(const MatmulTile& t, std::int64_t columns = 1) {
    if (size_.dtype == graph::DType::f32) {
      // Short unaligned rows are narrow accesses to more sectors. With a short K most threads that share it would have none.
      if (t.k < 32 && t.m * t.n < 128 * 128 && !size_.lines) return;
      if (t.k >= 4 * size_.k && t.k > 32) return;
    }
    const std::int64_t m = t.swap_ab ? size_.n : size_.m;
    const std::int64_t n = tile::ceil_div(size_.n, columns) * columns;
    const MatmulTile cut{std::min(t.m, m), t.swap_ab ? t.n : std::min(t.n, n), std::min(t.k, size_.k), t.threads,
                         t.swap_ab};
    if (seen_.insert({cut.m, cut.n, cut.k, cut.threads, cut.swap_ab}).second) found_.push_back(t);
  }
  void add_all(std::span<const MatmulTile> tiles) {
    for (const MatmulTile& t : tiles) add(t);
  }

  /// Adds the tiles on mma.sync: M from one instruction to eight, N up to twice that, K from one line of 32 bytes to 1 KiB, as far
  /// as three stages fit.
  void of_warps(const Instruction& row) {
    constexpr std::int64_t minimum = 16, maximum = 128, stage_bytes = 48 * 1024, four_warps = 64 * 64,
                           accumulators = 128;
    // Elements of 8 bits that do not lie along K become 16 bits wide.
    const std::int64_t bits = size_.a_along_k && size_.b_along_k ? row.a.bits : std::max(16, row.a.bits);
    for (std::int64_t m = minimum; m <= maximum; m *= 2)
      for (const std::int64_t n : {16, 32, 64, 96, 128, 192, 256})
        for (std::int64_t k = 32 * 16 / bits; k <= 512 * 16 / bits; k *= 2)
          if ((m + n) * k * bits / 8 <= stage_bytes)
            for (const int threads : {128, 256})
              if ((threads == 128 || m * n >= four_warps) && m * n <= accumulators * threads) add({m, n, k, threads});
  }

  /// Adds the tiles on wgmma, if the rows of both operands are aligned for TMA and two iterations at least can overlap. A
  /// warpgroup has 64 rows, or two times 64. With A and B swapped, the rows are columns of the weights, which the last
  /// tile may reach beyond, and N is the number of rows of A, in equal parts.
  void of_warpgroups() {
    constexpr std::int64_t rows = 64, step = 16, maximum = 256, accumulators = 128;
    const std::int64_t k =
        graph::bits(size_.dtype) == 8 ? 128 : 64;  // elements of a line of K, of two if they have 32 bits
    if (!size_.lines || size_.k < 2 * k) return;
    const auto add_with = [&](std::int64_t m, std::int64_t n, bool swap_ab) {
      const int threads = m == rows ? 128 : 256;
      const Instruction* const row =
          target::find_warpgroup_mma(target_, type_, type_, graph::name(graph::DType::f32), static_cast<int>(n));
      const bool lines_of_k = size_.a_along_k && size_.b_along_k;
      if (m * n / threads <= accumulators && row && (!target::only_along_k(*row) || (lines_of_k && !swap_ab)))
        add({m, n, k, threads, swap_ab}, step);
    };
    for (const std::int64_t m : {rows, 2 * rows})
      for (std::int64_t n = step; n <= maximum; n += step)
        if (m < size_.m + rows && n < size_.n + step) add_with(m, n, false);
    for (const std::int64_t m : {rows, 2 * rows, 4 * rows}) {
      if (m > size_.n) continue;
      for (std::int64_t n = size_.m <= step / 2 ? step / 2 : step; n <= maximum; n += step)
        if (n < size_.m + step) add_with(m, n, true);
      for (const std::int64_t n : odd_rows(size_.m)) add_with(m, n, true);
    }
  }

  const MatmulSize& size_;
  const target::Target& target_;
  std::string_view type_;  // as which the operands are multiplied
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, int, bool>> seen_;
  std::vector<MatmulTile> found_;
};

/// Of chains on tensor cores, with K of 16-bit operands.
constexpr MatmulTile chains[] = {{128, 256, 64, 256}, {128, 192, 64, 256}, {128, 128, 64, 256}, {128, 128, 128, 256},
                                 {128, 64, 64, 256},  {64, 256, 64, 128},  {64, 128, 64, 128},  {64, 64, 64, 128},
                                 {64, 64, 128, 128},  {64, 32, 128, 128},  {64, 64, 32, 128},   {32, 128, 64, 128},
                                 {32, 64, 128, 128},  {16, 128, 128, 128}, {16, 64, 128, 128},  {16, 64, 256, 128},
                                 {16, 32, 128, 128},  {16, 32, 256, 128},  {16, 256, 64, 128}};

}  // namespace

std::vector<MatmulTile> chain_shapes(std::int64_t m, bool fma, int width) {
  std::vector<MatmulTile> result;
  if (fma) return {std::begin(on_fma_units), std::end(on_fma_units)};
  for (MatmulTile t : chains) t.k /= width, result.push_back(t);
  if (m % 128 != 0)
    for (const std::int64_t rows : odd_rows(m))
      for (const auto& [n, threads] : {std::pair{64, 128}, {128, 256}})
        result.push_back({rows, n, 64 / width, threads});
  return result;
}

std::vector<std::int64_t> odd_rows(std::int64_t m) {
  constexpr std::int64_t limit = 256, block = 128, max_parts = 8;
  std::vector<std::int64_t> result;
  if (m <= block / 2) return result;
  const auto add = [&](std::int64_t parts, std::int64_t unit) {
    const std::int64_t t = tile::ceil_div(tile::ceil_div(m, parts), unit) * unit;
    if (parts <= max_parts && t * parts <= tile::ceil_div(m, block) * block && std::ranges::count(result, t) == 0)
      result.push_back(t);
  };
  const std::int64_t minimum = tile::ceil_div(m, limit);
  add(minimum, 8);
  add(minimum, 16);  // a multiple of 16, so that two blocks of a cluster may load 8-row halves
  add(minimum + 1, 16);
  return result;
}

MatmulSize matmul_size(const graph::MatmulShapes& of, const graph::KernelTensor& a, const graph::KernelTensor& b,
                       bool tf32, bool lines) {
  const std::size_t rank = of.product.size();
  MatmulSize size{1, of.product[rank - 2], of.product[rank - 1], of.a.back(), a.dtype, lines, tf32};
  const auto along = [](const graph::KernelTensor& t, std::size_t dim) {
    const graph::Strides rows = t.strides.empty() ? graph::row_major(t.shape) : t.strides;
    return t.shape.size() > 1 && selection::innermost(t.shape, rows) == static_cast<int>(t.shape.size() - dim);
  };
  size.a_along_k = along(a, 1), size.b_along_k = along(b, 2);
  for (std::size_t d = 0; d + 2 < rank; ++d) size.batch *= of.product[d];
  size.a_batched = graph::size(of.a) == size.batch * size.m * size.k;
  size.b_batched = graph::size(of.b) == size.batch * size.k * size.n;
  return size;
}

MatmulSize matmul_size(const graph::KernelGraph& g, int op) {
  const graph::KernelTensor &a = g.tensors[g.ops[op].inputs[0]], &b = g.tensors[g.ops[op].inputs[1]];
  const graph::MatmulShapes of = graph::matrices(a.shape, b.shape);
  // Assumes contiguous rows, whose strides must be multiples of 16 bytes.
  const bool lines = of.product.back() % 8 == 0 && of.a.back() % 8 == 0;
  return matmul_size(of, a, b, g.ops[op].attributes.tf32, lines);
}

std::vector<MatmulTile> matmul_shapes(const MatmulSize& size, const target::Target& target) {
  return Legal(size, target).run();
}

}  // namespace zellige::tiling
