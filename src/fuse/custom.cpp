#include "fuse/custom.hpp"

#include <optional>

#include "candidate/expected_time.hpp"
#include "cost/better.hpp"
#include "fuse/choose.hpp"
#include "rewrite/roundings.hpp"
#include "tiling/choose_tilings.hpp"

namespace zellige::fuse {
namespace {

/// One variant of the fused graph, or why it is not available.
struct FusedVariant {
  std::optional<Optimized> taken;
  candidate::NoPlan not_taken{};
  kernel::Rejections rejected{};  // by the verifier, if the variant is not available
};

/// Returns the variant that `make` makes. If the verifier rejects its plan, returns the verifier's message instead.
template <class Make>
FusedVariant attempt(Make make) {
  try {
    return make();
  } catch (const Rejected& e) {
    return {{}, {e.what(), true}};
  }
}

/// Returns the variant of the fused graph in which custom operators were decomposed first, or the reason why
/// it is not available, for example that it would round a tensor which the graph does not round.
FusedVariant decomposed_way(const graph::KernelGraph& g, const target::Target& target, candidate::CostCache& known,
                            const rewrite::Watch& watch, Reasons reasons, const std::optional<retile::Tiling>& declared,
                            bool in_parts = false) {
  try {
    graph::KernelGraph decomposed = g;
    std::vector<std::string> applied;
    const bool proved = apply(rules::Level::custom, decomposed, watch, known, &applied),
               batched = in_parts && apply(rules::Level::oversized, decomposed, watch, known, &applied);
    if (!proved && !batched) return {{}, {"they are not proved to be unfused operators in blocks"}};
    Optimized o = optimize(decomposed, target, known, watch, reasons, declared);
    if (const auto name = rewrite::added_rounding(g, decomposed, o.graph))
      return {{}, {fmt::format("{} would be rounded", *name)}, std::move(o.rejected)};
    o.decomposed = true;
    o.rules.insert(o.rules.begin(), applied.begin(), applied.end());
    return {std::move(o)};
  } catch (const Fault&) {
    throw;
  } catch (const Error& e) {
    return {{}, {e.what()}};
  }
}

/// Returns what a graph costs with the tilings that the planner chooses. Adds the plans that the verifier rejected to
/// `rejected`.
cost::WayCost tiled(const graph::KernelGraph& g, const target::Target& target, kernel::Rejections& rejected) {
  const tiling::Tiled t =
      tiling::choose_tilings(g, target, {.tiles = plan::TilingPolicy::automatic, .registers_proved = false});
  kernel::add(rejected, t.plan.rejected);
  return {.us = t.cost.us, .launches = t.plan.kernels.size(), .workspace = t.plan.device.total};
}

/// Returns `way`, the only available variant, with a note that says why the variant `other` is not available.
/// `what` says what `way` does with custom operators: "kept" or "decomposed".
Optimized instead(FusedVariant way, std::string_view what, const FusedVariant& other) {
  kernel::add(way.taken->rejected, other.rejected);
  if (other.not_taken.rejected) kernel::drop(Rejected(other.not_taken.why), way.taken->rejected);
  way.taken->notes.push_back(fmt::format("custom operators are {}: {}", what, other.not_taken.why));
  return std::move(*way.taken);
}

}  // namespace

Optimized optimize(const graph::KernelGraph& g, const target::Target& target, Custom custom) {
  candidate::CostCache known;
  return optimize(g, target, custom, known);
}

Optimized optimize(const graph::KernelGraph& g, const target::Target& target, Custom custom,
                   candidate::CostCache& known, const rewrite::Watch& asked, Reasons reasons,
                   const std::optional<retile::Tiling>& declared) {
  const rewrite::Watch watch = rewrite::until_ended(asked);
  const bool none = retile::tiling_of(g).empty();
  if (custom == Custom::kept || (custom == Custom::cheaper && none))
    return optimize(g, target, known, watch, reasons, declared);
  const auto variant_in = [&](bool in_parts) {
    return attempt([&] { return decomposed_way(g, target, known, watch, reasons, declared, in_parts); });
  };
  FusedVariant decomposed = variant_in(custom == Custom::in_parts);
  if (custom == Custom::decomposed || custom == Custom::in_parts) {
    if (!decomposed.taken && custom == Custom::decomposed && declared)
      if (FusedVariant parts = variant_in(true); parts.taken) decomposed = std::move(parts);
    if (!decomposed.taken && decomposed.not_taken.rejected) candidate::raise(decomposed.not_taken);
    if (!decomposed.taken)
      fail("{}: expected custom operators that can be decomposed; {}", g.name, decomposed.not_taken.why);
    return std::move(*decomposed.taken);
  }
  FusedVariant kept = attempt([&] { return FusedVariant{optimize(g, target, known, watch, reasons, declared)}; });
  if (!kept.taken && !decomposed.taken) candidate::raise(kept.not_taken);
  if (!kept.taken) return instead(std::move(decomposed), "decomposed", kept);
  if (!decomposed.taken) return instead(std::move(kept), "kept", decomposed);
  const auto words = [](const cost::WayCost& way) {
    return fmt::format("{:.1f} us in {} kernel{}", way.us, way.launches, way.launches == 1 ? "" : "s");
  };
  kernel::Rejections rejected = kept.taken->rejected;
  kernel::add(rejected, decomposed.taken->rejected);
  const cost::WayCost whole = tiled(kept.taken->graph, target, rejected),
                      parts = tiled(decomposed.taken->graph, target, rejected);
  // As one kernel the decomposed variant is taken if the times differ by what means nothing: on an H200 such kernels were
  // faster (docs/explanation/retiling.md).
  const target::Costs::Search& costs = target.costs.search;
  cost::WayCost to_beat = whole;
  if (parts.launches == 1) to_beat.us *= 1 + costs.tie;
  const bool is_better = cost::better(parts, to_beat, costs);
  Optimized& taken = is_better ? *decomposed.taken : *kept.taken;
  taken.rejected = std::move(rejected);
  taken.notes.push_back(
      is_better ? fmt::format("custom operators are decomposed: {}, and {} kept", words(parts), words(whole))
                : fmt::format("custom operators are kept: {}, and {} decomposed", words(whole), words(parts)));
  return std::move(taken);
}

}  // namespace zellige::fuse
