#include "lower/product_tiles.hpp"

#include <algorithm>
#include <cmath>

#include "graph/matrices.hpp"
#include "select/layouts.hpp"
#include "select/split_k.hpp"
#include "target/instructions.hpp"
#include "tile/program.hpp"

namespace zellige::plan {
namespace {

using retile::ProductTile;

// Candidate tiles {M, N, K, threads} on mma.sync. K is of 16-bit operands; others have as many bytes of K.
constexpr ProductTile by_warps[] = {{128, 128, 32, 256}, {128, 64, 32, 128}, {64, 128, 32, 128},
                                    {64, 64, 64, 128},   {32, 128, 64, 128}, {16, 128, 64, 128},
                                    {32, 64, 64, 128},   {16, 64, 128, 128}, {16, 32, 128, 128}};
/// Candidates for up to 16 rows on mma.sync, where reading the weights takes the time. Each block reads
/// long contiguous parts of the weights, longer ones if K is large enough that rows span many pages.
constexpr std::int64_t rows_of_a_stream = 16, long_rows = 8192;
constexpr ProductTile narrow{16, 16, 256, 128}, wide{16, 32, 256, 128}, wide_and_long{16, 32, 512, 128};
/// Candidates on FMA units, with 8 x 8, 8 x 4 or 4 x 4 accumulators per thread. The tiles with small M are
/// for streaming weights, with several warps along K.
constexpr ProductTile without_tensor_cores[] = {
    {128, 128, 32, 256}, {128, 128, 16, 256}, {128, 64, 32, 256}, {64, 128, 32, 256}, {128, 64, 32, 128},
    {64, 128, 32, 128},  {64, 64, 32, 128},   {64, 64, 64, 256},  {64, 32, 64, 128},  {32, 64, 64, 128},
    {32, 32, 64, 128},   {16, 64, 64, 128},   {16, 32, 128, 128}, {8, 64, 128, 128},  {8, 32, 256, 256},
    {4, 32, 256, 256},   {64, 16, 128, 128},  {32, 4, 256, 256}};
// Candidates for integer matmuls.
constexpr ProductTile of_integers[] = {{64, 64, 16, 256}, {32, 32, 32, 256}, {16, 16, 32, 128}};
// Columns per rank of split-K: one TMA row each, with enough memory left for a deep ring.
constexpr int columns_to_split = 128;
// Candidates on wgmma.
constexpr ProductTile of_warpgroups[] = {
    {128, 256, 64, 256}, {128, 224, 64, 256}, {128, 192, 64, 256}, {128, 160, 64, 256}, {128, 128, 64, 256},
    {128, 96, 64, 256},  {128, 64, 64, 256},  {64, 256, 64, 128},  {64, 128, 64, 128},  {64, 64, 64, 128}};

/// Candidates on wgmma with A and B swapped, for small M: the columns of the weights are the instruction's
/// M, and the rows of A its N.
constexpr ProductTile of_few_rows[] = {{64, 16, 64, 128, true}, {64, 32, 64, 128, true}, {64, 64, 64, 128, true}};
constexpr std::int64_t few_rows = 9;  // with fewer rows at least half of N = 16 is wasted
/// Candidates on wgmma with A and B swapped, for a larger M that tiles of 128 rows would leave partly empty, such as 300,
/// or that they fill but leave multiprocessors idle, such as 384. N (0 here) is set to one of odd_rows().
constexpr ProductTile of_odd_rows[] = {{64, 0, 64, 128, true}, {128, 0, 64, 256, true}, {256, 0, 64, 256, true}};

/// Collects the candidate tiles of a matmul with their estimated times.
class Choice {
 public:
  Choice(const ProductSize& size, const target::Target& target)
      : size_(size),
        target_(target),
        c_(target.costs.tiles),
        type_(target::multiplied_as(size.dtype, size.tf32)),
        row_(target::find_mma(target, type_, type_, graph::name(graph::DType::f32))),
        width_(row_ && (size.along_k || row_->a.bits > 16) ? row_->a.bits / 16.0 : 1) {}

