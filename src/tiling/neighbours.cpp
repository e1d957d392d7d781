#include <algorithm>
#include <optional>

#include "graph/error.hpp"
#include "plan/estimate.hpp"
#include "retile/retile.hpp"
#include "tiling/choose_tilings.hpp"

namespace zellige::tiling {
namespace {

using retile::OpTiling;
using retile::Tiling;

/// Returns a reference to one extent of a tiling. `at` is 0, 1 or 2 for grid x, y or z, and 3 for the loop.
std::int64_t& extent(OpTiling& t, int at) {
  return at == 0 ? t.grid.x : at == 1 ? t.grid.y : at == 2 ? t.grid.z : t.loop;
}

/// The tilings of one custom operator that differ from the given one, with estimated times.
class Neighbours {
 public:
  Neighbours(const graph::KernelGraph& g, std::size_t which, const target::Target& target)
      : graph_(g), given_(retile::tiling_of(g)), which_(which), target_(target) {
    for (const OpTiling& o : given_)
      if (o.op == given_[which].op || reads(o.op)) timed_.push_back(o.op);
  }

  std::vector<std::pair<double, Tiling>> best(std::size_t maximum) {
    std::vector<std::int64_t> values[4];
    for (int at = 0; at < 4; ++at) values[at] = extents(at);
    Tiling t = given_;
    OpTiling& mine = t[which_];
    for (std::int64_t x : values[0])
      for (std::int64_t y : values[1])
        for (std::int64_t z : values[2])
          for (std::int64_t loop : values[3]) {
            mine = given_[which_];
            mine.grid = {x, y, z};
            mine.loop = loop;
            if (!sensible(mine)) continue;
            const std::optional<graph::KernelGraph> g = retile::proved(graph_, t);
            if (!g) continue;
            for (int threads : threads_of()) {
              mine.block = threads == given_[which_].block.count() ? given_[which_].block : graph::Dim3{threads, 1, 1};
              if (t == given_) continue;
              graph::KernelGraph timed = *g;
              auto block = std::make_shared<graph::BlockGraph>(*timed.ops[mine.op].block);
              block->block = mine.block;
              timed.ops[mine.op].block = std::move(block);
              refused([&] { found_.emplace_back(plan::estimate(plan::part_of(timed, timed_), target_).us, t); });
            }
          }
    std::ranges::stable_sort(found_, {}, [](const auto& c) { return c.first; });
    if (found_.size() > maximum) found_.resize(maximum);
    return std::move(found_);
  }

 private:
  static constexpr std::int64_t max_factor = 8;

  /// Returns whether operator `op` reads a result of the custom operator whose tilings are varied.
  bool reads(int op) const {
    const std::vector<int>&read = graph_.ops[op].inputs, &made = graph_.ops[given_[which_].op].outputs;
    return std::ranges::find_first_of(read, made) != read.end();
  }

  /// Returns the values to try for one extent of the tiling: grid x, y or z if `at` is 0, 1 or 2, the loop if
  /// it is 3. They are the present value, and those of its multiples and quotients by 2, 3, 4 and 8 that
  /// retile::proved() accepts while all other extents stay unchanged. A grid extent of 1 keeps its value.
  std::vector<std::int64_t> extents(int at) {
    OpTiling own = given_[which_];
    const std::int64_t now = extent(own, at);
    std::vector<std::int64_t> result{now};
    if (at < 3 && now == 1) return result;
    for (std::int64_t factor : {2, 4, 8, 3})
      for (const bool more : {false, true}) {
        if (!more && now % factor != 0) continue;
        Tiling t = given_;
        extent(t[which_], at) = more ? now * factor : now / factor;
        if (retile::proved(graph_, t)) result.push_back(extent(t[which_], at));
      }
    return result;
  }

  /// Returns whether a tiling's grid is neither too small nor too large. Too small is a grid with fewer
  /// blocks than a third of the multiprocessors, and fewer than the original grid. Too large is one with more
  /// than 6 blocks per multiprocessor, and more than the original grid.
  bool sensible(const OpTiling& t) const {
    const std::int64_t blocks = t.grid.count(), own = given_[which_].grid.count(), all = target_.multiprocessors;
    return (blocks >= all / 3 || blocks >= own) && (blocks <= 6 * all || blocks <= own);
  }

  /// Returns the numbers of threads per block to try.
  std::vector<int> threads_of() const {
    const auto own = static_cast<int>(given_[which_].block.count());
    const bool products =
        std::ranges::count(graph_.ops[given_[which_].op].block->ops, graph::OpKind::matmul, &graph::BlockOp::kind) > 0;
    std::vector<int> counts{own};
    for (int n : products ? std::vector<int>{128, 256} : std::vector<int>{128, 256, 512, 1024})
      if (n != own) counts.push_back(n);
    return counts;
  }

  const graph::KernelGraph& graph_;
  Tiling given_;
  std::size_t which_;
  std::vector<int> timed_;  // the operator, and the custom operators that read its results
  const target::Target& target_;
  std::vector<std::pair<double, Tiling>> found_;
};

}  // namespace

std::vector<std::pair<double, Tiling>> neighbours(const graph::KernelGraph& g, std::size_t which,
                                                  const target::Target& target, std::size_t maximum) {
  return Neighbours(g, which, target).best(maximum);
}

}  // namespace zellige::tiling
