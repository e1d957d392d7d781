#include "candidate/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "candidate/body.hpp"
#include "candidate/excerpt.hpp"
#include "candidate/expected_time.hpp"
#include "candidate/tiles.hpp"
#include "graph/error.hpp"
#include "graph/infer.hpp"
#include "plan/estimate.hpp"
#include "rules/table.hpp"

namespace zellige::candidate {

namespace {

/// Returns the launch that runs the block graph of `body`.
LaunchPart launch_of(GroupBody body) {
  return {std::make_shared<graph::BlockGraph>(std::move(body.block)), std::move(body.loads), std::move(body.stores)};
}

/// Returns kernel `k`, whose tensors are in graph `g`, with inferred shapes, and the graph of it alone.
std::pair<GroupKernel, graph::KernelGraph> inferred(GroupKernel k, const graph::KernelGraph& g) {
  graph::KernelGraph a = graph::infer(alone(g, k));
  const std::size_t before = a.ops.size() - k.parts.size();  // concatenations
  for (std::size_t i = 0; i < k.parts.size(); ++i) k.parts[i].block = a.ops[before + i].block;
  return {std::move(k), std::move(a)};
}

/// Swaps A and B of the matmul in `p`. Returns false if that is not possible.
bool is_swapped(LaunchPart& p, const target::Target& target) {
  std::optional<graph::BlockGraph> other = rewrite::swapped(*p.block, target);
  if (!other) return false;
  p.block = std::make_shared<graph::BlockGraph>(*std::move(other));
  return true;
}

/// Returns the axes that have a partial tile.
std::vector<int> partial_axes(const GroupTiling& t) {
  std::vector<int> axes;
  for (const auto& [axis, extent] : t.extents) axes.push_back(axis);
  return axes;
}

/// Returns `steps`, of graph `g`, with masks for the axes that have a partial tile under tiling `t`.
GroupSteps masked(const GroupSteps& steps, const GroupTiling& t, const graph::KernelGraph& g,
                  const target::Target& target) {
  return rewritten(steps_rules, Level::tiled, steps, StepsContext{g, target, partial_axes(t)});
}

/// Appends to `k` a launch that computes partial results of the steps `of` under tiling `t`, with a split
/// loop. The launch stores new tensors: appends them to `k.between` and to `g`, and appends their indices
/// to `tensors`. Returns the launch's body.
GroupBody add_parts(const std::pair<GroupSteps, Axes>& of, const GroupTiling& t, GroupKernel& k, graph::KernelGraph& g,
                    std::vector<int>& tensors) {
  const auto& [steps, axes] = of;
  GroupBody body = body_of(g, steps, axes, t);
  for (const PartialResult& p : body.partials) {
    graph::Shape shape = p.shape;
    shape.insert(shape.begin(), t.grid[t.split].blocks);
    const int tensor = steps.values[p.value].tensor;
    std::string name = tensor >= 0 ? g.tensors[tensor].name : g.tensors[g.ops[k.ops.back()].outputs[0]].name;
    if (graph::is_integer(steps.values[p.value].dtype))
      fail("{}: expected partial results that float32 may hold, found {}", name,
           graph::name(steps.values[p.value].dtype));
    name += parts_suffix;
    if (p.dim >= 0) name += "_max";
    while (std::ranges::any_of(g.tensors, [&](const graph::KernelTensor& other) { return other.name == name; }))
      name += '_';
    tensors.push_back(static_cast<int>(g.tensors.size()));
    k.between.push_back({p.dtype, shape, {}, name});
    g.tensors.push_back(k.between.back());
  }
  LaunchPart& p = k.parts.emplace_back(launch_of(body));
  for (int tensor : tensors) p.stores.push_back({tensor, g.tensors[tensor].shape});
  return body;
}

/// Identifies what a split loop stores: axes with partial tiles; the number of parts; the partial results; by value, the
/// indices of the partial results of maxima and sums.
using LeftBy =
    std::tuple<std::vector<int>, std::int64_t, std::vector<PartialResult>, std::map<int, int>, std::map<int, int>>;

/// Builds all kernels of one group, with loaded tensors shared between their readers or separate (`readers`).
class Making {
 public:
  Making(const graph::KernelGraph& g, const std::vector<int>& ops, Readers readers, const target::Target& target,
         const std::vector<retile::MatmulTile>& tiles)
      : g_(g),
        ops_(ops),
        target_(target),
        declared_(!tiles.empty()),
        steps_(rewritten(steps_rules, Level::grouped, steps_of(g, ops, readers), StepsContext{g, target})),
        axes_(axes_of(steps_)),
        shapes_(declared_ ? MatmulTiles{tiles, true} : shapes_of(g, steps_, target)) {}