  std::vector<ProductTile> run() {
    if (size_.dtype == graph::DType::f32 && !row_)
      for (const ProductTile& t : without_tensor_cores) consider(t, us_of_threads(t));
    else if (graph::is_integer(size_.dtype))
      for (const ProductTile& t : of_integers) consider(t, us_of_warps(t));
    else if (size_.m <= rows_of_a_stream && size_.k >= narrow.k && target_.costs.measured)
      stream();
    else
      for (const ProductTile& t : by_warps) consider(as_wide(t), us_of_warps(t));
    if (fits_warpgroups())
      for (const ProductTile& t : of_warpgroups)
        if (size_.m >= t.m && size_.n >= t.n && has_instruction(t)) consider(t, us_of_warpgroups(t));
    if (fits_warpgroups() && size_.m >= few_rows && size_.n % 64 == 0)
      for (const ProductTile& t : of_few_rows)
        if (size_.m <= t.n && size_.m > t.n / 2 && has_instruction(t))
          consider(t, t.n == rows_of_a_stream ? us_of_stream(t, c_.stream_warpgroup, c_.stream_filled_warpgroup)
                                              : us_of_warpgroups(t));
    if (fits_warpgroups())
      for (const std::int64_t rows : odd_rows(size_.m))
        for (ProductTile t : of_odd_rows)
          if (t.n = rows;
              size_.n % t.m == 0 && has_instruction(t) && (size_.m % 128 != 0 || tiles(t) <= target_.multiprocessors))
            consider(t, us_of_warpgroups(t));
    std::ranges::stable_sort(found_, {}, &Costed::us);
    std::vector<ProductTile> tiles;
    for (const Costed& c : found_) tiles.push_back(c.tile);
    return tiles;
  }

 private:
  struct Costed {
    double us;
    ProductTile tile;
  };

  /// Returns whether the rows of both operands are aligned for TMA, and two iterations at least can overlap.
  bool fits_warpgroups() const { return size_.lines && size_.k >= 128; }
  bool has_instruction(const ProductTile& t) const {
    return target::find_warpgroup_mma(target_, type_, type_, graph::name(graph::DType::f32), t.n) != nullptr;
  }

  /// Returns the tile with as many bytes of K as it has with 16-bit operands.
  ProductTile as_wide(ProductTile t) const {
    t.k = static_cast<std::int64_t>(static_cast<double>(t.k) / width_);
    return t;
  }

  void consider(const ProductTile& t, double us) { found_.push_back({us, t}); }

  /// Returns the number of output tiles.
  double tiles(const ProductTile& t) const {
    const std::int64_t m = t.swap_ab ? size_.n : size_.m, n = t.swap_ab ? size_.m : size_.n;
    return static_cast<double>(size_.batch * ceil_div(m, t.m) * ceil_div(n, t.n));
  }

  /// Returns the microseconds for reading both operands from DRAM and writing the result.
  double us_of_memory() const {
    const auto m = static_cast<double>(size_.m), n = static_cast<double>(size_.n), k = static_cast<double>(size_.k);
    return static_cast<double>(size_.batch) * graph::bits(size_.dtype) / 8.0 * (m * k + k * n + m * n) /
           target_.costs.dram * 1e-3;
  }

  /// Returns the estimated microseconds of the matmul with its DRAM accesses. `us` is the time that its work
  /// would take if memory were infinitely fast.
  double limited_by_memory(double us) const {
    const double memory = us_of_memory();
    return std::max(us, memory) + c_.hidden * std::min(us, memory);
  }

  /// Returns the estimated microseconds on mma.sync with several blocks per multiprocessor. A tile takes the
  /// time of its multiplications or of its reads from L2, whichever is longer.
  double us_of_warps(const ProductTile& t) const {
    const double waves = std::max(1.0, tiles(t) / target_.multiprocessors), clock = target_.costs.clock * 1e3;
    // The tensor cores multiply operands of twice the bits at half the rate, those of half the bits no faster.
    const double step = std::max(std::max(1.0, width_) * static_cast<double>(t.m * t.n) / c_.warp_products,
                                 width_ * static_cast<double>(t.m + t.n) * 2 / c_.warp_bytes);
    return limited_by_memory(waves * step * static_cast<double>(size_.k) / clock) +
           std::max(1.0, waves / c_.warp_blocks) * c_.warp_once / clock;
  }