  /// Returns the kernels of all tilings that are possible, with the loop in one block or split over blocks. If
  /// a tiling is not possible, sets `why` to the reason.
  std::vector<GroupKernel> run(std::string& why) {
    if (!declared_) try_splits(row_splits(steps_, axes_, target_));
    for (int loop_axis : loop_axes(steps_, axes_)) {
      if (loop_axis >= 0 && !declared_) try_splits(split_tilings(steps_, axes_, loop_axis, target_, shapes_));
      bool refused = false;
      for (const GroupTiling& t : tilings(steps_, axes_, loop_axis, target_, shapes_)) {
        if (!refused || declared_) refused = !try_whole(t, loop_axis >= 0, why);
        if (declared_) continue;
        const int before = offered_;
        const std::vector<GroupTiling> parts = splits(t, target_, shapes_.exact);
        try_splits(parts);
        if (refused && !parts.empty() && offered_ == before) break;
      }
    }
    if (found_.empty() && why.empty()) why = why_not_;
    return std::move(found_);
  }

 private:
  /// Returns kernel `k`, whose tensors are in graph `g`, with inferred shapes and its estimated time. The time is
  /// infinite if the kernel does not fit the target; why_not_ is then the reason.
  GroupKernel finished(GroupKernel kernel, const graph::KernelGraph& g) {
    std::pair<GroupKernel, graph::KernelGraph> made = inferred(std::move(kernel), g);
    double us = std::numeric_limits<double>::infinity();
    if (const auto error = refused([&] { us = us_after_another(plan::estimate(made.second, target_), target_); }))
      why_not_ = error->what();
    made.first.us = us;
    return std::move(made.first);
  }

  /// Adds the kernel, made for tiling `t` on graph `g`, to the result if it fits the target. The tile of its matmul says
  /// whether A and B are swapped; if no tile does, what the rules of block graphs make of the kernel is added, too.
  void offer(const GroupKernel& kernel, const graph::KernelGraph& g, const GroupTiling& t) {
    const bool swap = t.swaps(), rules = !swap && std::ranges::none_of(shapes_.tiles, &retile::MatmulTile::swap_ab);
    if (!swap) add(finished(kernel, g));
    if (!swap && !rules) return;
    GroupKernel other = inferred(kernel, g).first;
    bool any = false;
    for (LaunchPart& p : other.parts)
      any |= swap ? is_swapped(p, target_) : rules::rewrite(rewrite::block_rules, Level::block, p.block, target_);
    if (any) add(finished(std::move(other), g));
  }
  void add(GroupKernel k) {
    ++offered_;
    if (std::isfinite(k.us)) found_.push_back(std::move(k));
  }

  /// Adds the kernel of a tiling without a split loop. Returns false if no block graph computes the group
  /// under this tiling. The reason is then stored in `why`, unless `why` has one already and `loops` (the
  /// tiling has a loop) is false.
  bool try_whole(const GroupTiling& t, bool loops, std::string& why) {
    const std::optional<Error> error = refused([&] {
      const auto& [steps, axes] = masked_for(t);
      offer({.ops = ops_, .parts = {launch_of(body_of(g_, steps, axes, t))}, .shape = t.shape}, g_, t);
    });
    if (error && (why.empty() || loops)) why = error->what();
    return !error;
  }

  /// Adds the kernels of tilings whose loop is split over blocks: none of one that the group does not allow, because a
  /// partial result would be written by several blocks, or read too early.
  void try_splits(const std::vector<GroupTiling>& all) {
    for (const GroupTiling& t : all) refused([&] { split(t); });
  }

  /// Returns the group's steps with masks for the axes that have a partial tile under tiling `t`, and the
  /// axes of these steps. Both are computed once per set of axes that have a partial tile.
  const std::pair<GroupSteps, Axes>& masked_for(const GroupTiling& t) {
    const auto [at, is_new] = masked_.try_emplace(partial_axes(t), steps_, axes_);
    if (is_new && !t.extents.empty()) {
      at->second.first = masked(steps_, t, g_, target_);
      at->second.second = axes_of(at->second.first);
    }
    return at->second;
  }

  /// Adds a kernel of two launches for tiling `t`, whose loop is split over blocks: the first launch computes
  /// partial results, the second combines them. If other reductions over the loop axis need the combined
  /// results, also adds kernels of three launches.
  void split(const GroupTiling& t) {
    GroupKernel k{ops_, {}};
    graph::KernelGraph g = g_;
    std::vector<int> tensors;
    const GroupBody first = add_parts(masked_for(t), t, k, g, tensors);
    if (const std::optional<LaunchPart>& after = after_split(t, first, g, tensors)) {
      GroupKernel two = k;
      two.parts.push_back(*after);
      offer(two, g_, t);
    }
    if (!first.reduces_again) return;
    const GroupSteps second = merged(steps_, first, t.grid[t.split].blocks, tensors);
    for (const GroupTiling& again : row_splits(second, axes_of(second), target_)) split_again(second, again, k, g);
  }

  /// Adds a kernel of three launches. `k` has the first launch, which stores partial results. The second launch runs
  /// the steps `second`, which combine the first launch's partial results, under tiling `t` with a split loop, and
  /// stores partial results itself. The third launch combines the second launch's partial results.
  void split_again(const GroupSteps& second, const GroupTiling& t, GroupKernel k, graph::KernelGraph g) {
    const GroupSteps steps = masked(second, t, g, target_);
    std::vector<int> tensors;
    const GroupBody body = add_parts({steps, axes_of(steps)}, t, k, g, tensors);
    const std::optional<LaunchPart> last = cheapest(merged(second, body, t.grid[t.split].blocks, tensors), g);
    if (!last) return;
    k.parts.push_back(*last);
    offer(k, g_, t);
  }

  /// Returns the launch that combines the partial results `tensors` of a split loop, with the tiling of the
  /// least estimated time, or nullopt if no tiling is possible. The launch depends on what the split loop
  /// stores, not on the loop's tiles, so it is cached.
  const std::optional<LaunchPart>& after_split(const GroupTiling& t, const GroupBody& first,
                                               const graph::KernelGraph& g, const std::vector<int>& tensors) {
    const std::int64_t parts = t.grid[t.split].blocks;
    const auto [at, is_new] = after_.try_emplace({partial_axes(t), parts, first.partials, first.maxima, first.sums});
    if (is_new) at->second = cheapest(merged(steps_, first, parts, tensors), g);
    return at->second;
  }

  /// Returns one launch that runs the steps without a loop, with the tiling of the least estimated time, or
  /// nullopt if no tiling is possible.
  std::optional<LaunchPart> cheapest(const GroupSteps& steps, const graph::KernelGraph& g) {
    const Axes axes = axes_of(steps);
    std::optional<LaunchPart> best;
    double us = std::numeric_limits<double>::infinity();
    for (const GroupTiling& t : tilings(steps, axes, -1, target_)) {
      const GroupSteps inside = masked(steps, t, g, target_);
      LaunchPart way = launch_of(body_of(g, inside, t.extents.empty() ? axes : axes_of(inside), t));
      const double way_us = finished({ops_, {way}}, g).us;
      if (way_us < us) us = way_us, best = std::move(way);
    }
    return best;
  }

  const graph::KernelGraph& g_;
  const std::vector<int>& ops_;
  const target::Target& target_;
  bool declared_;  // which tiles are tried
  GroupSteps steps_;
  Axes axes_;
  MatmulTiles shapes_;
  std::map<std::vector<int>, std::pair<GroupSteps, Axes>> masked_;  // by the axes with partial tiles
  std::map<LeftBy, std::optional<LaunchPart>> after_;               // launches that combine partial results
  std::vector<GroupKernel> found_;
  int offered_ = 0;      // kernels, those that do not fit included
  std::string why_not_;  // why the kernel that was refused last does not fit
};

}  // namespace

std::vector<GroupKernel> kernels_of(const graph::KernelGraph& g, const std::vector<int>& ops,
                                    const target::Target& target, std::string& why,
                                    const std::vector<retile::MatmulTile>& tiles) {
  std::vector<GroupKernel> found;
  why.clear();
  for (const Readers readers : {Readers::together, Readers::separate}) {
    const std::optional<Error> error = refused([&] { found = Making(g, ops, readers, target, tiles).run(why); });
    if (error && why.empty()) why = error->what();
    if (!found.empty()) break;
  }
  if (found.empty() && why.empty()) why = "no tiling of the kernel fits into shared memory";
  std::ranges::stable_sort(found, {}, &GroupKernel::us);
  return found;
}

}  // namespace zellige::candidate