  /// Returns the estimated microseconds on FMA units with several blocks per multiprocessor. For each step
  /// over K, this is the longest of three times (issuing FMAs, reading shared memory, reading from L2) plus a
  /// part of the other two. If a multiprocessor has few warps, the latency of barriers and loads adds to it.
  double us_of_threads(const ProductTile& t) const {
    const double line = target_.costs.shared_cycle, seen = target_.costs.selection.overlooked;
    const auto m = static_cast<double>(std::min(t.m, size_.m)), n = static_cast<double>(std::min(t.n, size_.n)),
               depth = static_cast<double>(std::min(t.k, size_.k));
    const double warps = static_cast<double>(t.threads) / 32;
    const double clock = target_.costs.clock * 1e3, each = std::ceil(tiles(t) / target_.multiprocessors);
    const double sums = m * n / static_cast<double>(t.threads);  // per thread
    const double room =
        std::floor(static_cast<double>(target_.shared_per_multiprocessor) / (c_.fma_stages * (m + n) * 4 * depth));
    const double together = std::max(1.0, std::min({c_.fma_threads / (32 * warps), each, room}));
    const double fma = m * n / c_.fma_lanes / target_.costs.sustained_fma / target_.costs.fma_share(warps * together);
    // A thread with s accumulators reads about sqrt(s) elements of each operand per step of K. Two phases
    // of these 16-byte loads are served as one wavefront.
    const double read =
        static_cast<double>(t.threads) * 2 * std::sqrt(std::max(1.0, sums)) * 4 / 2 / line + (m + n) * 4 / line;
    const double load_cycles = (m + n) * 4 / target_.costs.l2_cycle;
    const double step = std::max({fma, read, load_cycles}) + seen * (std::min(fma, read) + load_cycles);
    const double k = static_cast<double>(ceil_div(size_.k, t.k) * std::min(t.k, size_.k));
    // The latency of an iteration is hidden by the iterations in flight and by the other blocks of the multiprocessor.
    const auto in_flight = static_cast<double>(target_.costs.bytes_in_flight);
    const double stage = (m + n) * 4 * depth;
    const double waits = k / depth * target_.costs.load /
                         std::clamp<double>(in_flight / stage, c_.fma_stages - 1, target_.costs.max_stages) *
                         std::ceil(each / together);
    const double us = std::max(each * step * k, waits) / clock + (each > 1 ? 2 : 1) * c_.fma_once / clock;
    return limited_by_memory(us * std::max(1.0, c_.fma_filled * target_.multiprocessors / tiles(t)));
  }

  /// Returns the estimated microseconds of a matmul with few rows, which DRAM bandwidth limits: the time of its DRAM
  /// accesses times `share`, a measured factor for the tile `t`. The time is longer if fewer multiprocessors than the
  /// fraction `busy` of them have a block.
  double us_of_stream(const ProductTile& t, double share, double busy) const {
    return share * us_of_memory() * std::max(1.0, busy * target_.multiprocessors / tiles(t));
  }
  /// Adds the candidates on mma.sync for matmuls with at most 16 rows.
  void stream() {
    const ProductTile& w = size_.k >= long_rows ? wide_and_long : wide;
    consider(as_wide(narrow), us_of_stream(narrow, 1, c_.stream_filled));
    consider(as_wide(w), us_of_stream(w, tiles(w) > target_.multiprocessors ? c_.stream_wide_many : c_.stream_wide,
                                      c_.stream_filled));
  }

  /// Returns the estimated microseconds on wgmma fed by TMA, one block per multiprocessor. A wave takes as
  /// long as its busiest multiprocessor: limited by its loads, its tensor cores or its shared-memory
  /// bandwidth (wgmma reads and TMA writes), or by the power limit of the GPU.
  double us_of_warpgroups(const ProductTile& t) const {
    const std::int64_t iterations = ceil_div(size_.k, t.k);
    const double all = tiles(t), each = target_.multiprocessors;
    const int split = t.n % columns_to_split == 0 ? split_of(static_cast<std::int64_t>(all), iterations, target_) : 1;
    const double blocks = all * split, whole = std::floor(blocks / each), last = blocks / each - whole;
    const auto m = static_cast<double>(t.m), n = static_cast<double>(t.n);
    const double k = static_cast<double>(size_.k) / split;
    const double read = m / 64 * (64 + n) * 2, filled = (m + n) * 2;  // bytes of shared memory per step of k
    const double stage = filled * static_cast<double>(t.k), out = blocks > each ? 2 * m * n : 0;
    const double stall =
        static_cast<double>(target_.shared_per_block) - out < target_.costs.few_stages * stage ? c_.stalled : 1;
    // True if clusters of two blocks share the load of an operand. Each block loads half of the operand's
    // rows, which must be a multiple of 8.
    const bool pairs = t.swap_ab && t.n % 16 == 0 && pairs_pay(t.m, t.n, iterations);
    const double load_cycles =
        m * 2 / (t.swap_ab ? c_.streamed_cycle : c_.l2_cycle) + (pairs ? 0.5 : 1) * n * 2 / c_.l2_cycle;
    const double cycles =
        stall * std::max({(read + filled) / target_.costs.shared_cycle, load_cycles, m * n / c_.products_cycle});
    const double one = k * cycles / (target_.costs.clock * c_.boost) * 1e-3;
    const double together = k * m * n / (c_.products_cycle * c_.sustained * target_.costs.clock) * 1e-3;
    const double area = m * n / (128 * 128);
    const double end = c_.end * area * std::max(1.0, area / 2) * (blocks > each ? 1 : 2) +
                       (t.n % 64 != 0 && !t.swap_ab ? c_.no_tensor_map * area : 0) +
                       (t.m == 64 && !t.swap_ab ? c_.lone_warpgroup : 0);
    const double us = whole * std::max(one, together) + (last > 0 ? std::max(one, last * together) : 0);
    return limited_by_memory(us) + c_.starting + std::ceil(blocks / each) * end + (split > 1 ? c_.exchange : 0);
  }

  const ProductSize& size_;
  const target::Target& target_;
  const target::Costs::Tiles& c_;
  std::string_view type_;   // as which the operands are multiplied
  const Instruction* row_;  // on mma.sync, or nullptr
  double width_;  // of its operands, in units of 16 bits; 8-bit ones that do not lie along K become 16 bits wide
  std::vector<Costed> found_;
};

}  // namespace

std::vector<std::int64_t> odd_rows(std::int64_t m) {
  constexpr std::int64_t limit = 256, block = 128, max_parts = 8;
  std::vector<std::int64_t> result;
  if (m <= block / 2) return result;
  const auto add = [&](std::int64_t parts, std::int64_t unit) {
    const std::int64_t t = ceil_div(ceil_div(m, parts), unit) * unit;
    if (parts <= max_parts && t * parts <= ceil_div(m, block) * block && std::ranges::count(result, t) == 0)
      result.push_back(t);
  };
  const std::int64_t minimum = ceil_div(m, limit);
  add(minimum, 8);
  add(minimum, 16);  // a multiple of 16, so that two blocks of a cluster may load 8-row halves
  add(minimum + 1, 16);
  return result;
}

ProductSize product_size(const graph::KernelGraph& g, int op) {
  const graph::KernelTensor &a = g.tensors[g.ops[op].inputs[0]], &b = g.tensors[g.ops[op].inputs[1]];
  const graph::Matrices of = graph::matrices(a.shape, b.shape);
  const std::size_t rank = of.product.size();
  ProductSize size{1, of.product[rank - 2], of.product[rank - 1], of.a.back(), a.dtype};
  size.tf32 = g.ops[op].attributes.tf32;
  const auto along = [](const graph::KernelTensor& t, std::size_t dim) {
    const Strides rows = t.strides.empty() ? graph::row_major(t.shape) : t.strides;
    return t.shape.size() > 1 && innermost(t.shape, rows) == static_cast<int>(t.shape.size() - dim);
  };
  size.along_k = along(a, 1) && along(b, 2);
  for (std::size_t d = 0; d + 2 < rank; ++d) size.batch *= of.product[d];
  // Assumes contiguous rows, whose strides must be multiples of 16 bytes.
  size.lines = size.n % 8 == 0 && size.k % 8 == 0;
  return size;
}

std::vector<ProductTile> product_tiles(const ProductSize& size, const target::Target& target) {
  return Choice(size, target).run();
}

}  // namespace zellige::plan
